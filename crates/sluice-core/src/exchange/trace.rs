//! When things happened in an exchange, and what was noted, for its record.

use super::report::Transcript;
use crate::boundary::{CallTime, FailureKind, Note, NoteCount, NoteKind, Outcome, Part, Retry, Timeline};
use crate::ledger::LedgerEntry;

/// Whether anything reads the [`LedgerEntry`]. In a module that only reads answers, nothing does.
pub(super) const HAS_LEDGER: bool = cfg!(not(answers_only));

/// The maximum number of calls and of failed attempts that are recorded.
const MAX_LISTED: usize = 100;

/// What an exchange records while it runs. The only clock is the time of each poll.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    started_ms: Option<u64>,
    elapsed_ms: u64,
    /// Whether the response has begun.
    has_bytes: bool,
    timeline: Timeline,
    retries: Vec<Retry>,
    notes: Vec<NoteCount>,
}

impl Trace {
    /// The exchange is polled.
    pub(super) fn tick(&mut self, now_ms: u64) {
        let started = *self.started_ms.get_or_insert(now_ms);
        // Some callers poll for the report only and have no clock.
        self.elapsed_ms = self.elapsed_ms.max(now_ms.saturating_sub(started));
        if self.has_bytes {
            self.timeline.first_byte_ms.get_or_insert(self.elapsed_ms);
        }
    }

    pub(super) fn sent(&mut self) {
        self.timeline.sent_ms.get_or_insert(self.elapsed_ms);
    }

    /// A part of the response has arrived. The next poll says when.
    pub(super) fn arrived(&mut self) {
        self.has_bytes = true;
    }

    /// Another attempt follows one that failed.
    pub(super) fn retry(&mut self, why: FailureKind) {
        self.timeline = Timeline::default();
        self.has_bytes = false;
        if self.retries.len() < MAX_LISTED {
            self.retries.push(Retry { ms: self.elapsed_ms, why });
        }
    }

    /// A part of the answer has arrived. The reader may get it later.
    pub(super) fn part(&mut self, part: &Part) {
        if !HAS_LEDGER {
            return;
        }
        let ms = self.elapsed_ms;
        match part {
            Part::Text { .. } | Part::Data { .. } | Part::Citations { .. } => {
                self.timeline.first_text_ms.get_or_insert(ms);
            }
            // The last part of an answer is thinking without text.
            Part::Thinking { value, .. } if value.is_empty() => {}
            Part::Thinking { .. } => _ = self.timeline.first_thinking_ms.get_or_insert(ms),
            Part::ToolCall { name, .. } if self.timeline.calls.len() < MAX_LISTED => {
                self.timeline.calls.push(CallTime { name: name.clone(), ms });
            }
            Part::ToolCall { .. } => {}
        }
    }

    pub(super) fn note(&mut self, note: &Note) {
        if !HAS_LEDGER {
            return;
        }
        match self.notes.iter_mut().find(|known| known.kind == note.kind) {
            Some(known) => known.count = known.count.saturating_add(1),
            None if note.kind == NoteKind::Event => {}
            None => self.notes.push(NoteCount { kind: note.kind, count: 1 }),
        }
    }

    /// Returns what the ledger learns from an exchange that is over.
    pub(super) fn finish(&mut self, outcome: &Outcome, transcript: Transcript) -> LedgerEntry {
        if !HAS_LEDGER {
            return LedgerEntry::default();
        }
        LedgerEntry {
            timeline: Timeline { end_ms: self.elapsed_ms, ..std::mem::take(&mut self.timeline) },
            retries: std::mem::take(&mut self.retries),
            notes: std::mem::take(&mut self.notes),
            ..LedgerEntry::new(outcome, transcript.into_parts())
        }
    }
}

//! Where every part and note of an answer goes: counted, bounded, and separated for the reader.

use std::mem;

use super::Limits;
use crate::boundary::{Note, NoteKind, Output, Part, SEPARATOR};
use crate::message::{Message, MessageCode};

/// The maximum number of notes for one answer, and the maximum if every event is traced.
const MAX_NOTES: usize = 256;
const MAX_TRACED: usize = 65_536;
/// Enough for a megabyte of links, or sixteen of other text.
const BYTES_TO_SEARCH: usize = 1 << 20;
/// The part of an answer's limit, as a divisor, that may be held for later: encrypted thinking, open calls and sources.
const WAITING_SHARE: usize = 5;

/// Every part and note goes through here and is counted.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each says whether something was given")]
pub(crate) struct Sink {
    pub outputs: Vec<Output>,
    pub limits: Limits,
    /// The memory in bytes that the answer takes until it ends.
    retained: usize,
    /// The part of these bytes that is processed only at the end of a call or of the answer.
    waiting: usize,
    /// How much of the text may still be searched for links to sources.
    pub bytes_to_search: usize,
    noted: usize,
    traced: usize,
    /// The number of notes that were left out.
    left_out: usize,
    pub over_limit: Option<Message>,
    pub gave_part: bool,
    pub gave_answer: bool,
    pub gave_thinking: bool,
    pub gave_text: bool,
    /// Whether the last part was thinking.
    follows_thinking: bool,
    block: ThinkingBlock,
}

/// The newest block of thinking.
#[derive(Clone, Debug, Default)]
struct ThinkingBlock {
    id: String,
    /// The white space at its beginning, as long as there is nothing else.
    blank: String,
    is_shown: bool,
}

impl Sink {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, bytes_to_search: BYTES_TO_SEARCH, ..Self::default() }
    }

    pub(crate) fn part(&mut self, mut part: Part) {
        match &mut part {
            Part::Thinking { value, id, replay } => {
                if replay.is_none() && !self.separate_thinking(value, id) {
                    return;
                }
                self.gave_thinking = true;
            }
            Part::Text { .. } => (self.gave_answer, self.gave_text) = (true, true),
            Part::ToolCall { .. } | Part::Data { .. } => self.gave_answer = true,
            Part::Citations { .. } => {}
        }
        self.gave_part = true;
        self.follows_thinking = matches!(part, Part::Thinking { .. });
        self.outputs.push(Output::Part(part));
    }

    /// VS Code joins thinking parts that follow each other, whatever their ids, so a new block begins with a blank line.
    /// Returns whether there is anything to show: a block is shown once it isn't blank.
    fn separate_thinking(&mut self, value: &mut String, id: &str) -> bool {
        if self.block.id != id {
            self.block = ThinkingBlock { id: id.to_owned(), ..ThinkingBlock::default() };
        }
        if self.block.is_shown {
            return true;
        }
        if value.trim().is_empty() {
            self.retain(value.len());
            self.block.blank.push_str(value);
            return false;
        }
        self.block.is_shown = true;
        let separator = if self.follows_thinking { SEPARATOR } else { "" };
        if !separator.is_empty() || !self.block.blank.is_empty() {
            *value = format!("{separator}{}{value}", mem::take(&mut self.block.blank));
        }
        true
    }

    #[inline(never)]
    pub(crate) fn note(&mut self, kind: NoteKind, detail: impl Into<String>) {
        let (count, max) =
            if kind == NoteKind::Event { (&mut self.traced, MAX_TRACED) } else { (&mut self.noted, MAX_NOTES) };
        if *count < max {
            *count += 1;
            self.outputs.push(Output::Note(Note::new(kind, detail)));
        } else {
            self.left_out += 1;
        }
    }

    /// Adds one note that says how many notes were left out, once the answer is over.
    #[inline(never)]
    pub(crate) fn sum_up_notes(&mut self) {
        if self.left_out > 0 {
            let count = mem::take(&mut self.left_out).to_string();
            self.outputs.push(Output::Note(Note::new(NoteKind::MoreNotes, count)));
        }
    }

    /// Counts bytes that are kept from now on.
    pub(crate) fn retain(&mut self, bytes: usize) {
        self.retained += bytes;
        if self.retained > self.limits.max_answer_bytes {
            self.over_limit(MessageCode::TooMuchContent, self.limits.max_answer_bytes);
        }
    }

    /// Returns whether this many more bytes can be kept. If not, the answer ends here.
    pub(crate) fn has_room_for(&mut self, bytes: usize) -> bool {
        let has_room = self.retained + bytes <= self.limits.max_answer_bytes;
        if !has_room {
            self.over_limit(MessageCode::TooMuchContent, self.limits.max_answer_bytes);
        }
        has_room
    }

    pub(crate) fn release(&mut self, bytes: usize) {
        self.retained = self.retained.saturating_sub(bytes);
    }

    /// The same for what is processed later: arguments, which are parsed when their call is done, and sources and
    /// encrypted thinking, which are delivered at the end. One event can trigger all of that work, so it has a limit.
    pub(crate) fn retain_waiting(&mut self, bytes: usize) {
        self.retain(bytes);
        self.waiting += bytes;
        let max = self.limits.max_answer_bytes / WAITING_SHARE;
        if self.waiting > max {
            self.over_limit(MessageCode::TooManyArguments, max);
        }
    }

    pub(crate) fn release_waiting(&mut self, bytes: usize) {
        self.release(bytes);
        self.waiting = self.waiting.saturating_sub(bytes);
    }

    #[inline(never)]
    pub(crate) fn over_limit(&mut self, message: MessageCode, limit: usize) {
        self.over_limit.get_or_insert_with(|| Message::new(message, [&limit]));
    }
}

//! The latest requests, to compare the next one with.

use crate::boundary::{PieceKind, RequestRecord};
use crate::lens::Prefix;
use crate::send::Prompt;
use crate::tokens::Counter;

/// The maximum number of requests of one conversation, and of all. The oldest are removed first.
const MAX_OF_CONVERSATION: usize = 10;
const MAX_RECORDS: usize = 100;

/// The oldest request is the first.
#[derive(Debug, Default)]
pub(super) struct Recent(Vec<RequestRecord>);

impl Recent {
    pub(super) fn keep(&mut self, record: RequestRecord) {
        // A request that the server refused is in no cache.
        if record.usage.input.is_none() {
            return;
        }
        if self.0.iter().any(|known| known.id == record.id) {
            return;
        }
        let conversation = record.conversation.clone();
        let is_alike = |one: &RequestRecord| one.conversation == conversation;
        let at = self.0.partition_point(|known| known.started_ms <= record.started_ms);
        self.0.insert(at, record);
        if self.0.iter().filter(|one| is_alike(one)).count() > MAX_OF_CONVERSATION {
            if let Some(oldest) = self.0.iter().position(is_alike) {
                self.0.remove(oldest);
            }
        } else if self.0.len() > MAX_RECORDS {
            self.0.remove(0);
        }
    }

    /// Compares a request with the earlier one of its conversation that it has most in common with, or with the newest one if
    /// it has nothing in common with any. Also returns, for each earlier request to the same model, how many tokens are the
    /// same and when it ended.
    pub(super) fn compare(
        &self,
        record: &RequestRecord,
        prompt: &Prompt,
        counter: Counter,
    ) -> (Option<Prefix>, Vec<(u64, u64)>) {
        let part_of = |line: usize| {
            let text = prompt.instructions.as_deref().unwrap_or_default();
            let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
            let tokens = |text: &str| f64::from(counter.text(&record.model, text));
            tokens(text.get(..start).unwrap_or_default()) / tokens(text).max(1.0)
        };
        let mut best: Option<(bool, u64, Prefix)> = None;
        let mut prefixes = Vec::new();
        for earlier in &self.0 {
            let prefix = Prefix::between(earlier, record, &part_of);
            let same = prefix.same(&record.pieces);
            let key = (!prefix.is_elsewhere(), same);
            if key.0 {
                prefixes.push((same, earlier.started_ms.saturating_add(earlier.timeline.end_ms)));
            }
            let is_better = best.as_ref().is_none_or(|(is_here, most, _)| key >= (*is_here, *most));
            if earlier.conversation == record.conversation && is_better {
                best = Some((key.0, key.1, prefix));
            }
        }
        // A request for a title has nothing to do with the conversation that it is for.
        let has_more = |prefix: &Prefix| {
            let is_fixed = |kind| matches!(kind, PieceKind::Frame | PieceKind::Tool | PieceKind::System);
            let fixed = record.pieces.iter().take_while(|piece| is_fixed(piece.kind)).count();
            record.kind != crate::boundary::RequestKind::Utility || prefix.pieces() > fixed
        };
        (best.map(|(_, _, prefix)| prefix).filter(has_more), prefixes)
    }
}

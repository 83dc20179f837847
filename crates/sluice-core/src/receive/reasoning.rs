//! Thinking: raw reasoning and summaries as they arrive, and what the server needs back to continue from there.

use std::borrow::Cow;

use super::items::{Items, Pairing};
use super::sink::Sink;
use super::streamed::{PartKey, Settled, Streamed};
use crate::boundary::{NoteKind, Part, ReasoningItem};
use crate::message::MessageCode;
use crate::wire::{Address, Channel, ContentPart, Item, ItemKind};

#[derive(Clone, Debug, Default)]
struct Thought {
    shown: Streamed,
    /// What the server needs back, without the texts that were shown.
    kept: ReasoningItem,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Reasoning {
    items: Items<Thought>,
}

#[derive(Clone, Copy, Debug)]
enum Evidence {
    Id,
    Index,
    Order,
}

impl Reasoning {
    pub(super) fn added(&mut self, at: &Address<'_>) {
        self.items.announce(at);
    }

    pub(super) fn knows(&self, at: &Address<'_>) -> bool {
        self.items.find_named(at).is_some()
    }

    #[inline(never)]
    pub(super) fn delta(&mut self, at: &Address<'_>, key: PartKey, delta: Cow<'_, str>, sink: &mut Sink) {
        let slot = self.items.find_for_text(at);
        self.show(slot, key, delta, sink);
    }

    #[inline(never)]
    pub(super) fn part_done(&mut self, at: &Address<'_>, key: PartKey, whole: &str, sink: &mut Sink) {
        if whole.is_empty() {
            return;
        }
        let slot = self.items.find_for_text(at);
        if let Some(thought) = self.items.get_mut(slot) {
            let settled = thought.value.shown.settle_part(key, whole);
            self.show_missing(slot, settled, sink);
        }
    }

    #[inline(never)]
    pub(super) fn done(&mut self, at: &Address<'_>, item: &Item<'_>, sink: &mut Sink) {
        let slot = self.items.find(at).unwrap_or_else(|| self.items.open(at));
        self.finish(slot, item, sink);
    }

    /// Reasoning items have an id and an index; without either, their order counts.
    #[inline(never)]
    pub(super) fn pair_with_final(&self, output: &[Item<'_>], pairings: &mut [Pairing]) {
        let evidence = [Evidence::Id, Evidence::Index, Evidence::Order];
        self.items.pair_with_final(
            output,
            pairings,
            ItemKind::Reasoning,
            &evidence,
            |unpaired, evidence, item, output_index| match evidence {
                Evidence::Id => unpaired.with_id(item.id.as_deref()),
                Evidence::Index => unpaired.at(output_index),
                Evidence::Order => unpaired.iter().next(),
            },
        );
    }

    #[inline(never)]
    pub(super) fn settle_final(&mut self, pair: Pairing, item: &Item<'_>, sink: &mut Sink) {
        let slot = self.items.paired(pair);
        self.finish(slot, item, sink);
    }

    /// The answer is over: returns what the server needs back of an item. An item without a `done` event consists of what
    /// was streamed.
    pub(super) fn replay(&mut self, slot: usize) -> Option<ReasoningItem> {
        let entry = self.items.get_mut(slot)?;
        let shown = &entry.value.shown;
        let mut item = std::mem::take(&mut entry.value.kept);
        if item.id.is_none() {
            item.id.clone_from(&entry.id);
        }
        for (texts, channel) in [(&mut item.summary, Channel::Summary), (&mut item.content, Channel::Reasoning)] {
            if texts.is_empty() {
                texts.extend(shown.texts_of(channel).map(str::to_owned));
            }
        }
        item.is_useful().then_some(item)
    }

    /// Returns the id of the part that carries what the server needs back. It belongs to the last block.
    pub(super) fn last_block(&self) -> String {
        self.block_id(self.items.len().saturating_sub(1), 0)
    }

    pub(super) fn output_index(&self, slot: usize) -> Option<u64> {
        self.items.get(slot)?.output_index
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.items.bytes()
    }

    fn finish(&mut self, slot: usize, item: &Item<'_>, sink: &mut Sink) {
        self.items.close(slot);
        let Some(thought) = self.items.get_mut(slot) else { return };
        // A summary and the raw reasoning have the same content, so what wasn't streamed is shown only if nothing was.
        let shown = &thought.value.shown;
        let has_summary = item.summary.iter().any(|part| part.text.as_deref().is_some_and(|text| !text.is_empty()));
        let summary = shown.has_channel(Channel::Summary) || (shown.is_empty() && has_summary);
        let raw = shown.has_channel(Channel::Reasoning) || (shown.is_empty() && !has_summary);
        let mut whole = Vec::new();
        if summary {
            whole.extend(parts(&item.summary, Channel::Summary));
        }
        if raw {
            whole.extend(parts(&item.content, Channel::Reasoning));
        }
        let settled = shown.settle(&whole);
        self.show_missing(slot, settled, sink);
        self.keep(slot, item, sink);
    }

    /// Keeps what the server needs back. Texts are kept only if they aren't what was shown.
    fn keep(&mut self, slot: usize, item: &Item<'_>, sink: &mut Sink) {
        let Some(thought) = self.items.get_mut(slot) else { return };
        let shown = &thought.value.shown;
        let unlike_shown = |parts: &[ContentPart<'_>], channel: Channel| -> Vec<String> {
            let texts = || parts.iter().filter_map(|part| part.text.as_deref()).filter(|text| !text.is_empty());
            if texts().eq(shown.texts_of(channel)) { Vec::new() } else { texts().map(str::to_owned).collect() }
        };
        let owned = |field: &Option<Cow<'_, str>>| field.as_deref().filter(|text| !text.is_empty()).map(str::to_owned);
        let before = std::mem::take(&mut thought.value.kept);
        let before_bytes = before.bytes();
        // The same item arrives up to twice, and one of them may have what the other lacks.
        let kept = ReasoningItem {
            id: owned(&item.id).or(before.id),
            encrypted_content: owned(&item.encrypted_content).or(before.encrypted_content),
            summary: unlike_shown(&item.summary, Channel::Summary),
            content: unlike_shown(&item.content, Channel::Reasoning),
            signature: owned(&item.signature).or(before.signature),
        };
        sink.release_waiting(before_bytes);
        sink.retain_waiting(kept.bytes());
        thought.value.kept = kept;
    }

    fn show_missing(&mut self, slot: usize, settled: Settled<'_>, sink: &mut Sink) {
        match settled {
            Settled::Missing(parts) => {
                for (key, text) in parts {
                    self.show(slot, key, Cow::Borrowed(text), sink);
                }
            }
            Settled::Contradiction => sink.note(NoteKind::TextMismatch, "reasoning"),
        }
    }

    fn show(&mut self, slot: usize, key: PartKey, text: Cow<'_, str>, sink: &mut Sink) {
        let Some(thought) = self.items.get_mut(slot).filter(|_| !text.is_empty()) else { return };
        if !sink.has_room_for(text.len()) {
            return;
        }
        match thought.value.shown.append(key, &text, sink.limits.max_content_parts) {
            Ok(bytes) => sink.retain(bytes),
            Err(_) => return sink.over_limit(MessageCode::TooManyContentParts, sink.limits.max_content_parts),
        }
        let ordinal = thought.value.shown.ordinal(key).unwrap_or(0);
        let id = self.block_id(slot, ordinal);
        sink.part(Part::Thinking { value: text.into_owned(), id, replay: None });
    }

    /// Each part of each item is a separate block for the reader. Every delta is delivered with the id, so it must be
    /// short.
    fn block_id(&self, slot: usize, ordinal: usize) -> String {
        const MAX_BYTES: usize = 200;
        let id = self.items.get(slot).and_then(|entry| entry.id.as_deref()).filter(|id| id.len() <= MAX_BYTES);
        let id = id.map_or_else(|| format!("thinking-{slot}"), str::to_owned);
        if ordinal == 0 { id } else { format!("{id}:{ordinal}") }
    }
}

fn parts<'a>(content: &'a [ContentPart<'_>], channel: Channel) -> impl Iterator<Item = (PartKey, &'a str)> {
    let texts = content.iter().zip(0..);
    texts.map(move |(part, index)| (PartKey { channel, index: Some(index) }, part.text.as_deref().unwrap_or_default()))
}

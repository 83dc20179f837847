//! Messages: text and refusals as they arrive, and the sources that they cite.

use std::borrow::Cow;

use super::citations::Citations;
use super::decode::protocol_word;
use super::items::{Items, Pairing};
use super::sink::Sink;
use super::streamed::{PartKey, Settled, Streamed};
use crate::boundary::{NoteKind, Part, ReplayMessage, SEPARATOR};
use crate::message::MessageCode;
use crate::wire::{Address, Annotation, Channel, ContentPart, Item, ItemKind};

#[derive(Clone, Debug, Default)]
pub(super) struct Message {
    shown: Streamed,
    citations: Citations,
    phase: Option<String>,
    has_begun: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    items: Items<Message>,
}

#[derive(Clone, Copy, Debug)]
enum Evidence {
    Id,
    Index,
    Text,
    Nothing,
}

impl Messages {
    pub(super) fn added(&mut self, at: &Address<'_>, item: &Item<'_>) {
        self.items.announce(at);
        if let Some(message) = self.items.find_named(at).and_then(|slot| self.items.get_mut(slot)) {
            message.value.learn_phase(item);
        }
    }

    pub(super) fn knows(&self, at: &Address<'_>) -> bool {
        self.items.find_named(at).is_some()
    }

    pub(super) fn delta(&mut self, at: &Address<'_>, key: PartKey, delta: Cow<'_, str>, sink: &mut Sink) {
        let slot = self.items.find_for_text(at);
        if let Some(message) = self.items.get_mut(slot) {
            message.value.show(key, delta, sink);
        }
    }

    /// Handles a whole part, from `output_text.done`, `refusal.done` or `content_part.done`.
    pub(super) fn part_done(&mut self, at: &Address<'_>, key: PartKey, whole: &str, sink: &mut Sink) {
        if whole.is_empty() {
            return;
        }
        let slot = self.items.find_for_text(at);
        if let Some(message) = self.items.get_mut(slot) {
            let settled = message.value.shown.settle_part(key, whole);
            message.value.show_missing(settled, sink);
        }
    }

    pub(super) fn annotate(&mut self, at: &Address<'_>, annotation: &Annotation<'_>, sink: &mut Sink) {
        let slot = self.items.find_for_text(at);
        if let Some(message) = self.items.get_mut(slot) {
            message.value.citations.add(annotation, sink);
        }
    }

    pub(super) fn done(&mut self, at: &Address<'_>, item: &Item<'_>, sink: &mut Sink) {
        let slot = self.items.find(at).unwrap_or_else(|| self.items.open(at));
        self.finish(slot, item, sink);
    }

    fn finish(&mut self, slot: usize, item: &Item<'_>, sink: &mut Sink) {
        self.items.close(slot);
        let Some(message) = self.items.get_mut(slot) else { return };
        message.value.learn_phase(item);
        let settled = message.value.shown.settle(&text_parts(item));
        message.value.show_missing(settled, sink);
        for part in &item.content {
            if text_of(part).is_none() {
                sink.note(NoteKind::IgnoredContent, protocol_word(part.kind.as_deref().unwrap_or_default()));
            }
            for annotation in &part.annotations {
                message.value.citations.add(annotation, sink);
            }
        }
        message.value.cite(sink);
    }

    /// Pairs messages by id, by index and by text. If messages remain on both sides, they contradict each other; a message
    /// without a counterpart is new.
    pub(super) fn pair_with_final(&self, output: &[Item<'_>], pairings: &mut [Pairing]) {
        const CANDIDATES_TO_COMPARE: usize = 64;
        // Comparing texts with each other must not take longer than reading them.
        const LOOKS_AT_EACH_BYTE: usize = 4;
        let bytes: usize = output.iter().flat_map(text_parts).map(|(_, text)| 64 + text.len()).sum();
        let mut to_look_at = LOOKS_AT_EACH_BYTE * bytes;
        let evidence = [Evidence::Id, Evidence::Index, Evidence::Text, Evidence::Nothing];
        self.items.pair_with_final(
            output,
            pairings,
            ItemKind::Message,
            &evidence,
            |unpaired, evidence, item, output_index| {
                let continues = |slot: &usize, whole: &[(PartKey, &str)]| {
                    let settled = self.items.get(*slot).map(|entry| entry.value.shown.settle(whole));
                    matches!(settled, Some(Settled::Missing(_)))
                };
                match evidence {
                    Evidence::Id => unpaired.with_id(item.id.as_deref()),
                    Evidence::Index => unpaired.at(output_index).filter(|slot| continues(slot, &text_parts(item))),
                    Evidence::Text => {
                        let whole = text_parts(item);
                        let cost: usize = whole.iter().map(|(_, text)| 64 + text.len()).sum();
                        let mut may_look = || {
                            to_look_at = to_look_at.saturating_sub(cost);
                            to_look_at > 0
                        };
                        let candidates = unpaired.iter().take(CANDIDATES_TO_COMPARE).take_while(|_| may_look());
                        candidates.into_iter().find(|slot| continues(slot, &whole))
                    }
                    Evidence::Nothing => unpaired.iter().next(),
                }
            },
        );
    }

    pub(super) fn settle_final(&mut self, pair: Pairing, item: &Item<'_>, sink: &mut Sink) {
        let slot = self.items.paired(pair);
        self.finish(slot, item, sink);
    }

    /// The answer is over. Messages without a `done` event still cite their sources.
    pub(super) fn close_all(&mut self, sink: &mut Sink) {
        while let Some(slot) = self.items.first_open() {
            self.items.close(slot);
            if let Some(message) = self.items.get_mut(slot) {
                message.value.cite(sink);
            }
        }
    }

    /// Returns what the server needs to know of a message when it comes back, unless it is blank.
    pub(super) fn replay(&self, slot: usize) -> Option<ReplayMessage> {
        let message = &self.items.get(slot)?.value;
        let text: String = message.shown.texts().collect();
        (!text.trim().is_empty()).then(|| ReplayMessage::new(message.phase.clone(), &text))
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
}

impl Message {
    fn show(&mut self, key: PartKey, text: Cow<'_, str>, sink: &mut Sink) {
        if text.is_empty() || !sink.has_room_for(text.len()) {
            return;
        }
        match self.shown.append(key, &text, sink.limits.max_content_parts) {
            Ok(bytes) => {
                sink.retain(bytes);
                let is_next = !std::mem::replace(&mut self.has_begun, true) && sink.gave_text;
                let value = if is_next { format!("{SEPARATOR}{text}") } else { text.into_owned() };
                sink.part(Part::Text { value });
            }
            Err(_) => sink.over_limit(MessageCode::TooManyContentParts, sink.limits.max_content_parts),
        }
    }

    fn show_missing(&mut self, settled: Settled<'_>, sink: &mut Sink) {
        match settled {
            Settled::Missing(parts) => {
                for (key, text) in parts {
                    self.show(key, Cow::Borrowed(text), sink);
                }
            }
            Settled::Contradiction => sink.note(NoteKind::TextMismatch, "message"),
        }
    }

    fn learn_phase(&mut self, item: &Item<'_>) {
        const MAX_BYTES: usize = 64;
        if let Some(phase) = item.phase.as_deref().filter(|phase| (1..=MAX_BYTES).contains(&phase.len())) {
            self.phase = Some(phase.to_owned());
        }
    }

    fn cite(&mut self, sink: &mut Sink) {
        if let Some(part) = self.citations.take_part(&self.shown, sink) {
            sink.part(part);
        }
    }
}

fn text_parts<'a>(item: &'a Item<'_>) -> Vec<(PartKey, &'a str)> {
    let parts = item.content.iter().zip(0..);
    parts
        .filter_map(|(part, index)| {
            text_of(part).map(|(channel, text)| (PartKey { channel, index: Some(index) }, text))
        })
        .collect()
}

/// Returns what a content part of a message shows. Small servers send `text`, or a part without a type.
pub(super) fn text_of<'a>(part: &'a ContentPart<'_>) -> Option<(Channel, &'a str)> {
    match part.kind.as_deref() {
        Some("refusal") => Some((Channel::Refusal, part.refusal.as_deref().unwrap_or_default())),
        Some("output_text" | "text") | None => Some((Channel::Text, part.text.as_deref().unwrap_or_default())),
        Some(_) => None,
    }
}

//! Turns wire events into parts. This is the state machine; each kind of item has its own file.
//!
//! ```text
//!                  ┌─ message ───► messages.rs   text as it comes, refusals as text, citations after it
//! event ─► item ───┼─ reasoning ─► reasoning.rs  thinking as it comes, encrypted content at the end
//!                  ├─ function ──► calls.rs      each call once, whole
//!                  └─ image ─────► images.rs     a data part
//! ```
//!
//! A terminal event settles the answer: what only the final output contains is still delivered, and everything after it
//! is ignored.

use std::collections::BTreeSet;
use std::mem;

use serde_json::Value;

use super::StreamOptions;
use super::calls::Calls;
use super::citations::plain_line;
use super::decode::{Decoded, Frame, protocol_word};
use super::images::Images;
use super::items::Pairing;
use super::messages::{Messages, text_of};
use super::outcome::Verdict;
use super::reasoning::Reasoning;
use super::sink::Sink;
use super::sse::EventTooLarge;
use super::streamed::PartKey;
use crate::boundary::{Gateway, Note, NoteKind, Part, ReplayItem, ThinkingReplay, Usage};
use crate::message::{Message, MessageCode};
use crate::surrogates::FirstHalf;
use crate::wire::{Address, Channel, ContentPart, ErrorField, Item, ItemKind, Response, StreamEvent};

#[derive(Clone, Debug)]
pub(super) struct Assembler {
    trace: bool,
    messages: Messages,
    reasoning: Reasoning,
    calls: Calls,
    images: Images,
    /// The number of items, and the bytes that they take.
    counted: (usize, usize),
    /// All messages, reasoning items and calls in the order in which they were first mentioned, by their slots.
    order: Vec<Slot>,
    /// How many of each kind are in `order`.
    tracked: [usize; 3],
    last_sequence: Option<u64>,
    sequence_noted: bool,
    /// What the last event left for the next one.
    pub half: FirstHalf,
    pub about: About,
    pub verdict: Option<Verdict>,
    pub sink: Sink,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Message(usize),
    Reasoning(usize),
    Call(usize),
}

/// What the server said about the whole response.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub response_id: Option<String>,
    pub model: Option<String>,
    pub usage: Option<Usage>,
    pub gateway: Option<Gateway>,
}

impl Assembler {
    pub(super) fn new(options: StreamOptions) -> Self {
        Self {
            trace: options.trace,
            messages: Messages::default(),
            reasoning: Reasoning::default(),
            calls: Calls::new(options.tool_names, options.plain_call_ids),
            images: Images::default(),
            counted: (0, 0),
            order: Vec::new(),
            tracked: [0; 3],
            last_sequence: None,
            sequence_noted: false,
            half: None,
            about: About::default(),
            verdict: None,
            sink: Sink::new(options.limits),
        }
    }

    /// Handles one frame. After the verdict, frames are ignored.
    pub(super) fn handle(&mut self, frame: Frame<'_>) {
        if self.verdict.is_some() {
            return;
        }
        match frame {
            Frame::Event(decoded) => self.handle_event(decoded),
            Frame::Done => self.verdict = Some(Verdict::CutOff("done_marker")),
            Frame::Note(note) => self.handle_unreadable(note),
            Frame::TooLarge => {
                let max = self.sink.limits.max_event_bytes;
                self.verdict = Some(Verdict::TooLarge(Message::new(MessageCode::EventNeedsMemory, [&max])));
            }
        }
        let items = self.messages.len() + self.reasoning.len() + self.calls.len() + self.images.len();
        if items != self.counted.0 {
            self.count_items(items);
        }
        if self.sink.over_limit.is_some() {
            self.verdict = self.sink.over_limit.take().map(Verdict::TooLarge);
        }
    }

    #[inline(never)]
    fn count_items(&mut self, items: usize) {
        let bytes = self.messages.bytes() + self.reasoning.bytes() + self.calls.bytes();
        self.sink.retain(bytes - self.counted.1);
        self.counted = (items, bytes);
        self.track_order();
        if items > self.sink.limits.max_items {
            self.sink.over_limit(MessageCode::TooManyItems, self.sink.limits.max_items);
        }
    }

    /// Adds the items that are new to the order.
    fn track_order(&mut self) {
        let [messages, reasoning, calls] = self.tracked;
        self.tracked = [self.messages.len(), self.reasoning.len(), self.calls.len()];
        self.order.extend((messages..self.messages.len()).map(Slot::Message));
        self.order.extend((reasoning..self.reasoning.len()).map(Slot::Reasoning));
        self.order.extend((calls..self.calls.len()).map(Slot::Call));
    }

    /// A frame that can't be read may have been a piece of a call.
    #[inline(never)]
    fn handle_unreadable(&mut self, note: Note) {
        self.calls.doubt_open_calls();
        self.sink.note(note.kind, note.detail);
    }

    /// A verdict from before the oversized event still counts.
    #[inline(never)]
    pub(super) fn give_up(&mut self, error: EventTooLarge) {
        self.verdict.get_or_insert(Verdict::TooLarge(error.into()));
    }

    fn handle_event(&mut self, decoded: Decoded<'_>) {
        if self.trace {
            self.sink.note(NoteKind::Event, protocol_word(&decoded.name));
        }
        if decoded.names_differ {
            self.sink.note(NoteKind::TypeMismatch, protocol_word(&decoded.name));
        }
        self.check_sequence(decoded.sequence_number);
        let sink = &mut self.sink;
        match decoded.event {
            StreamEvent::Delta { at, channel, index, delta } => match channel {
                Channel::Text | Channel::Refusal => self.messages.delta(&at, PartKey { channel, index }, delta, sink),
                Channel::Reasoning | Channel::Summary => {
                    self.reasoning.delta(&at, PartKey { channel, index }, delta, sink);
                }
                Channel::Arguments => self.calls.delta(&at, &delta, sink),
            },
            event => self.handle_other(event, &decoded.name),
        }
    }

    /// Handles every event except deltas.
    #[inline(never)]
    fn handle_other(&mut self, event: StreamEvent<'_>, name: &str) {
        let sink = &mut self.sink;
        let response_id = self.about.response_id.as_deref();
        match event {
            StreamEvent::Done { at, channel, index, whole } => match channel {
                Channel::Text | Channel::Refusal => {
                    self.messages.part_done(&at, PartKey { channel, index }, &whole, sink);
                }
                Channel::Reasoning | Channel::Summary => {
                    self.reasoning.part_done(&at, PartKey { channel, index }, &whole, sink);
                }
                Channel::Arguments => self.calls.arguments_done(&at, &whole, response_id, sink),
            },
            StreamEvent::ContentPartDone { at, content_index, part } => {
                self.handle_content_part(&at, content_index, &part);
            }
            StreamEvent::AnnotationAdded { at, annotation } => self.messages.annotate(&at, &annotation, sink),

            StreamEvent::ItemAdded { at, item } => self.item_added(&at, &item),
            StreamEvent::ItemDone { at, item } => self.item_done(&at, *item),

            StreamEvent::Started(mut response) => {
                // Some servers begin with zeros. They mean that nothing was counted yet.
                let counts = |usage: &Usage| [usage.input_tokens, usage.output_tokens, usage.total_tokens];
                response.usage = response.usage.filter(|usage| counts(usage).into_iter().flatten().any(|n| n > 0));
                self.about.learn(*response);
            }
            StreamEvent::Completed(response) => self.completed(*response),
            StreamEvent::Incomplete(response) => self.incomplete(*response),
            StreamEvent::Failed(response) => {
                self.failed(&response.error);
                self.about.learn(*response);
            }
            StreamEvent::Error(error) => self.failed(&error),
            StreamEvent::Silent | StreamEvent::Delta { .. } => {}
            StreamEvent::Unknown => sink.note(NoteKind::UnknownEvent, protocol_word(name)),
        }
    }

    /// Numbers that repeat or skip matter only for bug reports; some servers send none at all.
    fn check_sequence(&mut self, number: Option<u64>) {
        let Some(number) = number else { return };
        let expected = self.last_sequence.map(|last| last.saturating_add(1));
        if expected.is_some_and(|expected| expected != number) && !self.sequence_noted {
            self.sequence_noted = true;
            self.sink.note(NoteKind::Sequence, number.to_string());
        }
        self.last_sequence = Some(number);
    }

    fn handle_content_part(&mut self, at: &Address<'_>, index: Option<u64>, part: &ContentPart<'_>) {
        let text = part.text.as_deref().unwrap_or_default();
        let is_reasoning = match part.kind.as_deref() {
            Some(kind) => kind == "reasoning_text",
            // The type was lost, but the item that it belongs to determines it.
            None => self.reasoning.knows(at) && !self.messages.knows(at),
        };
        match (part.kind.as_deref(), text_of(part)) {
            _ if is_reasoning => {
                self.reasoning.part_done(at, PartKey { channel: Channel::Reasoning, index }, text, &mut self.sink);
            }
            (_, Some((channel, text))) => {
                self.messages.part_done(at, PartKey { channel, index }, text, &mut self.sink);
                for annotation in &part.annotations {
                    self.messages.annotate(at, annotation, &mut self.sink);
                }
            }
            (kind, None) => self.sink.note(NoteKind::IgnoredContent, protocol_word(kind.unwrap_or_default())),
        }
    }

    fn item_added(&mut self, at: &Address<'_>, item: &Item<'_>) {
        let at = &item_address(at, item);
        match item.kind() {
            ItemKind::Message => self.messages.added(at, item),
            ItemKind::Reasoning => self.reasoning.added(at),
            ItemKind::FunctionCall => self.calls.added(at, item, &mut self.sink),
            // There is only one note, when the item is done.
            ItemKind::ImageGenerationCall | ItemKind::Other(_) => {}
        }
    }

    fn item_done(&mut self, at: &Address<'_>, mut item: Item<'_>) {
        let at = &item_address(at, &item);
        let result = item.result.take();
        let (item, sink) = (&item, &mut self.sink);
        match item.kind() {
            ItemKind::Message => self.messages.done(at, item, sink),
            ItemKind::Reasoning => self.reasoning.done(at, item, sink),
            ItemKind::FunctionCall => self.calls.done(at, item, self.about.response_id.as_deref(), sink),
            ItemKind::ImageGenerationCall => self.images.handle_done(result, item.output_format.as_deref(), sink),
            ItemKind::Other(kind) => sink.note(NoteKind::IgnoredItem, protocol_word(kind)),
        }
    }

    fn completed(&mut self, mut response: Response<'_>) {
        // An error explains why there is no answer. If there is one, the status counts.
        if !response.error.is_empty() && response.output.is_empty() && !self.sink.gave_part {
            self.failed(&response.error);
            return self.about.learn(response);
        }
        let output = mem::take(&mut response.output);
        self.about.learn(response);
        self.settle(output, true);
        let failure = self.calls.complete_all(self.about.response_id.as_deref(), &mut self.sink);
        self.close();
        self.verdict = Some(failure.map_or(Verdict::Completed, Verdict::Failed));
    }

    fn incomplete(&mut self, mut response: Response<'_>) {
        let output = mem::take(&mut response.output);
        let reason = response.incomplete_reason.as_deref().map(protocol_word);
        self.about.learn(response);
        self.settle(output, false);
        self.calls.drop_all(self.about.response_id.as_deref(), &mut self.sink);
        self.close();
        self.verdict = Some(Verdict::Incomplete(reason));
    }

    fn failed(&mut self, error: &ErrorField<'_>) {
        self.calls.drop_all(self.about.response_id.as_deref(), &mut self.sink);
        self.verdict = Some(Verdict::failed(error));
    }

    /// Compares the final output with what was streamed, and delivers what is missing, in the output's order.
    fn settle(&mut self, output: Vec<Item<'_>>, completed: bool) {
        let pairings = self.pair_with_final(&output);
        // One event can contain more items than an answer may have, which must be known before any of them is
        // delivered.
        let is_new = |(item, pairing): (&Item<'_>, &Pairing)| {
            *pairing == Pairing::New && !matches!(item.kind(), ItemKind::Other(_))
        };
        let new = output.iter().zip(&pairings).filter(|pair| is_new(*pair)).count();
        if self.counted.0 + new > self.sink.limits.max_items {
            self.sink.over_limit(MessageCode::TooManyItems, self.sink.limits.max_items);
            return;
        }
        for (mut item, pairing) in output.into_iter().zip(pairings) {
            let result = item.result.take();
            let (item, sink) = (&item, &mut self.sink);
            match item.kind() {
                ItemKind::Message => self.messages.settle_final(pairing, item, sink),
                ItemKind::Reasoning => self.reasoning.settle_final(pairing, item, sink),
                ItemKind::FunctionCall => {
                    let response_id = self.about.response_id.as_deref();
                    self.calls.settle_final(pairing, item, completed, response_id, sink);
                }
                ItemKind::ImageGenerationCall => self.images.handle_done(result, item.output_format.as_deref(), sink),
                ItemKind::Other(_) => {}
            }
            self.track_order();
            if self.sink.over_limit.is_some() {
                return;
            }
        }
    }

    /// How each item of the final output relates to what was streamed.
    fn pair_with_final(&self, output: &[Item<'_>]) -> Vec<Pairing> {
        let mut pairings = vec![Pairing::New; output.len()];
        if self.messages.len() > 0 {
            self.messages.pair_with_final(output, &mut pairings);
        }
        if self.reasoning.len() > 0 {
            self.reasoning.pair_with_final(output, &mut pairings);
        }
        if self.calls.len() > 0 {
            self.calls.pair_with_final(output, &mut pairings);
        }
        pairings
    }

    /// The server has ended the answer.
    fn close(&mut self) {
        self.messages.close_all(&mut self.sink);
        self.give_replay();
    }

    /// The answer is over, perhaps because it was cancelled or broke off.
    pub(super) fn finish(&mut self) {
        // An attempt that has shown nothing is repeated.
        if self.sink.gave_answer && self.sink.over_limit.is_none() {
            self.give_replay();
        }
        self.sink.sum_up_notes();
    }

    /// VS Code keeps only the metadata of the last thinking part, so one empty part contains what the server needs back of
    /// the whole answer. There is none if it was given before.
    fn give_replay(&mut self) {
        self.track_order();
        let mut order = mem::take(&mut self.order);
        let index = |slot: &Slot| match *slot {
            Slot::Message(slot) => self.messages.output_index(slot),
            Slot::Reasoning(slot) => self.reasoning.output_index(slot),
            Slot::Call(slot) => self.calls.output_index(slot),
        };
        let indexes: Option<Vec<u64>> = order.iter().map(index).collect();
        if let Some(indexes) = indexes.filter(|indexes| !indexes.is_sorted()) {
            order = sorted_by(&indexes, &order);
        }
        let item = |slot| match slot {
            Slot::Message(slot) => self.messages.replay(slot).map(ReplayItem::Message),
            Slot::Reasoning(slot) => self.reasoning.replay(slot).map(ReplayItem::Reasoning),
            Slot::Call(slot) => self.calls.reported_id(slot).map(|id| ReplayItem::Call(id.to_owned())),
        };
        let items = order.into_iter().filter_map(item).collect();
        let replay = ThinkingReplay { model: self.about.model.clone(), origin: None, items };
        if replay.is_useful() {
            let id = self.reasoning.last_block();
            self.sink.part(Part::Thinking { value: String::new(), id, replay: Some(replay) });
        }
    }

    /// Returns whether the server has begun a call and not finished it.
    pub(super) fn has_open_call(&self) -> bool {
        self.calls.any_open()
    }
}

impl About {
    /// Every life-cycle event repeats these; the newest one that isn't empty counts.
    fn learn(&mut self, response: Response<'_>) {
        if let Some(usage) = response.usage {
            self.usage = Some(usage);
        }
        if let Some(metadata) = response.metadata {
            self.learn_gateway(metadata);
        }
        self.name(response.id.as_deref(), response.model.as_deref());
    }

    #[inline(never)]
    fn learn_gateway(&mut self, metadata: Value) {
        self.gateway = Some(Gateway::from_metadata(metadata));
    }

    /// Stores the response's id and its model's name, unless they are empty. An id that is too long is ignored, because
    /// part of it would be useless.
    pub(crate) fn name(&mut self, id: Option<&str>, model: Option<&str>) {
        const MAX_ID_BYTES: usize = 1024;
        const MAX_MODEL_CHARS: usize = 200;
        if let Some(id) = id.filter(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES) {
            self.response_id = Some(plain_line(id, MAX_ID_BYTES));
        }
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            self.model = Some(plain_line(model, MAX_MODEL_CHARS));
        }
    }
}

/// Returns the slots in the order of their indexes.
#[inline(never)]
fn sorted_by(indexes: &[u64], slots: &[Slot]) -> Vec<Slot> {
    // A set that already exists in this module sorts them: a sort of its own would make the module two per cent larger.
    let mut sorted = BTreeSet::new();
    sorted.extend(indexes.iter().copied().zip(0..));
    sorted.into_iter().filter_map(|(_, position)| slots.get::<usize>(position).copied()).collect()
}

/// Item events have the id inside the item.
fn item_address<'a>(at: &Address<'a>, item: &Item<'a>) -> Address<'a> {
    let id = item.id.clone().filter(|id| !id.is_empty());
    Address { output_index: at.output_index, item_id: id.or_else(|| at.item_id.clone()) }
}

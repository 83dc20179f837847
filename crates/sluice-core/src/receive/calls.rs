//! Tool calls: gathered from up to three places, reported exactly once, whole, and never truncated.
//!
//! ```text
//! output_item.added ──► name, call id
//! arguments.delta ────► buffer
//! arguments.done ─────► report, if all is known and the text is a complete JSON object
//! output_item.done ───► report, unless its status says the model was cut off
//! response.completed ─► report what is still open; what cannot be reported fails the answer by the tool's name
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use serde_json::Value;

use super::assemble::Sink;
use super::decode::protocol_word;
use super::items::{Items, Pairing};
use crate::boundary::{Failure, NoteKind, Part};
use crate::call_id;
use crate::send::ToolNames;
use crate::wire::{Address, Item};

#[derive(Clone, Debug, Default)]
struct Call {
    /// The server's own.
    id: Option<String>,
    name: Option<String>,
    /// Arguments as each place gave them; which one counts is decided when the call is complete.
    from_item: Option<String>,
    from_done: Option<String>,
    from_deltas: String,
    /// A piece that may have belonged to the deltas was lost.
    deltas_doubtful: bool,
    from_added: Option<String>,
    /// The server said that this call is finished.
    finished: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// Reported, or recognised as one that was.
    Settled,
    /// The server ended it as incomplete.
    GivenUp,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    items: Items<Call>,
    by_call_id: BTreeMap<String, Vec<usize>>,
    vscode_ids: BTreeSet<String>,
    /// What was reported under each of the server's ids.
    reported: BTreeMap<String, Vec<(String, String)>>,
    tool_names: ToolNames,
    plain_ids: bool,
}

#[derive(Clone, Copy, Debug)]
enum Evidence {
    Id,
    PlaceAndCallId,
    CallId,
    Place,
}

/// What the arguments of a call amount to.
enum Arguments {
    Object(String),
    /// Nothing was ever said about them.
    Unknown,
    Unusable,
}

impl Calls {
    pub fn new(tool_names: ToolNames, plain_ids: bool) -> Self {
        Self { tool_names, plain_ids, ..Self::default() }
    }

    #[inline(never)]
    pub fn added(&mut self, at: &Address<'_>, item: &Item<'_>) {
        let known = self.items.find_named(at).filter(|slot| may_be(&self.items, *slot, item));
        let slot = known.unwrap_or_else(|| self.items.open(at));
        self.learn(slot, item);
        if let Some(call) = self.items.get_mut(slot) {
            call.value.from_added = non_blank(item.arguments.as_deref());
        }
    }

    #[inline(never)]
    pub fn delta(&mut self, at: &Address<'_>, delta: &str, sink: &mut Sink) {
        let Some(slot) = self.slot_for_arguments(at, sink) else { return };
        if let Some(call) = self.items.get_mut(slot) {
            sink.retain_text(delta);
            call.value.from_deltas.push_str(delta);
        }
    }

    #[inline(never)]
    pub fn arguments_done(&mut self, at: &Address<'_>, arguments: &str, response_id: Option<&str>, sink: &mut Sink) {
        let Some(slot) = self.slot_for_arguments(at, sink) else { return };
        let Some(call) = self.items.get_mut(slot).map(|entry| &mut entry.value) else { return };
        call.finished = true;
        if let Some(arguments) = non_blank(Some(arguments)) {
            sink.retain_text(&arguments);
            call.from_done = Some(arguments);
        }
        // An empty text may be a call without arguments or one that was cut off: the item's status will tell.
        let streamed = Some(call.from_deltas.as_str()).filter(|_| !call.deltas_doubtful);
        let text = call.from_done.as_deref().or(streamed);
        if call.id.is_some() && call.name.is_some() && text.is_some_and(is_object) {
            self.report_if_complete(slot, response_id, sink);
        }
    }

    #[inline(never)]
    pub fn done(&mut self, at: &Address<'_>, item: &Item<'_>, response_id: Option<&str>, sink: &mut Sink) {
        let named = self.items.find_named(at).filter(|slot| may_be(&self.items, *slot, item));
        let by_call_id = || self.with_call_id(item.call_id.as_deref()?, at.output_index);
        let only_open = || self.items.find(at).filter(|slot| may_be(&self.items, *slot, item));
        let slot = named.or_else(by_call_id).or_else(only_open).unwrap_or_else(|| self.items.open(at));
        self.finish(slot, item, response_id, sink);
    }

    /// Calls have an id, a call id and a place. Two calls with the same call id are told apart by the other two.
    pub fn pair_with_final(&mut self, output: &[Item<'_>]) -> Vec<Pairing> {
        let by_call_id = &self.by_call_id;
        let evidence = [Evidence::Id, Evidence::PlaceAndCallId, Evidence::CallId, Evidence::Place];
        self.items.pair_with_final(output, "function_call", &evidence, |items, evidence, item, place| {
            let fits = |slot: &usize| may_be(items, *slot, item);
            let same_call_id = || by_call_id.get(item.call_id.as_deref()?);
            match evidence {
                Evidence::Id => items.unpaired_with_id(item.id.as_deref()).filter(fits),
                Evidence::PlaceAndCallId => {
                    items.unpaired_at(place).filter(|slot| same_call_id().is_some_and(|same| same.contains(slot)))
                }
                Evidence::CallId => same_call_id()?.iter().copied().find(|slot| items.is_unpaired(*slot)),
                Evidence::Place => items.unpaired_at(place).filter(fits),
            }
        })
    }

    #[inline(never)]
    pub fn settle_final(
        &mut self,
        pair: Pairing,
        item: &Item<'_>,
        completed: bool,
        response_id: Option<&str>,
        sink: &mut Sink,
    ) {
        // An answer that was cut off vouches only for the calls it calls complete.
        if completed || item.status.as_deref() == Some("completed") {
            let slot = self.items.paired(pair);
            self.finish(slot, item, response_id, sink);
        }
    }

    /// Something was lost that may have been a piece of any open call's arguments. What is left can still be valid JSON:
    /// `{"path":"/` and `"}`, without `tmp/x` between them.
    pub fn doubt_open_calls(&mut self) {
        for slot in self.items.open_slots() {
            if let Some(call) = self.items.get_mut(slot) {
                call.value.deltas_doubtful = true;
            }
        }
    }

    /// The answer completed: every call must be reported by now, or the reader must hear of it.
    #[inline(never)]
    pub fn complete_all(&mut self, response_id: Option<&str>, sink: &mut Sink) -> Option<Failure> {
        let mut failure = None;
        for slot in 0..self.items.len() {
            self.report_if_complete(slot, response_id, sink);
            let Some(call) = self.items.get(slot).map(|entry| &entry.value) else { continue };
            // Gateways announce a call a second time, under another item id, and leave it at that.
            let announced_again = call.id.as_ref().is_some_and(|id| self.reported.contains_key(id));
            let reason = match (call.state, call.arguments()) {
                (State::Settled, _) => continue,
                (State::Open, Arguments::Unknown) if announced_again => continue,
                (State::GivenUp, _) | (State::Open, Arguments::Unknown) => "was not finished",
                (State::Open, Arguments::Unusable) => "has arguments that are not a JSON object",
                (State::Open, Arguments::Object(_)) => "has no tool name",
            };
            failure.get_or_insert_with(|| Failure::tool_call(call.name.as_deref(), reason));
        }
        failure
    }

    /// The answer was cut off, and with it the calls that are still open.
    #[inline(never)]
    pub fn drop_all(&mut self, sink: &mut Sink) {
        for entry in self.items.iter().filter(|entry| entry.value.state == State::Open) {
            sink.note(NoteKind::DroppedCall, protocol_word(entry.value.name.as_deref().unwrap_or_default()));
        }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// The newest call with this id, unless both have an index and these differ: then the server reused the id.
    fn with_call_id(&self, call_id: &str, output_index: Option<u64>) -> Option<usize> {
        let slot = *self.by_call_id.get(call_id)?.last()?;
        match (self.items.get(slot)?.output_index, output_index) {
            (Some(known), Some(index)) if known != index => None,
            _ => Some(slot),
        }
    }

    /// Argument events name no call, though some servers put the call id in the item id's place. If several calls may
    /// be meant, the item's `done` event will bring the arguments again; guessing could run a tool with another one's
    /// input.
    fn slot_for_arguments(&mut self, at: &Address<'_>, sink: &mut Sink) -> Option<usize> {
        let by_call_id = || self.with_call_id(at.item_id.as_deref()?, at.output_index);
        if let Some(slot) = self.items.find_named(at).or_else(by_call_id).or_else(|| self.items.find(at)) {
            return Some(slot);
        }
        if self.items.candidates(at).next().is_some() {
            sink.note(NoteKind::OrphanArguments, "function_call");
            self.doubt_open_calls();
            return None;
        }
        Some(self.items.open(at))
    }

    /// Takes over what an item says about its call; a later event knows better than an earlier one.
    fn learn(&mut self, slot: usize, item: &Item<'_>) {
        let Some(call) = self.items.get_mut(slot).map(|entry| &mut entry.value) else { return };
        if call.state == State::Settled {
            return;
        }
        if let Some(name) = item.name.as_deref().filter(|name| !name.is_empty()) {
            call.name = Some(name.to_owned());
        }
        if let Some(call_id) = item.call_id.as_deref().filter(|call_id| !call_id.is_empty())
            && call.id.is_none()
        {
            call.id = Some(call_id.to_owned());
            self.by_call_id.entry(call_id.to_owned()).or_default().push(slot);
        }
    }

    fn finish(&mut self, slot: usize, item: &Item<'_>, response_id: Option<&str>, sink: &mut Sink) {
        self.learn(slot, item);
        self.items.close(slot);
        let Some(call) = self.items.get_mut(slot).map(|entry| &mut entry.value) else { return };
        if call.state != State::Open {
            return;
        }
        if item.status.as_deref() == Some("incomplete") {
            call.state = State::GivenUp;
            sink.note(NoteKind::DroppedCall, protocol_word(call.name.as_deref().unwrap_or_default()));
            return;
        }
        call.finished = true;
        if let Some(arguments) = non_blank(item.arguments.as_deref()) {
            sink.retain_text(&arguments);
            call.from_item = Some(arguments);
        }
        self.report_if_complete(slot, response_id, sink);
    }

    fn report_if_complete(&mut self, slot: usize, response_id: Option<&str>, sink: &mut Sink) {
        let Some(entry) = self.items.get_mut(slot) else { return };
        let call = &mut entry.value;
        let (State::Open, Some(name), Arguments::Object(input_json)) = (call.state, &call.name, call.arguments())
        else {
            return;
        };
        let name = name.clone();
        call.state = State::Settled;
        // A server that names no call still needs the result to find its call: the item's id, or its place.
        let server_id = call
            .id
            .clone()
            .unwrap_or_else(|| entry.id.clone().unwrap_or_else(|| format!("{}_{slot}", response_id.unwrap_or("call"))));
        call.release();

        let same_id = self.reported.entry(server_id.clone()).or_default();
        if same_id.iter().any(|(other, input)| *other == name && same_json(input, &input_json)) {
            sink.note(NoteKind::RepeatedCall, protocol_word(&name));
            return;
        }
        same_id.push((name.clone(), input_json.clone()));
        let call_id = call_id::to_vscode(&server_id, self.plain_ids, &mut self.vscode_ids);
        let name = self.tool_names.from_server(&name).map_or(name.clone(), str::to_owned);
        sink.part(Part::ToolCall { call_id, name, input_json });
    }
}

impl Call {
    /// The first usable text counts, the most authoritative first. No text at all is a call without arguments, if
    /// the server said that the call is finished.
    fn arguments(&self) -> Arguments {
        let streamed = Some(self.from_deltas.as_str()).filter(|_| !self.deltas_doubtful);
        let texts = [self.from_item.as_deref(), self.from_done.as_deref(), streamed, self.from_added.as_deref()];
        let mut texts = texts.into_iter().flatten().filter(|text| !text.trim().is_empty()).peekable();
        if texts.peek().is_none() {
            return match (self.deltas_doubtful, self.finished) {
                (true, _) => Arguments::Unusable,
                (false, true) => Arguments::Object("{}".to_owned()),
                (false, false) => Arguments::Unknown,
            };
        }
        texts.find(|text| is_object(text)).map_or(Arguments::Unusable, |text| Arguments::Object(text.trim().to_owned()))
    }

    fn release(&mut self) {
        self.from_item = None;
        self.from_done = None;
        self.from_deltas = String::new();
        self.from_added = None;
    }
}

/// Whether the item can be this call: two different call ids are two calls, whatever the index says.
fn may_be(items: &Items<Call>, slot: usize, item: &Item<'_>) -> bool {
    let known = items.get(slot).and_then(|entry| entry.value.id.as_deref());
    match (known, item.call_id.as_deref()) {
        (Some(known), Some(call_id)) => known == call_id || call_id.is_empty(),
        _ => true,
    }
}

fn non_blank(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The same call may be spelled with other spaces or another order of keys the second time.
pub(crate) fn same_json(a: &str, b: &str) -> bool {
    let parse = |text| serde_json::from_str::<Value>(text).ok();
    a == b || parse(a).is_some_and(|value| Some(value) == parse(b))
}

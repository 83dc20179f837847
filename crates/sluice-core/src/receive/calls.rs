//! Tool calls: gathered from up to three places and reported exactly once, complete, never truncated.
//!
//! ```text
//! output_item.added ──► name, call id
//! arguments.delta ────► buffer
//! arguments.done ─────► report, if all is known and the text is a complete JSON object
//! output_item.done ───► report, unless its status is incomplete: then the call is truncated
//! response.completed ─► report what is still open; if that is impossible, the answer fails and names the tool
//! ```
//!
//! A complete call waits in two cases: until an earlier call is settled, so that calls are reported in the order of the
//! output; and until the end of the answer if it has no arguments, because the answer may have been cut off before them.

use std::collections::{BTreeMap, BTreeSet};

use super::arguments::{ArgumentsText, Object};
use super::decode::protocol_word;
use super::items::{Items, Pairing};
use super::sink::Sink;
use crate::boundary::{Failure, NoteKind, Part};
use crate::call_id::{self, Taken};
use crate::message::MessageCode;
use crate::send::ToolNames;
use crate::wire::{Address, Item, ItemKind};

#[derive(Clone, Debug, Default)]
struct Call {
    /// The server's own id.
    id: Option<String>,
    name: Option<String>,
    /// The arguments from each source; which one counts is decided when the call is complete.
    from_item: ArgumentsText,
    from_done: ArgumentsText,
    from_deltas: ArgumentsText,
    from_added: ArgumentsText,
    /// The value of [`Calls::losses`] when the call was opened, and when it was closed.
    losses_before: u64,
    losses_at_end: Option<u64>,
    /// Whether the server said that this call is finished.
    finished: bool,
    state: State,
    /// The id under which the call was reported.
    reported_id: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// The call was reported, or recognized as a repetition.
    Settled,
    /// The server ended the call as incomplete.
    GivenUp,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    items: Items<Call>,
    by_call_id: BTreeMap<String, Vec<usize>>,
    /// The calls that have an index and are neither reported nor given up, as pairs of index and slot.
    unsettled: BTreeSet<(u64, usize)>,
    /// Those of them that are complete but wait until an earlier one is reported.
    waiting: BTreeSet<(u64, usize)>,
    vscode_ids: Taken,
    /// The calls that were reported under each of the server's ids, by [`Object::hash_of_call`].
    reported: BTreeMap<String, BTreeSet<u64>>,
    /// How often something was lost that may have been a piece of an open call's arguments.
    losses: u64,
    tool_names: ToolNames,
    plain_ids: bool,
}

/// The maximum length of a tool's name. A longer name is truncated. No tool has such a long name, so the call fails either way.
const MAX_NAME_CHARS: usize = 256;

#[derive(Clone, Copy, Debug)]
enum Evidence {
    Id,
    IndexAndCallId,
    CallId,
    Index,
}

/// The arguments of a call.
enum Arguments<'a> {
    Object(&'a mut ArgumentsText),
    /// The call has no arguments.
    Empty,
    /// No event has mentioned them.
    Unknown,
    Unusable,
}

/// How to understand a finished call whose arguments are an empty text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blank {
    /// The call may be truncated.
    MayBeCutOff,
    /// The answer is complete, so the call has no arguments.
    MeansNoArguments,
}

impl Calls {
    pub(super) fn new(tool_names: ToolNames, plain_ids: bool) -> Self {
        Self { tool_names, plain_ids, ..Self::default() }
    }

    #[inline(never)]
    pub(super) fn added(&mut self, at: &Address<'_>, item: &Item<'_>, sink: &mut Sink) {
        let known = self.items.find_named(at).filter(|slot| may_be(&self.items, *slot, item));
        let slot = known.unwrap_or_else(|| self.open(at));
        self.learn(slot, item, sink);
        if let Some(call) = self.items.get_mut(slot).filter(|entry| entry.value.state == State::Open) {
            call.value.from_added.replace_counted(item.arguments.as_deref(), sink);
        }
    }

    #[inline(never)]
    pub(super) fn delta(&mut self, at: &Address<'_>, delta: &str, sink: &mut Sink) {
        let Some(slot) = self.slot_for_arguments(at, sink) else { return };
        if let Some(call) = self.items.get_mut(slot).filter(|entry| entry.value.state == State::Open) {
            sink.retain_waiting(call.value.from_deltas.push(delta));
        }
    }

    #[inline(never)]
    pub(super) fn arguments_done(
        &mut self,
        at: &Address<'_>,
        arguments: &str,
        response_id: Option<&str>,
        sink: &mut Sink,
    ) {
        let Some(slot) = self.slot_for_arguments(at, sink) else { return };
        let Some(call) = self.items.get_mut(slot).map(|entry| &mut entry.value) else { return };
        if call.state != State::Open {
            return;
        }
        call.finished = true;
        call.from_done.replace_counted(Some(arguments), sink);
        // An empty text may be a call without arguments or a truncated one. The item's status will decide.
        let is_object = match (call.from_done.is_blank(), call.is_doubtful(self.losses)) {
            (false, _) => call.from_done.is_object(),
            (true, false) => call.from_deltas.is_object(),
            (true, true) => false,
        };
        if call.id.is_some() && call.name.is_some() && is_object {
            self.report_if_complete(slot, response_id, sink);
        }
    }

    #[inline(never)]
    pub(super) fn done(&mut self, at: &Address<'_>, item: &Item<'_>, response_id: Option<&str>, sink: &mut Sink) {
        // Some gateways give several calls the same ids. Another index and another name then mean another call.
        let is_other = |slot: usize| {
            self.items.get(slot).is_some_and(|entry| {
                let differs = |known: Option<&str>, name: Option<&str>| known.zip(name).is_some_and(|(a, b)| a != b);
                entry.output_index.zip(at.output_index).is_some_and(|(known, index)| known != index)
                    && differs(entry.value.name.as_deref(), item.name.as_deref())
            })
        };
        let fits = |slot: &usize| may_be(&self.items, *slot, item) && !is_other(*slot);
        let named = self.items.find_named(at).filter(&fits);
        let by_call_id = || self.with_call_id(item.call_id.as_deref()?, at.output_index);
        let only_open = || self.items.find(at).filter(&fits);
        let slot = named.or_else(by_call_id).or_else(only_open);
        let slot = slot.unwrap_or_else(|| self.open(at));
        self.finish(slot, item, response_id, sink);
    }

    /// Calls have an id, a call id and an index. Two calls with the same call id are told apart by the other two.
    #[inline(never)]
    pub(super) fn pair_with_final(&self, output: &[Item<'_>], pairings: &mut [Pairing]) {
        let call_id_of = |slot: usize| self.items.get(slot).and_then(|entry| entry.value.id.as_deref());
        // For each call id, how many of the first calls with it are paired.
        let mut paired: BTreeMap<&str, usize> = BTreeMap::new();
        let evidence = [Evidence::Id, Evidence::IndexAndCallId, Evidence::CallId, Evidence::Index];
        self.items.pair_with_final(
            output,
            pairings,
            ItemKind::FunctionCall,
            &evidence,
            |unpaired, evidence, item, output_index| {
                let fits = |slot: &usize| may_be(&self.items, *slot, item);
                let call_id = item.call_id.as_deref().filter(|call_id| !call_id.is_empty());
                match evidence {
                    Evidence::Id => unpaired.with_id(item.id.as_deref()).filter(fits),
                    Evidence::IndexAndCallId => {
                        unpaired.at(output_index).filter(|slot| call_id.is_some() && call_id_of(*slot) == call_id)
                    }
                    Evidence::CallId => {
                        let (known, same) = self.by_call_id.get_key_value(call_id?)?;
                        let paired = paired.entry(known).or_default();
                        let rest = same.get(*paired..)?;
                        let found = rest.iter().position(|slot| unpaired.contains(*slot));
                        *paired += found.map_or(rest.len(), |found| found + 1);
                        rest.get(found?).copied()
                    }
                    Evidence::Index => unpaired.at(output_index).filter(fits),
                }
            },
        );
    }

    #[inline(never)]
    pub(super) fn settle_final(
        &mut self,
        pair: Pairing,
        item: &Item<'_>,
        completed: bool,
        response_id: Option<&str>,
        sink: &mut Sink,
    ) {
        // In an answer that was cut off, only calls with the status `completed` count.
        if completed || item.status.as_deref() == Some("completed") {
            let slot = match pair {
                Pairing::Streamed(slot) => slot,
                Pairing::New => self.open(&Address::default()),
            };
            self.finish(slot, item, response_id, sink);
        }
    }

    /// Something was lost that may have been a piece of an open call's arguments. What remains can still be valid JSON:
    /// `{"path":"/` and `"}`, without `tmp/x` between them.
    pub(super) fn doubt_open_calls(&mut self) {
        self.losses += 1;
    }

    /// The answer is complete: every call must be reported now, or the answer must fail.
    #[inline(never)]
    pub(super) fn complete_all(&mut self, response_id: Option<&str>, sink: &mut Sink) -> Option<Failure> {
        for slot in 0..self.items.len() {
            if let Some(call) = self.items.get_mut(slot).map(|entry| &mut entry.value) {
                call.texts().into_iter().for_each(ArgumentsText::allow_last_look);
            }
            self.report(slot, Blank::MeansNoArguments, response_id, sink);
        }
        let mut failure = None;
        for entry in self.items.iter_mut() {
            let call = &mut entry.value;
            // Some gateways announce a call again under another item id and never finish it.
            let announced_again = call.id.as_ref().is_some_and(|id| self.reported.contains_key(id));
            let reason = match (call.state, call.arguments(self.losses)) {
                (State::Settled, _) => continue,
                (State::Open, Arguments::Unknown) if announced_again => continue,
                (State::GivenUp, _) | (State::Open, Arguments::Unknown) => MessageCode::ToolCallUnfinished,
                (State::Open, Arguments::Object(_) | Arguments::Empty) => MessageCode::ToolCallWithoutName,
                (State::Open, Arguments::Unusable) => MessageCode::ToolCallNotAnObject,
            };
            // llama.cpp says that an answer is complete even if its limit was reached within a call.
            let is_cut_off =
                reason == MessageCode::ToolCallNotAnObject && call.texts().iter().any(|text| text.ends_early());
            let reason = if is_cut_off { MessageCode::ToolCallCutOff } else { reason };
            failure.get_or_insert_with(|| Failure::tool_call(call.name.as_deref(), reason));
        }
        failure
    }

    /// Handles an answer that was cut off or failed. Calls that are complete and only wait for another one are reported;
    /// those that are still open are dropped.
    #[inline(never)]
    pub(super) fn drop_all(&mut self, response_id: Option<&str>, sink: &mut Sink) {
        while let Some((_, slot)) = self.waiting.pop_first() {
            self.report(slot, Blank::MayBeCutOff, response_id, sink);
        }
        for entry in self.items.iter_mut().filter(|entry| entry.value.state == State::Open) {
            sink.note(NoteKind::DroppedCall, protocol_word(entry.value.name.as_deref().unwrap_or_default()));
        }
    }

    /// Returns the id under which a call was reported.
    pub(super) fn reported_id(&self, slot: usize) -> Option<&str> {
        self.items.get(slot)?.value.reported_id.as_deref()
    }

    pub(super) fn output_index(&self, slot: usize) -> Option<u64> {
        self.items.get(slot)?.output_index
    }

    /// Returns whether the server has begun a call and not finished it.
    pub(super) fn any_open(&self) -> bool {
        self.items.first_open().is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn bytes(&self) -> usize {
        // The memory for the call itself, and for recognizing it after it was reported.
        const OVERHEAD: usize = 640;
        self.items.bytes() + self.items.len() * OVERHEAD
    }

    fn open(&mut self, at: &Address<'_>) -> usize {
        let slot = self.items.open(at);
        if let Some(call) = self.items.get_mut(slot) {
            call.value.losses_before = self.losses;
            self.unsettled.extend(call.output_index.map(|index| (index, slot)));
        }
        slot
    }

    /// Returns the newest call with this id, unless both have an index and these differ, because then the server reused
    /// the id.
    fn with_call_id(&self, call_id: &str, output_index: Option<u64>) -> Option<usize> {
        let slot = *self.by_call_id.get(call_id)?.last()?;
        match (self.items.get(slot)?.output_index, output_index) {
            (Some(known), Some(index)) if known != index => None,
            _ => Some(slot),
        }
    }

    /// Argument events don't name a call, though some servers put the call id in place of the item id. If several calls
    /// are possible, the item's `done` event will repeat the arguments. Guessing could run a tool with another call's
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
        Some(self.open(at))
    }

    /// Stores what an item says about its call. Later events override earlier ones.
    fn learn(&mut self, slot: usize, item: &Item<'_>, sink: &mut Sink) {
        let Some(call) = self.items.get_mut(slot).map(|entry| &mut entry.value) else { return };
        if call.state == State::Settled {
            return;
        }
        if let Some(name) = item.name.as_deref().filter(|name| !name.is_empty()) {
            let before = call.name.replace(name.chars().take(MAX_NAME_CHARS).collect());
            sink.release(before.map_or(0, |name| name.len()));
            sink.retain(call.name.as_ref().map_or(0, String::len));
        }
        if let Some(call_id) = item.call_id.as_deref().filter(|call_id| !call_id.is_empty())
            && call.id.is_none()
        {
            call.id = Some(call_id.to_owned());
            // It is stored here and in the index.
            sink.retain(2 * call_id.len());
            self.by_call_id.entry(call_id.to_owned()).or_default().push(slot);
        }
    }

    fn finish(&mut self, slot: usize, item: &Item<'_>, response_id: Option<&str>, sink: &mut Sink) {
        self.learn(slot, item, sink);
        let was_open = self.items.close(slot);
        let Some(call) = self.items.get_mut(slot).map(|entry| &mut entry.value) else { return };
        if was_open {
            call.losses_at_end = Some(self.losses);
        }
        if call.state != State::Open {
            return;
        }
        if item.status.as_deref() == Some("incomplete") {
            call.state = State::GivenUp;
            sink.note(NoteKind::DroppedCall, protocol_word(call.name.as_deref().unwrap_or_default()));
            return self.report_waiting(slot, response_id, sink);
        }
        call.from_item.replace_counted(item.arguments.as_deref(), sink);
        call.finished |= item.status.as_deref() != Some("in_progress") || !call.from_item.is_blank();
        self.report_if_complete(slot, response_id, sink);
    }

    /// Reports a call unless an earlier one is unsettled, and then the calls that waited for this one.
    fn report_if_complete(&mut self, slot: usize, response_id: Option<&str>, sink: &mut Sink) {
        if let Some(index) = self.items.get(slot).and_then(|entry| entry.output_index)
            && self.unsettled.first().is_some_and(|(first, _)| *first < index)
        {
            self.waiting.insert((index, slot));
            return;
        }
        if self.report(slot, Blank::MayBeCutOff, response_id, sink) {
            self.report_waiting(slot, response_id, sink);
        }
    }

    /// A call was settled. Reports the calls that waited for it.
    fn report_waiting(&mut self, settled: usize, response_id: Option<&str>, sink: &mut Sink) {
        let index = self.items.get(settled).and_then(|entry| entry.output_index);
        self.unsettled.remove(&(index.unwrap_or_default(), settled));
        while let Some(first) = self.waiting.first().copied()
            && self.unsettled.first().is_none_or(|unsettled| *unsettled >= first)
        {
            self.waiting.remove(&first);
            if self.report(first.1, Blank::MayBeCutOff, response_id, sink) {
                self.unsettled.remove(&first);
            }
        }
    }

    /// Reports a call if it is complete. Returns whether it is settled.
    fn report(&mut self, slot: usize, blank: Blank, response_id: Option<&str>, sink: &mut Sink) -> bool {
        let Some(entry) = self.items.get_mut(slot) else { return false };
        let call = &mut entry.value;
        let (State::Open, Some(name)) = (call.state, call.name.clone()) else { return false };
        let kept: usize = call.texts().iter().map(|text| text.work()).sum();
        let input = match call.arguments(self.losses) {
            Arguments::Object(text) => text.take(),
            Arguments::Empty if blank == Blank::MeansNoArguments => Some(Object::empty()),
            Arguments::Empty | Arguments::Unknown | Arguments::Unusable => None,
        };
        let Some(input) = input else { return false };
        call.state = State::Settled;
        for text in call.texts() {
            *text = ArgumentsText::default();
        }
        sink.release_waiting(kept);
        // A server without call ids still needs to recognize the result, so the item's id is used, or its position.
        let server_id = call
            .id
            .clone()
            .unwrap_or_else(|| entry.id.clone().unwrap_or_else(|| format!("{}_{slot}", response_id.unwrap_or("call"))));

        sink.retain(server_id.len());
        let same_id = self.reported.entry(server_id.clone()).or_default();
        if !same_id.insert(input.hash_of_call(&name)) {
            sink.note(NoteKind::RepeatedCall, protocol_word(&name));
            return true;
        }
        let call_id = call_id::to_vscode(&server_id, self.plain_ids, &mut self.vscode_ids);
        let name = self.tool_names.from_server(&name).map_or(name.clone(), str::to_owned);
        if let Some(entry) = self.items.get_mut(slot) {
            entry.value.reported_id = Some(call_id.clone());
        }
        sink.part(Part::ToolCall { call_id, name, input_json: input.json });
        true
    }
}

impl Call {
    /// Returns the arguments from each source, the most authoritative first.
    fn texts(&mut self) -> [&mut ArgumentsText; 4] {
        [&mut self.from_item, &mut self.from_done, &mut self.from_deltas, &mut self.from_added]
    }

    /// Returns whether a piece that may have belonged to the deltas was lost while the call was open.
    fn is_doubtful(&self, losses: u64) -> bool {
        self.losses_at_end.unwrap_or(losses) > self.losses_before
    }

    /// Returns the first usable text, the most authoritative first. No text at all means a call without arguments, if
    /// the server said that the call is finished.
    fn arguments(&mut self, losses: u64) -> Arguments<'_> {
        let (is_doubtful, finished) = (self.is_doubtful(losses), self.finished);
        let [from_item, from_done, from_deltas, from_added] = self.texts();
        let from_deltas = Some(from_deltas).filter(|_| !is_doubtful);
        let texts = [Some(from_item), Some(from_done), from_deltas, Some(from_added)];
        let mut texts = texts.into_iter().flatten().filter(|text| !text.is_blank()).peekable();
        if texts.peek().is_none() {
            return match (is_doubtful, finished) {
                (true, _) => Arguments::Unusable,
                (false, true) => Arguments::Empty,
                (false, false) => Arguments::Unknown,
            };
        }
        texts.find_map(|text| text.is_object().then_some(text)).map_or(Arguments::Unusable, Arguments::Object)
    }
}

impl ArgumentsText {
    fn replace_counted(&mut self, whole: Option<&str>, sink: &mut Sink) {
        let (came, went) = self.replace(whole.unwrap_or_default());
        sink.release_waiting(went);
        sink.retain_waiting(came);
    }
}

/// Returns whether the item can be this call. Two different call ids are two calls, whatever the index says.
fn may_be(items: &Items<Call>, slot: usize, item: &Item<'_>) -> bool {
    let known = items.get(slot).and_then(|entry| entry.value.id.as_deref());
    match (known, item.call_id.as_deref()) {
        (Some(known), Some(call_id)) => known == call_id || call_id.is_empty(),
        _ => true,
    }
}

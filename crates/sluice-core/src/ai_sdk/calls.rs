//! Tool calls of this dialect: streamed in pieces, then sent whole, or only one of the two. Each is reported once.
//!
//! ```text
//! input-start ──► name          input-delta ──► buffer          input-end ──► nothing more comes
//! call ─────────► report (what the SDK parsed, and may have repaired, counts more than the pieces)
//! end of a step ► report what was only streamed, if it is a whole JSON object
//! finish ───────► a call that is still open fails the answer, and the failure names the tool
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::boundary::{Failure, NoteKind, Part};
use crate::call_id::{self, Taken};
use crate::message::MessageCode;
use crate::receive::{ArgumentsText, Object, Sink, protocol_word};
use crate::send::ToolNames;
use crate::wire::string;

/// The longest name of a tool. A longer one is cut to this length, and no tool has that name either.
const MAX_NAME_CHARS: usize = 256;
/// The memory that a call takes in addition to its input, id and name.
const OVERHEAD: usize = 1024;

#[derive(Clone, Debug, Default)]
struct Call {
    /// The SDK's own id.
    id: String,
    name: Option<String>,
    streamed: ArgumentsText,
    /// The value of [`Calls::losses`] when the call began.
    losses_before: u64,
    /// Whether no more pieces will arrive.
    ended: bool,
    ran_elsewhere: bool,
    is_invalid: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// The whole input arrived, but it isn't a JSON object.
    Unusable,
    /// The call was reported, or doesn't have to be.
    Settled,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    /// The calls, in the order in which they began.
    list: Vec<Call>,
    /// The open calls, and those of them that have changed since the step began.
    open: BTreeSet<usize>,
    changed: BTreeSet<usize>,
    /// How often something was lost that may have been a piece of an open call's input.
    losses: u64,
    /// The newest call with each id.
    by_id: BTreeMap<String, usize>,
    reported: BTreeMap<String, Reported>,
    /// The complete calls of this step: position, name and input. They are reported at its end, because the SDK may run
    /// them itself (tools with `execute`); VS Code runs calls only after the answer, so nothing is lost.
    held: Vec<(usize, String, String)>,
    vscode_ids: Taken,
    tool_names: ToolNames,
    plain_ids: bool,
}

/// The calls that were reported under one id.
#[derive(Clone, Debug, Default)]
struct Reported {
    /// Identified by [`Object::hash_of_call`].
    calls: BTreeSet<u64>,
    /// The name and hash of a call that was only streamed. It may still arrive whole.
    awaits_whole: Option<(String, u64)>,
}

impl Call {
    fn is_open(&self) -> bool {
        self.state != State::Settled
    }

    fn take_streamed(&mut self, sink: &mut Sink) -> Option<Object> {
        sink.release_waiting(self.streamed.work());
        std::mem::take(&mut self.streamed).take()
    }
}

impl Calls {
    pub(super) fn new(tool_names: ToolNames, plain_ids: bool) -> Self {
        Self { tool_names, plain_ids, ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn input_start(&mut self, id: &str, name: Option<&str>, ran_elsewhere: bool, sink: &mut Sink) {
        // The id is reused: what was streamed under it before is complete.
        if let Some(slot) = self.open_with(id) {
            self.report_streamed(slot, sink);
        }
        // A whole call that arrives now belongs to the new one.
        if let Some(reported) = self.reported.get_mut(id) {
            reported.awaits_whole = None;
        }
        let slot = match self.open_with(id) {
            Some(slot) => slot,
            None => self.open(id, sink),
        };
        if let Some(call) = self.list.get_mut(slot) {
            sink.release_waiting(call.streamed.work());
            let (id, losses_before) = (id.to_owned(), self.losses);
            *call = Call { id, losses_before, ran_elsewhere, ..Call::default() };
            self.changed.insert(slot);
        }
        self.learn_name(slot, name, sink);
    }

    pub(super) fn input_delta(&mut self, id: Option<&str>, name: Option<&str>, piece: &str, sink: &mut Sink) {
        let slot = match id {
            Some(id) => self.open_with(id).or_else(|| {
                // Early versions name the tool in every piece and may omit the start.
                let is_new = name.is_some() && !self.by_id.contains_key(id);
                is_new.then(|| self.open(id, sink))
            }),
            None => self.only_open(),
        };
        let Some(slot) = slot else {
            // Pieces after the whole call are repetitions; others belong to no call.
            if !id.is_some_and(|id| self.by_id.contains_key(id)) {
                sink.note(NoteKind::OrphanArguments, protocol_word(name.unwrap_or_default()));
                self.doubt_open_calls();
            }
            return;
        };
        if self.list.get(slot).is_some_and(|call| call.name.is_none()) {
            self.learn_name(slot, name, sink);
        }
        if let Some(call) = self.list.get_mut(slot) {
            sink.retain_waiting(call.streamed.push(piece));
            self.changed.insert(slot);
        }
    }

    pub(super) fn input_end(&mut self, id: Option<&str>) {
        let slot = id.map_or_else(|| self.only_open(), |id| self.open_with(id));
        if let Some(slot) = slot
            && let Some(call) = self.list.get_mut(slot)
        {
            call.ended = true;
            self.changed.insert(slot);
        }
    }

    pub(super) fn whole(
        &mut self,
        id: Option<&str>,
        name: Option<&str>,
        input: Option<&str>,
        ran: bool,
        sink: &mut Sink,
    ) {
        let id = id.map_or_else(|| format!("call_{}", self.list.len()), str::to_owned);
        let slot = match self.open_with(&id) {
            Some(slot) => slot,
            None => self.open(&id, sink),
        };
        self.learn_name(slot, name, sink);
        let Some(call) = self.list.get_mut(slot) else { return };
        call.ended = true;
        self.changed.insert(slot);
        if call.ran_elsewhere || ran {
            call.ran_elsewhere = true;
            sink.note(NoteKind::RanElsewhere, protocol_word(call.name.as_deref().unwrap_or_default()));
            self.settle(slot, sink);
            return;
        }
        if call.name.is_none() {
            return;
        }
        let object = |text: &str| if text.trim().is_empty() { Some(Object::empty()) } else { Object::read(text) };
        let input = match input {
            // In providers' own streams, and in calls that the SDK couldn't parse, the input is the text that the model
            // wrote.
            Some(json) if json.starts_with('"') => object(&string(json).unwrap_or_default()),
            Some(json) => object(json),
            None if call.streamed.is_blank() || self.losses > call.losses_before => Some(Object::empty()),
            None if call.streamed.is_object() => call.take_streamed(sink),
            None => None,
        };
        match input {
            Some(input) => self.report(slot, input, true, sink),
            None => call.state = State::Unusable,
        }
    }

    /// A tool ran elsewhere, so its call isn't reported. If that has already happened, in an earlier step, the same note
    /// tells the developer.
    pub(super) fn ran(&mut self, id: Option<&str>, sink: &mut Sink) {
        let slot = id.and_then(|id| self.by_id.get(id).copied());
        let call = slot.and_then(|slot| self.list.get_mut(slot));
        let Some(call) = call.filter(|call| !call.is_open() && !call.ran_elsewhere) else { return };
        call.ran_elsewhere = true;
        sink.note(NoteKind::RanElsewhere, protocol_word(call.name.as_deref().unwrap_or_default()));
    }

    /// The SDK considers a call invalid and doesn't run it. It reports an error of the tool nevertheless.
    pub(super) fn set_invalid(&mut self, id: Option<&str>) {
        let slot = id.and_then(|id| self.by_id.get(id).copied());
        if let Some(call) = slot.and_then(|slot| self.list.get_mut(slot)) {
            call.is_invalid = true;
        }
    }

    pub(super) fn is_invalid(&self, id: Option<&str>) -> bool {
        let slot = id.and_then(|id| self.by_id.get(id));
        slot.and_then(|slot| self.list.get(*slot)).is_some_and(|call| call.is_invalid)
    }

    /// Returns whether the provider runs this call itself.
    pub(super) fn is_ran_elsewhere(&self, id: Option<&str>) -> bool {
        let slot = id.and_then(|id| self.by_id.get(id));
        slot.and_then(|slot| self.list.get(*slot)).is_some_and(|call| call.ran_elsewhere)
    }

    pub(super) fn doubt_open_calls(&mut self) {
        self.losses += 1;
    }

    /// The step is retried: calls that were only streamed will arrive again, or not at all.
    pub(super) fn forget_open(&mut self, sink: &mut Sink) {
        while let Some(slot) = self.open.first().copied() {
            self.settle(slot, sink);
        }
    }

    /// The calls of this step are complete.
    pub(super) fn end_step(&mut self, sink: &mut Sink) {
        while let Some(slot) = self.changed.pop_first() {
            self.report_streamed(slot, sink);
        }
        self.report_held(sink);
    }

    /// Reports the complete calls that haven't been run elsewhere.
    pub(super) fn report_held(&mut self, sink: &mut Sink) {
        for (slot, name, input_json) in std::mem::take(&mut self.held) {
            let Some(call) = self.list.get(slot) else { continue };
            sink.release(input_json.len());
            if call.ran_elsewhere {
                continue;
            }
            let call_id = call_id::to_vscode(&call.id, self.plain_ids, &mut self.vscode_ids);
            let name = self.tool_names.from_server(&name).map_or(name.clone(), str::to_owned);
            sink.part(Part::ToolCall { call_id, name, input_json });
        }
    }

    /// The answer is complete. If a call is still open, it can't be reported, and the answer must fail.
    pub(super) fn failure(&self) -> Option<Failure> {
        let call = self.open.first().and_then(|slot| self.list.get(*slot))?;
        let reason = match (call.state == State::Unusable || call.ended, &call.name) {
            (_, None) => MessageCode::ToolCallWithoutName,
            (true, _) => MessageCode::ToolCallNotAnObject,
            (false, _) => MessageCode::ToolCallUnfinished,
        };
        Some(Failure::tool_call(call.name.as_deref(), reason))
    }

    /// The answer was cut off, and so were the calls that are still open.
    pub(super) fn drop_open(&mut self, sink: &mut Sink) {
        while let Some(slot) = self.open.first().copied() {
            let name = self.list.get(slot).and_then(|call| call.name.as_deref()).unwrap_or_default();
            sink.note(NoteKind::DroppedCall, protocol_word(name));
            self.settle(slot, sink);
        }
    }

    pub(super) fn any_open(&self) -> bool {
        !self.open.is_empty()
    }

    fn open(&mut self, id: &str, sink: &mut Sink) -> usize {
        let slot = self.list.len();
        self.list.push(Call { id: id.to_owned(), losses_before: self.losses, ..Call::default() });
        self.by_id.insert(id.to_owned(), slot);
        self.open.insert(slot);
        // The id is stored here, in the index and in the list of reported calls.
        sink.retain(OVERHEAD + 3 * id.len());
        slot
    }

    fn open_with(&self, id: &str) -> Option<usize> {
        let slot = *self.by_id.get(id)?;
        self.list.get(slot).filter(|call| call.is_open()).map(|_| slot)
    }

    fn only_open(&self) -> Option<usize> {
        let mut open = self.open.iter().copied();
        let only = open.next()?;
        open.next().is_none().then_some(only)
    }

    fn learn_name(&mut self, slot: usize, name: Option<&str>, sink: &mut Sink) {
        if let (Some(call), Some(name)) = (self.list.get_mut(slot), name) {
            let before = call.name.replace(name.chars().take(MAX_NAME_CHARS).collect());
            sink.release(before.map_or(0, |name| name.len()));
            sink.retain(call.name.as_ref().map_or(0, String::len));
        }
    }

    /// Marks the call as reported, or as one that doesn't have to be.
    fn settle(&mut self, slot: usize, sink: &mut Sink) {
        self.open.remove(&slot);
        self.changed.remove(&slot);
        if let Some(call) = self.list.get_mut(slot) {
            call.state = State::Settled;
            call.take_streamed(sink);
        }
    }

    fn report_streamed(&mut self, slot: usize, sink: &mut Sink) {
        let Some(call) = self.list.get_mut(slot).filter(|call| call.is_open()) else { return };
        if call.ran_elsewhere {
            self.settle(slot, sink);
            return;
        }
        let is_doubtful = self.losses > call.losses_before;
        if is_doubtful || call.state == State::Unusable || call.name.is_none() {
            return;
        }
        if call.streamed.is_blank() && call.ended {
            self.report(slot, Object::empty(), false, sink);
        } else if call.streamed.is_object()
            && let Some(input) = call.take_streamed(sink)
        {
            self.report(slot, input, false, sink);
        }
    }

    fn report(&mut self, slot: usize, input: Object, is_whole: bool, sink: &mut Sink) {
        let Some(call) = self.list.get(slot) else { return };
        let Some(name) = call.name.clone() else { return };
        let id = call.id.clone();
        self.settle(slot, sink);
        let hash = input.hash_of_call(&name);
        let known = self.reported.entry(id.clone()).or_default();
        let awaited = known.awaits_whole.as_ref().map(|(awaited, hash)| (*awaited == name, *hash));
        let is_repeated = known.calls.contains(&hash);
        // A whole call that arrives after its pieces were reported may be spelled or repaired differently.
        let is_awaited = awaited == Some((true, hash)) || (is_whole && !is_repeated && awaited.is_some_and(|it| it.0));
        if is_awaited {
            known.awaits_whole = None;
        }
        if is_repeated || is_awaited {
            sink.note(NoteKind::RepeatedCall, protocol_word(&name));
            return;
        }
        known.calls.insert(hash);
        if !is_whole {
            known.awaits_whole = Some((name.clone(), hash));
        }
        sink.retain(input.json.len());
        self.held.push((slot, name, input.json));
    }
}

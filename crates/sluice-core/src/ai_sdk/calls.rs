//! Tool calls of this dialect: streamed in pieces, then given whole, or only one of the two; reported once.
//!
//! ```text
//! input-start ──► name          input-delta ──► buffer          input-end ──► nothing more comes
//! call ─────────► report (what the SDK parsed, and may have repaired, counts more than the pieces)
//! end of a step ► report what was only streamed, if it is a whole JSON object
//! finish ───────► what is still open fails the answer by the tool's name
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::fields::string;
use crate::boundary::{Failure, NoteKind, Part};
use crate::call_id;
use crate::receive::{Sink, is_object, protocol_word, same_json};
use crate::send::ToolNames;

#[derive(Clone, Debug, Default)]
struct Call {
    /// The SDK's own.
    id: String,
    name: Option<String>,
    streamed: String,
    /// A piece of the stream was lost, perhaps of this input.
    doubtful: bool,
    /// No more pieces will come.
    ended: bool,
    ran_elsewhere: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Open,
    /// The whole input came, and is no JSON object.
    Unusable,
    /// Reported, or not ours to report.
    Settled,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    /// In the order they began.
    list: Vec<Call>,
    /// The newest with each id.
    by_id: BTreeMap<String, usize>,
    /// What was reported under each id: name, input, and whether the whole call is still to come.
    reported: BTreeMap<String, Vec<(String, String, bool)>>,
    vscode_ids: BTreeSet<String>,
    tool_names: ToolNames,
    plain_ids: bool,
}

impl Call {
    fn is_open(&self) -> bool {
        self.state != State::Settled
    }
}

impl Calls {
    pub fn new(tool_names: ToolNames, plain_ids: bool) -> Self {
        Self { tool_names, plain_ids, ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn input_start(&mut self, id: &str, name: Option<&str>, ran_elsewhere: bool, sink: &mut Sink) {
        // An id that begins anew: what was streamed under it before is all there was.
        if let Some(place) = self.open_with(id) {
            self.report_streamed(place, sink);
        }
        // A whole call that comes now belongs to the new one.
        for (.., awaits_whole) in self.reported.get_mut(id).into_iter().flatten() {
            *awaits_whole = false;
        }
        let place = match self.open_with(id) {
            Some(place) => place,
            None => self.open(id),
        };
        if let Some(call) = self.list.get_mut(place) {
            *call = Call { id: id.to_owned(), name: name.map(str::to_owned), ran_elsewhere, ..Call::default() };
        }
    }

    pub fn input_delta(&mut self, id: Option<&str>, name: Option<&str>, piece: &str, sink: &mut Sink) {
        let place = match id {
            Some(id) => self.open_with(id).or_else(|| {
                // Early versions name the tool in every piece and may leave the start out.
                let is_new = name.is_some() && !self.by_id.contains_key(id);
                is_new.then(|| self.open(id))
            }),
            None => self.only_open(),
        };
        let Some(call) = place.and_then(|place| self.list.get_mut(place)) else {
            // Pieces after the whole call repeat what is known; others belong to nobody.
            if !id.is_some_and(|id| self.by_id.contains_key(id)) {
                sink.note(NoteKind::OrphanArguments, protocol_word(name.unwrap_or_default()));
                self.doubt_open_calls();
            }
            return;
        };
        call.name = call.name.take().or_else(|| name.map(str::to_owned));
        sink.retain_text(piece);
        call.streamed.push_str(piece);
    }

    pub fn input_end(&mut self, id: Option<&str>) {
        let place = id.map_or_else(|| self.only_open(), |id| self.open_with(id));
        if let Some(call) = place.and_then(|place| self.list.get_mut(place)) {
            call.ended = true;
        }
    }

    pub fn whole(&mut self, id: Option<&str>, name: Option<&str>, input: Option<&str>, ran: bool, sink: &mut Sink) {
        let id = id.map_or_else(|| format!("call_{}", self.list.len()), str::to_owned);
        let place = match self.open_with(&id) {
            Some(place) => place,
            None => self.open(&id),
        };
        let Some(call) = self.list.get_mut(place) else { return };
        if let Some(name) = name {
            call.name = Some(name.to_owned());
        }
        call.ended = true;
        if call.ran_elsewhere || ran {
            call.ran_elsewhere = true;
            call.state = State::Settled;
            sink.note(NoteKind::RanElsewhere, protocol_word(call.name.as_deref().unwrap_or_default()));
            return;
        }
        let streamed = Some(call.streamed.as_str()).filter(|_| !call.doubtful);
        let text = match input.map(str::trim) {
            // Providers' own streams, and calls that the SDK could not parse, give the text that the model wrote.
            Some(json) if json.starts_with('"') => string(json).map(|text| text.trim().to_owned()).unwrap_or_default(),
            Some(json) => json.to_owned(),
            None => streamed.unwrap_or_default().trim().to_owned(),
        };
        match text.as_str() {
            "" => self.report(place, "{}".to_owned(), true, sink),
            text if is_object(text) => self.report(place, text.to_owned(), true, sink),
            _ => call.state = State::Unusable,
        }
    }

    /// A tool ran somewhere else. Of a call that VS Code was given too, the developer should hear.
    pub fn ran(&mut self, id: Option<&str>, sink: &mut Sink) {
        let place = id.and_then(|id| self.by_id.get(id).copied());
        let call = place.and_then(|place| self.list.get_mut(place));
        let Some(call) = call.filter(|call| !call.is_open() && !call.ran_elsewhere) else { return };
        call.ran_elsewhere = true;
        sink.note(NoteKind::RanElsewhere, protocol_word(call.name.as_deref().unwrap_or_default()));
    }

    /// Whether this call is the provider's own affair.
    pub fn is_ran_elsewhere(&self, id: Option<&str>) -> bool {
        let place = id.and_then(|id| self.by_id.get(id));
        place.and_then(|place| self.list.get(*place)).is_some_and(|call| call.ran_elsewhere)
    }

    pub fn doubt_open_calls(&mut self) {
        for call in self.list.iter_mut().filter(|call| call.is_open()) {
            call.doubtful = true;
        }
    }

    /// The step is to be forgotten: what was only streamed will come again, or not at all.
    pub fn forget_open(&mut self) {
        for call in self.list.iter_mut().filter(|call| call.is_open()) {
            call.state = State::Settled;
            call.streamed = String::new();
        }
    }

    /// Nothing more comes for the calls of this step.
    pub fn end_step(&mut self, sink: &mut Sink) {
        for place in 0..self.list.len() {
            self.report_streamed(place, sink);
        }
    }

    /// The answer completed, and what is still open cannot be reported: the reader must hear of it.
    pub fn failure(&self) -> Option<Failure> {
        let call = self.open_calls().next()?;
        let reason = match (call.state == State::Unusable || call.ended, &call.name) {
            (_, None) => "has no tool name",
            (true, _) => "has arguments that are not a JSON object",
            (false, _) => "was not finished",
        };
        Some(Failure::tool_call(call.name.as_deref(), reason))
    }

    /// The answer was cut off, and with it the calls that are still open.
    pub fn drop_open(&mut self, sink: &mut Sink) {
        for call in self.list.iter_mut().filter(|call| call.is_open()) {
            call.state = State::Settled;
            sink.note(NoteKind::DroppedCall, protocol_word(call.name.as_deref().unwrap_or_default()));
        }
    }

    pub fn any_open(&self) -> bool {
        self.open_calls().next().is_some()
    }

    fn open_calls(&self) -> impl Iterator<Item = &Call> {
        self.list.iter().filter(|call| call.is_open())
    }

    fn open(&mut self, id: &str) -> usize {
        let place = self.list.len();
        self.list.push(Call { id: id.to_owned(), ..Call::default() });
        self.by_id.insert(id.to_owned(), place);
        place
    }

    fn open_with(&self, id: &str) -> Option<usize> {
        let place = *self.by_id.get(id)?;
        self.list.get(place).filter(|call| call.is_open()).map(|_| place)
    }

    fn only_open(&self) -> Option<usize> {
        let mut open = (0..self.list.len()).filter(|place| self.list.get(*place).is_some_and(Call::is_open));
        let only = open.next()?;
        open.next().is_none().then_some(only)
    }

    fn report_streamed(&mut self, place: usize, sink: &mut Sink) {
        let Some(call) = self.list.get_mut(place).filter(|call| call.is_open()) else { return };
        if call.ran_elsewhere {
            call.state = State::Settled;
            return;
        }
        let text = call.streamed.trim();
        if call.doubtful || call.state == State::Unusable || call.name.is_none() {
            return;
        }
        if text.is_empty() && call.ended {
            self.report(place, "{}".to_owned(), false, sink);
        } else if is_object(text) {
            let text = text.to_owned();
            self.report(place, text, false, sink);
        }
    }

    fn report(&mut self, place: usize, input_json: String, is_whole: bool, sink: &mut Sink) {
        let Some(call) = self.list.get_mut(place) else { return };
        let Some(name) = call.name.clone() else { return };
        call.state = State::Settled;
        call.streamed = String::new();
        let known = self.reported.entry(call.id.clone()).or_default();
        for (other, input, awaits_whole) in known.iter_mut().filter(|(other, ..)| *other == name) {
            // The whole call after its pieces were reported may be spelled, or repaired, differently.
            if same_json(input, &input_json) || (is_whole && *awaits_whole) {
                *awaits_whole = false;
                sink.note(NoteKind::RepeatedCall, protocol_word(other));
                return;
            }
        }
        known.push((name.clone(), input_json.clone(), !is_whole));
        let call_id = call_id::to_vscode(&call.id, self.plain_ids, &mut self.vscode_ids);
        let name = self.tool_names.from_server(&name).map_or(name.clone(), str::to_owned);
        sink.part(Part::ToolCall { call_id, name, input_json });
    }
}

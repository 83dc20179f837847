//! Compares every event sequence up to length 6 over 16 events (17.9 million) at every step with a small oracle, which
//! knows the invariants S1-S4, S6, S8-S10 and S14 and nothing about the code. In debug builds, the length is at most 4.
//!
//! The events are about two calls that the server addresses differently, a third that reuses an id, one message, and
//! the ways to end: *alpha* is known by its index while its ids rotate, *beta* only by its id, and *gamma* reuses
//! alpha's call id.

mod support;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use sluice_core::{BodyEnd, FailureKind, Outcome, Output, Part, ResponseStream, Status, StreamOptions};
use support::wire::frame;
use support::*;

const DEPTH: usize = if cfg!(debug_assertions) { 4 } else { 6 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    TextDelta,
    TextDone,
    AlphaAdded,
    AlphaDelta,
    AlphaArguments,
    AlphaDone,
    AlphaCutOff,
    BetaAdded,
    BetaDelta,
    BetaMalformed,
    BetaDone,
    GammaDone,
    CompletedFull,
    CompletedEmpty,
    Incomplete,
    Error,
}
use Event::*;

const ALPHABET: [Event; 16] = [
    TextDelta,
    TextDone,
    AlphaAdded,
    AlphaDelta,
    AlphaArguments,
    AlphaDone,
    AlphaCutOff,
    BetaAdded,
    BetaDelta,
    BetaMalformed,
    BetaDone,
    GammaDone,
    CompletedFull,
    CompletedEmpty,
    Incomplete,
    Error,
];

const ALPHA: &str = "{\"x\":1}";
const BETA: &str = "{\"y\":2}";
const GAMMA: &str = "{\"x\":3}";

impl Event {
    fn wire(self) -> Value {
        let alpha = |id: &str, arguments: &str, status: &str| {
            with(call_item(1, "call_a", "alpha", arguments, status), &json!({"id": id}))
        };
        let beta = |arguments: &str| with(call(2, "call_b", "beta", arguments), &json!({"id": "b"}));
        let gamma = with(call(3, "call_a", "alpha", GAMMA), &json!({"id": "g"}));
        let unplaced = |event: Value| {
            let event = without(event, &["output_index"]);
            if event.get("item_id").is_some() { with(event, &json!({"item_id": "b"})) } else { event }
        };
        let rotated = |event: Value, id: &str| with(event, &json!({"item_id": id}));
        match self {
            TextDelta => text_delta(0, "a"),
            TextDone => text_done(0, "ab"),
            AlphaAdded => added(1, &alpha("a1", "", "in_progress")),
            AlphaDelta => rotated(args_delta(1, ALPHA), "a2"),
            AlphaArguments => rotated(args_done(1, ALPHA), "a3"),
            AlphaDone => done(1, &alpha("a4", ALPHA, "completed")),
            AlphaCutOff => done(1, &alpha("a5", "{\"x\":", "incomplete")),
            BetaAdded => unplaced(added(2, &with(beta(""), &json!({"status": "in_progress"})))),
            BetaDelta => unplaced(args_delta(2, BETA)),
            BetaMalformed => unplaced(args_done(2, "{\"y\":")),
            BetaDone => unplaced(done(2, &beta(" "))),
            GammaDone => done(3, &gamma),
            CompletedFull => completed(&[message(0, "ab"), alpha("a6", ALPHA, "completed"), beta(BETA), gamma]),
            CompletedEmpty => completed(&[]),
            Incomplete => incomplete("max_output_tokens", &[beta(BETA), alpha("a7", "", "in_progress")]),
            Error => error("overloaded", "error"),
        }
    }
}

/// The oracle: what a reader must have received after some events.
struct Expected {
    text: String,
    alpha: Heard,
    beta: Heard,
    gamma: Heard,
    end: Option<Status>,
}

/// What the server has said about one call.
#[expect(clippy::struct_excessive_bools, reason = "these come in any order, which is the point")]
#[derive(Clone, Copy)]
struct Heard {
    /// The call's arguments. Every delta contains all of them, so two deltas don't form an object.
    object: &'static str,
    begun: bool,
    named: bool,
    finished: bool,
    cut_off: bool,
    deltas: u8,
    /// From `arguments.done`.
    whole: Option<&'static str>,
    malformed: bool,
    reported: Option<&'static str>,
}

impl Heard {
    fn nothing(object: &'static str) -> Self {
        Self {
            object,
            begun: false,
            named: false,
            finished: false,
            cut_off: false,
            deltas: 0,
            whole: None,
            malformed: false,
            reported: None,
        }
    }

    /// S1, S4: a call is reported once, complete, and never after the server gave it up.
    fn report(&mut self, in_item: Option<&'static str>) {
        let streamed = (self.finished && self.deltas == 1).then_some(self.object);
        if self.named && !self.cut_off && self.reported.is_none() {
            self.reported = in_item.or(self.whole).or(streamed);
        }
    }

    /// S4: in a complete answer, blank arguments of a finished call mean `{}`.
    fn report_at_end(&mut self) {
        let streamed = (self.deltas == 1).then_some(self.object);
        let blank = (self.finished && self.deltas == 0 && !self.malformed).then_some("{}");
        self.report(streamed.or(blank).filter(|_| self.whole.is_none()));
    }

    fn is_unsettled(&self) -> bool {
        self.is_lost() && !self.cut_off
    }

    fn is_lost(&self) -> bool {
        self.begun && self.reported.is_none()
    }

    fn is_only_announced(&self) -> bool {
        !self.finished && !self.cut_off && self.deltas == 0
    }

    fn done(&mut self, in_item: Option<&'static str>) {
        (self.begun, self.named, self.finished) = (true, true, true);
        self.report(in_item);
    }
}

impl Expected {
    fn after(path: &[Event]) -> Self {
        let [alpha, beta, gamma] = [ALPHA, BETA, GAMMA].map(Heard::nothing);
        let mut expected = Self { text: String::new(), alpha, beta, gamma, end: None };
        for event in path {
            // S8: nothing counts after the end.
            if expected.end.is_none() {
                expected.take(*event);
            }
            // S3: gamma's index is higher than alpha's, so gamma is reported after alpha.
            if expected.end.is_none() && !expected.alpha.is_unsettled() {
                expected.gamma.report(None);
            }
        }
        expected
    }

    fn take(&mut self, event: Event) {
        let (alpha, beta) = (&mut self.alpha, &mut self.beta);
        match event {
            TextDelta => self.text.push('a'),
            TextDone => self.whole_text(),
            AlphaAdded => (alpha.begun, alpha.named) = (true, true),
            AlphaDelta => (alpha.begun, alpha.deltas) = (true, alpha.deltas + 1),
            AlphaArguments => {
                (alpha.begun, alpha.finished, alpha.whole) = (true, true, Some(ALPHA));
                alpha.report(None);
            }
            AlphaDone => alpha.done(Some(ALPHA)),
            AlphaCutOff => (alpha.begun, alpha.named, alpha.cut_off) = (true, true, true),
            BetaAdded => (beta.begun, beta.named) = (true, true),
            BetaDelta => (beta.begun, beta.deltas) = (true, beta.deltas + 1),
            BetaMalformed => (beta.begun, beta.finished, beta.malformed) = (true, true, true),
            BetaDone => beta.done(None),
            GammaDone => {
                self.gamma.whole = Some(GAMMA);
                (self.gamma.begun, self.gamma.named, self.gamma.finished) = (true, true, true);
            }
            CompletedFull => {
                alpha.done(Some(ALPHA));
                beta.done(Some(BETA));
                self.gamma.done(Some(GAMMA));
                self.whole_text();
                self.complete();
            }
            CompletedEmpty => self.complete(),
            Incomplete => {
                beta.done(Some(BETA));
                self.gamma.report(None);
                self.end = Some(Status::Incomplete);
            }
            Error => {
                self.gamma.report(None);
                self.end = Some(Status::Failed);
            }
        }
    }

    /// S6: a whole text adds what the deltas lack. One that contradicts them adds nothing.
    fn whole_text(&mut self) {
        if "ab".starts_with(&self.text) {
            "ab".clone_into(&mut self.text);
        }
    }

    /// S3: every call is reported if possible; otherwise the answer fails.
    fn complete(&mut self) {
        self.alpha.report_at_end();
        self.beta.report_at_end();
        self.gamma.report(None);
        self.end = Some(if self.lost().is_empty() { Status::Completed } else { Status::Failed });
    }

    /// Returns the calls that will never be reported, each with its name if it has one.
    fn lost(&self) -> Vec<Option<&'static str>> {
        // Some gateways announce a reported call again and never finish it. Here alpha's call id was gamma's as well.
        let announced_again = self.alpha.is_only_announced() && self.gamma.reported.is_some();
        let alpha = (self.alpha.is_lost() && !announced_again).then(|| self.alpha.named.then_some("alpha"));
        let beta = self.beta.is_lost().then(|| self.beta.named.then_some("beta"));
        [alpha, beta].into_iter().flatten().collect()
    }

    fn calls(&self) -> Vec<(&'static str, &'static str)> {
        let calls = [("alpha", self.alpha), ("alpha", self.gamma), ("beta", self.beta)];
        calls.iter().filter_map(|(name, call)| Some((*name, call.reported?))).collect()
    }
}

/// What the reader received on the way to a node of the search.
#[derive(Default)]
struct Given {
    text: String,
    calls: Vec<Call>,
    other: usize,
}

struct Search {
    frames: [Vec<u8>; 16],
    checked: AtomicU64,
    wrong: Mutex<Vec<(usize, String)>>,
}

impl Search {
    /// Applies one more event, checks the result, and continues from there.
    fn step(&self, before: &ResponseStream, given: &mut Given, path: &mut Vec<Event>, event: Event) {
        let (text_length, call_count, other) = (given.text.len(), given.calls.len(), given.other);
        let mut stream = before.clone();
        given.take(stream.push(&self.frames[event as usize]));
        path.push(event);
        if path.len() == DEPTH {
            self.check(stream, given, path);
        } else if self.check(stream.clone(), given, path) {
            // After a mistake, longer sequences add no information.
            for next in ALPHABET {
                self.step(&stream, given, path, next);
            }
        }
        path.pop();
        given.text.truncate(text_length);
        given.calls.truncate(call_count);
        given.other = other;
    }

    fn check(&self, stream: ResponseStream, given: &Given, path: &[Event]) -> bool {
        self.checked.fetch_add(1, Ordering::Relaxed);
        let expected = Expected::after(path);
        let is_terminal = stream.is_terminal();
        let (rest, outcome) = stream.finish(BodyEnd::Eof);
        let right = rest.is_empty()
            && given.other == 0
            && given.text == expected.text
            && given.has_calls(&expected.calls())
            && is_terminal == expected.end.is_some()
            && outcome.status == expected.end.unwrap_or(Status::Truncated)
            && outcome.retry_safe == given.allows_retry(&outcome)
            && names_the_tool(&outcome, &expected);
        if !right {
            let gave = format!("{:?} {:?} {:?}", given.text, given.calls, outcome.status);
            let wanted = format!("{:?} {:?} {:?}", expected.text, expected.calls(), expected.end);
            let said = format!("{path:?}\n  gave   {gave}\n  wanted {wanted}");
            self.wrong.lock().expect("no thread panicked").push((path.len(), said));
        }
        right
    }
}

impl Given {
    fn take(&mut self, outputs: impl IntoIterator<Item = Output>) {
        for output in outputs {
            match output {
                Output::Part(Part::Text { value }) => self.text.push_str(&value),
                Output::Part(Part::ToolCall { call_id, name, input_json }) => {
                    self.calls.push(Call { id: call_id, name, input: input_json });
                }
                Output::Part(_) => self.other += 1,
                Output::Note(_) => {}
            }
        }
    }

    /// Compares calls in any order. S2: each has an id of its own.
    fn has_calls(&self, expected: &[(&str, &str)]) -> bool {
        let is_there =
            |(name, input): &(&str, &str)| self.calls.iter().any(|call| call.name == *name && call.input == *input);
        let ids = self.calls.iter().map(|call| call.id.as_str());
        let is_own = |(place, id): (usize, &str)| {
            let first = ["gw-call_a", "gw-call_b"].contains(&id);
            (first || id.starts_with("gw-call_a-")) && ids.clone().take(place).all(|other| other != id)
        };
        self.calls.len() == expected.len() && expected.iter().all(is_there) && ids.clone().enumerate().all(is_own)
    }

    /// S14: a retry is safe only if nothing was delivered.
    fn allows_retry(&self, outcome: &Outcome) -> bool {
        let ended_badly = matches!(outcome.status, Status::Failed | Status::Truncated);
        ended_badly && self.text.is_empty() && self.calls.is_empty()
    }
}

/// A failure about a call that can't be reported names its tool, if the server named it.
fn names_the_tool(outcome: &Outcome, expected: &Expected) -> bool {
    let failure = outcome.error.as_ref().filter(|failure| failure.kind == FailureKind::ToolCall);
    failure.is_none_or(|failure| expected.lost().contains(&failure.tool.as_deref()))
}

/// Checks invariants S1, S3, S6 and S8.
#[test]
#[expect(clippy::disallowed_macros, reason = "the number of sequences is what this test has to show")]
fn all_short_event_sequences_keep_the_invariants() {
    let frames = ALPHABET.map(|event| frame(&event.wire()).into_bytes());
    let search = Search { frames, checked: AtomicU64::new(0), wrong: Mutex::new(Vec::new()) };
    let start = ResponseStream::new(StreamOptions::default());
    in_parallel(&ALPHABET, |first| search.step(&start, &mut Given::default(), &mut Vec::new(), *first));

    let checked = search.checked.into_inner();
    let mut wrong = search.wrong.into_inner().expect("no thread panicked");
    println!("{checked} event sequences up to length {DEPTH} checked, {} wrong", wrong.len());
    wrong.sort();
    let shortest: Vec<&str> = wrong.iter().take(20).map(|(_, said)| said.as_str()).collect();
    assert!(wrong.is_empty(), "{} wrong, the shortest:\n{}", wrong.len(), shortest.join("\n"));
}

//! Reports everything that can happen to an exchange, in every order up to length 6 (4 in debug builds), and compares
//! it at every step with a small oracle that knows nothing about the code: when the request is sent again, when the
//! exchange is over, and that nothing is delivered afterwards.

#[path = "support/exchange.rs"]
mod exchange;

use std::sync::atomic::{AtomicU64, Ordering};

use exchange::{Input, Input::*, poll, start};
use sluice_core::{Action, ChatPart, Ending, Exchange, Output, Part, Status};

const DEPTH: usize = if cfg!(debug_assertions) { 4 } else { 6 };

/// The body of a refusal that names a parameter.
const REFUSED_PARAMETER: Input = Body("{\"error\":\"Unknown field 'caching'\"}\n\n");

const ALPHABET: [Input; 17] = [
    Head(200, "text/event-stream"),
    Head(200, "application/json"),
    Head(400, "application/json"),
    Head(503, "text/plain"),
    Head(307, ""),
    Text,
    Call,
    Completed,
    Incomplete,
    Overloaded,
    REFUSED_PARAMETER,
    End,
    Connect,
    Broken,
    Timeout,
    Cancel,
    Body("data: not JSON\n\n"),
];

/// What a shell should be doing, and what it has received.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Expected {
    doing: Doing,
    attempts: u32,
    /// How often the request was sent without the refused parameter.
    left_out: u32,
    texts: usize,
    calls: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    Sending,
    /// Nothing of the body has arrived.
    ReadingFirst,
    ReadingStream,
    ReadingWhole,
    ReadingRefusal {
        status: u16,
        said: Said,
    },
    Waiting,
    Over(Status),
}

/// What the body of a refusal says so far.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Said {
    Nothing,
    /// A parameter is unknown.
    Parameter,
    /// Something that isn't JSON.
    Noise,
}

use Doing::*;

impl Expected {
    #[allow(clippy::match_same_arms, reason = "one line for each rule")]
    fn after(mut self, input: Input) -> Self {
        let doing = match (self.doing, input) {
            (Over(status), _) => Over(status),
            (_, Cancel) => Over(Status::Cancelled),

            (Sending, Head(200, _)) => ReadingFirst,
            (Sending, Head(307, _)) => Over(Status::Failed),
            (Sending, Head(status, _)) => ReadingRefusal { status, said: Said::Nothing },
            (Sending, Connect | Broken | Timeout) => self.again(Status::Failed),
            (Waiting, Timeout) => {
                self.attempts += 1;
                Sending
            }

            // The content type is often wrong, so the first byte decides.
            (ReadingFirst, REFUSED_PARAMETER) => ReadingWhole,
            (ReadingFirst, Body(_)) => ReadingStream,
            (ReadingStream | ReadingFirst, Completed) => Over(Status::Completed),
            (ReadingStream | ReadingFirst, Incomplete) => Over(Status::Incomplete),
            (ReadingStream | ReadingFirst, Overloaded) => self.again(Status::Failed),
            (ReadingStream | ReadingFirst, End | Connect | Broken | Timeout) => self.again(Status::Truncated),
            (ReadingStream | ReadingFirst, Text) => {
                self.texts += 1;
                ReadingStream
            }
            // A repeated call isn't reported again.
            (ReadingStream | ReadingFirst, Call) => {
                self.calls = 1;
                ReadingStream
            }

            // No body in the alphabet is a whole response, so this fails.
            (ReadingWhole, End) => Over(Status::Failed),
            (ReadingWhole, Connect | Broken | Timeout) => self.again(Status::Failed),

            (ReadingRefusal { status, said }, Body(_) | Text | Call | Completed | Incomplete | Overloaded) => {
                let said = match said {
                    Said::Nothing if input == REFUSED_PARAMETER => Said::Parameter,
                    Said::Nothing => Said::Noise,
                    // The first line is the message.
                    said => said,
                };
                ReadingRefusal { status, said }
            }
            (ReadingRefusal { status: 503, .. }, End | Connect | Broken | Timeout) => self.again(Status::Failed),
            (ReadingRefusal { said: Said::Parameter, .. }, End | Connect | Broken | Timeout) if self.left_out == 0 => {
                self.left_out = 1;
                Sending
            }
            (ReadingRefusal { .. }, End | Connect | Broken | Timeout) => Over(Status::Failed),
            (doing, _) => doing,
        };
        Self { doing, ..self }
    }

    /// Returns to waiting for another attempt, unless something was shown or it was the last attempt.
    fn again(self, otherwise: Status) -> Doing {
        if self.texts + self.calls == 0 && self.attempts < 3 { Waiting } else { Over(otherwise) }
    }
}

fn walk(exchange: &Exchange, expected: Expected, path: &mut Vec<Input>, steps: &AtomicU64) {
    if path.len() == DEPTH {
        return;
    }
    for input in ALPHABET {
        path.push(input);
        steps.fetch_add(1, Ordering::Relaxed);
        let mut exchange = exchange.clone();
        input.tell(&mut exchange);
        let (outputs, action) = poll(&mut exchange);
        let after = expected.after(input);
        compare(&outputs, &action, expected, after, path);
        assert_eq!(poll(&mut exchange), (Vec::new(), action), "polling again gives the same: {path:?}");
        walk(&exchange, after, path, steps);
        path.pop();
    }
}

fn compare(outputs: &[Output], action: &Action, before: Expected, after: Expected, path: &[Input]) {
    let parts = |wanted: fn(&Part) -> bool| {
        outputs.iter().filter(|output| matches!(output, Output::Part(part) if wanted(part))).count()
    };
    assert_eq!(parts(|part| matches!(part, Part::Text { .. })), after.texts - before.texts, "{path:?}");
    assert_eq!(parts(|part| matches!(part, Part::ToolCall { .. })), after.calls - before.calls, "{path:?}");
    match (action, after.doing) {
        (Action::Send { without, .. }, Sending) => assert_eq!(without.len(), after.left_out as usize, "{path:?}"),
        (Action::Read { .. }, ReadingFirst | ReadingStream | ReadingWhole | ReadingRefusal { .. }) => {}
        (Action::Wait { .. }, Waiting) => assert_eq!(after.texts + after.calls, 0, "{path:?}"),
        (Action::End(report), Over(status)) => {
            assert_eq!(report.outcome.status, status, "{path:?}");
            assert_eq!(report.attempts, after.attempts, "{path:?}");
            let answered = status == Status::Completed && after.texts + after.calls > 0
                || status == Status::Incomplete && after.calls > 0;
            match &report.ending {
                Ending::Done => assert!(answered, "{path:?}"),
                Ending::Cancelled => assert_eq!(status, Status::Cancelled, "{path:?}"),
                Ending::Rejected { message, .. } => assert!(!answered && !message.is_empty(), "{path:?}"),
            }
            let text: String = report.entry.answer.iter().filter_map(text_of).collect();
            let calls = report.entry.answer.iter().filter(|part| matches!(part, ChatPart::ToolCall { .. })).count();
            assert_eq!((text, calls), ("Hi".repeat(after.texts), after.calls), "what was given is repeated: {path:?}");
        }
        (action, doing) => panic!("{path:?} gives {action:?} instead of {doing:?}"),
    }
}

fn text_of(part: &ChatPart) -> Option<&str> {
    match part {
        ChatPart::Text { value } => Some(value),
        _ => None,
    }
}

/// Checks invariants E1, E2, E3, E4, E5, E7, E8 and E9.
#[test]
fn every_order_of_inputs_keeps_the_invariants() {
    let steps = AtomicU64::new(0);
    let begin = Expected { doing: Sending, attempts: 1, left_out: 0, texts: 0, calls: 0 };
    std::thread::scope(|scope| {
        for input in ALPHABET {
            let steps = &steps;
            scope.spawn(move || {
                let mut exchange = start();
                input.tell(&mut exchange);
                let (outputs, action) = poll(&mut exchange);
                let after = begin.after(input);
                compare(&outputs, &action, begin, after, &[input]);
                walk(&exchange, after, &mut vec![input], steps);
            });
        }
    });
    assert!(steps.load(Ordering::Relaxed) > 50_000, "the alphabet was walked through");
}

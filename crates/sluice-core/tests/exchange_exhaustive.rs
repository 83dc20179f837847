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

/// A text that arrives in two pieces, and two texts that arrive in one.
const HALF: Input = Body(r#"data: {"type":"response.output_text.delta","output_index":0,"#);
const OTHER_HALF: Input = Body("\"delta\":\"Hi\"}\n\n");
const TWO_TEXTS: Input = Body(concat!(
    r#"data: {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}"#,
    "\n\n",
    r#"data: {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}"#,
    "\n\n"
));
/// An answer that isn't a stream.
const WHOLE: Input = Body(concat!(
    r#"{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","#,
    r#""content":[{"type":"output_text","text":"Hi"}]}]}"#,
    "\n\n"
));

/// Bodies that are cut anywhere, whole answers, and a shell that hasn't shown everything.
const PIECES: [Input; 14] = [
    Head(200, "text/event-stream"),
    Head(200, "application/json"),
    Head(503, "text/plain"),
    Text,
    Completed,
    HALF,
    OTHER_HALF,
    TWO_TEXTS,
    WHOLE,
    End,
    Broken,
    Timeout,
    Cancel,
    CancelUnseen,
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
    ReadingStream(Line),
    ReadingWhole(Said),
    ReadingRefusal {
        status: u16,
        said: Said,
    },
    Waiting,
    Over(Status),
}

/// The line of a stream that hasn't ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    Empty,
    Half,
    /// Nothing that follows can make it an event.
    Spoilt,
}

/// What the body of a refusal or of a whole response says so far.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Said {
    Nothing,
    /// All of an answer.
    Answer,
    /// A parameter is unknown.
    Parameter,
    /// Something that isn't JSON.
    Noise,
}

use Doing::*;

impl Expected {
    #[allow(clippy::match_same_arms, reason = "one line for each rule")]
    fn after(mut self, input: Input) -> Self {
        // The content type is often wrong, so the first byte decides.
        let doing = match (self.doing, input) {
            (ReadingFirst, REFUSED_PARAMETER | WHOLE) => ReadingWhole(Said::Nothing),
            (ReadingFirst, Head(..) | Cancel | CancelUnseen) => ReadingFirst,
            (ReadingFirst, _) => ReadingStream(Line::Empty),
            (doing, _) => doing,
        };
        let doing = match (doing, input) {
            // This also takes back an answer that is complete.
            (_, CancelUnseen) => Over(Status::Cancelled),
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

            // A cut ends the line, too, but what is left of it isn't an event.
            (ReadingStream(_), End | Connect | Broken | Timeout) => self.again(Status::Truncated),
            (ReadingStream(line), HALF) => ReadingStream(if line == Line::Empty { Line::Half } else { Line::Spoilt }),
            (ReadingStream(Line::Half), OTHER_HALF) => {
                self.texts += 1;
                ReadingStream(Line::Empty)
            }
            (ReadingStream(line), TWO_TEXTS) => {
                self.texts += if line == Line::Empty { 2 } else { 1 };
                ReadingStream(Line::Empty)
            }
            (ReadingStream(Line::Empty), Completed) => Over(Status::Completed),
            (ReadingStream(Line::Empty), Incomplete) => Over(Status::Incomplete),
            (ReadingStream(Line::Empty), Overloaded) => self.again(Status::Failed),
            (ReadingStream(Line::Empty), Text) => {
                self.texts += 1;
                ReadingStream(Line::Empty)
            }
            // A repeated call isn't reported again.
            (ReadingStream(Line::Empty), Call) => {
                self.calls = 1;
                ReadingStream(Line::Empty)
            }
            (ReadingStream(_), Text | Call | Completed | Incomplete | Overloaded | Body(_)) => {
                ReadingStream(Line::Empty)
            }

            (ReadingWhole(Said::Nothing), WHOLE) => ReadingWhole(Said::Answer),
            (ReadingWhole(_), Body(_) | Text | Call | Completed | Incomplete | Overloaded) => ReadingWhole(Said::Noise),
            (ReadingWhole(Said::Answer), End) => {
                self.texts += 1;
                Over(Status::Completed)
            }
            (ReadingWhole(_), End) => Over(Status::Failed),
            (ReadingWhole(_), Connect | Broken | Timeout) => self.again(Status::Failed),

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

fn walk(alphabet: &[Input], exchange: &Exchange, expected: Expected, path: &mut Vec<Input>, steps: &AtomicU64) {
    if path.len() == DEPTH {
        return;
    }
    for &input in alphabet {
        path.push(input);
        steps.fetch_add(1, Ordering::Relaxed);
        let mut exchange = exchange.clone();
        input.tell(&mut exchange);
        let (outputs, action) = poll(&mut exchange);
        let after = expected.after(input);
        compare(&outputs, &action, expected, after, path);
        assert_eq!(poll(&mut exchange), (Vec::new(), action), "polling again gives the same: {path:?}");
        walk(alphabet, &exchange, after, path, steps);
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
        (Action::Read { .. }, ReadingFirst | ReadingStream(_) | ReadingWhole(_) | ReadingRefusal { .. }) => {}
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

fn walk_all(alphabet: &[Input]) {
    let steps = AtomicU64::new(0);
    let begin = Expected { doing: Sending, attempts: 1, left_out: 0, texts: 0, calls: 0 };
    std::thread::scope(|scope| {
        for &input in alphabet {
            let steps = &steps;
            scope.spawn(move || {
                let mut exchange = start();
                input.tell(&mut exchange);
                let (outputs, action) = poll(&mut exchange);
                let after = begin.after(input);
                compare(&outputs, &action, begin, after, &[input]);
                walk(alphabet, &exchange, after, &mut vec![input], steps);
            });
        }
    });
    assert!(steps.load(Ordering::Relaxed) > 40_000, "the alphabet was walked through");
}

/// Checks invariants E1, E2, E3, E4, E5, E7, E8 and E9.
#[test]
fn every_order_of_inputs_keeps_the_invariants() {
    walk_all(&ALPHABET);
}

/// Checks invariants E2, E3, E6, E7, E8 and E9 where bodies are cut inside an event, and for whole answers.
#[test]
fn every_order_of_pieces_keeps_the_invariants() {
    walk_all(&PIECES);
}

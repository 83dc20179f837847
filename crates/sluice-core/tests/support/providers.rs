//! What providers report of an answer, for the model of VS Code's Chat view.

use serde_json::{Value, json};
use sluice_core::{Action, Exchange, ExchangeOptions, Output, Pace, Part};

use super::chat_view::{Report, Token};

/// Words at an even distance.
pub fn words(count: u32, spacing: f64) -> Vec<Token> {
    (0..count).map(|index| Token { at: f64::from(index) * spacing, text: format!("w{index} ") }).collect()
}

/// Returns what a provider reports that joins tokens into pieces. `wait` returns how long after the last piece the next one is
/// due, given the number of pieces so far and the number of pending tokens. The first token is reported at once.
pub fn reports(tokens: &[Token], wait: impl Fn(usize, usize) -> f64) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    let (mut length, mut pending) = (0, 0);
    for (index, token) in tokens.iter().enumerate() {
        length += token.text.len();
        pending += 1;
        // Timers are a little late.
        let due = reports.last().map_or(0.0, |(last, _)| last + wait(reports.len(), pending)).max(token.at);
        let next = tokens.get(index + 1).map(|next| next.at);
        if next.is_none_or(|next| due < next) {
            reports.push((if next.is_none() { token.at } else { due }, length));
            pending = 0;
        }
    }
    reports
}

pub fn every(interval: f64) -> impl Fn(&[Token]) -> Vec<Report> {
    move |tokens| reports(tokens, |_, _| interval)
}

/// Returns what Sluice reports of an answer. The server completes it with its last token.
pub fn paced(tokens: &[Token]) -> Vec<Report> {
    let mut events: Vec<(f64, String)> = tokens.iter().map(|token| (token.at, text_event(&token.text))).collect();
    let end = tokens.last().expect("there are tokens").at;
    events.push((end, event(json!({"type": "response.completed", "response": {}}))));
    let mut length = 0;
    let reported = run(&events, Pace::ChatView).into_iter().map(|(at, part)| {
        let Part::Text { value } = part else { panic!("{part:?}") };
        length += value.len();
        (at, length)
    });
    let reported: Vec<Report> = reported.collect();
    assert_eq!(length, tokens.iter().map(|token| token.text.len()).sum::<usize>(), "nothing is lost");
    reported
}

/// Runs one exchange over tokens that arrive at their times, with timers that are a millisecond late. Returns the parts
/// and when the shell got them.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "milliseconds"
)]
pub fn run(events: &[(f64, String)], pace: Pace) -> Vec<(f64, Part)> {
    let mut exchange = Exchange::reading(ExchangeOptions { pace, ..ExchangeOptions::default() });
    let mut parts = Vec::new();
    let mut events = events.iter().peekable();
    let mut now = 0.0_f64;
    loop {
        match exchange.poll(now as u64) {
            Action::Output(Output::Part(part)) => parts.push((now, part)),
            Action::Output(Output::Note(note)) => panic!("{note:?}"),
            Action::Read { timeout_ms } => {
                let timeout = now.floor() + timeout_ms as f64;
                match events.next_if(|(at, _)| *at <= timeout) {
                    Some((at, event)) => {
                        now = at.max(now);
                        // What arrives at the same time arrives in one chunk.
                        let mut chunk = event.clone();
                        while let Some((_, more)) = events.next_if(|(other, _)| other <= at) {
                            chunk.push_str(more);
                        }
                        exchange.handle_bytes(chunk.as_bytes());
                    }
                    None if events.peek().is_none() => return parts,
                    None => {
                        now = timeout + 1.0;
                        exchange.handle_timeout();
                    }
                }
            }
            Action::End(_) => return parts,
            action => panic!("{action:?}"),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is written as an argument of each call")]
pub fn event(value: Value) -> String {
    format!("data: {value}\n\n")
}

pub fn text_event(text: &str) -> String {
    event(json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}))
}

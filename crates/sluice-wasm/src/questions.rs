//! Everything that is asked once and answered once: JSON in, JSON out. Rare enough that JSON costs nothing.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sluice_core::{BodyEnd, Failure, HttpAnswer, Outcome, Transport, VsCodeUsage, as_stream, next_step};

/// Answers the question with this number, as `js/src/core.ts` counts them. What is wrong with it comes as `Err`.
pub fn answer(question: u32, json: &str, finished: Option<Outcome>) -> Result<String, String> {
    let answer = match question {
        0 => decision(json, finished)?,
        1 => json!(as_stream(&read::<String>(json)?)),
        _ => return Err(format!("no question has the number {question}")),
    };
    serde_json::to_string(&answer).map_err(|error| error.to_string())
}

/// What to do after an attempt, and what it came to. `finished` is the outcome of the stream that ended last.
fn decision(json: &str, finished: Option<Outcome>) -> Result<Value, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Question {
        host: String,
        attempt: u32,
        called_tool: bool,
        /// From 0 to 1.
        random: f64,
        /// Why the bytes stopped, if there was a stream.
        end: Option<BodyEnd>,
        /// An answer that is no stream.
        answer: Option<HttpAnswer>,
        /// Why there was no answer.
        transport: Option<Transport>,
        /// Seconds since 1970.
        now: u64,
    }
    let Question { host, attempt, called_tool, random, end, answer, transport, now } = read(json)?;
    let outcome = match (end, answer, transport) {
        (Some(end), ..) => finished.ok_or("no stream has ended")?.with_host(end, &host),
        (None, Some(answer), _) => Outcome::refused(Failure::from_http(&answer, now)),
        (None, None, Some(transport)) => Outcome::refused(Failure::from_transport(transport, &host)),
        (None, None, None) => return Err("neither an end nor an answer nor a reason".to_owned()),
    };
    let step = next_step(&outcome, attempt, called_tool, random);
    let usage = outcome.usage.as_ref().and_then(VsCodeUsage::of);
    Ok(json!({"step": to_value(&step), "usage": to_value(&usage), "outcome": to_value(&outcome)}))
}

fn read<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| format!("the question cannot be read: {error}"))
}

fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

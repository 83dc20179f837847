//! Runs every case of the fault matrix through the client, and checks what each comes to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sluice_client::{Client, Event, Timeouts};
use sluice_core::{Ending, ExchangeOptions, FailureKind, Output, Part, Status};
use sluice_simulator::Outcome;
use sluice_simulator::server::{Config, Simulator};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::cases::{CancelAt, Case, Expected, catalogue, combinations, servers};
use super::clock::{Clock, EXPECTED, PATIENT};
use super::exchange::{Heard, ask_unless, chat, client};

const KEY: &str = "canary-key-0123456789abcdef";
/// The number of requests at the same time. The gateway has one thread.
const AT_ONCE: usize = 64;
const NEW_CONVERSATION: &str = "00000000-0000-4000-8000-000000000000";
const MAX_OUTPUT_TOKENS: u64 = 100_000;

/// A case and what the client made of it.
#[derive(Debug)]
pub struct Row {
    pub case: Case,
    heard: Heard,
    pub wrong: Option<String>,
}

/// Runs all cases, many at the same time, against one gateway. Needs a single-threaded runtime whose time is paused.
pub async fn run() -> Vec<Row> {
    let simulator = Simulator::start(Config::recording()).unwrap();
    let (clients, clock) = (Clients::new(&simulator.url()), Clock::start());
    let mut rows = run_cases(&clients, &clock, catalogue()).await;
    let known: Vec<_> = rows.iter().map(|(case, heard)| (case.clone(), heard.parts, heard.answer.attempts)).collect();
    rows.extend(run_cases(&clients, &clock, combinations(&known)).await);
    rows.extend(run_cases(&clients, &clock, servers()).await);
    let bases: BTreeSet<_> = rows.iter().map(|(case, _)| case.base).collect();
    let unharmed = bases.iter().map(|base| Case::new(base, "", Expected::Catalogue(Outcome::Same))).collect();
    let plain: BTreeMap<_, _> =
        run_cases(&clients, &clock, unharmed).await.into_iter().map(|(case, heard)| (case.base, heard)).collect();
    let seen = requests_by_model(&simulator);
    let verdicts: Vec<_> =
        rows.iter().map(|(case, heard)| verdict(case, heard, &plain[case.base], &rows, &seen)).collect();
    let judged = rows.into_iter().zip(verdicts);
    judged.map(|((case, heard), verdict)| Row { case, heard, wrong: verdict.err() }).collect()
}

/// Runs the cases. Those that fall silent run separately, because the time has to run out for them.
async fn run_cases(clients: &Clients, clock: &Clock, cases: Vec<Case>) -> Vec<(Case, Heard)> {
    let order: Vec<String> = cases.iter().map(key_of).collect();
    let (silent, others): (Vec<_>, Vec<_>) = cases.into_iter().partition(|case| case.silent_after.is_some());
    let mut done = BTreeMap::new();
    for cases in [others, silent] {
        let permits = Arc::new(Semaphore::new(AT_ONCE));
        let waiting = Arc::new(AtomicUsize::new(cases.iter().filter(|case| case.silent_after.is_some()).count()));
        clock.set_step(if waiting.load(Ordering::SeqCst) > 0 { ARRIVING } else { RETRIES });
        let mut runs = JoinSet::new();
        for case in cases {
            let (clients, permits, waiting, clock) =
                (clients.clone(), Arc::clone(&permits), Arc::clone(&waiting), clock.clone());
            runs.spawn(async move {
                // Those that fall silent run all at once: none ends before all have heard everything.
                let _permit = if case.silent_after.is_none() { Some(permits.acquire_owned().await) } else { None };
                let arrived = move || {
                    if waiting.fetch_sub(1, Ordering::SeqCst) == 1 {
                        clock.set_step(SILENCE);
                    }
                };
                let heard = one(&clients, &case, arrived).await;
                (case, heard)
            });
        }
        while let Some(row) = runs.join_next().await {
            let row = row.unwrap();
            done.insert(key_of(&row.0), row);
        }
    }
    clock.set_step(RETRIES);
    order.iter().filter_map(|key| done.remove(key)).collect()
}

/// How far the time moves in a millisecond while the last bytes before a silence arrive, while requests are retried, and
/// while servers are silent.
const ARRIVING: Duration = Duration::from_millis(10);
const RETRIES: Duration = Duration::from_millis(500);
const SILENCE: Duration = Duration::from_secs(1_000);

fn key_of(case: &Case) -> String {
    format!("{} {:?}", case.model, case.cancel)
}

/// A client takes long to create: it reads the system's certificates.
#[derive(Clone, Debug)]
struct Clients {
    patient: Client,
    /// For servers that send no headers, and for those that fall silent later.
    silent: [Client; 2],
}

impl Clients {
    fn new(url: &str) -> Self {
        let with = |timeouts| client(url, Some(KEY), timeouts);
        let silent = [Timeouts { headers: EXPECTED, ..PATIENT }, Timeouts { idle: EXPECTED, ..PATIENT }];
        Self { patient: with(PATIENT), silent: silent.map(with) }
    }

    fn for_case(&self, case: &Case) -> &Client {
        match case.silent_after {
            None => &self.patient,
            Some(_) => &self.silent[usize::from(case.fault != "never-headers")],
        }
    }
}

/// Calls `arrived` as soon as everything has arrived that a silent server sends.
async fn one(clients: &Clients, case: &Case, arrived: impl FnOnce() + Send) -> Heard {
    let mut request = chat(case.base, &case.prompt);
    request.model.clone_from(&case.model);
    request.options.max_output_tokens = Some(MAX_OUTPUT_TOKENS);
    request.options.new_conversation_id = Some(NEW_CONVERSATION.to_owned());
    request.options.automatic_caching = true;
    let (mut pieces, mut bytes) = (0, 0);
    let mut arrived = case.silent_after.map(|after| (after, arrived));
    if let Some((_, arrived)) = arrived.take_if(|(after, _)| *after == 0) {
        arrived();
    }
    let heard = ask_unless(case.cancel == Some(CancelAt::Start), clients.for_case(case), &request, |event| {
        if let Event::Bytes(piece) = event {
            pieces += 1;
            bytes += piece.len();
            if let Some((_, arrived)) = arrived.take_if(|(after, _)| bytes >= *after) {
                arrived();
            }
        }
        match case.cancel {
            Some(CancelAt::ThirdPiece) => pieces == 3,
            Some(CancelAt::FirstPart) => matches!(event, Event::Output(Output::Part(_))),
            Some(CancelAt::FirstWait) => matches!(event, Event::Retrying { .. }),
            Some(CancelAt::Start) | None => false,
        }
    })
    .await;
    // The answer was complete before the silence.
    if let Some((_, arrived)) = arrived {
        arrived();
    }
    heard
}

/// How many requests the gateway has seen, by model and cancellation. If it says that it has no API there, the client also
/// tries the address without `/v1`.
fn requests_by_model(simulator: &Simulator) -> BTreeMap<String, usize> {
    let mut seen = BTreeMap::new();
    for request in simulator.requests().iter().filter(|request| request.path == "/v1/responses") {
        if let Ok(Value::Object(body)) = serde_json::from_slice(&request.body) {
            *seen.entry(body["model"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
    }
    seen
}

/// Checks the outcome that the case must have, and what must hold for every run.
fn verdict(
    case: &Case,
    heard: &Heard,
    plain: &Heard,
    rows: &[(Case, Heard)],
    seen: &BTreeMap<String, usize>,
) -> Result<(), String> {
    let outcome = &heard.answer.outcome;
    let attempts = heard.answer.attempts;
    demand(!heard.repeated_after_part, "asked again after a part")?;
    demand(heard.parts_after_cancel == 0, "a part after cancelling")?;
    let max_attempts = ExchangeOptions::default().max_attempts;
    demand(attempts <= max_attempts, "too many attempts")?;
    demand(outcome.error.is_some() == matches!(outcome.status, Status::Failed | Status::Truncated), "error or none")?;
    if let Some(failure) = &outcome.error {
        let too_long = failure.retry_after_ms.is_some_and(|wait| wait > 60_000);
        let again = failure.may_retry && !too_long && heard.parts == 0 && outcome.retry_safe;
        demand(attempts == if again { max_attempts } else { 1 }, "a wrong number of attempts")?;
    }
    let made: u32 =
        rows.iter().filter(|(other, _)| other.model == case.model).map(|(_, heard)| heard.answer.attempts).sum();
    let arrived = seen.get(&case.model).copied().unwrap_or_default();
    // A client that gives up waiting for headers may disconnect before the request is read, and one that is cancelled
    // may not even have connected.
    let may_miss = case.fault.starts_with("never-headers") || case.cancel == Some(CancelAt::Start);
    demand(arrived == made as usize || may_miss && arrived < made as usize, "the gateway saw other requests")?;

    match &case.expected {
        Expected::Catalogue(outcome) => demanded(&case.fault, *outcome, heard, plain),
        Expected::LikeCase(fault) => {
            let other = rows.iter().find(|(other, _)| other.fault == *fault && other.cancel.is_none());
            let (_, other) = other.ok_or("there is no such case")?;
            demand(record(heard) == record(other), "not the same as in other chunks")
        }
        Expected::SecondAttempt => {
            demand(outcome.status == Status::Completed && attempts == 2, "not completed by the second attempt")?;
            demand(said(heard) == said(plain), "another answer")
        }
        Expected::Beginning => {
            let is_cut = matches!(outcome.status, Status::Truncated);
            demand(is_cut || outcome.status == Status::Completed, "neither cut off nor completed")?;
            demand(is_cut || said(heard) == said(plain), "completed without the whole answer")?;
            demand(plain.text.starts_with(&heard.text), "another text")?;
            demand(plain.thinking.starts_with(&heard.thinking), "other thinking")?;
            demand(calls(plain).starts_with(&calls(heard)), "other calls")
        }
        Expected::Cancelled => {
            demand(outcome.status == Status::Cancelled, "not cancelled")?;
            demand(attempts == 1, "asked again although it was cancelled")?;
            let parts = usize::from(case.cancel == Some(CancelAt::FirstPart));
            demand(heard.parts == parts, "a wrong number of parts")
        }
    }
}

/// Checks what the catalogue demands of a single fault.
fn demanded(fault: &str, expected: Outcome, heard: &Heard, plain: &Heard) -> Result<(), String> {
    let outcome = &heard.answer.outcome;
    let attempts = heard.answer.attempts;
    demand(heard.parts == 0 || attempts == 1 || expected == Outcome::SameAfterRetries, "asked again after a part")?;
    let failure = outcome.error.as_ref();
    let kind = failure.map(|failure| failure.kind);
    let failed = outcome.status == Status::Failed;
    let complete = outcome.status == Status::Completed;
    match expected {
        Outcome::Same | Outcome::SameAfterRetries => {
            demand(complete, "not completed")?;
            demand(heard.text == plain.text, "another text")?;
            demand(heard.thinking == plain.thinking, "other thinking")?;
            // Calls are reported when they are done, so the order differs if they are interleaved.
            let alike = if fault == "interleave" {
                sorted(calls(heard)) == sorted(calls(plain))
            } else {
                calls(heard) == calls(plain)
            };
            demand(alike, "other calls")?;
            let ids: BTreeSet<_> = heard.calls.iter().map(|(id, ..)| id).collect();
            demand(ids.len() == heard.calls.len(), "two calls with one id")?;
            let again = if expected == Outcome::Same { attempts == 1 } else { attempts > 1 };
            demand(again, "a wrong number of attempts")
        }
        Outcome::Completed => demand(complete, "not completed"),
        Outcome::Incomplete => demand(outcome.status == Status::Incomplete, "not incomplete"),
        // A reset may overtake the headers, so that there is no answer that could be cut off.
        Outcome::Truncated => {
            let overtaken = failed && fault.starts_with("reset-at");
            demand(outcome.status == Status::Truncated || overtaken, "not truncated")?;
            demand(kind == Some(FailureKind::Network), "not called a network failure")
        }
        Outcome::FailedByServer => {
            demand(failed, "not failed")?;
            demand(!matches!(kind, Some(FailureKind::Network | FailureKind::NotAStream)), "not the server's failure")
        }
        Outcome::FailedByStatus => {
            let status = failure.and_then(|failure| failure.status);
            demand(failed && status.is_some_and(|status| status >= 400), "no failure with its status")?;
            let asked = fault.strip_prefix("status=").map(str::parse);
            demand(asked.is_none_or(|asked| asked.ok() == status), "another status")
        }
        Outcome::FailedByNetwork => demand(failed && kind == Some(FailureKind::Network), "no network failure"),
        Outcome::TooLarge => demand(failed && kind == Some(FailureKind::TooLarge), "not refused as too large"),
        Outcome::NotAnAnswer => {
            demand(failed && heard.parts == 0, "not failed")?;
            demand(kind != Some(FailureKind::Network), "called a network failure")
        }
        Outcome::RedirectRefused => {
            demand(failed && failure.is_some_and(|failure| failure.message.contains("redirect")), "not refused")
        }
        Outcome::HeadersTimeout => {
            demand(failed && failure.is_some_and(|failure| failure.message.contains("in time")), "no timeout")
        }
        Outcome::IdleTimeout => demand(outcome.reason.as_deref() == Some("idle_timeout"), "no idle timeout"),
        Outcome::Endless => {
            demand(outcome.status == Status::Cancelled && heard.parts == 0 && attempts == 1, "not cancelled")
        }
    }
}

fn calls(heard: &Heard) -> Vec<(&str, &str)> {
    heard.calls.iter().map(|(_, name, input)| (name.as_str(), input.as_str())).collect()
}

fn said(heard: &Heard) -> (&str, &str, Vec<(&str, &str)>) {
    (&heard.text, &heard.thinking, calls(heard))
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort();
    values
}

fn demand(fulfilled: bool, otherwise: &str) -> Result<(), String> {
    if fulfilled { Ok(()) } else { Err(otherwise.to_owned()) }
}

/// What a user of any shell gets: how it ended, in which words, the parts, and how many requests it took.
fn record(heard: &Heard) -> Value {
    let (ending, words, kind) = match &heard.answer.ending {
        Ending::Done => ("done", None, None),
        Ending::Cancelled => ("cancelled", None, None),
        Ending::Rejected { message, kind, .. } => ("rejected", Some(message), kind.as_ref()),
    };
    let mut parts: Vec<Value> = Vec::new();
    for part in &heard.delivered {
        let (kind, text) = match part {
            Part::Text { value } => ("text", value),
            Part::Citations { markdown, .. } => ("text", markdown),
            Part::Thinking { value, replay: None, .. } => ("thinking", value),
            Part::Thinking { .. } => continue,
            Part::ToolCall { name, input_json, .. } => {
                parts.push(json!({"call": name, "input": input_json}));
                continue;
            }
            Part::Data { mime_type, base64 } => {
                parts.push(json!({"data": mime_type, "base64": base64}));
                continue;
            }
        };
        match parts.last_mut().and_then(|last| last.get_mut(kind)) {
            Some(Value::String(before)) => before.push_str(text),
            _ => parts.push(json!({ kind: text })),
        }
    }
    let failure = heard.answer.outcome.error.as_ref().map(|failure| &failure.message);
    let tried_elsewhere = words.is_some_and(|words| words.contains("there is no Open Responses API"));
    json!({
        "ending": ending,
        "kind": kind,
        "words": words,
        "failure": failure,
        "parts": parts,
        "usage": heard.answer.usage,
        "requests": heard.answer.attempts + u32::from(tried_elsewhere),
    })
}

/// Everything that the other shells need to repeat the cases and compare what they come to.
#[allow(dead_code, reason = "the test prints the table only")]
pub fn export(rows: &[Row]) -> Value {
    let case = |row: &Row| json!({"case": row.case, "client": record(&row.heard)});
    json!({
        "key": KEY,
        "maxOutputTokens": MAX_OUTPUT_TOKENS,
        "conversation": NEW_CONVERSATION,
        "rows": rows.iter().map(case).collect::<Vec<_>>(),
    })
}

/// Renders the rows as a table for people. The last line has the totals.
pub fn table(rows: &[Row]) -> String {
    let mut table = String::new();
    for Row { case, heard, wrong } in rows {
        let outcome = &heard.answer.outcome;
        let mut got = format!("{:?}", outcome.status);
        if let Some(failure) = &outcome.error {
            let status = failure.status.map(|status| format!(" {status}")).unwrap_or_default();
            let _ = write!(got, " {:?}{status}", failure.kind);
        }
        let verdict = wrong.as_ref().map_or("ok".to_owned(), |wrong| format!("WRONG: {wrong}"));
        let cancel = case.cancel.map(|at| format!(", cancelled: {at:?}")).unwrap_or_default();
        let name = format!("{}{cancel}", case.model);
        let attempts = heard.answer.attempts;
        let _ = writeln!(table, "{name:60}  {got:28} x{attempts}  {:>6} parts  {verdict}", heard.parts);
    }
    let wrong = rows.iter().filter(|row| row.wrong.is_some()).count();
    let _ = writeln!(table, "{} cases, {wrong} wrong", rows.len());
    table
}

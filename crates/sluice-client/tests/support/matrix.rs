//! Runs every fault of the embedded gateway through the client, and checks whether each leads to the outcome that the
//! catalogue demands.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use sluice_client::{Event, Timeouts};
use sluice_core::{ExchangeOptions, FailureKind, Status};
use sluice_simulator::server::{Config, Simulator};
use sluice_simulator::{Outcome, faults};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::exchange::{Heard, PATIENT, ask, chat, client};

/// The time limit for servers that fall silent.
const SHORT: Duration = Duration::from_millis(300);
/// A longer delay is cancelled; the reason for the delay is the result.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// A run that takes longer counts as hanging.
const HANGING: Duration = Duration::from_mins(10);

const PROMPT: &str =
    "Wasser, 水, 🚰: \"open_gate {\"gate\": 12345678901234567890, \"by\": 0.5} then \\ read_level {\"place\": \"a b\"}";

#[derive(Debug)]
pub struct Row {
    pub fault: String,
    expected: Outcome,
    got: String,
    attempts: usize,
    parts: usize,
    pub wrong: Option<String>,
}

/// Runs them all at the same time against one gateway.
pub async fn run() -> Vec<Row> {
    let simulator = Simulator::start(Config::recording()).unwrap();
    let url: Arc<str> = simulator.url().into();
    let mut plain = BTreeMap::new();
    for fault in faults() {
        if !plain.contains_key(fault.model) {
            let heard = ask(&client(&url, None, PATIENT), &chat(fault.model, PROMPT), |_| false).await;
            assert_eq!(heard.answer.outcome.status, Status::Completed, "{} without any fault", fault.model);
            plain.insert(fault.model, Arc::new(heard));
        }
    }
    let mut runs = JoinSet::new();
    let mut rows = BTreeMap::new();
    let variants = faults().iter().flat_map(|fault| fault.variants().map(move |variant| (fault, variant)));
    // Megabytes keep the gateway's single thread busy, which would look like silence to others, so these come last.
    let (large, small): (Vec<_>, Vec<_>) = variants
        .enumerate()
        .partition(|(_, (fault, _))| ["huge-event", "large-event", "many-items"].contains(&fault.name));
    for wave in [small, large] {
        for (at, (fault, variant)) in wave {
            let (url, plain) = (Arc::clone(&url), Arc::clone(&plain[fault.model]));
            runs.spawn(async move {
                // One byte per millisecond is slow even for the last event alone; `chunk=1` sends all of them like
                // this.
                let less = if fault.name == "dribble" { "+terminal-only" } else { "" };
                let model = format!("{}+{variant}{less}", fault.model);
                let heard = timeout(HANGING, one(&url, &model, fault.outcome)).await.ok();
                (at, model, Row::new(variant, fault.outcome, heard.as_ref(), &plain))
            });
        }
        while let Some(row) = runs.join_next().await {
            let (at, model, row) = row.unwrap();
            rows.insert(at, (model, row));
        }
    }
    count_requests(&simulator, rows.values_mut());
    rows.into_values().map(|(_, row)| row).collect()
}

/// The gateway's count must agree with the client's.
fn count_requests<'a>(simulator: &Simulator, rows: impl Iterator<Item = &'a mut (String, Row)>) {
    let bodies: Vec<serde_json::Value> =
        simulator.requests().iter().filter_map(|request| serde_json::from_slice(&request.body).ok()).collect();
    for (model, row) in rows {
        let seen = bodies.iter().filter(|body| body["model"] == model.as_str()).count();
        // A client that gives up waiting for headers may disconnect before the request is read.
        let unread = row.expected == Outcome::HeadersTimeout && seen < row.attempts;
        if row.wrong.is_none() && seen != row.attempts && !unread {
            row.wrong = Some(format!("the gateway saw {seen} requests"));
        }
    }
}

async fn one(url: &str, model: &str, expected: Outcome) -> Heard {
    let timeouts = match expected {
        Outcome::HeadersTimeout => Timeouts { headers: SHORT, ..PATIENT },
        Outcome::IdleTimeout => Timeouts { idle: SHORT, ..PATIENT },
        _ => PATIENT,
    };
    let mut pieces = 0;
    ask(&client(url, None, timeouts), &chat(model, PROMPT), |event| match event {
        Event::Bytes(_) => {
            pieces += 1;
            expected == Outcome::Endless && pieces == 3
        }
        Event::Retrying { delay, .. } => *delay > LONGEST_WAIT,
        _ => false,
    })
    .await
}

impl Row {
    fn new(fault: String, expected: Outcome, heard: Option<&Heard>, plain: &Heard) -> Self {
        let Some(heard) = heard else {
            return Self { fault, expected, got: "hangs".into(), attempts: 0, parts: 0, wrong: Some("hangs".into()) };
        };
        let outcome = &heard.answer.outcome;
        let long_wait = heard.retries.last().filter(|(_, delay)| *delay > LONGEST_WAIT);
        let mut got = match long_wait {
            Some((_, delay)) => format!("Cancelled in {} s of waiting", delay.as_secs()),
            None => format!("{:?}", outcome.status),
        };
        if let Some(failure) = outcome.error.as_ref().or(long_wait.map(|(failure, _)| failure)) {
            let status = failure.status.map(|status| format!(" {status}")).unwrap_or_default();
            write!(got, " {:?}{status}", failure.kind).unwrap();
        }
        write!(got, " x{}", heard.answer.attempts).unwrap();
        let wrong = wrong(&fault, expected, heard, plain).err();
        Self { fault, expected, got, attempts: heard.answer.attempts as usize, parts: heard.parts, wrong }
    }
}

/// Checks what the catalogue demands, and what holds for every run.
fn wrong(fault: &str, expected: Outcome, heard: &Heard, plain: &Heard) -> Result<(), String> {
    let outcome = &heard.answer.outcome;
    let attempts = heard.answer.attempts;
    demand(!heard.repeated_after_part, "asked again after a part")?;
    demand(heard.parts_after_cancel == 0, "a part after cancelling")?;
    let max_attempts = ExchangeOptions::default().max_attempts;
    demand(attempts <= max_attempts, "too many attempts")?;
    demand(heard.parts == 0 || attempts == 1 || expected == Outcome::SameAfterRetries, "asked again after a part")?;
    let cancelled = matches!(outcome.status, Status::Cancelled);
    demand(outcome.error.is_some() == matches!(outcome.status, Status::Failed | Status::Truncated), "error or none")?;

    // If the delay was too long, we cancelled; the failure was reported before.
    let waiting = heard.retries.last().filter(|(_, delay)| cancelled && *delay > LONGEST_WAIT);
    let failure = outcome.error.as_ref().or(waiting.map(|(failure, _)| failure));
    let kind = failure.map(|failure| failure.kind);
    let failed = outcome.status == Status::Failed || waiting.is_some();
    if let Some(failure) = failure.filter(|_| waiting.is_none()) {
        let too_long = failure.retry_after_ms.is_some_and(|wait| wait > 60_000);
        let again = failure.may_retry && !too_long && heard.parts == 0;
        demand(attempts == if again { max_attempts } else { 1 }, "a wrong number of attempts")?;
    }
    let complete = outcome.status == Status::Completed;
    match expected {
        Outcome::Same | Outcome::SameAfterRetries => {
            demand(complete, "not completed")?;
            demand(heard.text == plain.text, "another text")?;
            demand(heard.thinking == plain.thinking, "other thinking")?;
            let said = |heard: &Heard| -> Vec<(String, String)> {
                heard.calls.iter().map(|(_, name, input)| (name.clone(), input.clone())).collect()
            };
            // Calls are reported when they are done, so the order differs if they are interleaved.
            let alike = if fault == "interleave" {
                sorted(said(heard)) == sorted(said(plain))
            } else {
                said(heard) == said(plain)
            };
            demand(alike, "other calls")?;
            let ids: std::collections::BTreeSet<_> = heard.calls.iter().map(|(id, ..)| id).collect();
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
        Outcome::Endless => demand(cancelled && heard.parts == 0 && attempts == 1, "not cancelled"),
    }
}

fn sorted(mut calls: Vec<(String, String)>) -> Vec<(String, String)> {
    calls.sort();
    calls
}

fn demand(fulfilled: bool, otherwise: &str) -> Result<(), String> {
    if fulfilled { Ok(()) } else { Err(otherwise.to_owned()) }
}

/// Renders the rows as a table for people. The last line has the totals.
pub fn table(rows: &[Row]) -> String {
    let width = |cell: fn(&Row) -> usize, title: &str| rows.iter().map(cell).max().unwrap_or(0).max(title.len());
    let fault = width(|row| row.fault.chars().count(), "fault");
    let expected = width(|row| row.expected.to_string().len(), "expected");
    let got = width(|row| row.got.len(), "got");
    let mut table = format!("{:fault$}  {:expected$}  {:got$}  {:>6}\n", "fault", "expected", "got", "parts");
    for row in rows {
        let verdict = row.wrong.as_ref().map_or("ok".to_owned(), |wrong| format!("WRONG: {wrong}"));
        let Row { fault: name, expected: wanted, got: outcome, parts, .. } = row;
        let _ = writeln!(table, "{name:fault$}  {wanted:expected$}  {outcome:got$}  {parts:>6}  {verdict}");
    }
    let wrong = rows.iter().filter(|row| row.wrong.is_some()).count();
    let _ = writeln!(table, "{} faults, {wrong} wrong", rows.len());
    table
}

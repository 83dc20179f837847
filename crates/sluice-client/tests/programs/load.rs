//! Runs a thousand answers at once through one client, with the embedded gateway in the same process. Every event has
//! to arrive exactly once and in order. The time and memory for each stream are printed next to their targets.
//!
//! Run by `cargo xtask load` in release mode. Memory is the growth of the process from before the streams to its peak,
//! including the gateway's part. The gateway counts how many answers were open at the same time.

use std::future::pending;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use sluice_client::{Client, Event, Timeouts};
use sluice_core::{ChatMessage, ChatPart, ChatRequest, Endpoint, Output, Part, Role, Status};
use sluice_simulator::server::{Config, Simulator};
use tokio::task::JoinSet;

const STREAMS: usize = 1_000;
const EVENTS: usize = 200;
const EVENTS_PER_SECOND: f64 = 50_000.0;
const KIB_PER_STREAM: f64 = 64.0;

/// The two kinds of load: as fast as possible, where the first answers end before the last ones begin; and with pauses
/// of two seconds in total, so that all answers are open at the same time.
const RUNS: [(&str, &str); 2] = [("at once", "sluice/burst"), ("overlapping", "sluice/burst+pace=80")];

#[derive(Debug, Default)]
struct Damage {
    lost: usize,
    doubled: usize,
    out_of_order: usize,
    not_completed: usize,
    /// The error of the first stream that wasn't completed.
    first_error: Option<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let asked = std::env::args().nth(1);
    let mut ok = true;
    for (name, model) in RUNS {
        let met = match asked.as_deref() {
            // Each run has its own process: memory that an earlier run left to the allocator would hide what this one
            // needs.
            None => in_a_new_process(name),
            Some(asked) if asked == name => run(name, model).await,
            Some(_) => Ok(true),
        };
        ok &= met.unwrap_or_else(|error| {
            eprintln!("load: {error}");
            false
        });
    }
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn in_a_new_process(name: &str) -> Result<bool, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let status = Command::new(this).arg(name).status().map_err(|error| error.to_string())?;
    Ok(status.success())
}

async fn run(name: &str, model: &str) -> Result<bool, String> {
    let simulator = Simulator::start(Config::default()).map_err(|error| error.to_string())?;
    let endpoint = Endpoint::parse(&simulator.url()).map_err(|error| error.to_string())?;
    let client = Client::new(endpoint, None, Timeouts { connect: Duration::from_mins(1), ..Timeouts::default() });
    let client = client.map_err(|error| error.to_string())?;
    // One answer runs first, so that one-time allocations aren't attributed to the streams.
    stream(&client, "sluice/burst").await;

    let before = resident();
    reset_peak();
    let started = Instant::now();
    let mut streams = JoinSet::new();
    for _ in 0..STREAMS {
        let (client, model) = (client.clone(), model.to_owned());
        streams.spawn(async move { stream(&client, &model).await });
    }
    let mut total = Damage::default();
    while let Some(damage) = streams.join_next().await {
        let damage = damage.map_err(|error| error.to_string())?;
        total.lost += damage.lost;
        total.doubled += damage.doubled;
        total.out_of_order += damage.out_of_order;
        total.not_completed += damage.not_completed;
        total.first_error = total.first_error.or(damage.first_error);
    }
    let seconds = started.elapsed().as_secs_f64();
    let peak = peak();
    let most_open = simulator.streams().most_open;

    let Damage { lost, doubled, out_of_order, not_completed, first_error } = total;
    println!("{name}: {STREAMS} streams x {EVENTS} events ({model})");
    let whole = lost + doubled + out_of_order + not_completed == 0;
    println!(
        "  {lost} lost, {doubled} repeated, {out_of_order} out of order, {not_completed} not completed  {}",
        verdict(whole)
    );
    if let Some(first_error) = first_error {
        println!("  {first_error}");
    }
    let rate = as_f64(STREAMS * EVENTS) / seconds;
    if model.contains("pace") {
        println!("  {most_open} open at once, target {STREAMS}  {}", verdict(most_open == STREAMS));
    } else {
        println!("  {most_open} open at once");
    }
    println!(
        "  {rate:.0} events/s, target >= {EVENTS_PER_SECOND:.0}  {}  ({seconds:.2} s)",
        verdict(rate >= EVENTS_PER_SECOND)
    );
    match (before, peak) {
        (Some(before), Some(peak)) => {
            let each = as_f64(peak.saturating_sub(before)) / as_f64(STREAMS);
            println!("  {each:.1} KiB per stream, target <= {KIB_PER_STREAM:.0}  {}", verdict(each <= KIB_PER_STREAM));
        }
        _ => println!("  memory: not available on this system"),
    }
    // Speed and memory are only printed, because the machine may be busy. A damaged stream is an error on any machine.
    Ok(whole)
}

/// Runs one answer and returns what was wrong with it.
async fn stream(client: &Client, model: &str) -> Damage {
    let prompt = ChatPart::Text { value: format!("burst {EVENTS}") };
    let message = ChatMessage { role: Role::User, content: vec![prompt] };
    let chat = ChatRequest { model: model.to_owned(), messages: vec![message], ..ChatRequest::default() };
    let mut text = String::new();
    let answer = client
        .respond(&chat, pending(), &mut |event| {
            if let Event::Output(Output::Part(Part::Text { value })) = event {
                text.push_str(&value);
            }
        })
        .await;
    let mut damage = Damage::default();
    let mut seen = [0_usize; EVENTS];
    let mut highest = None;
    for number in text.split_ascii_whitespace().filter_map(|word| word.parse::<usize>().ok()) {
        damage.out_of_order += usize::from(highest.is_some_and(|highest| number < highest));
        highest = highest.max(Some(number));
        if let Some(times) = seen.get_mut(number) {
            *times += 1;
        }
    }
    damage.lost = seen.iter().filter(|times| **times == 0).count();
    damage.doubled = seen.iter().map(|times| times.saturating_sub(1)).sum();
    if answer.outcome.status != Status::Completed || answer.attempts != 1 {
        damage.not_completed = 1;
        let why = answer.outcome.error.map(|failure| failure.message).unwrap_or_default();
        damage.first_error = Some(format!("{:?} after {} attempts. {why}", answer.outcome.status, answer.attempts));
    }
    damage
}

fn verdict(met: bool) -> &'static str {
    if met { "ok" } else { "MISSED" }
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

/// Returns the current memory of the process in KiB.
fn resident() -> Option<usize> {
    status_line("VmRSS:")
}

/// Returns the peak memory since `reset_peak`, in KiB.
fn peak() -> Option<usize> {
    status_line("VmHWM:")
}

fn status_line(name: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Resets the peak to the current memory. If the system doesn't allow that, the peak of an earlier run counts, which is
/// never lower.
fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

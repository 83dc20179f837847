//! `sluice why`, and the timeline of a request: what happened to it, what it cost, and what the prompt cache made of it.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use sluice_core::{CostBasis, Dollars, PieceGroup, RequestRecord, Timeline, date, grouped, join_messages};

use crate::complain;
use crate::conversations::Conversation;
use crate::records;
use crate::text::{self, one_line};

/// Explain how requests used the server's prompt cache.
///
/// For each request of a conversation, or for one: how much of the prompt began like an earlier request, how much the
/// server read from its cache, what differed first, and what that cost.
#[derive(Debug, Args)]
pub struct Why {
    /// A request (k3x9-2), or the start of a conversation's id; the last conversation if none is named
    id: Option<String>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

impl Why {
    pub fn run(self) -> io::Result<ExitCode> {
        let records = match self.id.as_deref().and_then(records::find) {
            Some(record) => vec![record],
            None => match Conversation::find(self.id.as_deref()) {
                Ok(conversation) => records::of(&conversation.id),
                Err(message) => return Ok(complain(&message)),
            },
        };
        if records.is_empty() {
            return Ok(complain("no request of this conversation is recorded"));
        }
        let mut out = anstream::stdout();
        for record in &records {
            if self.json {
                let line = serde_json::json!({"id": record.id, "usage": record.usage, "lens": record.lens});
                writeln!(out, "{}", text::json(&line.to_string()))?;
                continue;
            }
            let said = match &record.lens {
                Some(lens) => join_messages(&lens.text, " "),
                None if record.usage.input.is_none() => "The server did not count it.".to_owned(),
                None => "It is the first request of its conversation.".to_owned(),
            };
            writeln!(out, "{}  {}", one_line(&record.id), one_line(&said))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes what happened to a request, and when.
pub fn write_timeline(out: &mut dyn Write, record: &RequestRecord) -> io::Result<()> {
    let RequestRecord { id, purpose, model, origin, .. } = record;
    let place = if origin.is_empty() { "the embedded gateway" } else { origin };
    writeln!(out, "{}", one_line(&format!("{id}: {purpose} with {model} at {place}, {}", when(record.started_ms))))?;
    for retry in &record.retries {
        writeln!(out, "{}an attempt failed: {}", at(retry.ms), name(&retry.why))?;
    }
    let Timeline { sent_ms, first_byte_ms, first_thinking_ms, first_text_ms, calls, end_ms } = &record.timeline;
    let mut events = vec![(*sent_ms, "sent".to_owned()), (*first_byte_ms, "first byte".to_owned())];
    events.push((*first_thinking_ms, "first thinking".to_owned()));
    events.push((*first_text_ms, "first text".to_owned()));
    events.extend(calls.iter().map(|call| (Some(call.ms), format!("called {}", one_line(&call.name)))));
    let mut events: Vec<(u64, String)> = events.into_iter().filter_map(|(ms, event)| Some((ms?, event))).collect();
    events.sort_by_key(|(ms, _)| *ms);
    let reason = record.finish.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let failure = record.finish.failure.map(|failure| format!(" ({})", name(&failure))).unwrap_or_default();
    events.push((*end_ms, format!("end: {}{reason}{failure}", name(&record.finish.status))));
    for (ms, event) in events {
        writeln!(out, "{}{event}", at(ms))?;
    }
    let usage = &record.usage;
    let count = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), grouped);
    let part = |count: Option<u64>, label: &str| {
        count.filter(|count| *count > 0).map(|count| format!(" ({} {label})", grouped(count))).unwrap_or_default()
    };
    let (cached, thought) = (part(usage.cached, "cached"), part(usage.reasoning, "reasoning"));
    writeln!(out, "{:>12}  {} in{cached}, {} out{thought}", "tokens", count(usage.input), count(usage.output))?;
    let groups = [
        (PieceGroup::System, "system"),
        (PieceGroup::Tools, "tools"),
        (PieceGroup::History, "history"),
        (PieceGroup::New, "new"),
    ];
    let groups = groups.map(|(group, name)| {
        let tokens = record.pieces.iter().filter(|piece| piece.group == group).map(|piece| u64::from(piece.tokens));
        format!("{name} {}", grouped(tokens.sum()))
    });
    writeln!(out, "{:>12}  {}", "", groups.join(" · "))?;
    let cost = record.cost.map(|cost| format!("{} ({})", cost.usd, basis(cost.basis)));
    let expected = record.forecast.and_then(|forecast| forecast.cost);
    let expected = expected.map(|cost| format!("expected {} ({} to {})", cost.expected, cost.low, cost.high));
    let costs: Vec<String> = cost.into_iter().chain(expected).collect();
    if !costs.is_empty() {
        writeln!(out, "{:>12}  {}", "cost", costs.join(", "))?;
    }
    if let Some(provider) = &record.routing.provider {
        writeln!(out, "{:>12}  {}", "answered by", one_line(provider))?;
    }
    if let Some(lens) = &record.lens {
        writeln!(out, "{:>12}  {}", "cache", one_line(&join_messages(&lens.text, " ")))?;
    }
    for note in &record.notes {
        writeln!(out, "{:>12}  {} ×{}", "note", name(&note.kind), note.count)?;
    }
    Ok(())
}

/// Returns one line about a request: what it used and cost.
pub fn summary(record: &RequestRecord) -> String {
    let count = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), grouped);
    let cost = record.cost.map(|cost| format!(" · {}", shown(cost.usd, cost.basis))).unwrap_or_default();
    let usage = &record.usage;
    let cached = usage.cached.filter(|cached| *cached > 0).map(|cached| format!(" ({} cached)", grouped(cached)));
    format!(
        "{}  {}  {} · {} tokens in{} · {} out{cost}",
        record.id,
        when(record.started_ms),
        record.model,
        count(usage.input),
        cached.unwrap_or_default(),
        count(usage.output)
    )
}

fn shown(usd: Dollars, of: CostBasis) -> String {
    if of == CostBasis::Reported { usd.to_string() } else { format!("{usd} ({})", basis(of)) }
}

fn basis(basis: CostBasis) -> &'static str {
    match basis {
        CostBasis::Reported => "reported",
        CostBasis::Computed => "computed from prices",
        CostBasis::Play => "play money",
    }
}

fn at(ms: u64) -> String {
    format!("{:>9} ms  ", grouped(ms))
}

/// Returns a time as a date and a time of day in UTC.
fn when(ms: u64) -> String {
    let seconds = ms / 1000;
    let day = date(u32::try_from(seconds / 86_400).unwrap_or(u32::MAX));
    format!("{day} {:02}:{:02}:{:02} UTC", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}

/// Returns the name of a variant, as it is in JSON.
fn name(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

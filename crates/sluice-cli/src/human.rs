//! Output for people: the answer as plain text, everything else in colour, and one closing line. There are no colours in
//! a pipe or a file.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

use anstream::{AutoStream, stdout};
use anstyle::{AnsiColor, Style};
use sluice_core::{Empty, NoteKind, Outcome, Output, Part, Status, Usage};

use crate::Printer;
use crate::json::without_white_space;
use crate::text::{RunningText, one_line};

const THINKING: Style = Style::new().dimmed().italic();
const TOOL: Style = AnsiColor::Cyan.on_default();
const DATA: Style = AnsiColor::Magenta.on_default();
const NOTE: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const CAUTION: Style = AnsiColor::Yellow.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();

pub struct Human {
    out: AutoStream<io::Stdout>,
    notes: bool,
    events: bool,
    /// The thinking block on the screen.
    thinking: Option<String>,
    at_line_start: bool,
    text: RunningText,
}

impl Human {
    pub fn new(notes: bool, events: bool) -> Self {
        Self { out: stdout(), notes, events, thinking: None, at_line_start: true, text: RunningText::default() }
    }

    fn write(&mut self, style: Style, text: &str) -> io::Result<()> {
        let text = self.text.next(text);
        if let Some(last) = text.chars().last() {
            self.at_line_start = last == '\n';
            write!(self.out, "{style}{text}{style:#}")?;
        }
        Ok(())
    }

    fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.new_line()?;
        writeln!(self.out, "{style}{}{style:#}", one_line(text))
    }

    fn new_line(&mut self) -> io::Result<()> {
        if self.at_line_start {
            return Ok(());
        }
        self.at_line_start = true;
        writeln!(self.out)
    }
}

impl Printer for Human {
    fn output(&mut self, output: &Output) -> io::Result<()> {
        if let Output::Part(Part::Thinking { value, id, replay }) = output {
            if replay.is_some() {
                return Ok(());
            }
            if self.thinking.as_ref() != Some(id) {
                self.new_line()?;
                if self.thinking.replace(id.clone()).is_some() {
                    writeln!(self.out)?;
                }
            }
            return self.write(THINKING, value);
        }
        if matches!(output, Output::Part(_)) && self.thinking.take().is_some() {
            self.new_line()?;
            writeln!(self.out)?;
        }
        match output {
            Output::Part(Part::Text { value }) => self.write(Style::new(), value),
            Output::Part(Part::ToolCall { call_id, name, input_json }) => {
                self.line(TOOL, &format!("→ {name} {}  ({call_id})", without_white_space(input_json)))
            }
            Output::Part(Part::Data { mime_type, base64 }) => {
                self.line(DATA, &format!("▣ {mime_type}, {} bytes", base64.trim_end_matches('=').len() * 3 / 4))
            }
            Output::Part(Part::Citations { citations, .. }) => citations.iter().try_for_each(|citation| {
                let name = citation.title.as_deref().or(citation.filename.as_deref());
                let source = [name, citation.url.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
                self.line(DATA, &format!("◦ {source}"))
            }),
            Output::Note(note) if note.kind == NoteKind::Event => {
                if self.events {
                    self.line(NOTE, &format!("· {}", note.detail))
                } else {
                    Ok(())
                }
            }
            Output::Note(note) if note.kind == NoteKind::LeftOut && !note.text.is_empty() => {
                self.line(NOTE, &format!("· {}", note.detail))
            }
            Output::Note(note) if self.notes => {
                let kind = serde_json::to_value(note.kind).unwrap_or_default();
                self.line(NOTE, &format!("· {}: {}", kind.as_str().unwrap_or_default(), note.detail))
            }
            Output::Note(_) | Output::Part(Part::Thinking { .. }) => Ok(()),
        }
    }

    fn outcome(&mut self, outcome: &Outcome, elapsed: Duration) -> io::Result<()> {
        self.new_line()?;
        let (style, word) = match outcome.status {
            Status::Completed => (GOOD, "completed"),
            Status::Incomplete => (CAUTION, "incomplete"),
            Status::Failed => (BAD, "failed"),
            Status::Truncated => (BAD, "truncated"),
            Status::Cancelled => (CAUTION, "cancelled"),
        };
        let mut line = String::new();
        let reason = outcome.reason.iter().chain(outcome.error.iter().map(|error| &error.message));
        reason.for_each(|reason| write!(line, ": {reason}").unwrap_or_default());
        if let Some(empty) = outcome.empty {
            line.push_str(match empty {
                Empty::ThinkingOnly => " · the model only thought",
                Empty::Filtered => " · a content filter removed the answer",
                Empty::Length => " · the output limit was used up before the first word",
                _ => " · the answer is empty",
            });
        }
        if let Some(model) = &outcome.model {
            write!(line, " · {model}").unwrap_or_default();
        }
        if let Some(usage) = &outcome.usage {
            line.push_str(&usage_words(usage));
        }
        // LiteLLM has the cost among the counts.
        let counted = || outcome.usage.as_ref()?.more.get("cost")?.as_f64().map(|cost| cost.to_string());
        let cost = outcome.gateway.as_ref().and_then(|gateway| gateway.cost.clone()).or_else(counted);
        if let Some(cost) = cost {
            write!(line, " · ${cost}").unwrap_or_default();
        }
        writeln!(self.out, "{style}{word}{style:#}{} · {:.1} ms", one_line(&line), elapsed.as_secs_f64() * 1e3)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn usage_words(usage: &Usage) -> String {
    let mut words = String::new();
    let detail = |details: &Option<sluice_core::TokenDetails>, name: &str, label: &str| {
        let count = details.as_ref().and_then(|details| details.count(name)).filter(|count| *count > 0);
        count.map(|count| format!(" ({count} {label})")).unwrap_or_default()
    };
    if let Some(input) = usage.input_tokens {
        let cached = detail(&usage.input_tokens_details, "cached_tokens", "cached");
        write!(words, " · {input} tokens in{cached}").unwrap_or_default();
    }
    if let Some(output) = usage.output_tokens {
        let reasoning = detail(&usage.output_tokens_details, "reasoning_tokens", "reasoning");
        write!(words, " · {output} out{reasoning}").unwrap_or_default();
    }
    words
}

//! `sluice log` and `sluice show`: the conversations that are kept.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use sluice_core::{CostBasis, RequestRecord, date};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::commands::transcript;
use crate::complain;
use crate::conversations::{self, Conversation};
use crate::output::tell;
use crate::records;
use crate::text::{self, RunningText, one_line};
use crate::why::{summary, write_timeline};

/// List conversations, or search in them.
#[derive(Debug, Args)]
pub struct Log {
    /// Words that a conversation must contain
    words: Vec<String>,
    /// How many to list
    #[arg(short, long, value_name = "N", default_value = "20")]
    number: usize,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    /// Delete the listed conversations
    #[arg(long)]
    delete: bool,
}

/// Show a conversation, or what happened to one of its requests.
#[derive(Debug, Args)]
pub struct Show {
    /// The start of an id, as `sluice log` prints it, or the id of a request (k3x9-2); the last conversation if none is named
    id: Option<String>,
    /// List the requests of the conversation: tokens, cached tokens and costs
    #[arg(short, long)]
    requests: bool,
    /// Print the conversation as one JSON object
    #[arg(long)]
    json: bool,
}

impl Log {
    pub fn run(self) -> io::Result<ExitCode> {
        let found = conversations::ids().into_iter().filter_map(|id| match Conversation::load(&id) {
            Ok(conversation) => Some(conversation),
            Err(message) => {
                tell!("sluice: {message}");
                None
            }
        });
        let mut found: Vec<Conversation> = found.filter(|found| found.contains(&self.words)).collect();
        found.truncate(self.number);
        if found.is_empty() {
            tell!("There is no such conversation.");
        }
        let mut out = anstream::stdout();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let width = terminal_size::terminal_size_of(io::stdout()).map_or(usize::MAX, |(width, _)| width.0.into());
        let model_width = found.iter().map(|found| found.model.width()).max().unwrap_or_default();
        for conversation in found {
            let Conversation { id, updated, model, .. } = &conversation;
            let title = conversation.title();
            if self.json {
                let requests = records::of(id);
                let paid =
                    requests.iter().filter_map(|record| record.cost).filter(|cost| cost.basis != CostBasis::Play);
                let cost: f64 = paid.map(|cost| cost.usd.as_f64()).sum();
                let line = serde_json::json!({
                    "id": id, "updated": updated, "model": model, "title": title, "requests": requests.len(), "cost": cost,
                });
                writeln!(out, "{}", text::json(&line.to_string()))?;
            } else {
                let pad = " ".repeat(model_width - model.width());
                let line = format!("{id}  {}  {model}{pad}  {title}", when(*updated, now));
                writeln!(out, "{}", cut(&one_line(&line), width))?;
            }
            if self.delete
                && let Err(message) = conversation.delete()
            {
                return Ok(complain(&message));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Show {
    pub fn run(self) -> io::Result<ExitCode> {
        if let Some(record) = self.id.as_deref().and_then(records::find) {
            self.print(&record, write_timeline)?;
            return Ok(ExitCode::SUCCESS);
        }
        let conversation = match Conversation::find(self.id.as_deref()) {
            Ok(conversation) => conversation,
            Err(message) => return Ok(complain(&message)),
        };
        let mut out = io::stdout();
        if self.requests {
            for record in records::of(&conversation.id) {
                self.print(&record, |out, record| writeln!(out, "{}", one_line(&summary(record))))?;
            }
        } else if self.json {
            writeln!(out, "{}", text::json(&serde_json::to_string(&conversation)?))?;
        } else {
            let text = transcript(&conversation.messages);
            write!(out, "{}", RunningText::default().next(&text))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Show {
    fn print(
        &self,
        record: &RequestRecord,
        write: impl Fn(&mut dyn Write, &RequestRecord) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut out = io::stdout();
        if self.json {
            writeln!(out, "{}", text::json(&serde_json::to_string(record)?))
        } else {
            write(&mut out, record)
        }
    }
}

/// Returns as much of a line as fits into this many columns.
fn cut(line: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = line.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or_default();
        used > columns
    });
    end.map_or(line, |(end, _)| &line[..end])
}

/// Returns how long ago something was, or its date if that is more than a day.
fn when(updated: u64, now: u64) -> String {
    let ago = match now.saturating_sub(updated) {
        0..60 => "just now".to_owned(),
        seconds @ 60..3600 => format!("{} min ago", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => date(u32::try_from(updated / 86_400).unwrap_or(u32::MAX)),
    };
    format!("{ago:<10}")
}

#[cfg(test)]
mod tests {
    use super::when;

    #[test]
    fn recent_times_are_relative() {
        let now = 1_800_000_000;
        let check = |seconds, expected: &str| assert_eq!(when(now - seconds, now).trim_end(), expected);
        check(0, "just now");
        check(59, "just now");
        check(60, "1 min ago");
        check(3599, "59 min ago");
        check(86_399, "23 h ago");
        check(86_400, "2027-01-14");
        assert_eq!(when(now + 5, now), "just now  ", "another machine's clock");
    }
}

//! `sluice doctor`: finds out what a server can do, and what Sluice does about it.

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use clap::Args;
use clap_complete::ArgValueCandidates;
use serde_json::json;
use sluice_core::{Card, Check, CheckResult, Endpoint, MessageCode, Probe, ProbeStep, Topic, grouped, join_messages};
use terminal_size::{Height, Width, terminal_size_of};

use crate::complain;
use crate::connection::{Connection, Selection};
use crate::model_cache;
use crate::output::tell;
use crate::spinner::Spinner;
use crate::text::{self, one_line};

const LABEL: Style = Style::new().bold();
const WORKS: Style = AnsiColor::Green.on_default().bold();
const ABSENT: Style = AnsiColor::Yellow.on_default();
const FAILED: Style = AnsiColor::Red.on_default().bold();
const UNKNOWN: Style = Style::new().dimmed();
/// The widest label, and the mark in front of it.
const LABEL_WIDTH: usize = 18;
/// In a narrower terminal, details have lines of their own.
const NARROW: usize = 60;

/// Find out what an endpoint can do, with a few short requests.
///
/// Prints what works, what the server doesn't do, and what Sluice does differently because of it. Parameters that the
/// server refuses are remembered, so that later requests leave them out at once. The exit code is 1 if chats can't work.
#[derive(Debug, Args)]
pub struct Doctor {
    /// The base URL to test, if it isn't the usual one
    url: Option<String>,
    /// The model to ask; by default, the cheapest one that calls tools
    #[arg(short, long, env = "SLUICE_MODEL", add = ArgValueCandidates::new(model_cache::candidates))]
    model: Option<String>,
    /// Print the results as a JSON object
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub async fn run(self, selection: &Selection) -> io::Result<ExitCode> {
        let connection = match self.url.as_deref() {
            Some(url) => Connection::open_at(url, selection),
            None => Connection::open(selection),
        };
        let connection = match connection {
            Ok(connection) => connection,
            Err(message) => return Ok(complain(&message)),
        };
        let client = &connection.client;
        let model = self.model.or_else(|| connection.default_model());
        let announcement = format!("Testing {}. {}", client.endpoint().base_url, Probe::announcement());
        for line in wrapped(&announcement, width(terminal_size_of(io::stderr()))) {
            tell!("{line}");
        }
        let mut spinner = Spinner::start();
        let mut page = CardPage { width: width(terminal_size_of(io::stdout())), shown: Vec::new() };
        let mut written = Ok(());
        let card = client
            .probe(model, proxy_for(client.endpoint()), &mut |step, card| {
                spinner.stop();
                // Until a model has answered, a check may still be replaced.
                let has_answer = card.checks.iter().any(|check| check.topic == Topic::Answer);
                if !self.json && has_answer && written.is_ok() {
                    written = page.print_checks(card);
                }
                if let ProbeStep::Get { label, .. } | ProbeStep::Ask { label, .. } = step {
                    spinner = Spinner::labelled(&label.to_string());
                }
            })
            .await;
        spinner.stop();
        written?;
        if let Some(model) = &card.model {
            connection.learn(model, &card.refused, card.overflow.as_deref());
        }
        if self.json { print_json(&card) } else { page.print_rest(&card) }?;
        Ok(if card.failed().is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn print_json(card: &Card) -> io::Result<()> {
    let checks: Vec<_> = card
        .checks
        .iter()
        .map(|check| {
            json!({
                "topic": check.topic,
                "result": check.result,
                "detail": join_messages(&check.detail, " "),
                "compliance": check.compliance,
            })
        })
        .collect();
    let differences: Vec<String> = card.differences.iter().map(ToString::to_string).collect();
    let json = json!({
        "baseUrl": card.base_url,
        "model": card.model,
        "works": card.failed().is_none(),
        "checks": checks,
        "differences": differences,
        "refused": card.refused,
        "requests": card.requests,
        "tokens": card.tokens,
    });
    writeln!(anstream::stdout(), "{}", text::json(&format!("{json:#}")))
}

/// The card for people, which is printed while the test runs.
struct CardPage {
    width: usize,
    /// The checks that are printed.
    shown: Vec<Topic>,
}

impl CardPage {
    /// Prints the checks that are new.
    fn print_checks(&mut self, card: &Card) -> io::Result<()> {
        let mut out = anstream::stdout();
        let mut new: Vec<&Check> = card.checks.iter().filter(|check| !self.shown.contains(&check.topic)).collect();
        new.sort_by_key(|check| check.topic);
        for check in new {
            self.shown.push(check.topic);
            print_check(check, self.width, &mut out)?;
        }
        out.flush()
    }

    fn print_rest(&mut self, card: &Card) -> io::Result<()> {
        self.print_checks(card)?;
        let mut out = anstream::stdout();
        if !card.differences.is_empty() {
            writeln!(out)?;
            for line in wrapped(MessageCode::DifferentForServer.english(), self.width) {
                writeln!(out, "{LABEL}{line}{LABEL:#}")?;
            }
        }
        for difference in &card.differences {
            let lines = wrapped(&one_line(&difference.to_string()), self.width.saturating_sub(2));
            for (at, line) in lines.iter().enumerate() {
                writeln!(out, "{} {line}", if at == 0 { "•" } else { " " })?;
            }
        }
        let requests = if card.requests == 1 { "1 request".to_owned() } else { format!("{} requests", card.requests) };
        writeln!(out, "\n{UNKNOWN}{requests}, {} tokens{UNKNOWN:#}", grouped(card.tokens))
    }
}

/// Returns the width of a terminal. What isn't a terminal counts as one of the usual width.
fn width(size: Option<(Width, Height)>) -> usize {
    size.map_or(80, |(Width(columns), _)| columns.into())
}

fn print_check(check: &Check, width: usize, out: &mut impl Write) -> io::Result<()> {
    let style = match check.result {
        CheckResult::Works => WORKS,
        CheckResult::Absent => ABSENT,
        CheckResult::Failed => FAILED,
        CheckResult::Unknown => UNKNOWN,
    };
    let mark = check.result.mark();
    let detail = join_messages(&check.detail, " ");
    let label = check.label.to_string();
    let indent = if width < NARROW { 4 } else { LABEL_WIDTH + 3 };
    let lines = wrapped(&one_line(&detail), width.saturating_sub(indent));
    write!(out, "{style}{mark}{style:#} {LABEL}{label}{LABEL:#}")?;
    let mut lines = lines.iter();
    if width >= NARROW {
        let gap = LABEL_WIDTH.saturating_sub(label.chars().count()) + 1;
        write!(out, "{}{}", " ".repeat(gap), lines.next().map_or("", String::as_str))?;
    }
    writeln!(out)?;
    lines.try_for_each(|line| writeln!(out, "{}{line}", " ".repeat(indent)))
}

/// Breaks a text into lines of at most `width` characters, if no word is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Returns the proxy that the environment names for an endpoint, without the password.
fn proxy_for(endpoint: &Endpoint) -> Option<String> {
    let set = |name: &str| {
        let value = env::var(name.to_lowercase()).or_else(|_| env::var(name)).ok();
        value.filter(|value| !value.is_empty())
    };
    let host = endpoint.origin.split("://").nth(1)?.split(':').next()?;
    let direct = set("NO_PROXY").unwrap_or_default();
    let is_direct = |rule: &str| rule == "*" || (!rule.is_empty() && host.ends_with(rule.trim_start_matches('.')));
    if endpoint.is_loopback || direct.split(',').map(str::trim).any(is_direct) {
        return None;
    }
    let name = if endpoint.origin.starts_with("https:") { "HTTPS_PROXY" } else { "HTTP_PROXY" };
    let proxy = set(name).or_else(|| set("ALL_PROXY"))?;
    let (scheme, rest) = proxy.split_once("://").unwrap_or(("http", &proxy));
    Some(format!("{scheme}://{}", rest.rsplit('@').next().unwrap_or(rest).trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a-very-long-word and more", 5), ["a-very-long-word", "and", "more"]);
        assert!(wrapped("", 5).is_empty());
    }
}

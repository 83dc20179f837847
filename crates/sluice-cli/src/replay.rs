//! `sluice replay`: shows an exchange that was captured, or asks the same again.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use sluice_core::{Action, ExchangeOptions};

use crate::config::Config;
use crate::connection::Selection;
use crate::conversations::Conversation;
use crate::exchange_file::{Exchange, Header};
use crate::human::{Detail, Human};
use crate::json::JsonLines;
use crate::session::{Session, Setup};
use crate::tools::Tools;
use crate::why::write_timeline;
use crate::{Printer, complain, exit_code};

/// Show an exchange that `sluice capture --exchange` wrote: its timeline and its parts.
#[derive(Debug, Args)]
pub struct Replay {
    /// The file
    file: PathBuf,
    /// Print one JSON object per line: parts, notes, and finally the outcome
    #[arg(long)]
    json: bool,
    /// Ask another model the same. The file must have been written with --with-texts
    #[arg(long, value_name = "MODEL")]
    ask: Option<String>,
    /// Show what was ignored or repaired, and why
    #[arg(short, long)]
    verbose: bool,
}

impl Replay {
    pub async fn run(self, selection: &Selection) -> io::Result<ExitCode> {
        let exchange = match Exchange::read(&self.file) {
            Ok(exchange) => exchange,
            Err(message) => return Ok(complain(&message)),
        };
        if self.ask.is_some() {
            return match self.session(exchange, selection) {
                Ok((mut session, content)) => Ok(exit_code(session.ask(content).await?)),
                Err(message) => Ok(complain(&message)),
            };
        }
        let detail = Detail { notes: self.verbose, ..Detail::default() };
        let mut printer: Box<dyn Printer> =
            if self.json { Box::new(JsonLines::new()) } else { Box::new(Human::for_replay(detail)) };
        if !self.json {
            write_times(&exchange)?;
        }
        let Header { origin, model, status, .. } = &exchange.header;
        let options = ExchangeOptions {
            origin: origin.clone(),
            model: model.clone(),
            max_attempts: 1,
            ..ExchangeOptions::default()
        };
        let mut replayed = match status {
            // A refusal is read differently.
            Some(status) if *status != 200 => {
                let mut refused = sluice_core::Exchange::new(options);
                refused.handle_head(*status, Vec::new(), 0);
                refused
            }
            _ => sluice_core::Exchange::reading(options),
        };
        let mut chunks = exchange.chunks.iter();
        let outcome = loop {
            match replayed.poll(0) {
                Action::Output(output) => printer.output(&output)?,
                Action::End(report) => break report.outcome.clone(),
                _ => match chunks.next() {
                    Some(chunk) => replayed.handle_bytes(&chunk.bytes()),
                    None => replayed.handle_end(),
                },
            }
        };
        let took = exchange.chunks.last().map_or(0, |chunk| chunk.ms);
        printer.outcome(&outcome, Duration::from_millis(took))?;
        printer.flush()?;
        Ok(exit_code(outcome.status))
    }

    /// Returns a conversation in which the last question of the exchange can be asked again.
    fn session(
        self,
        exchange: Exchange,
        selection: &Selection,
    ) -> Result<(Session, Vec<sluice_core::ChatPart>), String> {
        let chat = exchange.header.chat.ok_or("the texts of this request were not kept; capture with --with-texts")?;
        let mut messages = chat.messages;
        let question = messages.pop().ok_or("the request has no question")?;
        let mut earlier = Conversation::new(&chat.model, "");
        earlier.messages = messages;
        let config = Config::load()?;
        let setup = Setup {
            model: self.ask,
            default_model: None,
            system: None,
            max_output_tokens: chat.options.max_output_tokens,
            reasoning_effort: chat.options.reasoning_effort,
            options: chat.options.extra_body,
            schema: None,
            tools: Tools::default(),
            tool_timeout: Duration::from_mins(2),
            json: self.json,
            detail: Detail { notes: self.verbose, ..Detail::default() },
            capture: None,
            earlier: Some(earlier),
            keeps: config.log.unwrap_or(true),
            limits: config.limit,
        };
        let mut session = Session::open(setup, selection)?;
        session.offer(chat.tools);
        Ok((session, question.content))
    }
}

/// Writes the timeline, and the times at which bytes arrived if there is none.
fn write_times(exchange: &Exchange) -> io::Result<()> {
    let mut out = io::stdout();
    match &exchange.record {
        Some(record) => write_timeline(&mut out, record)?,
        None => {
            for chunk in &exchange.chunks {
                writeln!(out, "{:>9} ms  {} bytes", chunk.ms, chunk.bytes().len())?;
            }
        }
    }
    writeln!(out)
}

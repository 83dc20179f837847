//! `sluice decode`: replays a captured stream through the core.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use sluice_core::{Outcome, Status, StreamOptions};

use super::dialect::{Dialect, Reader, Unrecognised};
use super::human::Human;
use super::json::JsonLines;
use super::{Printer, USAGE, exit_code};

/// Replay a captured event stream and print the parts VS Code would get.
///
/// Exits with 0 if the answer is completed or incomplete, with 1 if it failed or was cut off, and with 2 if the file
/// cannot be read or is no stream.
#[derive(Debug, Args)]
pub struct Decode {
    /// The captured body (text/event-stream), or AI SDK chunks as JSON; `-` reads standard input
    file: PathBuf,
    /// What the stream is; found out when not given
    #[arg(long, value_enum)]
    dialect: Option<Dialect>,
    /// One JSON object a line: parts, notes, and last the outcome
    #[arg(long)]
    json: bool,
    /// Feed the stream in pieces of exactly N bytes, instead of as they come
    #[arg(long, value_name = "N")]
    chunk: Option<NonZeroUsize>,
    /// Show every event as it is read
    #[arg(long)]
    events: bool,
    /// Show what was ignored, and why
    #[arg(short, long)]
    verbose: bool,
}

/// Why a replay stopped before the end.
enum Stopped {
    Unreadable(io::Error),
    NoStream(Unrecognised),
    /// Nobody reads our output any more, as after `| head`.
    OutputClosed,
}

impl Decode {
    pub fn run(self) -> ExitCode {
        let mut printer: Box<dyn Printer> =
            if self.json { Box::new(JsonLines::new()) } else { Box::new(Human::new(self.verbose, self.events)) };
        match self.replay(printer.as_mut()) {
            Ok(outcome) => exit_code(outcome.status),
            Err(Stopped::OutputClosed) => ExitCode::SUCCESS,
            Err(Stopped::NoStream(Unrecognised { start })) => {
                let what = if start.is_empty() { "is empty".to_owned() } else { format!("starts with {start}") };
                eprintln!("sluice: {} is no stream that can be replayed: it {what}", self.source());
                eprintln!(
                    "Give the body of an Open Responses or AI SDK event stream, or AI SDK chunks as JSON lines or a JSON array; \
                     --dialect says which it is."
                );
                ExitCode::from(USAGE)
            }
            Err(Stopped::Unreadable(error)) => {
                eprintln!("sluice: cannot read {}: {error}", self.source());
                eprintln!("Give the path of a captured stream, or - to read one from standard input.");
                ExitCode::from(USAGE)
            }
        }
    }

    fn source(&self) -> String {
        if self.file == Path::new("-") { "standard input".to_owned() } else { self.file.display().to_string() }
    }

    fn replay(&self, printer: &mut dyn Printer) -> Result<Outcome, Stopped> {
        let mut input = open(&self.file).map_err(Stopped::Unreadable)?;
        let started = Instant::now();
        let options = StreamOptions { trace: self.events, ..StreamOptions::default() };
        let mut stream = Reader::new(self.dialect, options);
        let mut chunk = vec![0; self.chunk.map_or(64 << 10, NonZeroUsize::get)];
        let mut total = 0;
        while !stream.is_terminal() {
            let read = if self.chunk.is_some() { fill(&mut input, &mut chunk) } else { input.read(&mut chunk) };
            let length = match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(Stopped::Unreadable)?,
            };
            if length == 0 {
                break;
            }
            total += length;
            for output in stream.push(&chunk[..length], self.dialect) {
                printer.output(&output).map_err(|_| Stopped::OutputClosed)?;
            }
        }
        let (outputs, outcome) = stream.finish(self.dialect).map_err(Stopped::NoStream)?;
        for output in &outputs {
            printer.output(output).map_err(|_| Stopped::OutputClosed)?;
        }
        printer.outcome(&outcome, started.elapsed()).map_err(|_| Stopped::OutputClosed)?;
        if outcome.status == Status::Truncated && outcome.response_id.is_none() && outcome.retry_safe {
            eprintln!("sluice: {total} bytes and no answer in them. Is {} the body of an event stream?", self.source());
        }
        Ok(outcome)
    }
}

fn open(file: &Path) -> io::Result<Box<dyn Read>> {
    if file == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    if file.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    Ok(Box::new(File::open(file)?))
}

/// Reads a whole chunk: pieces of seven bytes are wanted from a pipe as well.
fn fill(input: &mut dyn Read, chunk: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match input.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

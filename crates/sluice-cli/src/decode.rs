//! `sluice decode`: replays a captured stream through the core.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use sluice_core::{Outcome, Output, Status, StreamOptions};

use crate::dialect::{Dialect, Reader, Unrecognised};
use crate::human::{Detail, Human};
use crate::json::JsonLines;
use crate::output::tell;
use crate::{Printer, USAGE, exit_code};

/// Replay a captured event stream and print the parts VS Code would get.
///
/// Exits with 0 if the answer is completed or incomplete, with 1 if it failed or was cut off, and with 2 if the file
/// can't be read or isn't a stream.
#[derive(Debug, Args)]
pub struct Decode {
    /// The captured body (text/event-stream), or AI SDK chunks as JSON; `-` reads standard input
    file: PathBuf,
    /// The format of the stream; detected if not given
    #[arg(long, value_enum)]
    dialect: Option<Dialect>,
    /// Print one JSON object per line: parts, notes, and finally the outcome
    #[arg(long)]
    json: bool,
    /// Feed the stream in chunks of exactly N bytes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX_CHUNK))]
    chunk: Option<u32>,
    /// Show every event as it is read
    #[arg(long)]
    events: bool,
    /// Show what was ignored, and why
    #[arg(short, long)]
    verbose: bool,
}

/// The largest value of `--chunk`.
const MAX_CHUNK: i64 = 64 << 20;

/// Why a replay stopped before the end.
enum Stopped {
    Unreadable(io::Error),
    NoStream(Unrecognised),
    Unwritable(io::Error),
}

impl Decode {
    pub fn run(self) -> io::Result<ExitCode> {
        let detail = Detail { notes: self.verbose, events: self.events, ..Detail::default() };
        let mut printer: Box<dyn Printer> =
            if self.json { Box::new(JsonLines::new()) } else { Box::new(Human::for_replay(detail)) };
        match self.replay(printer.as_mut()) {
            Ok(outcome) => Ok(exit_code(outcome.status)),
            Err(Stopped::Unwritable(error)) => Err(error),
            Err(Stopped::NoStream(Unrecognised { why })) => {
                tell!("sluice: {} is not a stream that can be replayed: it {why}", self.source());
                tell!(
                    "Give the body of an Open Responses or AI SDK event stream, or AI SDK chunks as JSON lines or a JSON array; \
                     --dialect says which it is."
                );
                Ok(ExitCode::from(USAGE))
            }
            Err(Stopped::Unreadable(error)) => {
                tell!("sluice: cannot read {}: {error}", self.source());
                tell!("Give the path of a captured stream, or - to read one from standard input.");
                Ok(ExitCode::from(USAGE))
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
        let mut chunk = vec![0; self.chunk.unwrap_or(64 << 10) as usize];
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
            for output in stream.push(&chunk[..length], self.dialect).map_err(Stopped::NoStream)? {
                printer.output(&output).map_err(Stopped::Unwritable)?;
            }
        }
        let mut written = Ok(());
        let mut give = |output: &Output| {
            if written.is_ok() {
                written = printer.output(output);
            }
        };
        let outcome = stream.finish(self.dialect, &mut give).map_err(Stopped::NoStream)?;
        written.map_err(Stopped::Unwritable)?;
        printer.outcome(&outcome, started.elapsed()).map_err(Stopped::Unwritable)?;
        if outcome.status == Status::Truncated && outcome.response_id.is_none() && outcome.retry_safe {
            tell!("sluice: {total} bytes and no answer in them. Is {} the body of an event stream?", self.source());
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

/// Reads a whole chunk, so that `--chunk 7` also works with a pipe.
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

//! One file for each subcommand, and what they share.

mod capture;
pub mod chat;
mod connection;
pub mod count;
pub mod decode;
mod dialect;
mod human;
mod interrupts;
mod json;
mod keyboard;
mod ledger;
mod mask;
mod model_cache;
mod model_table;
pub mod models;
pub mod output;
pub mod serve;
mod spinner;
mod text;
mod tool_process;
mod tools;
pub mod usage;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use sluice_core::{Outcome, Output, Status};

use output::tell;

/// Prints a stream's outputs as they come.
pub trait Printer: Send {
    fn output(&mut self, output: &Output) -> io::Result<()>;
    fn outcome(&mut self, outcome: &Outcome, elapsed: Duration) -> io::Result<()>;
    /// Shows what has been printed so far.
    fn flush(&mut self) -> io::Result<()>;
}

/// Bad arguments, a file that cannot be read, a setting that makes no sense.
pub const USAGE: u8 = 2;
/// What shells report for a program that Ctrl-C ended.
const CANCELLED: u8 = 130;

fn exit_code(status: Status) -> ExitCode {
    match status {
        Status::Completed | Status::Incomplete => ExitCode::SUCCESS,
        Status::Failed | Status::Truncated => ExitCode::FAILURE,
        Status::Cancelled => ExitCode::from(CANCELLED),
    }
}

fn complain(message: &str) -> ExitCode {
    tell!("sluice: {message}");
    ExitCode::from(USAGE)
}

//! Everything that is not plain cargo. `cargo xtask --help` lists it.

mod recordings;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Check the core against a directory of recorded streams (*.sse)
    Recordings { directory: PathBuf },
}

/// What a task reports when it fails: one line that says what to do.
type Done = Result<(), String>;

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Recordings { directory } => recordings::check(&directory),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

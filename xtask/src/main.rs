//! Everything that is not plain cargo. `cargo xtask --help` lists it.

mod bench;
mod demo;
mod fuzz;
mod javascript;
mod recordings;
mod shell;
mod test;
mod tidy;
mod wasm;

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
    /// Play an answer through the core at reading speed
    Demo,
    /// Run every test
    Test,
    /// Build the core as WebAssembly; say its size and how fast it starts
    Wasm,
    /// Check the core against a directory of recorded streams (*.sse)
    Recordings { directory: PathBuf },
    /// Measure speed beside the peers, as ratios in one run
    Bench {
        /// Fewer rounds: a first impression
        #[arg(long)]
        quick: bool,
    },
    /// Run every fuzz target (needs the nightly toolchain)
    Fuzz {
        /// For how long each
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
}

/// What a task reports when it fails: a line that says what to do.
type Done<T = ()> = Result<T, String>;

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Demo => demo::play(),
        Task::Test => test::all(),
        Task::Wasm => wasm::build_and_report(),
        Task::Recordings { directory } => recordings::check(&directory),
        Task::Bench { quick } => bench::all(quick),
        Task::Fuzz { seconds } => fuzz::all(seconds),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

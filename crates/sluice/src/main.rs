//! The `sluice` command line: argument parsing and dispatch; each subcommand has a file under `cli/`.

mod cli;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Talk to any Open Responses endpoint from the terminal.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Decode(cli::decode::Decode),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Decode(decode) => decode.run(),
    }
}

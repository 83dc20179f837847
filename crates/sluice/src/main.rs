//! The `sluice` command line: argument parsing and dispatch; each subcommand has a file under `cli/`.

// These macros panic when the output cannot be written.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cli;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Talk to any Open Responses endpoint from the terminal.
///
/// The endpoint is the Vercel AI Gateway, or what `SLUICE_BASE_URL` says. The key is `SLUICE_API_KEY`; for the Vercel AI
/// Gateway also `AI_GATEWAY_API_KEY` or `VERCEL_OIDC_TOKEN`. Without a key the embedded gateway serves: a demo on this
/// machine that needs no account.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Chat(cli::chat::Chat),
    Models(cli::models::Models),
    Count(cli::count::Count),
    Usage(cli::usage::Usage),
    Decode(cli::decode::Decode),
    Capture(cli::chat::Capture),
    Serve(cli::serve::Serve),
    /// Print completions for a shell
    Completions {
        shell: clap_complete::Shell,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    cli::output::exit_code(run().await)
}

/// Runs the subcommand. An error is one of writing to standard output.
async fn run() -> io::Result<ExitCode> {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let printed = error.print();
            if !error.use_stderr() {
                printed?;
            }
            return Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(cli::USAGE)));
        }
    };
    match arguments.command {
        Command::Chat(chat) => chat.run().await,
        Command::Models(models) => models.run().await,
        Command::Count(count) => count.run(),
        Command::Usage(usage) => usage.run(),
        Command::Decode(decode) => decode.run(),
        Command::Capture(capture) => capture.run().await,
        Command::Serve(serve) => serve.run().await,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "sluice", &mut script);
            io::stdout().write_all(&script)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

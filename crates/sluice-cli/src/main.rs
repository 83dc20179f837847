//! The `sluice` command line: parses the arguments and runs the subcommand. Each subcommand has its own file.

// These macros panic if the output can't be written.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod attach;
mod capture;
mod chat;
mod commands;
mod config;
mod connection;
mod conversations;
mod count;
mod decode;
mod dialect;
mod doctor;
mod editor;
mod exchange_file;
mod highlight;
mod human;
mod interrupts;
mod json;
mod ledger;
mod list_items;
mod log;
mod markdown;
mod mask;
mod mcp;
mod model_cache;
mod model_table;
mod models;
mod options;
mod output;
mod profile;
mod program;
mod prompt;
mod records;
#[cfg(test)]
mod reference;
mod render;
mod replay;
mod serve;
mod session;
mod settings_file;
mod spending;
mod spent;
mod spinner;
mod talk;
mod text;
mod tool_process;
mod tools;
mod usage;
mod why;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::CompleteEnv;
use clap_complete::env::Shells;
use sluice_core::{Outcome, Output, Status};

use connection::Selection;
use output::tell;
use tools::Answered;

/// The version and the commit that it was built from, if that is known.
const VERSION: &str = env!("SLUICE_VERSION");

/// Talk to any Open Responses endpoint from the terminal.
///
/// `chat` can be left out: `sluice what does EXDEV mean`, `git diff | sluice explain`, `sluice -c and now shorter`. Without
/// any arguments, `sluice` starts a conversation.
///
/// `sluice login` saves an endpoint and its key. Variables take precedence over it: the endpoint is then the Vercel AI
/// Gateway, or the one in `SLUICE_BASE_URL`; the key is `SLUICE_API_KEY`, or for the Vercel AI Gateway also
/// `AI_GATEWAY_API_KEY` or `VERCEL_OIDC_TOKEN`. Without any of these, the embedded gateway is used: a demo on this machine
/// that needs no account.
#[derive(Debug, Parser)]
#[command(name = "sluice", version = VERSION, arg_required_else_help = true)]
struct Arguments {
    /// Use the endpoint that `sluice login --profile NAME` saved
    #[arg(short, long, value_name = "NAME", global = true, env = "SLUICE_PROFILE")]
    profile: Option<String>,
    /// Send this header with every request, such as `x-team: blue`; can be repeated, and `sluice login` saves it
    #[arg(long = "header", value_name = "NAME: VALUE", global = true)]
    headers: Vec<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Chat(chat::Chat),
    Models(models::Models),
    Doctor(doctor::Doctor),
    Count(count::Count),
    Usage(usage::Usage),
    Decode(decode::Decode),
    Log(log::Log),
    Show(log::Show),
    Why(why::Why),
    Config(config::ConfigCommand),
    Capture(chat::Capture),
    Replay(replay::Replay),
    Login(profile::Login),
    /// Forget the endpoint in `--profile`, or the default one, and its key
    Logout,
    /// List the saved endpoints, without their keys
    Profiles,
    Serve(serve::Serve),
    /// Print a script that completes options and model ids in a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write the pages of all commands to a directory
    Man {
        /// The directory; it is created if necessary
        directory: Option<std::path::PathBuf>,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    // The shell asks for completions through a variable. In that case, the program ends here.
    CompleteEnv::with_factory(Arguments::command).complete();
    output::exit_code(Box::pin(run()).await)
}

/// Runs the subcommand. Errors are those of writing to standard output.
async fn run() -> io::Result<ExitCode> {
    let arguments = match parse(std::env::args_os().collect(), Input::of_process()) {
        Ok(arguments) => arguments,
        Err(error) => {
            let printed = error.print();
            if !error.use_stderr() {
                printed?;
            }
            return Ok(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE)));
        }
    };
    let profile = arguments.profile.as_deref().filter(|name| !name.is_empty());
    let selection = match Selection::new(profile, &arguments.headers) {
        Ok(selection) => selection,
        Err(message) => return Ok(complain(&message)),
    };
    match arguments.command {
        Command::Chat(chat) => chat.run(&selection).await,
        Command::Models(models) => models.run(&selection).await,
        Command::Doctor(doctor) => doctor.run(&selection).await,
        Command::Count(count) => count.run(),
        Command::Usage(usage) => usage.run(&selection).await,
        Command::Decode(decode) => decode.run(),
        Command::Log(log) => log.run(),
        Command::Show(show) => show.run(),
        Command::Why(why) => why.run(),
        Command::Config(config) => config.run(),
        Command::Capture(capture) => capture.run(&selection).await,
        Command::Replay(replay) => replay.run(&selection).await,
        Command::Login(login) => login.run(&selection).await,
        Command::Logout => Ok(profile::log_out(profile)),
        Command::Profiles => profile::list(),
        Command::Serve(serve) => serve.run().await,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            if let Some(shell) = Shells::builtins().completer(&shell.to_string()) {
                shell.write_registration("COMPLETE", "sluice", "sluice", "sluice", &mut script)?;
            }
            io::stdout().write_all(&script)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Man { directory: Some(directory) } => {
            let written = std::fs::create_dir_all(&directory)
                .and_then(|()| clap_mangen::generate_to(Arguments::command(), &directory));
            Ok(match written {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => complain(&format!("cannot write to {}: {error}", directory.display())),
            })
        }
        Command::Man { directory: None } => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            io::stdout().write_all(&page)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Where standard input comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Input {
    /// A terminal on which a conversation is possible.
    Terminal,
    Pipe,
    Other,
}

impl Input {
    fn of_process() -> Self {
        if prompt::is_pipe() {
            Self::Pipe
        } else if io::stdin().is_terminal() && io::stdout().is_terminal() {
            Self::Terminal
        } else {
            Self::Other
        }
    }
}

/// Reads the arguments. What isn't a command is a question, unless it looks like a mistake: a single word, or two of which
/// the first is similar to a command. Nothing at all is a conversation.
fn parse(arguments: Vec<OsString>, input: Input) -> Result<Arguments, clap::Error> {
    Arguments::try_parse_from(&arguments).or_else(|error| {
        let first = arguments.get(1).and_then(|argument| argument.to_str()).unwrap_or_default();
        let is_similar = Arguments::command().get_subcommands().any(|command| distance(command.get_name(), first) <= 2);
        let is_sentence = arguments.len() > 3 || first.trim().contains(char::is_whitespace);
        let may_be_question = match error.kind() {
            ErrorKind::InvalidSubcommand => {
                is_sentence || (!is_similar && (arguments.len() == 3 || input == Input::Pipe))
            }
            // An option of `chat`, such as `-m`. After another command, it is a mistake.
            ErrorKind::UnknownArgument => first.starts_with('-'),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => input != Input::Other,
            _ => false,
        };
        if !may_be_question {
            return Err(error);
        }
        let mut question = arguments;
        question.insert(1, "chat".into());
        Arguments::try_parse_from(question).map_err(|_| error)
    })
}

/// Returns how many letters must be added, removed or replaced to turn one word into another.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (number, a) in from.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], number + 1);
        for (column, b) in to.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

/// Prints a stream's outputs as they arrive.
trait Printer: Send {
    fn output(&mut self, output: &Output) -> io::Result<()>;
    /// A tool has answered a call.
    fn tool_result(&mut self, answered: &Answered) -> io::Result<()>;
    /// A request is over, but not the answer: the next request gets the results of the calls.
    fn round(&mut self, outcome: &Outcome, elapsed: Duration) -> io::Result<()>;
    /// The answer is over.
    fn outcome(&mut self, outcome: &Outcome, elapsed: Duration) -> io::Result<()>;
    /// Shows what has been printed so far.
    fn flush(&mut self) -> io::Result<()>;
}

/// The exit code for bad arguments, unreadable files and invalid settings.
const USAGE: u8 = 2;
/// The exit code that shells report for a program that Ctrl-C ended.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_words_are_near() {
        let check = |a, b, expected| assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        check("models", "models", 0);
        check("models", "modles", 2);
        check("chat", "what", 1);
        check("", "log", 3);
        check("replay", "explain", 4);
    }

    #[test]
    fn what_is_not_a_command_is_a_question() {
        let check = |line: &str, input: Input, is_question: bool| {
            let arguments = shlex::split(line).unwrap().into_iter().map(OsString::from).collect();
            let parsed = parse(arguments, input);
            let is_chat = matches!(parsed, Ok(Arguments { command: Command::Chat(_), .. }));
            assert_eq!(is_chat, is_question, "{line}");
        };
        check("sluice what does EXDEV mean", Input::Terminal, true);
        check("sluice 'what is this'", Input::Terminal, true);
        check("sluice bonjour monde", Input::Terminal, true);
        check("sluice -m a/b hi", Input::Terminal, true);
        check("sluice -c", Input::Terminal, true);
        check("sluice -p work what now", Input::Terminal, true);
        check("sluice explain", Input::Pipe, true);
        check("sluice explain", Input::Terminal, false);
        check("sluice modles gpt", Input::Terminal, false);
        check("sluice modles", Input::Pipe, false);
        check("sluice models --nonsense", Input::Terminal, false);
        check("sluice --nonsense", Input::Terminal, false);
        check("sluice --help", Input::Terminal, false);
        check("sluice chat hi", Input::Terminal, true);
        check("sluice", Input::Terminal, true);
        check("sluice -p work", Input::Terminal, true);
        check("sluice", Input::Pipe, true);
        check("sluice", Input::Other, false);
        check("sluice login --nonsense", Input::Terminal, false);
    }
}

//! `sluice chat` and `sluice capture`: one question, or a conversation in the terminal.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use crate::human::Detail;
use crate::prompt::{FirstQuestion, PromptArguments};
use crate::session::{Session, Setup};
use crate::talk::talk;
use crate::tools::Tools;
use crate::{complain, exit_code};

/// Ask a model, or talk with it if there is no prompt.
///
/// The answer goes to standard output, everything else to standard error. Standard input is part of the prompt if it
/// isn't a terminal: `git diff | sluice chat write a commit message`.
#[derive(Debug, Args)]
pub struct Chat {
    #[command(flatten)]
    question: Question,
    /// Also write the raw stream to FILE, and the request without its texts to FILE.request.json. If tools are called,
    /// the streams after the first are in FILE.2, FILE.3, …
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
}

/// Ask a model and keep the raw stream for a bug report.
///
/// The request is saved in FILE.request.json, with every text replaced by its length. The key is in neither file.
#[derive(Debug, Args)]
pub struct Capture {
    /// The file for the stream, which must not exist yet
    file: PathBuf,
    #[command(flatten)]
    question: Question,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
struct Question {
    #[command(flatten)]
    prompt: PromptArguments,
    /// The model, such as anthropic/claude-sonnet-4.5
    #[arg(short, long, env = "SLUICE_MODEL")]
    model: Option<String>,
    /// Instructions for the model
    #[arg(short, long)]
    system: Option<String>,
    /// Print one JSON object per line: parts, notes, results of tools, and finally the outcome
    #[arg(long)]
    json: bool,
    /// The thinking effort: none, minimal, low, medium, high, xhigh, max
    #[arg(long)]
    effort: Option<String>,
    /// The maximum number of tokens in the answer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(16..))]
    max_output: Option<u64>,
    /// Tools to offer: {"tools": [{"name", "description", "inputSchema", "command": […]}]}
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// The time limit for each command of a tool
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    tool_timeout: Duration,
    /// Show how long the model thought instead of what it thought
    #[arg(long)]
    fold_thinking: bool,
    /// Print the answer and errors only
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Show what was ignored or repaired, and why
    #[arg(short, long)]
    verbose: bool,
}

impl Chat {
    pub async fn run(self, profile: Option<&str>) -> io::Result<ExitCode> {
        self.question.run(self.capture, profile).await
    }
}

impl Capture {
    pub async fn run(self, profile: Option<&str>) -> io::Result<ExitCode> {
        self.question.run(Some(self.file), profile).await
    }
}

impl Question {
    async fn run(self, capture: Option<PathBuf>, profile: Option<&str>) -> io::Result<ExitCode> {
        match self.open(capture, profile) {
            Ok((FirstQuestion::Ask(content), mut session)) => {
                let status = session.ask(content).await?;
                Ok(session.exit_code(exit_code(status)))
            }
            Ok((FirstQuestion::Talk(attached), session)) => talk(session, attached).await,
            Err(message) => Ok(complain(&message)),
        }
    }

    fn open(self, capture: Option<PathBuf>, profile: Option<&str>) -> Result<(FirstQuestion, Session), String> {
        let tools = self.tools.as_deref().map(Tools::read).transpose()?.unwrap_or_default();
        let question = self.prompt.read(self.quiet)?;
        let setup = Setup {
            model: self.model,
            system: self.system,
            max_output_tokens: self.max_output,
            reasoning_effort: self.effort,
            tools,
            tool_timeout: self.tool_timeout,
            json: self.json,
            detail: Detail {
                notes: self.verbose,
                quiet: self.quiet,
                folds_thinking: self.fold_thinking,
                ..Detail::default()
            },
            capture,
        };
        Ok((question, Session::open(setup, profile)?))
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let duration = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| "not a number of seconds above 0".to_owned())
}

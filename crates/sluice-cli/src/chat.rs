//! `sluice chat` and `sluice capture`: one question, or a conversation in the terminal.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use clap_complete::ArgValueCandidates;
use serde_json::Value;
use sluice_core::{Dollars, SpendLimit, SpendLimits};

use crate::capture::Format;
use crate::config::Config;
use crate::connection::Selection;
use crate::conversations::Conversation;
use crate::human::Detail;
use crate::model_cache;
use crate::options;
use crate::profile;
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
    /// Also write the raw stream to FILE, the request without its texts to FILE.request.json, and why it failed to
    /// FILE.failure.json. The streams of retries and after calls of tools are in FILE.2, FILE.3, …
    #[arg(long, value_name = "FILE")]
    capture: Option<PathBuf>,
}

/// Ask a model and keep the raw stream for a bug report.
///
/// The request is saved in FILE.request.json, with every text replaced by its length. If the request fails, FILE has what the
/// server answered, and FILE.failure.json the status. The key is in none of the files.
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
    #[arg(short, long, env = "SLUICE_MODEL", add = ArgValueCandidates::new(model_cache::candidates))]
    model: Option<String>,
    /// Instructions for the model
    #[arg(short, long)]
    system: Option<String>,
    /// Print one JSON object per line: parts, notes, results of tools, and finally the outcome
    #[arg(long)]
    json: bool,
    /// Continue the last conversation
    #[arg(short, long = "continue")]
    continues: bool,
    /// Continue the conversation whose id starts like this; `sluice log` lists them
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Don't keep the conversation
    #[arg(long)]
    no_log: bool,
    /// Capture into one file, with times, for `sluice replay` and `sluice serve --replay`
    #[arg(long)]
    exchange: bool,
    /// Keep the texts of the request in it, so that it can be asked again
    #[arg(long, requires = "exchange")]
    with_texts: bool,
    /// The most that this conversation may cost, in dollars
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    limit: Option<Dollars>,
    /// The thinking effort: none, minimal, low, medium, high, xhigh, max
    #[arg(long)]
    effort: Option<String>,
    /// The maximum number of tokens in the answer
    #[arg(long, value_name = "N", value_parser = max_output)]
    max_output: Option<u64>,
    /// Any field of the request, such as temperature=0.2
    #[arg(short, long = "option", value_name = "NAME=VALUE", value_parser = options::option)]
    options: Vec<(String, Value)>,
    /// What the answer has to look like: a JSON schema in a file, or fields such as `name, age int, tags [str]`
    #[arg(long, value_name = "FILE|FIELDS")]
    schema: Option<String>,
    /// Print only the last code block of the answer
    #[arg(short = 'x', long, conflicts_with = "json")]
    extract: bool,
    /// Use a template: the file NAME.md in the directory `templates` next to the settings, or the file that is named
    #[arg(short, long, value_name = "NAME")]
    template: Option<String>,
    /// Tools to offer: {"tools": [{"name", "description", "inputSchema", "command": […]}]}
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Offer the tools of an MCP server that speaks over standard input and output; may be repeated
    #[arg(long, value_name = "COMMAND")]
    mcp: Vec<String>,
    /// Run every tool without asking
    #[arg(short, long)]
    yes: bool,
    /// The time limit for each call of a tool, and for starting MCP servers
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    tool_timeout: Duration,
    /// Print Markdown as it is, also on a terminal
    #[arg(long)]
    plain: bool,
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
    pub async fn run(self, selection: &Selection) -> io::Result<ExitCode> {
        self.question.run(self.capture, selection).await
    }
}

impl Capture {
    pub async fn run(self, selection: &Selection) -> io::Result<ExitCode> {
        let is_question = self.file.to_string_lossy().contains(char::is_whitespace);
        if is_question && self.question.prompt.is_conversation() {
            return Ok(complain("name a file before the question: `sluice capture FILE PROMPT`"));
        }
        self.question.run(Some(self.file), selection).await
    }
}

impl Question {
    async fn run(self, capture: Option<PathBuf>, selection: &Selection) -> io::Result<ExitCode> {
        match self.open(capture, selection).await {
            Ok((FirstQuestion::Ask(content), mut session)) => {
                let status = session.ask(content).await?;
                Ok(session.exit_code(exit_code(status)))
            }
            Ok((FirstQuestion::Talk(attached), session)) => talk(session, attached).await,
            Err(message) => Ok(complain(&message)),
        }
    }

    async fn open(self, capture: Option<PathBuf>, selection: &Selection) -> Result<(FirstQuestion, Session), String> {
        let config = Config::load()?;
        let mut tools = self.tools.as_deref().map(Tools::read).transpose()?.unwrap_or_default();
        if self.yes {
            tools.allow_all();
        }
        let schema = self.schema.as_deref().map(options::schema).transpose()?;
        let template = self.template.as_deref().map(template).transpose()?;
        let earlier = match self.id {
            Some(id) => Some(Conversation::find(Some(&id))?),
            None if self.continues => Some(Conversation::find(None)?),
            None => None,
        };
        let question = self.prompt.read(template.as_deref(), self.quiet).await?;
        tools.connect(self.mcp, self.tool_timeout).await?;
        // An earlier conversation has instructions of its own.
        let system = self.system.or_else(|| config.system.filter(|_| earlier.is_none()));
        let setup = Setup {
            model: self.model,
            default_model: config.model,
            system,
            max_output_tokens: self.max_output.or(config.max_output),
            reasoning_effort: self.effort.or(config.effort),
            options: config.option.into_iter().chain(self.options).collect(),
            schema,
            tools,
            tool_timeout: self.tool_timeout,
            json: self.json,
            detail: Detail {
                notes: self.verbose,
                events: false,
                quiet: self.quiet,
                folds_thinking: self.fold_thinking || config.fold_thinking.unwrap_or_default(),
                extracts: self.extract,
                plain: self.plain || config.plain.unwrap_or_default(),
                cuts_calls: self.yes && !self.verbose,
            },
            capture: capture.map(|path| {
                let exchange = Format::Exchange { with_texts: self.with_texts };
                (path, if self.exchange { exchange } else { Format::Stream })
            }),
            earlier,
            keeps: !self.no_log && config.log.unwrap_or(true),
            limits: SpendLimits {
                all: SpendLimit { conversation: self.limit.or(config.limit.all.conversation), ..config.limit.all },
                ..config.limit
            },
        };
        Ok((question, Session::open(setup, selection)?))
    }
}

/// Reads a template. `$input` in it is where the prompt goes; without it, the prompt comes last.
fn template(name: &str) -> Result<String, String> {
    let named = profile::directory().join("templates").join(format!("{name}.md"));
    let path = if named.is_file() { named } else { PathBuf::from(name) };
    std::fs::read_to_string(&path).map_err(|error| {
        let templates = profile::directory().join("templates");
        format!("there is no template {name:?} in {}, and no such file: {error}", templates.display())
    })
}

fn dollars(text: &str) -> Result<Dollars, String> {
    Dollars::parse(text).ok_or_else(|| "not an amount in dollars, such as 0.50".to_owned())
}

/// Servers refuse less than 16 tokens.
fn max_output(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|number| *number >= 16).ok_or_else(|| "not a number of at least 16".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let duration = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.filter(|duration| !duration.is_zero()).ok_or_else(|| "not a number of seconds above 0".to_owned())
}

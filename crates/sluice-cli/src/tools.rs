//! Tools for `sluice chat --tools FILE`. They are offered to the model, and their results come from a command or from
//! the user.
//!
//! ```json
//! {"tools": [{"name": "now", "description": "The time", "inputSchema": {"type": "object"}, "command": ["date"]}]}
//! ```
//! A command gets the input as JSON on standard input; what it prints is the result. Commands run one at a time, in the
//! order of their calls, because one may need what another has changed.

use std::env;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use sluice_core::{ChatPart, KEY_VARIABLES, ToolDefinition};
use tokio::process::Command;

use crate::keyboard::Keyboard;
use crate::output::prompt;
use crate::tool_process::{self, Finished, How};

/// The maximum number of calls that are run for one answer. A model that makes more has gone astray.
pub const MAX_CALLS: usize = 128;

#[derive(Debug, Default, Deserialize)]
pub struct Tools {
    tools: Vec<Tool>,
}

#[derive(Debug, Deserialize)]
struct Tool {
    #[serde(flatten)]
    definition: ToolDefinition,
    #[serde(default)]
    command: Vec<String>,
}

impl Tools {
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        serde_json::from_str(&text).map_err(|error| {
            format!(
                "{} is not a tools file ({error}). It should look like {{\"tools\": [{{\"name\": …}}]}}",
                file.display()
            )
        })
    }

    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.tools.iter().map(|tool| tool.definition.clone()).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Answers a call. `keyboard` is present if there is a terminal. Returns `None` if `cancel` completed first.
    pub async fn answer(
        &self,
        call: &Call<'_>,
        limit: Duration,
        keyboard: Option<&mut Keyboard>,
        cancel: impl Future<Output = ()>,
    ) -> Option<Answered> {
        let result = match self.tools.iter().find(|tool| tool.definition.name == call.name) {
            None => Err(format!("There is no tool called {}.", call.name)),
            Some(tool) => match tool.command.split_first() {
                Some((program, arguments)) => run(program, arguments, call.input_json, limit, cancel).await?,
                None => ask(call.name, keyboard, cancel).await?,
            },
        };
        Some(call.result(result))
    }
}

/// A call and its result, for the user.
#[derive(Clone, Debug)]
pub struct Answered {
    pub call_id: String,
    pub name: String,
    pub text: String,
    pub is_error: bool,
}

impl Answered {
    /// Returns the part to send back to the model.
    pub fn into_part(self) -> ChatPart {
        let content = vec![ChatPart::Text { value: self.text }];
        ChatPart::ToolResult { call_id: self.call_id, content, is_error: self.is_error }
    }
}

/// A call in the model's answer.
pub struct Call<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub input_json: &'a str,
}

impl Call<'_> {
    fn result(&self, result: Result<String, String>) -> Answered {
        let is_error = result.is_err();
        let text = result.unwrap_or_else(|error| error);
        Answered { call_id: self.id.to_owned(), name: self.name.to_owned(), text, is_error }
    }

    pub fn one_too_many(&self) -> Answered {
        self.result(Err(format!("This call was not run: at most {MAX_CALLS} calls of one answer are run.")))
    }
}

/// Returns `None` if `cancel` completed first.
async fn run(
    program: &str,
    arguments: &[String],
    input_json: &str,
    limit: Duration,
    cancel: impl Future<Output = ()>,
) -> Option<Result<String, String>> {
    let mut command = Command::new(program);
    command.args(arguments);
    for (name, _) in env::vars_os() {
        // Names of variables are case-insensitive on Windows, and nothing else needs such a name.
        if KEY_VARIABLES.iter().any(|key| name.eq_ignore_ascii_case(key)) {
            command.env_remove(name);
        }
    }
    let Finished { how, stdout, stderr } = match tool_process::run(command, input_json, limit, cancel).await {
        Ok(finished) => finished,
        Err(error) => return Some(Err(format!("The command {program} cannot be run: {error}."))),
    };
    let mut failure = match how {
        How::Cancelled => return None,
        How::Exited(status) if status.success() => return Some(Ok(stdout.text())),
        How::Exited(status) => format!("The command failed ({status})."),
        How::TimedOut => format!("The command was ended because it took longer than {} s.", limit.as_secs_f64()),
    };
    for (name, text) in [("Standard error", stderr.text()), ("Standard output", stdout.text())] {
        if !text.is_empty() {
            failure.push_str(&format!("\n{name}:\n{text}"));
        }
    }
    Some(Err(failure))
}

/// Returns `None` if `cancel` completed first.
async fn ask(
    name: &str,
    keyboard: Option<&mut Keyboard>,
    cancel: impl Future<Output = ()>,
) -> Option<Result<String, String>> {
    let Some(keyboard) = keyboard else { return Some(Err("Nobody is here to answer for this tool.".to_owned())) };
    prompt(&format!("result of {name}>"));
    tokio::select! {
        line = keyboard.line() => Some(line.ok_or_else(|| "The user gave no result.".to_owned())),
        () = cancel => None,
    }
}

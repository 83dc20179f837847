//! Tools for `sluice chat --tools FILE`. They are offered to the model, and their results come from a command or from
//! the user.
//!
//! ```json
//! {"tools": [{"name": "now", "description": "The time", "inputSchema": {"type": "object"}, "command": ["date"], "safe": true}]}
//! ```
//! The user is asked before a command runs, unless its tool is marked as safe or all of them were allowed.
//!
//! A command gets the input as JSON on standard input; what it prints is the result. Commands run one at a time, in the
//! order of their calls, because one may need what another has changed.

use std::env;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use sluice_core::{ChatPart, KEY_VARIABLES, ToolDefinition};
use tokio::process::Command;

use crate::editor::{Editor, Typed};
use crate::output::tell;
use crate::spinner::Spinner;
use crate::text::one_line;
use crate::tool_process::{self, Finished, How};

/// The maximum number of calls that are run for one answer. A model that makes more has gone astray.
pub const MAX_CALLS: usize = 128;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tools {
    tools: Vec<Tool>,
    /// Whether every command may run.
    #[serde(skip)]
    all_allowed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Tool {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    input_schema: Option<Value>,
    #[serde(default)]
    command: Vec<String>,
    /// Whether the command may run without a question.
    #[serde(default)]
    safe: bool,
}

impl Tools {
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let tools: Self = serde_json::from_str(&text).map_err(|error| {
            format!(
                "{} is not a tools file ({error}). It should look like {{\"tools\": [{{\"name\": …}}]}}",
                file.display()
            )
        })?;
        for (number, Tool { name, .. }) in tools.tools.iter().enumerate() {
            if name.trim().is_empty() || tools.tools[..number].iter().any(|tool| tool.name == *name) {
                return Err(format!("{}: each tool needs a name of its own; {name:?} isn't one", file.display()));
            }
        }
        Ok(tools)
    }

    /// Lets every command run without a question.
    pub fn allow_all(&mut self) {
        self.all_allowed = true;
    }

    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let definition = |tool: &Tool| ToolDefinition {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
        };
        self.tools.iter().map(definition).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Answers a call. `editor` is present if there is a terminal. Returns `None` if `cancel` completed first.
    pub async fn answer(
        &mut self,
        call: &Call<'_>,
        limit: Duration,
        editor: Option<&mut Editor>,
        cancel: impl Future<Output = ()>,
    ) -> Option<Answered> {
        let result = match self.tools.iter_mut().find(|tool| tool.name == call.name) {
            None => Err(format!("There is no tool called {}.", call.name)),
            Some(tool) => match tool.command.split_first() {
                None => ask(call.name, editor).await?,
                Some((program, arguments)) => {
                    if !self.all_allowed && !tool.safe {
                        match allow(call, editor).await? {
                            Allowed::Once => {}
                            Allowed::Always => tool.safe = true,
                            Allowed::Never(reason) => return Some(call.result(Err(reason))),
                        }
                    }
                    let _spinner = Spinner::labelled(call.name);
                    run(program, arguments, call.input_json, limit, cancel).await?
                }
            },
        };
        Some(call.result(result))
    }
}

enum Allowed {
    Once,
    Always,
    /// What to tell the model.
    Never(String),
}

/// Asks the user whether a command may run. Returns `None` after Ctrl-C.
async fn allow(call: &Call<'_>, editor: Option<&mut Editor>) -> Option<Allowed> {
    let Some(editor) = editor else {
        tell!("sluice: {} was not run, because nobody can be asked; --yes allows every tool", call.name);
        return Some(Allowed::Never("The tool was not run: the user could not be asked for permission.".to_owned()));
    };
    match editor.answer(&format!("Run {}? [y]es, [a]lways, [N]o: ", one_line(call.name))).await {
        Typed::Text(text) => Some(match text.trim() {
            "y" | "Y" | "yes" => Allowed::Once,
            "a" | "A" | "always" => Allowed::Always,
            _ => Allowed::Never("The user did not allow this call.".to_owned()),
        }),
        Typed::Interrupted | Typed::End => None,
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
        // Names of variables are case-insensitive on Windows.
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

/// Asks the user for the result of a tool without a command. Returns `None` after Ctrl-C.
async fn ask(name: &str, editor: Option<&mut Editor>) -> Option<Result<String, String>> {
    let Some(editor) = editor else { return Some(Err("Nobody is here to answer for this tool.".to_owned())) };
    match editor.answer(&format!("result of {}> ", one_line(name))).await {
        Typed::Text(text) => Some(Ok(text)),
        Typed::End => Some(Err("The user gave no result.".to_owned())),
        Typed::Interrupted => None,
    }
}

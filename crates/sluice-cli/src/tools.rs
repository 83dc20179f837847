//! Tools for `sluice chat`. They are offered to the model, and their results come from a command, from the user, or from
//! a server of the Model Context Protocol (`mcp.rs`). Those of `--tools FILE` look like this:
//!
//! ```json
//! {"tools": [{"name": "now", "description": "The time", "inputSchema": {"type": "object"}, "command": ["date"], "safe": true}]}
//! ```
//! The user is asked before a command runs or a server is called, unless the tool is marked as safe or all of them were
//! allowed.
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
use crate::mcp::Server;
use crate::output::tell;
use crate::program;
use crate::spinner::Spinner;
use crate::text::one_line;
use crate::tool_process::{self, Finished, How};

/// The maximum number of calls that are run for one answer. A model that makes more has gone astray.
pub const MAX_CALLS: usize = 128;

#[derive(Default)]
pub struct Tools {
    all: Vec<Tool>,
    servers: Vec<Server>,
    /// Whether every command may run.
    all_allowed: bool,
}

/// The contents of a file of tools.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tools: Vec<Tool>,
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
    /// The server that has the tool, and the server's name for it.
    #[serde(skip)]
    server: Option<(usize, String)>,
    /// Whether the command may run without a question.
    #[serde(default)]
    safe: bool,
}

impl Tools {
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let File { tools } = serde_json::from_str(&text).map_err(|error| {
            format!(
                "{} is not a tools file ({error}). It should look like {{\"tools\": [{{\"name\": …}}]}}",
                file.display()
            )
        })?;
        for (number, Tool { name, .. }) in tools.iter().enumerate() {
            if name.trim().is_empty() || tools[..number].iter().any(|tool| tool.name == *name) {
                return Err(format!("{}: each tool needs a name of its own; {name:?} isn't one", file.display()));
            }
        }
        Ok(Self { all: tools, ..Self::default() })
    }

    /// Lets every command run without a question.
    pub fn allow_all(&mut self) {
        self.all_allowed = true;
    }

    /// Starts servers of the Model Context Protocol, all at the same time, and adds their tools. If two tools have the
    /// same name, the name of the later one begins with its server's.
    pub async fn connect(&mut self, commands: Vec<String>, limit: Duration) -> Result<(), String> {
        let _spinner = (!commands.is_empty()).then(|| Spinner::labelled("starting tools"));
        let start = |command: String| tokio::spawn(async move { Server::start(&command, limit).await });
        let starting: Vec<_> = commands.into_iter().map(start).collect();
        for server in starting {
            let (server, tools) = server.await.map_err(|error| error.to_string())??;
            for tool in tools {
                let mut name = tool.name.to_string();
                if self.all.iter().any(|other| other.name == name) {
                    name = format!("{}_{name}", server.name().unwrap_or_else(|| self.servers.len().to_string()));
                }
                if self.all.iter().any(|other| other.name == name) {
                    return Err(format!("there are two tools called {name:?}; leave out one of the MCP servers"));
                }
                self.all.push(Tool {
                    name,
                    description: tool.description.unwrap_or_default().into_owned(),
                    input_schema: Some(Value::Object((*tool.input_schema).clone())),
                    command: Vec::new(),
                    server: Some((self.servers.len(), tool.name.into_owned())),
                    // The server's own opinion about its tools doesn't count.
                    safe: false,
                });
            }
            self.servers.push(server);
        }
        Ok(())
    }

    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let definition = |tool: &Tool| ToolDefinition {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
        };
        self.all.iter().map(definition).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether the user is asked before a tool runs.
    pub fn needs_permission(&self, name: &str) -> bool {
        let runs = |tool: &Tool| tool.name == name && !tool.safe && (!tool.command.is_empty() || tool.server.is_some());
        !self.all_allowed && self.all.iter().any(runs)
    }

    /// Answers a call. `editor` is present if there is a terminal. Returns `None` if `cancel` completed first.
    pub async fn answer(
        &mut self,
        call: &Call<'_>,
        limit: Duration,
        editor: Option<&mut Editor>,
        cancel: impl Future<Output = ()>,
    ) -> Option<Answered> {
        let needs_permission = self.needs_permission(call.name);
        let Some(tool) = self.all.iter_mut().find(|tool| tool.name == call.name) else {
            return Some(call.result(Err(format!("There is no tool called {}.", call.name))));
        };
        if tool.command.is_empty() && tool.server.is_none() {
            return Some(call.result(ask(call.name, editor).await?));
        }
        if needs_permission {
            match allow(call, editor).await? {
                Allowed::Once => {}
                Allowed::Always => tool.safe = true,
                Allowed::Never(reason) => return Some(call.result(Err(reason))),
            }
        }
        let _spinner = Spinner::labelled(call.name);
        let result = match (tool.command.split_first(), &tool.server) {
            (Some((program, arguments)), _) => run(program, arguments, call.input_json, limit, cancel).await?,
            (None, Some((server, name))) => tokio::select! {
                biased;
                () = cancel => return None,
                result = self.servers[*server].call(name, call.input_json, limit) => result,
            },
            (None, None) => return None,
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
    /// What the user sees of the result: its text, and a few words for everything else.
    pub text: String,
    pub is_error: bool,
    content: Vec<ChatPart>,
}

impl Answered {
    /// Returns the part to send back to the model.
    pub fn into_part(self) -> ChatPart {
        ChatPart::ToolResult { call_id: self.call_id, content: self.content, is_error: self.is_error }
    }
}

/// A call in the model's answer.
pub struct Call<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub input_json: &'a str,
}

impl Call<'_> {
    fn result(&self, result: Result<Vec<ChatPart>, String>) -> Answered {
        let is_error = result.is_err();
        let content = result.unwrap_or_else(|value| vec![ChatPart::Text { value }]);
        let shown = |part: &ChatPart| match part {
            ChatPart::Text { value } => value.clone(),
            ChatPart::Data { mime_type, .. } => format!("[{mime_type}]"),
            _ => String::new(),
        };
        let text = content.iter().map(shown).collect::<Vec<_>>().join("\n");
        Answered { call_id: self.id.to_owned(), name: self.name.to_owned(), text, is_error, content }
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
) -> Option<Result<Vec<ChatPart>, String>> {
    let mut command = Command::new(program::file(program));
    command.args(arguments);
    without_keys(&mut command);
    let Finished { how, stdout, stderr } = match tool_process::run(command, input_json, limit, cancel).await {
        Ok(finished) => finished,
        Err(error) => return Some(Err(format!("The command {program} cannot be run: {error}."))),
    };
    let mut failure = match how {
        How::Cancelled => return None,
        How::Exited(status) if status.success() => return Some(Ok(vec![ChatPart::Text { value: stdout.text() }])),
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

/// Removes the variables that have keys from a command's environment.
pub fn without_keys(command: &mut Command) {
    for (name, _) in env::vars_os() {
        // Names of variables are case-insensitive on Windows.
        if KEY_VARIABLES.iter().any(|key| name.eq_ignore_ascii_case(key)) {
            command.env_remove(name);
        }
    }
}

/// Asks the user for the result of a tool without a command. Returns `None` after Ctrl-C.
async fn ask(name: &str, editor: Option<&mut Editor>) -> Option<Result<Vec<ChatPart>, String>> {
    let Some(editor) = editor else { return Some(Err("Nobody is here to answer for this tool.".to_owned())) };
    match editor.answer(&format!("result of {}> ", one_line(name))).await {
        Typed::Text(value) => Some(Ok(vec![ChatPart::Text { value }])),
        Typed::End => Some(Err("The user gave no result.".to_owned())),
        Typed::Interrupted => None,
    }
}

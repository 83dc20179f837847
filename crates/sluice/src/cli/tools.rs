//! Tools for `sluice chat --tools FILE`: offered to the model, answered by a command or by whoever sits at the terminal.
//!
//! ```json
//! {"tools": [{"name": "now", "description": "The time", "inputSchema": {"type": "object"}, "command": ["date"]}]}
//! ```
//! A command gets the input as JSON on standard input; what it prints is the result.

use std::path::Path;
use std::process::Stdio;

use serde::Deserialize;
use sluice_core::{ChatPart, ToolDefinition};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::keyboard::Keyboard;

/// More than any model wants to read.
const MAX_RESULT: usize = 1 << 20;

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
                "{} is no tools file ({error}). It should look like {{\"tools\": [{{\"name\": …}}]}}",
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

    /// The result of a call, as the part that goes back. `keyboard` is there if somebody sits at the terminal.
    pub async fn answer(
        &self,
        call_id: &str,
        name: &str,
        input_json: &str,
        keyboard: Option<&mut Keyboard>,
    ) -> ChatPart {
        let result = match self.tools.iter().find(|tool| tool.definition.name == name) {
            None => Err(format!("There is no tool called {name}.")),
            Some(tool) => match tool.command.split_first() {
                Some((program, arguments)) => run(program, arguments, input_json).await,
                None => ask(name, keyboard).await,
            },
        };
        let is_error = result.is_err();
        let value = result.unwrap_or_else(|error| error);
        let content = vec![ChatPart::Text { value }];
        ChatPart::ToolResult { call_id: call_id.to_owned(), content, is_error }
    }
}

async fn run(program: &str, arguments: &[String], input_json: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("cannot run {program}: {error}");
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        // A command that does not read its input is fine.
        let _ = input.write_all(input_json.as_bytes()).await;
    }
    let output = child.wait_with_output().await.map_err(failed)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes.get(..MAX_RESULT).unwrap_or(bytes)).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

async fn ask(name: &str, keyboard: Option<&mut Keyboard>) -> Result<String, String> {
    let Some(keyboard) = keyboard else { return Err("Nobody is here to answer for this tool.".to_owned()) };
    eprint!("result of {name}> ");
    keyboard.line().await.ok_or_else(|| "The user gave no result.".to_owned())
}

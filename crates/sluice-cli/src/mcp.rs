//! Servers of the Model Context Protocol, whose tools are offered to the model: `sluice chat --mcp COMMAND`.
//!
//! A server is a program that speaks the protocol over its standard input and output. It runs as long as the
//! conversation, in a process group of its own, without the variables that have keys. What it prints to standard error
//! is shown only if it fails.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ContentBlock, Implementation,
    ResourceContents, Tool,
};
use rmcp::service::{ClientInitializeError, RoleClient, RunningService, ServiceError, ServiceExt};
use serde_json::Value;
use sluice_core::ChatPart;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::program;
use crate::text::one_line;
use crate::tool_process::{Group, MAX_OUTPUT};
use crate::tools::without_keys;

/// How long a server may take to end after its input has ended, and again after the first signal.
const GRACE: Duration = Duration::from_secs(1);
/// The number of bytes that are kept of what a server prints to standard error.
const MAX_COMPLAINT: usize = 2 << 10;

/// A running server. Dropping it ends the server.
pub struct Server {
    /// The command line, for messages.
    command: String,
    /// Present until the server is dropped.
    client: Option<RunningService<RoleClient, ClientConfig>>,
    process: Child,
    group: Group,
    complaint: Arc<Mutex<Vec<u8>>>,
    /// Reads the complaint, until standard error ends.
    reader: JoinHandle<()>,
}

impl Server {
    /// Starts a server and asks for its tools. `limit` bounds how long this takes.
    pub async fn start(command: &str, limit: Duration) -> Result<(Self, Vec<Tool>), String> {
        let words = program::words(command)
            .ok_or_else(|| format!("--mcp {command:?} is not a command; check its quotation marks"))?;
        let mut process = Command::new(program::file(&words[0]));
        process.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        process.kill_on_drop(true);
        without_keys(&mut process);
        #[cfg(unix)]
        process.process_group(0);
        let mut process =
            process.spawn().map_err(|error| format!("the MCP server {command:?} cannot be started: {error}"))?;
        let group = Group::of(&process);
        let (Some(input), Some(output), Some(errors)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err(format!("the MCP server {command:?} cannot be started: it has no input or output"));
        };
        let complaint = Arc::default();
        let reader = tokio::spawn(keep_end(errors, Arc::clone(&complaint)));
        let mut server = Self { command: command.to_owned(), client: None, process, group, complaint, reader };
        let about =
            ClientConfig::new(ClientCapabilities::default(), Implementation::new("sluice", env!("CARGO_PKG_VERSION")));
        let connect = async {
            let client = about.serve((output, input)).await.map_err(|error| match error {
                ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => {
                    "ended before it was ready".to_owned()
                }
                error => format!("can't be used: {}", one_line(&error.to_string())),
            })?;
            let tools = client.list_all_tools().await.map_err(|error| match error {
                ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
                    "ended before it was ready".to_owned()
                }
                error => format!("didn't list its tools: {}", one_line(&error.to_string())),
            })?;
            Ok::<_, String>((client, tools))
        };
        match timeout(limit, connect).await {
            Ok(Ok((client, tools))) => {
                server.client = Some(client);
                Ok((server, tools))
            }
            Ok(Err(what)) => Err(server.failed(&what).await),
            Err(_) => Err(server.failed(&format!("wasn't ready within {} s", limit.as_secs_f64())).await),
        }
    }

    /// Returns the name that the server gave itself.
    pub fn name(&self) -> Option<String> {
        let info = self.client.as_ref()?.peer_info()?;
        info.server_info.as_ref().map(|server| server.name.clone())
    }

    /// Calls a tool. Dropping the future tells the server that the call is cancelled.
    pub async fn call(&mut self, tool: &str, input_json: &str, limit: Duration) -> Result<Vec<ChatPart>, String> {
        let Some(client) = &self.client else { return Err(self.failed("has ended").await) };
        let mut call = CallToolRequestParams::new(tool.to_owned());
        if let Ok(Value::Object(input)) = serde_json::from_str(input_json) {
            call = call.with_arguments(input);
        }
        match timeout(limit, client.call_tool(call)).await {
            Ok(Ok(result)) => read(result),
            Ok(Err(ServiceError::McpError(error))) => Err(error.message.into_owned()),
            Ok(Err(ServiceError::TransportClosed | ServiceError::TransportSend(_))) => {
                Err(self.failed("has ended").await)
            }
            Ok(Err(error)) => {
                Err(self.failed(&format!("did not answer properly: {}", one_line(&error.to_string()))).await)
            }
            Err(_) => Err(format!("The call was cancelled because it took longer than {} s.", limit.as_secs_f64())),
        }
    }

    async fn failed(&mut self, what: &str) -> String {
        // A server that has ended has said everything, but not all of it may have been read.
        if !self.reader.is_finished() {
            let _ = timeout(GRACE, &mut self.reader).await;
        }
        let complaint = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        let complaint = String::from_utf8_lossy(&complaint);
        let separator = if complaint.trim().is_empty() { "" } else { "\n" };
        format!("the MCP server {:?} {what}{separator}{}", self.command, complaint.trim())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // This closes the server's input, which is how the protocol asks it to end.
        drop(self.client.take());
        if !self.ends_within(GRACE) {
            self.group.ask_to_end();
            self.ends_within(GRACE);
        }
    }
}

impl Server {
    fn ends_within(&mut self, limit: Duration) -> bool {
        let started = Instant::now();
        while started.elapsed() < limit {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        false
    }
}

/// Keeps the last bytes that a server prints to standard error.
async fn keep_end(mut errors: ChildStderr, complaint: Arc<Mutex<Vec<u8>>>) {
    let mut chunk = [0; 4 << 10];
    while let Ok(length @ 1..) = errors.read(&mut chunk).await {
        let mut kept = complaint.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..length]);
        let excess = kept.len().saturating_sub(MAX_COMPLAINT);
        kept.drain(..excess);
    }
}

/// Returns what the model gets: texts and images. The text of an error is returned as an error.
fn read(result: CallToolResult) -> Result<Vec<ChatPart>, String> {
    let mut parts: Vec<ChatPart> = result.content.into_iter().map(part).collect();
    if parts.is_empty()
        && let Some(structured) = result.structured_content
    {
        parts.push(ChatPart::Text { value: structured.to_string() });
    }
    if result.is_error != Some(true) {
        return Ok(parts);
    }
    let texts = parts.into_iter().filter_map(|part| match part {
        ChatPart::Text { value } => Some(value),
        _ => None,
    });
    Err(texts.collect::<Vec<_>>().join("\n"))
}

fn part(block: ContentBlock) -> ChatPart {
    let text = |mut value: String| {
        if value.len() > MAX_OUTPUT {
            value.truncate(value.floor_char_boundary(MAX_OUTPUT));
            value += &format!("\n[cut after {MAX_OUTPUT} bytes]");
        }
        ChatPart::Text { value }
    };
    match block {
        ContentBlock::Text(content) => text(content.text),
        ContentBlock::Image(image) => ChatPart::Data { mime_type: image.mime_type, base64: image.data },
        ContentBlock::Audio(audio) => text(format!("[audio of type {}, which can't be shown]", audio.mime_type)),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { text: value, .. } => text(value),
            ResourceContents::BlobResourceContents { mime_type: Some(mime_type), blob, .. }
                if mime_type.starts_with("image/") =>
            {
                ChatPart::Data { mime_type, base64: blob }
            }
            ResourceContents::BlobResourceContents { uri, .. } => {
                text(format!("[the contents of {uri}, which aren't text]"))
            }
            _ => text("[a resource of an unknown kind]".to_owned()),
        },
        ContentBlock::ResourceLink(link) => text(format!("{}: {}", link.name, link.uri)),
        _ => text("[content of an unknown kind]".to_owned()),
    }
}

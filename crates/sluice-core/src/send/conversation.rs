//! Determines which conversation a request belongs to.
//!
//! VS Code passes a provider the whole history but, in older versions, no id for the conversation. We leave a marker in
//! every answer. It comes back with the next request and names the conversation, so that prompt caches are found again.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use serde_json::Value;

use crate::boundary::{ChatPart, ChatRequest};

/// The type of the data part that VS Code stores with an answer and passes back.
const MARKER_TYPE: &str = "stateful_marker";
/// The prefix of our markers; other providers leave markers too.
const OUR_PREFIX: &str = "sluice-";

/// Returns the caller's id for the conversation, or else VS Code's, or else the one in our last marker, or else the new
/// id.
pub(super) fn conversation_id(chat: &ChatRequest) -> Option<String> {
    let options = &chat.options;
    let from_vscode = || options.extra_body.get("_conversationId").and_then(Value::as_str).map(str::to_owned);
    options
        .conversation_id
        .clone()
        .or_else(from_vscode)
        .or_else(|| marked(chat))
        .or_else(|| options.new_conversation_id.clone())
        .filter(|id| !id.is_empty())
}

/// Returns the text of the marker. VS Code requires the model's id before a backslash; the rest must not contain
/// another one.
pub(super) fn marker(model: &str, conversation: &str) -> Option<String> {
    is_markable(conversation).then(|| format!("{model}\\{OUR_PREFIX}{conversation}"))
}

fn is_markable(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Returns the conversation that our latest marker names.
fn marked(chat: &ChatRequest) -> Option<String> {
    let parts = chat.messages.iter().rev().flat_map(|message| message.content.iter().rev());
    parts
        .filter_map(|part| match part {
            ChatPart::Data { mime_type, base64 } if mime_type == MARKER_TYPE => BASE64_STANDARD.decode(base64).ok(),
            _ => None,
        })
        .find_map(|marker| {
            let (_, name) = std::str::from_utf8(&marker).ok()?.split_once('\\')?;
            name.strip_prefix(OUR_PREFIX).filter(|id| is_markable(id)).map(str::to_owned)
        })
}

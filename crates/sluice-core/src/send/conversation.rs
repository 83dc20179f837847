//! Which conversation a request belongs to, and whether it is an ordinary turn of it.
//!
//! VS Code gives a provider the whole history and, in older versions, no name for it. A marker that we leave in every
//! answer comes back with the next request and names the conversation, so that prompt caches are found again.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use serde_json::Value;

use crate::boundary::{ChatPart, ChatRequest, RequestKind, Role};

/// The type of the data part that VS Code keeps with an answer and hands back.
const MARKER_TYPE: &str = "stateful_marker";
/// Other providers leave markers too.
const OURS: &str = "sluice-";

/// What the caller calls the conversation, else what VS Code does, else what our last marker says, else a new name.
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

/// The text of the marker: VS Code wants the model's id before a backslash and splits at every other one.
pub(super) fn marker(model: &str, conversation: &str) -> Option<String> {
    is_markable(conversation).then(|| format!("{model}\\{OURS}{conversation}"))
}

fn is_markable(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// The conversation that the latest of our markers names.
fn marked(chat: &ChatRequest) -> Option<String> {
    let parts = chat.messages.iter().rev().flat_map(|message| message.content.iter().rev());
    parts
        .filter_map(|part| match part {
            ChatPart::Data { mime_type, base64 } if mime_type == MARKER_TYPE => BASE64_STANDARD.decode(base64).ok(),
            _ => None,
        })
        .find_map(|marker| {
            let (_, name) = std::str::from_utf8(&marker).ok()?.split_once('\\')?;
            name.strip_prefix(OURS).filter(|id| is_markable(id)).map(str::to_owned)
        })
}

/// What the request is for, read off the questions that VS Code's chat asks on its own behalf.
pub fn request_kind(chat: &ChatRequest) -> RequestKind {
    const TITLES: [&str; 3] =
        ["Please write a brief title", "Please write a concise title", "Please summarize the following"];
    if is_summary_request(chat) {
        RequestKind::Summary
    } else if chat.tools.is_empty() && begins_with(chat, &TITLES) {
        RequestKind::Utility
    } else {
        RequestKind::Main
    }
}

/// Whether VS Code's chat asks for a summary of the conversation. Its tools stay in the request, because the prompt
/// cache depends on them, and a model that calls one instead of summarizing would end the chat.
pub(super) fn is_summary_request(chat: &ChatRequest) -> bool {
    const SAYINGS: [&str; 3] = [
        "Summarize the conversation history so far",
        "The conversation has grown too large for the context window and must be compacted",
        "Your task is to create a comprehensive, detailed summary of the entire conversation",
    ];
    begins_with(chat, &SAYINGS)
}

/// Whether the last question begins with one of these.
fn begins_with(chat: &ChatRequest, sayings: &[&str]) -> bool {
    let last_question = chat.messages.iter().rev().find(|message| message.role == Role::User);
    last_question.is_some_and(|message| {
        message.content.iter().any(|part| match part {
            ChatPart::Text { value } => sayings.iter().any(|saying| value.trim_start().starts_with(saying)),
            _ => false,
        })
    })
}

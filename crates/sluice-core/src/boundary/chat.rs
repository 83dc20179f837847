//! What a shell asks of a model: messages, tools and options, in VS Code's terms.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::part::ThinkingReplay;
use crate::surrogates::mend_surrogates;

/// One request. Text is text; bytes come as base64; tool input as the text of a JSON object.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ChatRequest {
    pub model: String,
    pub messages: Vec<ChatMessage>,
    #[cfg_attr(test, ts(as = "Option<Vec<ToolDefinition>>"))]
    pub tools: Vec<ToolDefinition>,
    #[cfg_attr(test, ts(as = "Option<ToolMode>"))]
    pub tool_mode: ToolMode,
    /// With `required`: the one tool that must be called.
    pub required_tool: Option<String>,
    #[cfg_attr(test, ts(as = "Option<ChatOptions>"))]
    pub options: ChatOptions,
}

impl ChatRequest {
    /// From a shell's JSON. Halves of surrogate pairs, which JavaScript writes as escapes, are replaced.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json).or_else(|error| serde_json::from_str(&mend_surrogates(json)).map_err(|_| error))
    }
}

impl ChatMessage {
    /// The same for one message.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json).or_else(|error| serde_json::from_str(&mend_surrogates(json)).map_err(|_| error))
    }

    /// What was thought and may be sent back, as the server encrypted it.
    pub fn thoughts(&self) -> impl Iterator<Item = &str> {
        let replays = self.content.iter().filter_map(|part| match part {
            ChatPart::Thinking { replay } => replay.as_ref(),
            _ => None,
        });
        replays.flat_map(|replay| &replay.items).map(|item| item.encrypted_content.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChatMessage {
    pub role: Role,
    pub content: Vec<ChatPart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Role {
    User,
    Assistant,
    System,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "FlatPart")]
#[cfg_attr(test, derive(ts_rs::TS), ts(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase"))]
pub enum ChatPart {
    Text {
        value: String,
    },
    /// What the model thought. Only what it wants back is ever sent, and only to itself.
    Thinking {
        #[cfg_attr(test, ts(optional, as = "Option<ThinkingReplay>"))]
        replay: Option<ThinkingReplay>,
    },
    ToolCall {
        call_id: String,
        name: String,
        input_json: String,
    },
    ToolResult {
        call_id: String,
        content: Vec<ChatPart>,
        #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
        is_error: bool,
    },
    /// An image, or one of VS Code's markers.
    Data {
        mime_type: String,
        base64: String,
    },
}

/// All kinds of parts in one shape. Reading an enum by its tag would take a second reader for every type inside it, and
/// the WebAssembly module would be a quarter larger.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FlatPart {
    r#type: String,
    value: Option<String>,
    replay: Option<ThinkingReplay>,
    call_id: Option<String>,
    name: Option<String>,
    input_json: Option<String>,
    content: Option<Vec<ChatPart>>,
    #[serde(default)]
    is_error: bool,
    mime_type: Option<String>,
    base64: Option<String>,
}

impl TryFrom<FlatPart> for ChatPart {
    type Error = String;

    fn try_from(part: FlatPart) -> Result<Self, String> {
        let missing = |field: &str| format!("a part of type {} has no {field}", part.r#type);
        Ok(match part.r#type.as_str() {
            "text" => Self::Text { value: part.value.ok_or_else(|| missing("value"))? },
            "thinking" => Self::Thinking { replay: part.replay },
            "toolCall" => Self::ToolCall {
                call_id: part.call_id.ok_or_else(|| missing("callId"))?,
                name: part.name.ok_or_else(|| missing("name"))?,
                input_json: part.input_json.ok_or_else(|| missing("inputJson"))?,
            },
            "toolResult" => Self::ToolResult {
                call_id: part.call_id.ok_or_else(|| missing("callId"))?,
                content: part.content.ok_or_else(|| missing("content"))?,
                is_error: part.is_error,
            },
            "data" => Self::Data {
                mime_type: part.mime_type.ok_or_else(|| missing("mimeType"))?,
                base64: part.base64.ok_or_else(|| missing("base64"))?,
            },
            other => return Err(format!("parts of type {other} are not known")),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ToolDefinition {
    pub name: String,
    #[serde(default)]
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub description: String,
    /// A JSON schema; tools without arguments have none.
    #[serde(default)]
    #[cfg_attr(test, ts(type = "unknown"))]
    pub input_schema: Option<Value>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ToolMode {
    #[default]
    Auto,
    Required,
    None,
}

/// Everything that is sent only if somebody asked for it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ChatOptions {
    #[cfg_attr(test, ts(as = "Option<u32>"))]
    pub max_output_tokens: Option<u64>,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    /// `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`: whatever the model offers.
    pub reasoning_effort: Option<String>,
    /// `auto`, `concise` or `detailed`.
    pub reasoning_summary: Option<String>,
    /// The same for all requests of a conversation, so that the provider's prompt cache is found again.
    pub conversation_id: Option<String>,
    /// Where neither the caller nor a marker in the messages names the conversation: it begins here, under this name.
    pub new_conversation_id: Option<String>,
    /// Let the gateway place cache markers for providers that need them.
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub automatic_caching: bool,
    pub routing: Option<Routing>,
    /// Let Claude models forget old tool results by themselves.
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub claude_context_management: bool,
    /// The caller's own model options. Those that name an option above count as that option; keys that start with `_`
    /// are VS Code's and never sent.
    #[cfg_attr(test, ts(type = "{ [name: string]: unknown }"))]
    pub extra_body: Map<String, Value>,
    #[cfg_attr(test, ts(as = "Option<BTreeMap<String, String>>"))]
    pub extra_headers: BTreeMap<String, String>,
}

/// Which providers the gateway may use, and in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Routing {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub order: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub only: Vec<String>,
    /// Models to fall back to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub models: Vec<String>,
    /// `cost`, `ttft` or `tps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
}

/// What a shell puts on the wire. The key is not in it: the shell adds it, for the one origin it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HttpRequest {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

//! A chat request as a shell makes it: messages, tools and options, in VS Code's terms.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::part::ThinkingReplay;
use crate::send::VERCEL;
use crate::surrogates::mend_surrogates;

/// One request. Binary data is base64; a tool's input is the text of a JSON object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ChatRequest {
    /// The id of the model, as the server lists it.
    pub model: String,
    /// The whole conversation, the oldest message first.
    pub messages: Vec<ChatMessage>,
    /// The tools that the model may call.
    #[cfg_attr(test, ts(as = "Option<Vec<ToolDefinition>>"))]
    pub tools: Vec<ToolDefinition>,
    /// Whether the model may, must or must not call a tool.
    #[cfg_attr(test, ts(as = "Option<ToolMode>"))]
    pub tool_mode: ToolMode,
    /// The one tool that must be called, if `tool_mode` is `required`.
    pub required_tool: Option<String>,
    /// Everything else that can be chosen for a request.
    #[cfg_attr(test, ts(as = "Option<ChatOptions>"))]
    pub options: ChatOptions,
}

impl ChatRequest {
    /// Reads a request from JSON. Unpaired surrogates, which JavaScript writes as escapes, are replaced.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json).or_else(|error| serde_json::from_str(&mend_surrogates(json)).map_err(|_| error))
    }
}

impl ChatMessage {
    /// Returns a message of the user that is nothing but text.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, content: vec![ChatPart::Text { value: text.into() }] }
    }

    /// Reads a message from JSON. Unpaired surrogates, which JavaScript writes as escapes, are replaced.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json).or_else(|error| serde_json::from_str(&mend_surrogates(json)).map_err(|_| error))
    }
}

/// One message of a chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChatMessage {
    /// Who wrote the message.
    pub role: Role,
    /// What the message consists of, in order.
    pub content: Vec<ChatPart>,
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Role {
    /// The person who asks, or the program that runs tools for the model.
    User,
    /// The model.
    Assistant,
    /// The program that wraps the conversation. Its messages become the instructions.
    System,
}

/// Begins a note by Sluice below an answer, which isn't sent. The character after the empty line is invisible, and models don't
/// write it.
pub(crate) const NOTE: &str = "\n\n\u{2063}";

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "FlatPart", tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase"))]
pub enum ChatPart {
    /// Plain text.
    Text {
        /// The text.
        value: String,
    },
    /// The model's reasoning. It is sent only to the model and the origin that produced it.
    Thinking {
        /// What the server needs back. Without it, nothing is sent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "ThinkingReplay | string"))]
        replay: Option<ThinkingReplay>,
    },
    /// A call that the model made in an earlier answer.
    ToolCall {
        /// The id that connects the call with its result.
        call_id: String,
        /// The tool's name, as VS Code knows it.
        name: String,
        /// The arguments, as the text of a JSON object.
        input_json: String,
    },
    /// What a tool returned.
    ToolResult {
        /// The id of the call that this answers.
        call_id: String,
        /// The result, which is text or images.
        content: Vec<ChatPart>,
        /// Whether the tool failed. The model sees that.
        #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
        is_error: bool,
    },
    /// An image, or one of VS Code's markers.
    Data {
        /// The media type, which decides whether the data is sent and how.
        mime_type: String,
        /// The bytes, in the standard alphabet with padding.
        base64: String,
    },
}

/// The fields of all kinds of parts in one struct. Deserializing an enum by its tag would instantiate a second
/// deserializer for every type in it, which would make the WebAssembly module a quarter larger.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FlatPart {
    r#type: String,
    value: Option<String>,
    #[serde(default, deserialize_with = "read_replay")]
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

/// Reads a replay, or the JSON of one in a string, because one of VS Code's chats keeps only strings. Anything else comes
/// from another version or another provider and counts as absent.
fn read_replay<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ThinkingReplay>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(json) => serde_json::from_str(&json).ok(),
        other => serde_json::from_value(other).ok(),
    })
}

impl TryFrom<FlatPart> for ChatPart {
    type Error = String;

    fn try_from(part: FlatPart) -> Result<Self, String> {
        let missing = |field: &str| format!("a part of type {} has no {field}", part.r#type);
        Ok(match part.r#type.as_str() {
            "text" => {
                let mut value = part.value.ok_or_else(|| missing("value"))?;
                value.truncate(value.find(NOTE).unwrap_or(value.len()));
                Self::Text { value }
            }
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

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ToolDefinition {
    /// VS Code's name for the tool. Servers get a name that all providers accept.
    pub name: String,
    /// What the tool does and when to use it, for the model.
    #[serde(default)]
    #[cfg_attr(test, ts(as = "Option<String>"))]
    pub description: String,
    /// A JSON schema. Tools without arguments have none.
    #[serde(default)]
    #[cfg_attr(test, ts(type = "unknown"))]
    pub input_schema: Option<Value>,
}

/// Whether the model may, must or must not call tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ToolMode {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call a tool.
    Required,
    /// The model must not call a tool.
    None,
}

/// The options of a request. Each is sent only if it is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct ChatOptions {
    /// The longest answer, including reasoning.
    #[cfg_attr(test, ts(as = "Option<u32>"))]
    pub max_output_tokens: Option<u64>,
    /// How varied the answer is. Most reasoning models refuse it.
    pub temperature: Option<f64>,
    /// The probability mass that tokens are sampled from.
    pub top_p: Option<f64>,
    /// The user's setting for all models: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
    pub reasoning_effort: Option<String>,
    /// What the user chose for this model. It takes precedence over the setting.
    pub chosen_effort: Option<String>,
    /// The efforts that the model offers, if they are known.
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub efforts: Vec<String>,
    /// `auto`, `concise` or `detailed`. The default is `auto`.
    pub reasoning_summary: Option<String>,
    /// An id that all requests of a conversation share, so that they hit the provider's prompt cache.
    pub conversation_id: Option<String>,
    /// The id to use if neither the caller nor a marker in the messages names the conversation.
    pub new_conversation_id: Option<String>,
    /// Lets the gateway place cache markers for providers that need them.
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub automatic_caching: bool,
    /// Asks the gateway to keep prompts in the cache for an hour in place of five minutes. Writing to it costs more then.
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub long_cache: bool,
    /// Moves lines that are different in every chat to the end of the instructions, so that new chats can use the prompt
    /// cache.
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub stable_instructions: bool,
    /// Which providers the gateway may use.
    pub routing: Option<Routing>,
    /// Lets Claude models drop old tool results on their own.
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub claude_context_management: bool,
    /// The caller's own model options. A key that names an option above sets that option. Keys that start with `_` are
    /// VS Code's and are never sent.
    #[cfg_attr(test, ts(type = "{ [name: string]: unknown }"))]
    pub extra_body: Map<String, Value>,
    /// The user's own headers. Headers that Sluice sets itself are ignored, and a note says so.
    #[cfg_attr(test, ts(as = "Option<BTreeMap<String, String>>"))]
    pub extra_headers: BTreeMap<String, String>,
}

impl ChatOptions {
    /// The choice of an editor's user that leaves the thinking effort to the model. Without it, nobody could take back another
    /// choice.
    pub(crate) const MODELS_OWN_EFFORT: &str = "default";

    /// Returns the thinking effort that the user wants.
    pub(crate) fn effort(&self) -> Option<&String> {
        let chosen = self.chosen_effort.as_ref().filter(|effort| *effort != Self::MODELS_OWN_EFFORT);
        chosen.or(self.reasoning_effort.as_ref())
    }

    /// Returns whether a server with this origin is asked to cache prompts for an hour.
    pub(crate) fn has_long_cache(&self, origin: &str) -> bool {
        self.long_cache && self.automatic_caching && VERCEL.strip_suffix("/v1") == Some(origin)
    }
}

/// The providers that the gateway may use, and their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Routing {
    /// The providers to try first, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub order: Vec<String>,
    /// The only providers that may be used.
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

/// A request for the shell to send. It doesn't contain the key: the shell adds it, and only for the origin that the key
/// belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HttpRequest {
    /// `GET` or `POST`.
    pub method: String,
    /// The whole address, including the path.
    pub url: String,
    /// All headers except the one with the key.
    pub headers: Vec<(String, String)>,
    /// The body, which is empty for `GET`.
    pub body: String,
}

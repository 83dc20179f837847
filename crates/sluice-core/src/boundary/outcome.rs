//! How an answer ended and what that means.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Message;

/// How an answer ended. Every stream has exactly one outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Outcome {
    pub status: Status,
    /// Why an answer is incomplete, in the protocol's terms, or what cut a truncated answer off.
    pub reason: Option<String>,
    pub error: Option<Failure>,
    /// Why there is nothing to show, if there is no text, no tool call and no image.
    pub empty: Option<Empty>,
    pub response_id: Option<String>,
    pub model: Option<String>,
    /// What the server counted. `None` if it reported nothing; never zero instead.
    pub usage: Option<Usage>,
    pub gateway: Option<Gateway>,
    /// Whether the request can be repeated without repeating text or running a tool twice.
    pub retry_safe: bool,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Status {
    Completed,
    /// The server ended the answer early and said so; what arrived is valid.
    Incomplete,
    Failed,
    /// The body ended before the server said how the answer ended.
    Truncated,
    Cancelled,
}

/// Why an answer has nothing to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Empty {
    /// The model produced reasoning but no answer.
    ThinkingOnly,
    /// A content filter removed the answer.
    Filtered,
    /// The output limit was reached before the answer began.
    Length,
    Nothing,
}

/// Why something failed and what to do about it, in words that can be shown to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Failure {
    pub kind: FailureKind,
    /// What happened, in English: one short line without markup and without secrets.
    pub message: String,
    /// The server's own error code or error type.
    pub code: Option<String>,
    /// The tool whose call could not be used.
    pub tool: Option<String>,
    /// The suggested action, in English.
    pub next: String,
    /// All there is to tell the user, sentence by sentence: what happened, when to come back, what to do.
    pub text: Vec<Message>,
    pub status: Option<u16>,
    pub request_id: Option<String>,
    pub generation_id: Option<String>,
    pub overflow: Option<Overflow>,
    /// Whether the same request may succeed a moment later.
    pub may_retry: bool,
    #[cfg_attr(test, ts(type = "number | null"))]
    pub retry_after_ms: Option<u64>,
}

/// The kind of a failure, which decides what to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum FailureKind {
    /// The key is missing or wrong.
    SignIn,
    /// The key is valid but doesn't allow this request.
    Forbidden,
    NoCredit,
    ModelNotFound,
    /// The conversation doesn't fit into the model's window.
    ContextOverflow,
    BadRequest,
    RateLimited,
    ServerDown,
    /// There was a response, but not from an Open Responses endpoint.
    NotAStream,
    Network,
    /// The server reported an error of no other kind.
    Server,
    /// The model called a tool with arguments that aren't a JSON object.
    ToolCall,
    /// The stream exceeded a limit that protects memory.
    TooLarge,
}

/// The fields of an [`Outcome`] that a log needs.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LoggedOutcome {
    pub status: Status,
    pub reason: Option<String>,
    pub error: Option<LoggedFailure>,
    pub empty: Option<Empty>,
    pub usage: Option<Usage>,
}

/// The fields of a [`Failure`] that a log needs.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LoggedFailure {
    pub kind: FailureKind,
    pub code: Option<String>,
    pub status: Option<u16>,
}

/// The numbers in an error about a conversation that is too long, as far as the server reported them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Overflow {
    #[cfg_attr(test, ts(type = "number | null"))]
    pub asked_tokens: Option<u64>,
    #[cfg_attr(test, ts(type = "number | null"))]
    pub limit_tokens: Option<u64>,
}

/// Token counts with the server's own field names, including fields that it added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Usage {
    #[cfg_attr(test, ts(type = "number | null"))]
    pub input_tokens: Option<u64>,
    #[cfg_attr(test, ts(type = "number | null"))]
    pub output_tokens: Option<u64>,
    #[cfg_attr(test, ts(type = "number | null"))]
    pub total_tokens: Option<u64>,
    pub input_tokens_details: Option<TokenDetails>,
    pub output_tokens_details: Option<TokenDetails>,
    #[serde(flatten)]
    #[cfg_attr(test, ts(skip))]
    pub more: BTreeMap<String, Value>,
}

/// A breakdown such as `{"cached_tokens": 12}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "{ [name: string]: unknown }"))]
pub struct TokenDetails(pub BTreeMap<String, Value>);

impl TokenDetails {
    /// Returns the count with this name.
    pub fn count(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }
}

/// What the gateway reports about its own part: who served the request and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Gateway {
    pub generation_id: Option<String>,
    /// US dollars as the gateway wrote them, as a decimal string or a number.
    pub cost: Option<String>,
    /// The provider that gave the final answer.
    pub provider: Option<String>,
    /// The whole object, including routing attempts and the providers' own fields.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub metadata: Value,
}

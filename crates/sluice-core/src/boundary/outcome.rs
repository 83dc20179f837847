//! How an answer ended and what that means.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::message::Message;
use crate::send::Parameter;

/// How an answer ended. Every stream has exactly one outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Outcome {
    /// How the answer ended.
    pub status: Status,
    /// Why an answer is incomplete, in the protocol's terms, or what cut a truncated answer off.
    pub reason: Option<String>,
    /// Why it failed or was cut off.
    pub error: Option<Failure>,
    /// Why there is nothing to show, if there is no text, no tool call and no image.
    pub empty: Option<Empty>,
    /// The server's id for the response.
    pub response_id: Option<String>,
    /// The model that answered, which may be another than the one that was asked.
    pub model: Option<String>,
    /// What the server counted. `None` if it reported nothing; never zero instead.
    pub usage: Option<Usage>,
    /// What the gateway reported about its own part.
    pub gateway: Option<Gateway>,
    /// Whether the request can be repeated without repeating text or running a tool twice.
    pub retry_safe: bool,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Status {
    /// The server said that the answer is complete.
    Completed,
    /// The server ended the answer early and said so; what arrived is valid.
    Incomplete,
    /// The server reported an error, or the answer can't be used.
    Failed,
    /// The body ended before the server said how the answer ended.
    Truncated,
    /// The caller no longer wanted the answer.
    Cancelled,
}

/// Why an answer has nothing to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum Empty {
    /// The model produced reasoning but no answer.
    ThinkingOnly,
    /// A content filter removed the answer.
    Filtered,
    /// The output limit was reached before the answer began.
    Length,
    /// There was neither reasoning nor an answer.
    Nothing,
}

/// Why something failed and what to do about it, in words that can be shown to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What happened, in English: one short line without markup and without secrets.
    pub message: String,
    /// The server's own error code or error type.
    pub code: Option<String>,
    /// The parameter that the server complains about, if the request can do without it.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub parameter: Option<Parameter>,
    /// The tool whose call could not be used.
    pub tool: Option<String>,
    /// The suggested action, in English.
    pub next: String,
    /// Everything to tell the user, sentence by sentence: what happened, when to come back, what to do.
    pub text: Vec<Message>,
    /// The HTTP status, if there was a response.
    pub status: Option<u16>,
    /// The server's id for the request, to quote in a bug report.
    pub request_id: Option<String>,
    /// The gateway's id for the generation, to look it up in its dashboard.
    pub generation_id: Option<String>,
    /// The numbers in an error about a conversation that is too long.
    pub overflow: Option<Overflow>,
    /// Whether the same request may succeed a moment later.
    pub may_retry: bool,
    /// How long the server asks to wait, in milliseconds.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub retry_after_ms: Option<u64>,
}

/// The kind of a failure, which decides what to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum FailureKind {
    /// The key is missing or wrong.
    SignIn,
    /// The key is valid but doesn't allow this request.
    Forbidden,
    /// The account has no credit left.
    NoCredit,
    /// The server doesn't have the model.
    ModelNotFound,
    /// The conversation doesn't fit into the model's window.
    ContextOverflow,
    /// The server refused the request for a reason of its own.
    BadRequest,
    /// There were too many requests.
    RateLimited,
    /// The server is overloaded or broken.
    ServerDown,
    /// There was a response, but not from an Open Responses endpoint.
    NotAStream,
    /// There was no connection, or it broke.
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
    /// How the answer ended.
    pub status: Status,
    /// See [`Outcome::reason`].
    pub reason: Option<String>,
    /// Why it failed.
    pub error: Option<LoggedFailure>,
    /// Why there was nothing to show.
    pub empty: Option<Empty>,
    /// What the server counted.
    pub usage: Option<Usage>,
}

/// The fields of a [`Failure`] that a log needs.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LoggedFailure {
    /// What kind of failure it was.
    pub kind: FailureKind,
    /// The server's own error code.
    pub code: Option<String>,
    /// The HTTP status, if there was a response.
    pub status: Option<u16>,
    /// The server's id for the request.
    #[serde(rename = "requestId")]
    pub request_id: Option<String>,
}

/// The numbers in an error about a conversation that is too long, as far as the server reported them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Overflow {
    /// How many tokens the request had.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub asked_tokens: Option<u64>,
    /// How many the model accepts.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub limit_tokens: Option<u64>,
}

/// Token counts with the server's own field names, including fields that it added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Usage {
    /// The tokens of the request, cached ones included.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub input_tokens: Option<u64>,
    /// The tokens of the answer, reasoning included.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub output_tokens: Option<u64>,
    /// The sum of both, as the server reports it.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub total_tokens: Option<u64>,
    /// How much of the input was cached, for example.
    pub input_tokens_details: Option<TokenDetails>,
    /// How much of the output was reasoning, for example.
    pub output_tokens_details: Option<TokenDetails>,
    /// Fields that the protocol doesn't define.
    #[serde(flatten)]
    #[cfg_attr(test, ts(skip))]
    pub more: Map<String, Value>,
}

/// A breakdown such as `{"cached_tokens": 12}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "{ [name: string]: unknown }"))]
pub struct TokenDetails(pub Map<String, Value>);

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
#[non_exhaustive]
pub struct Gateway {
    /// The id under which the gateway lists the request.
    pub generation_id: Option<String>,
    /// US dollars as the gateway wrote them, as a decimal string or a number.
    pub cost: Option<String>,
    /// The provider that gave the final answer.
    pub provider: Option<String>,
    /// The whole object, including routing attempts and the providers' own fields.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub metadata: Value,
}

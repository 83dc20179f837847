//! What the end of an answer means.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How it ended. Exactly one for every stream.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Outcome {
    pub status: Status,
    /// The protocol's word for why an answer is incomplete, or what cut a truncated one off.
    pub reason: Option<String>,
    pub error: Option<Failure>,
    /// Why there is nothing to show, when there is neither text nor a tool call nor an image.
    pub empty: Option<Empty>,
    pub response_id: Option<String>,
    pub model: Option<String>,
    /// What the server counted. `None` when it said nothing; never zero in its place.
    pub usage: Option<Usage>,
    pub gateway: Option<Gateway>,
    /// Whether asking again can neither repeat text nor run a tool twice.
    pub retry_safe: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Status {
    Completed,
    /// The server stopped early and said so; what came is valid.
    Incomplete,
    Failed,
    /// The bytes ended before the server said how the answer ended.
    Truncated,
    Cancelled,
}

/// Why an answer has nothing to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Empty {
    /// The model thought and then said nothing.
    ThinkingOnly,
    /// A content filter took the answer away.
    Filtered,
    /// The output limit was used up before the first word.
    Length,
    Nothing,
}

/// Why something failed, in words fit to show, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Failure {
    pub kind: FailureKind,
    /// Short, one line, without markup and without secrets.
    pub message: String,
    /// The server's own code or error type.
    pub code: Option<String>,
    /// The tool whose call could not be used.
    pub tool: Option<String>,
    /// Who can do something about it.
    pub turn: Turn,
    /// What that is.
    pub next: String,
    pub status: Option<u16>,
    pub request_id: Option<String>,
    pub generation_id: Option<String>,
    pub overflow: Option<Overflow>,
    /// Whether the same request may succeed a moment later.
    pub may_retry: bool,
    #[cfg_attr(test, ts(type = "number | null"))]
    pub retry_after_ms: Option<u64>,
}

/// By what to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum FailureKind {
    /// The key is missing or wrong.
    SignIn,
    /// The key is right and this is not allowed with it.
    Forbidden,
    NoCredit,
    ModelNotFound,
    /// The conversation does not fit into the model's window.
    ContextOverflow,
    BadRequest,
    RateLimited,
    ServerDown,
    /// An answer, and not from an Open Responses endpoint.
    NotAStream,
    Network,
    /// The server reported an error of no kind above.
    Server,
    /// The model called a tool with arguments that are not a JSON object.
    ToolCall,
    /// The stream went past a limit that protects memory.
    TooLarge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Turn {
    User,
    Quota,
    Server,
    Network,
}

/// The numbers in an error about a conversation that is too long, as far as the server told them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Overflow {
    #[cfg_attr(test, ts(type = "number | null"))]
    pub asked_tokens: Option<u64>,
    #[cfg_attr(test, ts(type = "number | null"))]
    pub limit_tokens: Option<u64>,
}

/// Token counts as the server spelled them, fields it added included.
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
    pub fn count(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }
}

/// What the gateway tells about its own part: who served the request and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Gateway {
    pub generation_id: Option<String>,
    /// US dollars, as the gateway wrote it: a decimal string or a number.
    pub cost: Option<String>,
    /// The provider that answered in the end.
    pub provider: Option<String>,
    /// The whole object, routing attempts and provider extras included.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub metadata: Value,
}

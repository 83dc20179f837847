//! The record of one request: what was sent, when things happened, what it cost and why. It has names, sizes and
//! fingerprints, and never a text of the conversation.

use serde::{Deserialize, Serialize};

use super::outcome::{FailureKind, Status};
use super::part::NoteKind;
use super::usage::{Dollars, RequestKind};
use crate::message::Message;

/// Everything that is kept about one request. Shells store records as JSON and show them later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RequestRecord {
    /// The version of this format. A record with another version than [`RequestRecord::VERSION`] is not read.
    pub version: u32,
    /// The id of the request.
    pub id: String,
    /// The conversation that it belongs to.
    pub conversation: String,
    /// The earlier request that it continues, if there is one.
    pub parent: Option<String>,
    /// What it was for.
    pub kind: RequestKind,
    /// The same in a few English words: `chat title`.
    pub purpose: String,
    /// The model that was asked.
    pub model: String,
    /// The origin of the server. Empty for the embedded gateway.
    pub origin: String,
    /// The thinking effort that was asked for, or `null` if the model decided.
    pub effort: Option<String>,
    /// Whether the model had to call a tool.
    pub must_call: bool,
    /// Identifies the extra fields of the body on this machine, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<String>", optional))]
    pub extra_fields: Option<String>,
    /// When it began, in milliseconds since 1970.
    #[cfg_attr(test, ts(type = "number"))]
    pub started_ms: u64,
    /// When things happened.
    pub timeline: Timeline,
    /// What was sent, in this order. The tokens add up to the server's count, or to our estimate if there is none.
    pub pieces: Vec<PieceRecord>,
    /// What the server counted.
    pub usage: TokenUse,
    /// What it cost, if that is known.
    pub cost: Option<Cost>,
    /// What was expected before it was sent.
    pub forecast: Option<Forecast>,
    /// How it used the server's prompt cache.
    pub lens: Option<Lens>,
    /// The attempts that failed before the last one.
    pub retries: Vec<Retry>,
    /// Who answered.
    pub routing: Route,
    /// What was ignored or repaired, and how often.
    pub notes: Vec<NoteCount>,
    /// How it ended.
    pub finish: Finish,
}

impl RequestRecord {
    /// The version of the format.
    pub const VERSION: u32 = 1;

    /// Reads a record that was stored as JSON. Returns `None` if it is damaged or has another version.
    pub fn read(json: &str) -> Option<Self> {
        serde_json::from_str(json).ok().filter(|record: &Self| record.version == Self::VERSION)
    }
}

/// When things happened, in milliseconds from the start of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Timeline {
    /// The last attempt was sent.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub sent_ms: Option<u64>,
    /// The first byte of its response arrived.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub first_byte_ms: Option<u64>,
    /// The first thinking arrived.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub first_thinking_ms: Option<u64>,
    /// The first text, image or source arrived.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub first_text_ms: Option<u64>,
    /// The model called tools.
    pub calls: Vec<CallTime>,
    /// The request was over.
    #[cfg_attr(test, ts(type = "number"))]
    pub end_ms: u64,
}

impl Timeline {
    /// Returns when the first part of the answer arrived, and whether it was thinking.
    pub(crate) fn first_part(&self) -> Option<(u64, bool)> {
        let others = [self.first_text_ms, self.calls.first().map(|call| call.ms)].into_iter().flatten().min();
        let thinking = self.first_thinking_ms.map(|ms| (ms, true));
        // Thinking comes first if both arrived at the same time.
        thinking.into_iter().chain(others.map(|ms| (ms, false))).min_by_key(|(ms, _)| *ms)
    }
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallTime {
    /// The tool's name.
    pub name: String,
    /// When the call arrived.
    #[cfg_attr(test, ts(type = "number"))]
    pub ms: u64,
}

/// A piece of what was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PieceRecord {
    /// What it is.
    pub kind: PieceKind,
    /// The part of the prompt that it belongs to.
    pub group: PieceGroup,
    /// The name of a tool, or the role of a message.
    pub name: Option<String>,
    /// Identifies its content on this machine. Equal content has equal fingerprints, whichever model it was sent to.
    pub fingerprint: String,
    /// Identifies its images and files, if it has any.
    pub images: Option<String>,
    /// Identifies each line of instructions. Empty for everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<u32>>", optional))]
    pub lines: Vec<u32>,
    /// How many tokens it has.
    pub tokens: u32,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum PieceKind {
    /// What the server adds to every request.
    Frame,
    /// The definition of a tool.
    Tool,
    /// The instructions.
    System,
    /// A message of the user or of the model.
    Message,
    /// A call of a tool.
    Call,
    /// What a tool returned.
    Result,
    /// Reasoning that goes back to the model.
    Reasoning,
}

/// The part of a prompt that a piece belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum PieceGroup {
    /// The instructions, and what the server adds.
    System,
    /// The definitions of tools.
    Tools,
    /// Everything up to the model's last answer.
    History,
    /// What came after that answer.
    New,
}

/// What a server counted. Unknown values are `null`, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TokenUse {
    /// The tokens of the request, cached ones included.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub input: Option<u64>,
    /// The input tokens that were read from the prompt cache.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub cached: Option<u64>,
    /// The input tokens that were written to the prompt cache, which some providers charge for.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub cache_write: Option<u64>,
    /// The tokens of the answer, reasoning included.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub output: Option<u64>,
    /// The output tokens that were reasoning.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub reasoning: Option<u64>,
}

/// What a request cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Cost {
    /// In US dollars.
    #[cfg_attr(test, ts(type = "number"))]
    pub usd: Dollars,
    /// Where the figure comes from.
    pub basis: CostBasis,
}

/// Where the figure of a cost comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum CostBasis {
    /// The gateway reported it.
    Reported,
    /// It was computed from the counts and the prices.
    Computed,
    /// The embedded gateway reported it. Nobody pays for it, and no limit counts it.
    Play,
}

/// What a request is expected to use and to cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Forecast {
    /// The tokens of the request.
    #[cfg_attr(test, ts(type = "number"))]
    pub input: u64,
    /// The input tokens that the server is expected to read from its cache.
    #[cfg_attr(test, ts(type = "number"))]
    pub cached: u64,
    /// The tokens of the answer, as this model usually answers.
    #[cfg_attr(test, ts(type = "number"))]
    pub output: u64,
    /// The expected cost, if the prices are known.
    pub cost: Option<CostRange>,
}

/// A cost that isn't known yet, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CostRange {
    /// If the answer is short.
    #[cfg_attr(test, ts(type = "number"))]
    pub low: Dollars,
    /// What is most likely.
    #[cfg_attr(test, ts(type = "number"))]
    pub expected: Dollars,
    /// If nothing is cached and the answer is long. This is what a limit reserves.
    #[cfg_attr(test, ts(type = "number"))]
    pub high: Dollars,
}

/// How a request used the server's prompt cache, compared with an earlier request of the same conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Lens {
    /// The earlier request.
    pub compared_with: String,
    /// How many tokens at the beginning of the prompt are the same as in that request.
    #[cfg_attr(test, ts(type = "number"))]
    pub same: u64,
    /// How many tokens that request had: the most that `same` could be.
    #[cfg_attr(test, ts(type = "number"))]
    pub before: u64,
    /// How many tokens the server read from its cache, if it says so.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub cached: Option<u64>,
    /// What differs first, if the prompt doesn't begin with all of that request; or why the server may have read less
    /// from its cache than it could have.
    pub cause: Option<CacheBreak>,
    /// The index of the piece that differs first, in this request's pieces, or after the last one.
    pub piece: Option<u32>,
    /// The name of the tool, or the role of the message, that differs first.
    pub name: Option<String>,
    /// The line of the instructions that differs first, counted from 1.
    pub line: Option<u32>,
    /// How many tokens had to be read again.
    #[cfg_attr(test, ts(type = "number"))]
    pub lost: u64,
    /// What that cost, if the prices are known.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub extra: Option<Dollars>,
    /// The same for people, sentence by sentence.
    pub text: Vec<Message>,
}

/// Why a request could not use all of the prompt cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum CacheBreak {
    /// Another model was asked.
    Model,
    /// Another server was asked.
    Server,
    /// A tool was added.
    ToolAdded,
    /// A tool was removed.
    ToolRemoved,
    /// The tools are the same in another order.
    ToolsReordered,
    /// The definition of a tool changed.
    ToolChanged,
    /// There are instructions now.
    SystemAdded,
    /// There are no instructions any more.
    SystemRemoved,
    /// A line of the instructions changed.
    SystemLine,
    /// Reasoning that was sent before is missing.
    ThinkingMissing,
    /// Reasoning is sent that wasn't sent before.
    ThinkingAdded,
    /// Other reasoning is sent in the same place.
    ThinkingChanged,
    /// An image or a file changed.
    ImageChanged,
    /// A message was edited.
    MessageChanged,
    /// A call was edited.
    CallChanged,
    /// The result of a tool changed.
    ResultChanged,
    /// Something was inserted into the history.
    HistoryInserted,
    /// Something was removed from the history.
    HistoryRemoved,
    /// The history has the same pieces in another order.
    HistoryReordered,
    /// The thinking effort changed.
    Effort,
    /// The model must call a tool, or need not any more.
    ToolChoice,
    /// Other fields of the request's body changed.
    Options,
    /// Another provider answered.
    Provider,
    /// So much time passed that the cache had expired.
    Expired,
    /// The prompt is too short to be cached.
    TooShort,
    /// The server doesn't say what it read from its cache.
    NotReported,
    /// The prompt began with all of the earlier request, and the server read less from its cache for a reason of its
    /// own.
    Unknown,
}

/// An attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Retry {
    /// When it had failed, in milliseconds from the start of the request.
    #[cfg_attr(test, ts(type = "number"))]
    pub ms: u64,
    /// Why it failed.
    pub why: FailureKind,
}

/// Who answered a request, as the gateway reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Route {
    /// The model that answered.
    pub model: Option<String>,
    /// The provider that answered.
    pub provider: Option<String>,
    /// The providers that the gateway tried, in this order.
    pub tried: Vec<String>,
    /// The id under which the gateway lists the request.
    pub generation_id: Option<String>,
}

/// Notes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NoteCount {
    /// The kind.
    pub kind: NoteKind,
    /// How many there were.
    pub count: u32,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finish {
    /// How the answer ended.
    pub status: Status,
    /// Why it is incomplete, in the protocol's terms.
    pub reason: Option<String>,
    /// Why it failed.
    pub failure: Option<FailureKind>,
}

/// An exchange that never began.
impl Default for Finish {
    fn default() -> Self {
        Self { status: Status::Cancelled, reason: None, failure: None }
    }
}

//! The questions that JavaScript asks the WebAssembly modules, and their answers. A question is an object with one
//! field, whose name identifies the question: `{"parseEndpoint": "https://…"}`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chat::{ChatMessage, ChatRequest, HttpRequest};
use super::model::{ChatModel, ModelSettings, OtherModel};
use super::outcome::LoggedOutcome;
use super::part::Note;
use super::settings::Settings;
use super::usage::{RequestKind, Totals};
use crate::failure::{HttpResponse, Transport};
use crate::ledger::{LedgerEntry, LedgerModel};
use crate::models::ListState;
use crate::send::{Parameter, ToolNames};

/// The questions of an editor, apart from reading answers and counting tokens.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum RequestsQuestion {
    /// Checks a base URL: [`Endpoint`](crate::Endpoint).
    ParseEndpoint(String),
    /// Turns a chat into a request: [`PreparedRequest`].
    BuildRequest {
        chat: Box<ChatRequest>,
        base_url: String,
        /// Parameters to leave out.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<Vec<Parameter>>", optional))]
        without: Vec<Parameter>,
    },
    /// Removes parameters from the body of a request: the new body.
    LeaveOut { body: String, parameters: Vec<Parameter> },
    /// Explains a response that isn't an answer: a list of [`Message`](crate::Message).
    ExplainResponse {
        response: HttpResponse,
        /// Seconds since 1970.
        #[cfg_attr(test, ts(type = "number"))]
        now: u64,
    },
    /// Explains why there is no response: a list of [`Message`](crate::Message).
    ExplainTransport {
        transport: Transport,
        origin: String,
        /// The code of the cause, such as `ENOTFOUND`.
        code: Option<String>,
    },
    /// Updates what is known about an endpoint's models, and returns it: [`CatalogView`].
    Catalog(Box<CatalogQuestion>),
    /// Estimates the tokens of a text without a vocabulary.
    EstimateText { model: String, text: String },
    /// Estimates the tokens of a message without a vocabulary.
    EstimateMessage { model: String, message: ChatMessage },
    /// Checks the user's settings: a list of [`SettingProblem`](crate::SettingProblem).
    CheckSettings(Box<Settings>),
    /// Reads the response to [`CatalogView::credits_request`]: [`KeyCheck`](crate::KeyCheck).
    CheckKey {
        response: HttpResponse,
        /// Seconds since 1970.
        #[cfg_attr(test, ts(type = "number"))]
        now: u64,
    },
    /// Describes how a request to a model ended, for a log: a line without a word that a server chose.
    DescribeOutcome { model: String, outcome: LoggedOutcome },
    /// Returns a model's id for a log, or other words if it isn't a plain id.
    LoggedModel(String),
    /// Masks secrets and the names of users in a text for a log or a report: the text.
    Redact { secrets: Vec<String>, text: String },
    /// Masks secrets in the strings of any value.
    Mask {
        secrets: Vec<String>,
        #[cfg_attr(test, ts(type = "unknown"))]
        value: Value,
    },
}

/// A request that is ready to be sent, and everything that is needed to read its answer. It doesn't contain the key.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PreparedRequest {
    pub request: HttpRequest,
    /// The origin that it is sent to. A key belongs to one origin.
    pub origin: String,
    /// The tool names that were sent, with VS Code's names for them.
    #[cfg_attr(test, ts(type = "{ [sent: string]: string }"))]
    pub tool_names: ToolNames,
    pub conversation_id: Option<String>,
    /// The text of a `stateful_marker` part to add to the answer.
    pub marker: Option<String>,
    pub kind: RequestKind,
    /// The parameters that can be left out if the server refuses them.
    pub optional: Vec<Parameter>,
    pub notes: Vec<Note>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct CatalogQuestion {
    pub base_url: String,
    /// The snapshot from the last answer.
    pub snapshot: Option<String>,
    pub settings: ModelSettings,
    /// Seconds since 1970.
    #[cfg_attr(test, ts(type = "number"))]
    pub now: u64,
    pub event: Option<CatalogEvent>,
    /// A model whose providers are of interest.
    pub about: Option<String>,
}

/// Something that may change what is known about an endpoint's models.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum CatalogEvent {
    /// There was a response to the request for the list.
    ListReceived(HttpResponse),
    /// There was no response to the request for the list.
    ListFailed(Transport),
    /// There was a response to the request for a model's providers.
    EndpointsReceived(String, HttpResponse),
    /// A request to a model ended with this message, because the conversation was too long.
    Overflowed(String, String),
    /// The server refused these parameters in a request to a model, and accepted the request without them.
    Refused(String, Vec<Parameter>),
}

/// What is known about an endpoint's models. A shell keeps the snapshot; a known list is never lost.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CatalogView {
    pub models: Vec<ChatModel>,
    pub others: Vec<OtherModel>,
    pub state: ListState,
    pub list_request: HttpRequest,
    /// The request that shows whether a key is valid.
    pub credits_request: HttpRequest,
    /// The request for the providers of the model in question; `None` if they are known well enough.
    pub endpoints_request: Option<HttpRequest>,
    pub changed: bool,
    pub notes: Vec<Note>,
    pub snapshot: String,
}

/// The questions to the module with the vocabularies.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TokensQuestion {
    /// A request begins: [`Begun`](crate::Begun).
    Begin {
        id: String,
        conversation: String,
        chat: Box<ChatRequest>,
        model: LedgerModel,
        #[cfg_attr(test, ts(type = "number"))]
        now: u64,
    },
    /// The first part of its answer has arrived.
    Part {
        id: String,
        is_thinking: bool,
        #[cfg_attr(test, ts(type = "number"))]
        now: u64,
    },
    /// It is over: [`Ended`](crate::Ended).
    End {
        id: String,
        #[cfg_attr(test, ts(type = "unknown"))]
        entry: LedgerEntry,
        #[cfg_attr(test, ts(type = "number"))]
        now: u64,
        /// Days since 1970.
        today: u32,
    },
    /// Returns the usage by day or month and by model, the oldest first: a list of [`HistoryRow`].
    History(HistoryPeriod),
    /// Counts the tokens of a message.
    Message { model: String, family: String, message: ChatMessage },
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum HistoryPeriod {
    Day,
    Month,
}

/// The usage in a day or a month with one model.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryRow {
    pub when: String,
    pub model: String,
    pub totals: Totals,
    pub tokens_per_second: Option<f64>,
}

//! What JavaScript asks the WebAssembly modules, and the answers. A question is an object with one field, whose name says
//! which question it is: `{"parseEndpoint": "https://…"}`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chat::{ChatMessage, ChatRequest, HttpRequest};
use super::model::{ChatModel, ModelSettings, OtherModel};
use super::part::Note;
use super::usage::{RequestKind, Totals};
use crate::failure::{HttpAnswer, Transport};
use crate::ledger::{LedgerEntry, LedgerModel};
use crate::models::ListState;
use crate::send::{Parameter, ToolNames};

/// What an editor asks before and around an answer.
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
    /// Takes parameters out of the body of a request: the new body.
    LeaveOut { body: String, parameters: Vec<Parameter> },
    /// What a response that isn't an answer means, as a sentence for the user.
    ExplainResponse {
        answer: HttpAnswer,
        /// Seconds since 1970.
        #[cfg_attr(test, ts(type = "number"))]
        now: u64,
    },
    /// Why there is no response, as a sentence for the user.
    ExplainTransport { transport: Transport, origin: String },
    /// What is known about an endpoint's models, after something happened: [`CatalogView`].
    Catalog(Box<CatalogQuestion>),
    /// The tokens of a text, without a vocabulary.
    EstimateText { model: String, text: String },
    /// The tokens of a message, without a vocabulary.
    EstimateMessage { model: String, message: ChatMessage },
    /// Any value without secrets in its strings.
    Mask {
        secrets: Vec<String>,
        #[cfg_attr(test, ts(type = "unknown"))]
        value: Value,
    },
}

/// A request that is ready to be sent, and what its answer has to be read with. The key is not in it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PreparedRequest {
    pub request: HttpRequest,
    /// Where it goes; a key belongs to one of these.
    pub origin: String,
    /// The names of the tools as the server knows them, with the names that VS Code has for them.
    #[cfg_attr(test, ts(type = "{ [sent: string]: string }"))]
    pub tool_names: ToolNames,
    pub conversation_id: Option<String>,
    /// The text of a `stateful_marker` part to leave in the answer.
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
    /// What the last answer said to keep.
    pub snapshot: Option<String>,
    pub settings: ModelSettings,
    /// Seconds since 1970.
    #[cfg_attr(test, ts(type = "number"))]
    pub now: u64,
    pub event: Option<CatalogEvent>,
    /// A model to know more about.
    pub about: Option<String>,
}

/// Something that may change what is known about an endpoint's models.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum CatalogEvent {
    /// The list was asked for and answered.
    ListAnswered(HttpAnswer),
    /// The list was asked for and did not come.
    ListFailed(Transport),
    /// The providers of a model were asked for.
    EndpointsAnswered(String, HttpAnswer),
    /// A request to a model ended with this message, because the conversation was too long.
    Overflowed(String, String),
    /// The server refused these parameters in a request to a model, and was content without them.
    Refused(String, Vec<Parameter>),
}

/// What is known about an endpoint's models. A shell keeps the snapshot; a list that was known is never lost.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CatalogView {
    pub models: Vec<ChatModel>,
    pub others: Vec<OtherModel>,
    pub state: ListState,
    pub list_request: HttpRequest,
    /// The request for the providers of the model that was asked about; `None` if they are known well enough.
    pub endpoints_request: Option<HttpRequest>,
    pub changed: bool,
    pub notes: Vec<Note>,
    pub snapshot: String,
}

/// What an editor asks the module that has the vocabularies.
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
    /// The first part of its answer has come.
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
    /// What was used, by day or month and by model, the oldest first: a list of [`HistoryRow`].
    History(HistoryPeriod),
    /// The tokens of a message.
    Message { model: String, family: String, message: ChatMessage },
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum HistoryPeriod {
    Day,
    Month,
}

/// What was used in a day or a month with one model.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryRow {
    pub when: String,
    pub model: String,
    pub totals: Totals,
    pub tokens_per_second: Option<f64>,
}

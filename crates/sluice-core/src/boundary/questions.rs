//! The questions that JavaScript asks the WebAssembly modules, and their answers. A question is an object with one
//! field, whose name identifies the question: `{"parseEndpoint": "https://…"}`. Each question's documentation says what
//! the answer is.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::chat::{ChatMessage, ChatRequest};
use super::connections::RoundEvent;
use super::dialogs::{Dialog, ServerCheck};
use super::inspect::RecordsQuestion;
use super::model::ListedModel;
use super::outcome::LoggedOutcome;
use super::spending::{LimitState, SpendChoice};
use super::usage::Totals;
use crate::editor::{RejectedAnswer, ReportFacts, StatusBarFacts};
use crate::ledger::{LedgerEntry, LedgerModel};
use crate::message::{Language, Message};
use crate::models::ListState;
use crate::probe::{Card, ProbeEvent, ProbeOptions};
use crate::send::{BuiltRequest, Parameter};
use crate::vault::QuestionId;

/// The questions of an editor, apart from reading answers and counting tokens.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub enum RequestsQuestion {
    /// Sets the language of everything that is ready to be shown.
    SetLanguage(Language),
    /// Checks a base URL. Returns an [`Endpoint`](crate::Endpoint), or a [`Message`](crate::Message) that says what is
    /// wrong with it. An endpoint that is unencrypted must be confirmed by the user.
    ParseEndpoint(String),
    /// Something happened while the editor asks for models. Returns a [`RoundView`](crate::RoundView).
    Round(RoundEvent),
    /// Adds the contents of a file to the [`Vault`](crate::Vault).
    OpenVault {
        /// The contents.
        file: String,
        /// Milliseconds since 1970.
        #[cfg_attr(test, ts(type = "number"))]
        now_ms: u64,
    },
    /// Keeps what the server needs back of an answer. Returns whether the vault has changed.
    Remember {
        /// What the ledger learns from the answer.
        #[cfg_attr(test, ts(type = "unknown"))]
        entry: Box<LedgerEntry>,
        /// The question of the [`PreparedRequest`].
        question: QuestionId,
        /// The chat whose reasoning the server refused.
        #[cfg_attr(test, ts(optional))]
        refused: Option<Box<ChatRequest>>,
        /// Milliseconds since 1970.
        #[cfg_attr(test, ts(type = "number"))]
        now_ms: u64,
    },
    /// Returns the contents of the vault's file.
    SaveVault {},
    /// Deletes everything in the vault.
    ClearVault {
        /// Milliseconds since 1970.
        #[cfg_attr(test, ts(type = "number"))]
        now_ms: u64,
    },
    /// Removes parameters from the body of a request. Returns the new body.
    LeaveOut {
        /// The body as it was built.
        body: String,
        /// What to remove from it.
        parameters: Vec<Parameter>,
    },
    /// Decides how to read a response that isn't an answer. Returns a [`BodyRule`](crate::BodyRule), or the
    /// [`Transport`](crate::Transport) that says why it isn't read.
    BodyRule {
        /// The HTTP status.
        status: u16,
    },
    /// Estimates the tokens of a text without a vocabulary.
    EstimateText {
        /// The model that decides how text is split.
        model: String,
        /// The text to count.
        text: String,
    },
    /// Estimates the tokens of a message without a vocabulary.
    EstimateMessage {
        /// The model that decides how text is split.
        model: String,
        /// The message to count.
        message: ChatMessage,
    },
    /// Reads the user's settings. Returns [`Settings`](crate::Settings).
    ReadSettings {
        /// What VS Code has under `sluice`.
        #[cfg_attr(test, ts(type = "object"))]
        values: Map<String, Value>,
        /// The environment variables that the settings name.
        environment: BTreeMap<String, String>,
    },
    /// Returns what a stored sign-in allows as a [`VercelSession`](crate::VercelSession), or `null` if it can't be read.
    VercelSession {
        /// What the shell has stored.
        stored: String,
        /// Seconds since 1970.
        now: f64,
    },
    /// Starts a test of a server. Returns the first [`ProbeStep`](crate::ProbeStep). One instance of the module runs one test.
    StartProbe(ProbeOptions),
    /// Continues the test after something happened. Returns the next [`ProbeStep`](crate::ProbeStep).
    ContinueProbe(ProbeEvent),
    /// Returns a [`Message`](crate::Message) that says what a test sends at most.
    AnnounceProbe {},
    /// Returns what a test found as a page for a webview, and as a [`ConnectionTest`](crate::ConnectionTest).
    ShowCard {
        /// The result of the test.
        card: Card,
        /// The name of the connection.
        label: String,
        /// The first line of the text.
        title: String,
        /// The nonce of the page's style sheet.
        nonce: String,
        /// The secrets that are known.
        secrets: Vec<String>,
    },
    /// Returns the [`Reader`](crate::Reader) that VS Code calls `initiator`, and the [`Pace`](crate::Pace) of its answers.
    Reader {
        /// VS Code's name.
        initiator: String,
        /// Whether the Chat view shows text as soon as it has it.
        is_incremental: bool,
    },
    /// Returns what is shown of an answer that was rejected as a [`ShownRejection`](crate::ShownRejection).
    ShowRejection(RejectedAnswer),
    /// Returns what the status bar shows as a [`StatusBarView`](crate::StatusBarView).
    ShowStatus(StatusBarFacts),
    /// Returns a report for a bug as JSON, without anything private.
    Report(Box<ReportFacts>),
    /// Returns a JSON schema that completes these ids of models in the user's settings.
    SettingsSchema(BTreeSet<String>),
    /// Starts a dialog with the user. Returns the first [`DialogStep`](crate::DialogStep). One instance of the module runs one
    /// dialog.
    StartDialog(Dialog),
    /// Continues the dialog with the answer to its last step. Returns the next [`DialogStep`](crate::DialogStep).
    ContinueDialog(#[cfg_attr(test, ts(type = "unknown"))] Value),
    /// Describes how a request to a model ended. Returns the level of a line for a log, that line, without a word that a server
    /// chose, and one that quotes the server, or `null`.
    LogOutcome {
        /// The model that was asked.
        model: String,
        /// How the request ended.
        outcome: LoggedOutcome,
        /// The message that the user sees, if it failed.
        message: Option<String>,
        /// When the request is sent again, if it is.
        retry_ms: Option<u32>,
    },
    /// Returns a model's id for a log, or other words if it isn't a plain id.
    LoggedModel(String),
    /// Masks secrets and the names of users in a line for a log. Returns the line, shortened if it is very long.
    Redact {
        /// The secrets that are known.
        secrets: Vec<String>,
        /// The text to mask.
        text: String,
    },
    /// Masks secrets in the strings of any value.
    Mask {
        /// The secrets that are known.
        secrets: Vec<String>,
        /// The value to mask.
        #[cfg_attr(test, ts(type = "unknown"))]
        value: Value,
    },
}

/// Turns a chat into a [`PreparedRequest`].
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BuildRequest {
    /// The chat to send.
    pub chat: ChatRequest,
    /// The endpoint to send it to.
    pub base_url: String,
    /// Parameters to leave out.
    #[serde(default)]
    pub without: Vec<Parameter>,
    /// Milliseconds since 1970.
    #[serde(default)]
    pub now_ms: u64,
}

/// A request that is ready to be sent, and everything that is needed to read its answer. It doesn't contain the key. Its
/// body, which is large, crosses separately.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PreparedRequest {
    /// The request itself.
    #[serde(flatten)]
    pub built: BuiltRequest,
    /// The origin that it is sent to. A key belongs to one origin.
    pub origin: String,
    /// The base URL that it is sent to.
    #[serde(rename = "baseUrl")]
    pub base_url: String,
    /// The model that is asked.
    pub model: String,
    /// Identifies the question, for the vault.
    pub question: QuestionId,
}

/// What is known about the models of a connection, and what a shell does about it.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CatalogView {
    /// The models to offer, after [`ListWork::List`](crate::ListWork::List).
    pub models: Vec<ListedModel>,
    /// Why there are none.
    pub problem: Option<Vec<Message>>,
    /// How old the list is.
    pub state: ListState,
    /// What a dialog needs to know about it.
    pub check: ServerCheck,
    /// How much credit is left, if that was asked and the server says so.
    pub credit: Option<Message>,
    /// Whether the models changed.
    pub changed: bool,
    /// For how long the models need not be listed again, unless they change or the settings do.
    #[cfg_attr(test, ts(type = "number"))]
    pub fresh_for_ms: u64,
    /// Whether the list has to be refreshed. There is no need to wait for that.
    pub must_refresh: bool,
    /// What to tell the user, because the server has refused the key.
    pub tell: Option<Vec<Message>>,
    /// Lines for the log.
    pub log: Vec<(LogLevel, String)>,
}

/// How important a line of a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum LogLevel {
    /// It may quote a server. No line at another level does.
    Trace,
    /// It is of interest to developers.
    Debug,
    /// It is of interest to users.
    Info,
    /// Something needs attention.
    Warn,
    /// Something failed.
    Error,
}

/// The questions to the module with the vocabularies.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TokensQuestion {
    /// A request begins. Returns [`Begun`](crate::Begun).
    Begin {
        /// Any id that no other open request has.
        id: String,
        /// The conversation that the request belongs to.
        conversation: String,
        /// What is sent.
        chat: Box<ChatRequest>,
        /// What the ledger needs to know about the model.
        model: LedgerModel,
        /// Milliseconds since 1970, of a clock that isn't set back.
        #[cfg_attr(test, ts(type = "number"))]
        now: u64,
    },
    /// The request is over. Returns [`Ended`](crate::Ended).
    End {
        /// The id that the request began with.
        id: String,
        /// What the exchange reported.
        #[cfg_attr(test, ts(type = "unknown"))]
        entry: Box<LedgerEntry>,
        /// Milliseconds of the same clock.
        #[cfg_attr(test, ts(type = "number"))]
        now: u64,
        /// Days since 1970.
        today: u32,
    },
    /// Remembers what the user decided about a limit.
    ChooseSpending {
        /// The id that the request began with.
        id: String,
        /// What the user decided.
        choice: SpendChoice,
        /// The limit of the verdict.
        limit: Option<LimitState>,
    },
    /// Returns the usage by day or month and by model as a list of [`HistoryRow`], the newest first.
    History(HistoryPeriod),
    /// Asks about the records that were added.
    Records(RecordsQuestion),
    /// Counts the tokens of a message.
    Message {
        /// The model, whose tokenizer is used.
        model: String,
        /// The origin of the server, whose correction factor is used.
        origin: String,
        /// The message to count.
        message: ChatMessage,
    },
}

/// The period that each row of a history covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum HistoryPeriod {
    /// One row for each day and model.
    Day,
    /// One row for each month and model.
    Month,
}

/// The usage in a day or a month with one model.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HistoryRow {
    /// The day (`2026-03-01`) or the month (`2026-03`).
    pub when: String,
    /// The model's id.
    pub model: String,
    /// What all requests in that time used.
    pub totals: Totals,
    /// The same for the user, to be joined.
    pub details: Vec<Message>,
    /// Its tokens as a share of those of the busiest row, from 0 to 1.
    pub share: f64,
}

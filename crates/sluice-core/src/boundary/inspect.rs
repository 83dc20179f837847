//! What an inspector shows. Texts are messages, so that each shell can translate them.

use serde::{Deserialize, Serialize};

use super::outcome::Status;
use super::record::PieceGroup;
use super::usage::TooltipLine;
use crate::message::Message;

/// A question about the records of requests.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum RecordsQuestion {
    /// Returns the conversations and their requests as a list of [`TreeRow`].
    Tree {},
    /// Returns the [`RequestDetail`] of the request with this id, or `null`.
    Request(String),
    /// Compares the requests with these ids, the older one first. Returns a [`Comparison`], or `null`.
    Compare(String, String),
}

/// A row of the tree of conversations. The rows below it are its children as long as their depth is greater.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TreeRow {
    /// Identifies the row.
    pub id: String,
    /// The request that it shows, or `null` if it sums up those below it.
    pub request: Option<String>,
    /// What it is.
    pub kind: TreeKind,
    /// How deep it is in the tree, from 0.
    pub depth: u32,
    /// When it began, in milliseconds since 1970.
    #[cfg_attr(test, ts(type = "number"))]
    pub started_ms: u64,
    /// What it is called.
    pub title: Message,
    /// What it used, to be joined.
    pub details: Vec<Message>,
    /// How it ended. Sums show the worst ending below them.
    pub status: Status,
}

/// What a row of the tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum TreeKind {
    /// A conversation.
    Conversation,
    /// The requests of a day that belong to no conversation.
    Others,
    /// A question of the user, and everything that was done to answer it.
    Turn,
    /// A request that continues a turn with the results of tools.
    Round,
    /// A request of a sub-agent.
    SubAgent,
    /// A request for a summary.
    Summary,
    /// A request for a title or the like.
    Utility,
    /// A request from an editor or a terminal.
    Inline,
}

/// Everything about one request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RequestDetail {
    /// The id of the request.
    pub id: String,
    /// What it is called.
    pub title: Message,
    /// When it began, in milliseconds since 1970.
    #[cfg_attr(test, ts(type = "number"))]
    pub started_ms: u64,
    /// How it ended.
    pub status: Status,
    /// Model, tokens, cost and so on. Values are to be joined with a comma.
    pub facts: Vec<TooltipLine>,
    /// What was expected and what came.
    pub forecast: Vec<Expected>,
    /// How it used the prompt cache, in sentences.
    pub cache: Vec<Message>,
    /// What it did with its time, in this order and without gaps.
    pub phases: Vec<Phase>,
    /// When the model called which tool.
    pub calls: Vec<Phase>,
    /// The tokens by group.
    pub groups: Vec<GroupTokens>,
    /// What was sent, in this order.
    pub pieces: Vec<PieceRow>,
    /// The other requests of its conversation, the newest first, that it can be compared with.
    pub others: Vec<OtherRequest>,
    /// The request that it continues, if it is known.
    pub continues: Option<String>,
}

/// A number that was forecast.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Expected {
    /// What it is.
    pub label: Message,
    /// What was expected.
    pub expected: Message,
    /// What it was.
    pub actual: Option<Message>,
}

/// A part of the time of a request, or a moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Phase {
    /// What happened.
    pub label: Message,
    /// How long it took, or when it was.
    pub time: Message,
    /// When it began, in milliseconds from the start of the request.
    #[cfg_attr(test, ts(type = "number"))]
    pub from_ms: u64,
    /// When it ended.
    #[cfg_attr(test, ts(type = "number"))]
    pub to_ms: u64,
}

/// The tokens of a group of pieces.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct GroupTokens {
    /// Which group it is.
    pub group: PieceGroup,
    /// What it is called.
    pub label: Message,
    /// Its tokens.
    #[cfg_attr(test, ts(type = "number"))]
    pub tokens: u64,
    /// How many of them the server read from its cache, as far as it said so.
    #[cfg_attr(test, ts(type = "number"))]
    pub cached: u64,
    /// The same in words.
    pub text: Vec<Message>,
}

/// A piece of what was sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PieceRow {
    /// What it is.
    pub title: Message,
    /// The group that it belongs to.
    pub group: PieceGroup,
    /// How many tokens it has.
    pub tokens: Message,
    /// Whether the server read all of it from its cache.
    pub is_cached: bool,
}

/// A request that another one can be compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OtherRequest {
    /// The id of the request.
    pub id: String,
    /// What it is called.
    pub title: Message,
    /// When it began, in milliseconds since 1970.
    #[cfg_attr(test, ts(type = "number"))]
    pub started_ms: u64,
}

/// Two requests, piece by piece.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Comparison {
    /// What is the same and what differs, in sentences.
    pub summary: Vec<Message>,
    /// The pieces in the order of the newer request. Removed ones are where they were.
    pub rows: Vec<ComparedRow>,
}

/// A piece of one of two requests, or of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedRow {
    /// What happened to it.
    pub change: Change,
    /// What it is; for pieces that stayed the same, how many there are.
    pub title: Message,
    /// How many tokens it had in the older request.
    pub before: Option<Message>,
    /// How many tokens it has in the newer request.
    pub after: Option<Message>,
}

/// What happened to a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Change {
    /// It is the same, and so are others after it.
    Same,
    /// It is only in the newer request.
    Added,
    /// It is only in the older request.
    Removed,
    /// It is in both, with different content.
    Changed,
}

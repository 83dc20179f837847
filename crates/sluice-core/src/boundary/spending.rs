//! Limits for what is spent, and what is said when one is reached.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::usage::Dollars;
use crate::message::Message;

/// The user's limits in US dollars.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SpendLimits {
    /// The limits for all models together.
    #[serde(flatten)]
    #[cfg_attr(test, ts(flatten))]
    pub all: SpendLimit,
    /// The limits for single models, by id.
    #[cfg_attr(test, ts(as = "Option<BTreeMap<String, SpendLimit>>"))]
    pub models: BTreeMap<String, SpendLimit>,
    /// Whether a request that would pass a limit is rejected without asking the user.
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub is_hard: bool,
}

impl SpendLimits {
    /// Returns whether any of the limits is for conversations.
    pub(crate) fn has_conversation(&self) -> bool {
        self.models.values().chain([&self.all]).any(|limit| limit.conversation.is_some())
    }
}

/// Limits in US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SpendLimit {
    /// For one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<f64>"))]
    pub request: Option<Dollars>,
    /// For one conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<f64>"))]
    pub conversation: Option<Dollars>,
    /// For one day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<f64>"))]
    pub day: Option<Dollars>,
    /// For one month.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<f64>"))]
    pub month: Option<Dollars>,
}

impl SpendLimit {
    /// Removes limits of zero, which in a setting stand for no limit.
    pub(crate) fn without_zeros(self) -> Self {
        let Self { request, conversation, day, month } = self;
        let [request, conversation, day, month] =
            [request, conversation, day, month].map(|limit| limit.filter(|limit| limit.0 > 0));
        Self { request, conversation, day, month }
    }
}

/// What the limits say about a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Verdict {
    /// What to do.
    pub action: SpendAction,
    /// The limit that it is about.
    pub limit: Option<LimitState>,
    /// What to tell the user, sentence by sentence.
    pub text: Vec<Message>,
}

/// What to do about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum SpendAction {
    /// Send it.
    Go,
    /// Send it, and tell the user quietly that a limit is near.
    Warn,
    /// Ask the user whether to continue this conversation, to raise the limit, or to stop.
    Ask,
    /// Reject it.
    Stop,
}

/// How much of a limit is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LimitState {
    /// What the limit is for.
    pub period: SpendPeriod,
    /// The model, if the limit is for one model.
    pub model: Option<String>,
    /// The limit in US dollars.
    #[cfg_attr(test, ts(type = "number"))]
    pub limit: Dollars,
    /// What is spent or reserved, without the request in question.
    #[cfg_attr(test, ts(type = "number"))]
    pub used: Dollars,
}

/// What a limit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum SpendPeriod {
    /// One request.
    Request,
    /// One conversation.
    Conversation,
    /// One day.
    Day,
    /// One month.
    Month,
}

/// What the user decided about a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum SpendChoice {
    /// Continue this conversation whatever it costs.
    Continue,
    /// Reject this request and the next ones, without asking again, until a limit is raised.
    Stop,
}

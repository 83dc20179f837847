//! What a test of a server found out: [`Card`].

use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::send::Parameter;

/// What a server can do and what Sluice does about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Card {
    /// The address that was tested.
    pub base_url: String,
    /// The model that was asked, if the test got that far.
    pub model: Option<String>,
    /// What was checked, in order.
    pub checks: Vec<Check>,
    /// What Sluice does differently because of it. Each entry is one paragraph.
    pub differences: Vec<Message>,
    /// How many requests were sent, retries not included.
    pub requests: u32,
    /// How many tokens the server counted.
    #[cfg_attr(test, ts(type = "number"))]
    pub tokens: u64,
    /// Parameters that the server refused in requests to the model. Remember them for this model.
    pub refused: Vec<Parameter>,
    /// The error message that revealed the model's limits. Remember it for this model.
    pub overflow: Option<String>,
}

impl Card {
    /// Returns the first check that failed.
    pub fn failed(&self) -> Option<&Check> {
        self.checks.iter().find(|check| check.result == CheckResult::Failed)
    }
}

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Check {
    /// What was checked.
    pub topic: Topic,
    /// The same for people.
    pub label: Message,
    /// The result of the check.
    pub result: CheckResult,
    /// The details, sentence by sentence.
    pub detail: Vec<Message>,
    /// The case of the official compliance suite that asks the same.
    #[serde(skip_deserializing)]
    pub compliance: Option<&'static str>,
}

/// What a check is about, in the order of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum Topic {
    /// The base URL.
    Address,
    /// Whether the connection is encrypted.
    Encryption,
    /// Whether there is a proxy on the way.
    Proxy,
    /// The list of models.
    Models,
    /// The key.
    Key,
    /// Whether a model answers.
    Answer,
    /// Whether there may be a system prompt.
    Instructions,
    /// Whether there may be earlier messages.
    Turns,
    /// Whether questions may contain images.
    Images,
    /// Whether the answer arrives piece by piece.
    Streaming,
    /// Whether the server counts tokens.
    Usage,
    /// Whether the server says that it has cut an answer off.
    Cut,
    /// Whether the model calls tools.
    Tools,
    /// Whether it calls several tools at once.
    ParallelCalls,
    /// Whether the results of tools can be sent back.
    ToolResults,
    /// Whether they may contain images.
    ToolImages,
    /// Whether the server shows summaries of the model's reasoning.
    Summaries,
    /// Whether it shows the reasoning itself.
    PlainReasoning,
    /// Whether it returns encrypted or signed reasoning.
    EncryptedReasoning,
    /// Whether it accepts its reasoning in the next request.
    ReasoningBack,
    /// Whether messages have a phase.
    Phase,
    /// Whether the server reports cached tokens.
    Caching,
    /// How much fits into a request.
    Limits,
    /// Whether an answer can be cancelled.
    Cancellation,
    /// How the server reports errors.
    Errors,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum CheckResult {
    /// It works.
    Works,
    /// The server or the model doesn't do this. Chats work without it.
    Absent,
    /// It doesn't work, and it should.
    Failed,
    /// The test couldn't find out.
    Unknown,
}

impl CheckResult {
    /// Returns a mark for lists.
    pub fn mark(self) -> char {
        match self {
            Self::Works => '✓',
            Self::Absent => '–',
            Self::Failed => '✗',
            Self::Unknown => '?',
        }
    }
}

//! The result of an exchange: for the user, for VS Code, and for the next request.

use serde::Serialize;

use crate::boundary::{ChatPart, Empty, Failure, FailureKind, Outcome, Part, Status, Usage};
use crate::failure::{Transport, help_page};
use crate::ledger::LedgerEntry;
use crate::message::{Message, MessageCode, join_messages};
use crate::receive::BodyEnd;
use crate::send::Parameter;

/// How an exchange ended and everything that follows from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Report {
    /// How the answer ended.
    pub outcome: Outcome,
    /// What to do about it.
    pub ending: Ending,
    /// Token counts for VS Code, if the server reported them.
    pub usage: Option<VsCodeUsage>,
    /// What the ledger learns from it, including the assistant's message.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub entry: LedgerEntry,
    /// The number of attempts.
    pub attempts: u32,
    /// Parameters that the server refused by name, before it accepted the request without them. Leave them out next
    /// time.
    pub refused: Vec<Parameter>,
    /// Whether the server accepted the request only without the reasoning in it. Don't send the same reasoning again.
    #[serde(rename = "reasoningRefused")]
    pub reasoning_refused: bool,
    /// The message of an error that revealed the size of the model's window, even if the request was then accepted with
    /// less. [`ModelCatalog::learn`](crate::ModelCatalog::learn) reads it.
    pub overflow: Option<String>,
    /// Set if there is no API at the base URL, but at another one of the same origin, which answered.
    pub elsewhere: Option<Elsewhere>,
    /// Set if the connection may be reused once the rest of the body has been read.
    pub drain: Option<Drain>,
}

/// Where the API really is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Elsewhere {
    /// The base URL for the next requests.
    pub base_url: String,
    /// What to tell the user.
    pub message: Message,
}

/// How an exchange ended, for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Ending {
    /// The answer was shown. There is nothing to add.
    Done,
    /// The user cancelled, so there is nothing to say.
    Cancelled,
    /// Show the message. What was shown before stays.
    Rejected {
        /// What to tell the user, in English.
        message: String,
        /// The same, sentence by sentence, for shells that translate.
        text: Vec<Message>,
        /// `None` if the server reported success and there is still nothing, or too little, to show.
        kind: Option<FailureKind>,
        /// Whether the answer is usable. The message then belongs below it, and nothing has failed.
        #[serde(rename = "isNote")]
        is_note: bool,
        /// A page on which the user can solve the problem. It is ours, not the server's, so it may be a link.
        page: Option<&'static str>,
    },
}

/// How much of a body may follow the terminal event. Usually it is `[DONE]`, immediately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Drain {
    /// How long the rest may take to arrive.
    #[cfg_attr(test, ts(type = "number"))]
    pub timeout_ms: u64,
    /// How long the rest may be.
    pub max_bytes: usize,
}

impl Default for Drain {
    fn default() -> Self {
        Self { timeout_ms: 100, max_bytes: 64 << 10 }
    }
}

impl Ending {
    /// `called_tool` says whether the answer has a tool call.
    pub(crate) fn of(outcome: &Outcome, called_tool: bool, origin: &str) -> Self {
        if outcome.status == Status::Cancelled {
            return Self::Cancelled;
        }
        if let Some(failure) = &outcome.error {
            return Self::failed(failure, origin);
        }
        let message = match (outcome.empty, outcome.reason.as_deref()) {
            (Some(Empty::ThinkingOnly), _) => MessageCode::OnlyThought,
            (Some(Empty::Filtered), _) => MessageCode::Filtered,
            (Some(Empty::Length), _) => MessageCode::LimitBeforeFirstWord,
            (Some(Empty::Nothing), _) => MessageCode::EmptyAnswer,
            // An agent goes on with the calls it got.
            _ if outcome.status != Status::Incomplete || called_tool => return Self::Done,
            (None, Some("content_filter")) => MessageCode::FilterCutOff,
            (None, Some("max_output_tokens")) => MessageCode::LimitCutOff,
            (None, _) => MessageCode::EndedEarly,
        };
        Self::rejected(vec![message.into()], None, message == MessageCode::LimitCutOff, None)
    }

    #[inline(never)]
    fn failed(failure: &Failure, origin: &str) -> Self {
        let page = help_page(failure.kind, origin);
        Self::rejected(failure.text.clone(), Some(failure.kind), false, page)
    }

    #[inline(never)]
    fn rejected(text: Vec<Message>, kind: Option<FailureKind>, is_note: bool, page: Option<&'static str>) -> Self {
        Self::Rejected { message: join_messages(&text, " "), text, kind, is_note, page }
    }
}

impl Outcome {
    /// An attempt that never became a stream.
    pub fn refused(failure: Failure) -> Self {
        Self { error: Some(failure), retry_safe: true, ..Self::new(Status::Failed) }
    }

    /// An outcome about which nothing else is known.
    pub(crate) fn new(status: Status) -> Self {
        Self {
            status,
            reason: None,
            error: None,
            empty: None,
            response_id: None,
            model: None,
            usage: None,
            gateway: None,
            retry_safe: false,
        }
    }

    /// A stream can't know where it came from; with the origin, one that was cut off gets its error.
    #[must_use]
    pub(super) fn with_origin(mut self, end: BodyEnd, origin: &str) -> Self {
        if self.status == Status::Truncated {
            let transport = if end == BodyEnd::IdleTimeout { Transport::Idle } else { Transport::Broken };
            self.error = Some(Failure::from_transport(transport, origin));
        }
        self
    }
}

/// The assistant's message of an answer, as the next request repeats it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript(Vec<ChatPart>);

impl Transcript {
    /// Adds the next part that was delivered.
    pub fn add(&mut self, part: &Part) {
        match part {
            Part::Text { value } => match self.0.last_mut() {
                Some(ChatPart::Text { value: text }) => text.push_str(value),
                _ => self.0.push(ChatPart::Text { value: value.clone() }),
            },
            Part::ToolCall { call_id, name, input_json } => self.0.push(ChatPart::ToolCall {
                call_id: call_id.clone(),
                name: name.clone(),
                input_json: input_json.clone(),
            }),
            Part::Thinking { replay: Some(replay), .. } => {
                self.0.push(ChatPart::Thinking { replay: Some(replay.clone()) });
            }
            Part::Thinking { replay: None, .. } | Part::Data { .. } | Part::Citations { .. } => {}
        }
    }

    /// Returns the parts of the assistant's message.
    pub fn into_parts(self) -> Vec<ChatPart> {
        self.0
    }
}

/// Token counts as VS Code's chat reads them from a data part of the type `usage`. Without them, VS Code assumes that
/// nothing was used and never summarizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct VsCodeUsage {
    /// All of the input, including what came from a cache.
    #[cfg_attr(test, ts(type = "number"))]
    prompt_tokens: u64,
    #[cfg_attr(test, ts(type = "number"))]
    completion_tokens: u64,
    #[cfg_attr(test, ts(type = "number"))]
    total_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PromptDetails {
    #[cfg_attr(test, ts(type = "number"))]
    cached_tokens: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CompletionDetails {
    #[cfg_attr(test, ts(type = "number"))]
    reasoning_tokens: u64,
}

impl VsCodeUsage {
    /// Returns `None` unless the server counted the input, because a guess must not look like a count.
    pub fn of(usage: &Usage) -> Option<Self> {
        let prompt_tokens = usage.input_tokens.or_else(|| usage.total_tokens?.checked_sub(usage.output_tokens?))?;
        let completion_tokens =
            usage.output_tokens.or_else(|| usage.total_tokens?.checked_sub(prompt_tokens)).unwrap_or_default();
        let cached = usage.input_tokens_details.as_ref().and_then(|details| details.count("cached_tokens"));
        let reasoning = usage.output_tokens_details.as_ref().and_then(|details| details.count("reasoning_tokens"));
        Some(Self {
            prompt_tokens,
            completion_tokens,
            total_tokens: prompt_tokens.saturating_add(completion_tokens),
            prompt_tokens_details: cached.map(|cached_tokens| PromptDetails { cached_tokens }),
            completion_tokens_details: reasoning.map(|reasoning_tokens| CompletionDetails { reasoning_tokens }),
        })
    }
}

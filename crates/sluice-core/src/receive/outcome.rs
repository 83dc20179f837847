//! How the stream ended, what that means, and whether a retry is safe.

use serde_json::Value;

use super::BodyEnd;
use super::assemble::About;
use super::citations::plain_line;
use super::sink::Sink;
use crate::boundary::{Empty, Failure, FailureKind, Gateway, Outcome, Status};
use crate::message::Message;
use crate::wire::ErrorField;

/// What the server itself said about the end. This outweighs how the body ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Completed,
    Incomplete(Option<String>),
    Failed(Failure),
    /// The stream ended without a terminal event; the string names what ended it, such as `done_marker` for `[DONE]`.
    CutOff(&'static str),
    TooLarge(Message),
    /// The server stopped because we asked it to.
    Cancelled,
}

impl Verdict {
    #[inline(never)]
    pub(crate) fn failed(error: &ErrorField<'_>) -> Self {
        Self::Failed(Failure::from_stream(error.message.as_deref(), error.code.as_deref()))
    }
}

pub(crate) fn judge(verdict: Option<Verdict>, about: About, sink: &Sink, end: BodyEnd) -> Outcome {
    let (status, reason, error) = match verdict {
        Some(Verdict::Completed) => (Status::Completed, None, None),
        Some(Verdict::Incomplete(reason)) => (Status::Incomplete, reason, None),
        Some(Verdict::Failed(failure)) => (Status::Failed, None, Some(failure)),
        Some(Verdict::TooLarge(message)) => (Status::Failed, None, Some(Failure::new(FailureKind::TooLarge, message))),
        Some(Verdict::CutOff(by)) => (Status::Truncated, Some(by.to_owned()), None),
        Some(Verdict::Cancelled) => (Status::Cancelled, None, None),
        None => match end {
            BodyEnd::Eof => (Status::Truncated, Some("eof".to_owned()), None),
            BodyEnd::IdleTimeout => (Status::Truncated, Some("idle_timeout".to_owned()), None),
            BodyEnd::Broken => (Status::Truncated, Some("broken".to_owned()), None),
            BodyEnd::Cancelled => (Status::Cancelled, None, None),
        },
    };
    let empty = match (status, reason.as_deref()) {
        _ if sink.gave_answer => None,
        (Status::Incomplete, Some("content_filter")) => Some(Empty::Filtered),
        (Status::Incomplete, Some("max_output_tokens")) => Some(Empty::Length),
        (Status::Completed | Status::Incomplete, _) if sink.gave_thinking => Some(Empty::ThinkingOnly),
        (Status::Completed | Status::Incomplete, _) => Some(Empty::Nothing),
        (Status::Failed | Status::Truncated | Status::Cancelled, _) => None,
    };
    Outcome {
        status,
        reason,
        error,
        empty,
        retry_safe: !sink.gave_part && matches!(status, Status::Failed | Status::Truncated),
        response_id: about.response_id,
        model: about.model,
        usage: about.usage,
        gateway: about.gateway,
    }
}

impl Gateway {
    /// Reads the gateway's own object, for the values that shells show.
    pub(super) fn from_metadata(metadata: Value) -> Self {
        let gateway = metadata.get("gateway");
        let text = |value: Option<&Value>| match value {
            Some(Value::String(text)) if !text.is_empty() => Some(plain_line(text, 120)),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let routing = gateway.and_then(|gateway| gateway.get("routing"));
        let provider = |name| text(routing.and_then(|routing| routing.get(name)));
        Self {
            generation_id: text(gateway.and_then(|gateway| gateway.get("generationId"))),
            cost: text(gateway.and_then(|gateway| gateway.get("cost"))),
            provider: provider("finalProvider").or_else(|| provider("resolvedProvider")),
            metadata,
        }
    }
}

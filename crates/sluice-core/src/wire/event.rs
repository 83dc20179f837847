//! The events of a stream.
//!
//! All events are read into one flat [`RawEvent`] in a single pass (serde's tagged enums would buffer each event
//! first) and then named: [`StreamEvent`] has one variant for each thing the assembler must tell apart.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::item::{Annotation, ContentPart, Item};
use super::lenient;
use super::response::{ErrorField, Response, code_text};

#[derive(Debug, Default, Deserialize)]
pub(crate) struct RawEvent<'a> {
    #[serde(rename = "type", default, deserialize_with = "lenient::text", borrow)]
    pub kind: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::index")]
    pub sequence_number: Option<u64>,
    #[serde(default, deserialize_with = "lenient::index")]
    pub output_index: Option<u64>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub item_id: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::index")]
    pub content_index: Option<u64>,
    #[serde(default, deserialize_with = "lenient::index")]
    pub summary_index: Option<u64>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub delta: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub text: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub refusal: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub arguments: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "lenient::object", borrow)]
    pub item: Option<Box<Item<'a>>>,
    #[serde(default, deserialize_with = "lenient::object", borrow)]
    pub part: Option<Box<ContentPart<'a>>>,
    #[serde(default, deserialize_with = "lenient::object", borrow)]
    pub annotation: Option<Box<Annotation<'a>>>,
    #[serde(default, deserialize_with = "lenient::object", borrow)]
    pub response: Option<Box<Response<'a>>>,
    #[serde(default, borrow)]
    pub error: Option<Box<ErrorField<'a>>>,
    /// Flat errors carry these beside `type`.
    #[serde(default, deserialize_with = "lenient::text", borrow)]
    pub message: Option<Cow<'a, str>>,
    #[serde(default)]
    pub code: Value,
}

/// Which output item an event speaks of. Ids rotate on some servers and indexes are missing on others, so both are
/// kept and [`crate::receive`] decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address<'a> {
    pub output_index: Option<u64>,
    pub item_id: Option<Cow<'a, str>>,
}

#[derive(Debug)]
pub(crate) enum StreamEvent<'a> {
    /// `response.created`, `.queued`, `.in_progress`
    Started(Box<Response<'a>>),
    Completed(Box<Response<'a>>),
    Incomplete(Box<Response<'a>>),
    Failed(Box<Response<'a>>),
    Error(Box<ErrorField<'a>>),
    ItemAdded {
        at: Address<'a>,
        item: Box<Item<'a>>,
    },
    ItemDone {
        at: Address<'a>,
        item: Box<Item<'a>>,
    },
    TextDelta {
        at: Address<'a>,
        content_index: u64,
        delta: Cow<'a, str>,
    },
    TextDone {
        at: Address<'a>,
        content_index: u64,
        text: Cow<'a, str>,
    },
    RefusalDelta {
        at: Address<'a>,
        content_index: u64,
        delta: Cow<'a, str>,
    },
    RefusalDone {
        at: Address<'a>,
        content_index: u64,
        refusal: Cow<'a, str>,
    },
    ContentPartDone {
        at: Address<'a>,
        content_index: u64,
        part: Box<ContentPart<'a>>,
    },
    AnnotationAdded {
        at: Address<'a>,
        annotation: Box<Annotation<'a>>,
    },
    ArgumentsDelta {
        at: Address<'a>,
        delta: Cow<'a, str>,
    },
    ArgumentsDone {
        at: Address<'a>,
        arguments: Cow<'a, str>,
    },
    ReasoningDelta {
        at: Address<'a>,
        content_index: u64,
        delta: Cow<'a, str>,
    },
    ReasoningDone {
        at: Address<'a>,
        content_index: u64,
        text: Cow<'a, str>,
    },
    SummaryDelta {
        at: Address<'a>,
        summary_index: u64,
        delta: Cow<'a, str>,
    },
    SummaryDone {
        at: Address<'a>,
        summary_index: u64,
        text: Cow<'a, str>,
    },
    /// Known, and nothing in it that another event does not also bring: `response.content_part.added`,
    /// `response.reasoning_summary_part.added` and `.done`.
    Silent,
    Unknown,
}

impl<'a> RawEvent<'a> {
    /// Says what the event is. `name` is its type, from the JSON or else from the `event:` line.
    pub fn named(self, name: &str) -> StreamEvent<'a> {
        let at = Address { output_index: self.output_index, item_id: self.item_id.filter(|id| !id.is_empty()) };
        let content_index = self.content_index.unwrap_or(0);
        let summary_index = self.summary_index.unwrap_or(0);
        let delta = self.delta.unwrap_or_default();
        let text = self.text.unwrap_or_default();
        match name {
            "response.output_text.delta" => StreamEvent::TextDelta { at, content_index, delta },
            "response.output_text.done" => StreamEvent::TextDone { at, content_index, text },
            "response.function_call_arguments.delta" => StreamEvent::ArgumentsDelta { at, delta },
            "response.function_call_arguments.done" => {
                StreamEvent::ArgumentsDone { at, arguments: self.arguments.unwrap_or_default() }
            }
            // The schema says `reasoning`, OpenAI and LM Studio say `reasoning_text`.
            "response.reasoning.delta" | "response.reasoning_text.delta" => {
                StreamEvent::ReasoningDelta { at, content_index, delta }
            }
            "response.reasoning.done" | "response.reasoning_text.done" => {
                StreamEvent::ReasoningDone { at, content_index, text }
            }
            // The second spelling lives only in the schema's prose, which is enough for somebody to send it.
            "response.reasoning_summary_text.delta" | "response.reasoning_summary.delta" => {
                StreamEvent::SummaryDelta { at, summary_index, delta }
            }
            "response.reasoning_summary_text.done" | "response.reasoning_summary.done" => {
                StreamEvent::SummaryDone { at, summary_index, text }
            }
            "response.refusal.delta" => StreamEvent::RefusalDelta { at, content_index, delta },
            "response.refusal.done" => {
                StreamEvent::RefusalDone { at, content_index, refusal: self.refusal.unwrap_or_default() }
            }
            "response.output_item.added" => StreamEvent::ItemAdded { at, item: self.item.unwrap_or_default() },
            "response.output_item.done" => StreamEvent::ItemDone { at, item: self.item.unwrap_or_default() },
            "response.content_part.done" => {
                StreamEvent::ContentPartDone { at, content_index, part: self.part.unwrap_or_default() }
            }
            // OpenAI's spelling of March 2025 comes second.
            "response.output_text.annotation.added" | "response.output_text_annotation.added" => {
                StreamEvent::AnnotationAdded { at, annotation: self.annotation.unwrap_or_default() }
            }
            "response.created" | "response.queued" | "response.in_progress" => {
                StreamEvent::Started(self.response.unwrap_or_default())
            }
            "response.completed" => StreamEvent::Completed(self.response.unwrap_or_default()),
            "response.incomplete" => StreamEvent::Incomplete(self.response.unwrap_or_default()),
            "response.failed" => StreamEvent::Failed(self.response.unwrap_or_default()),
            "error" | "response.error" => {
                let nested = self.error.filter(|error| !error.is_empty());
                StreamEvent::Error(nested.unwrap_or_else(|| {
                    Box::new(ErrorField { message: self.message, code: code_text(&self.code).map(Cow::Owned) })
                }))
            }
            "response.content_part.added"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_part.done" => StreamEvent::Silent,
            _ => StreamEvent::Unknown,
        }
    }
}

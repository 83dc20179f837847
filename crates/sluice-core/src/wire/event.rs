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
    #[serde(default, deserialize_with = "lenient::json_text", borrow)]
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

/// What arrives bit by bit. Within its item a piece is told apart by an index, except arguments, which are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    Text,
    Refusal,
    Reasoning,
    Summary,
    Arguments,
}

impl Channel {
    pub fn of_delta(name: &str) -> Option<Self> {
        Self::named(name.strip_suffix(".delta")?)
    }

    fn of_done(name: &str) -> Option<Self> {
        Self::named(name.strip_suffix(".done")?)
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("response.")? {
            "output_text" => Self::Text,
            "refusal" => Self::Refusal,
            // The schema says `reasoning`, OpenAI and LM Studio say `reasoning_text`.
            "reasoning" | "reasoning_text" => Self::Reasoning,
            // The second spelling lives only in the schema's prose, which is enough for somebody to send it.
            "reasoning_summary_text" | "reasoning_summary" => Self::Summary,
            "function_call_arguments" => Self::Arguments,
            _ => return None,
        })
    }

    /// Which of the event's indexes counts.
    pub fn index(self, content_index: Option<u64>, summary_index: Option<u64>) -> Option<u64> {
        match self {
            Self::Text | Self::Refusal | Self::Reasoning => content_index,
            Self::Summary => summary_index,
            Self::Arguments => None,
        }
    }
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
    /// A piece of something that arrives bit by bit.
    Delta {
        at: Address<'a>,
        channel: Channel,
        index: Option<u64>,
        delta: Cow<'a, str>,
    },
    /// The same, whole.
    Done {
        at: Address<'a>,
        channel: Channel,
        index: Option<u64>,
        whole: Cow<'a, str>,
    },
    ContentPartDone {
        at: Address<'a>,
        content_index: Option<u64>,
        part: Box<ContentPart<'a>>,
    },
    AnnotationAdded {
        at: Address<'a>,
        annotation: Box<Annotation<'a>>,
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
        if let Some(channel) = Channel::of_delta(name) {
            let index = channel.index(self.content_index, self.summary_index);
            return StreamEvent::Delta { at, channel, index, delta: self.delta.unwrap_or_default() };
        }
        if let Some(channel) = Channel::of_done(name) {
            let index = channel.index(self.content_index, self.summary_index);
            let whole = match channel {
                Channel::Text | Channel::Reasoning | Channel::Summary => self.text,
                Channel::Refusal => self.refusal,
                Channel::Arguments => self.arguments,
            };
            return StreamEvent::Done { at, channel, index, whole: whole.unwrap_or_default() };
        }
        match name {
            "response.output_item.added" => StreamEvent::ItemAdded { at, item: self.item.unwrap_or_default() },
            "response.output_item.done" => StreamEvent::ItemDone { at, item: self.item.unwrap_or_default() },
            "response.content_part.done" => {
                let content_index = self.content_index;
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

/// Whether a JSON text is an event of this protocol, for telling streams apart.
pub fn is_open_responses_event(json: &str) -> bool {
    let event = serde_json::from_str::<RawEvent<'_>>(json).ok();
    event.and_then(|event| event.kind).is_some_and(|kind| kind.starts_with("response."))
}

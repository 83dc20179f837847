//! The events of a stream.
//!
//! [`StreamEvent`] has one variant for each case that the assembler distinguishes.

use std::borrow::Cow;

use super::item::{Annotation, ContentPart, Item};
use super::json::{FieldName, Fields, Json};
use super::long_runs::LongRuns;
use super::response::{ErrorField, Response};

/// Which output item an event is about. Ids rotate on some servers and indexes are missing on others, so both are kept
/// and [`crate::receive`] decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address<'a> {
    pub output_index: Option<u64>,
    pub item_id: Option<Cow<'a, str>>,
}

/// The kinds of text that arrive as deltas. Within an item, texts are identified by an index, except arguments, of
/// which there is only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Channel {
    Text,
    Refusal,
    Reasoning,
    Summary,
    Arguments,
}

impl Channel {
    pub(crate) fn of_delta(name: &str) -> Option<Self> {
        match name.strip_suffix(".delta")? {
            // OpenRouter documents this spelling.
            "response.content_part" => Some(Self::Text),
            name => Self::named(name),
        }
    }

    fn of_done(name: &str) -> Option<Self> {
        Self::named(name.strip_suffix(".done")?)
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("response.")? {
            "output_text" => Self::Text,
            "refusal" => Self::Refusal,
            // The schema has `reasoning`; OpenAI and LM Studio send `reasoning_text`.
            "reasoning" | "reasoning_text" | "reasoning_content" => Self::Reasoning,
            // The second spelling occurs only in the prose of the schema, but a server might send it.
            "reasoning_summary_text" | "reasoning_summary" => Self::Summary,
            "function_call_arguments" => Self::Arguments,
            _ => return None,
        })
    }

    /// Returns which of the event's indexes counts.
    pub(crate) fn index(self, content_index: Option<u64>, summary_index: Option<u64>) -> Option<u64> {
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
    /// The next increment of a text.
    Delta {
        at: Address<'a>,
        channel: Channel,
        index: Option<u64>,
        delta: Cow<'a, str>,
    },
    /// A whole text.
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
    /// A known event whose content is also in other events: `response.content_part.added`,
    /// `response.reasoning_summary_part.added` and `.done`.
    Silent,
    Unknown,
}

impl<'a> StreamEvent<'a> {
    /// `name` is the event's type, from the JSON or else from the `event:` line.
    pub(crate) fn read(name: &str, mut fields: Fields<'a>) -> Self {
        let item_id = [FieldName::ItemId, FieldName::CallId]
            .into_iter()
            .find_map(|field| fields.id(field).filter(|id| !id.is_empty()));
        let at = Address { output_index: fields.index(FieldName::OutputIndex), item_id };
        if let Some(channel) = Channel::of_delta(name) {
            let index = channel.index(fields.index(FieldName::ContentIndex), fields.index(FieldName::SummaryIndex));
            return Self::Delta { at, channel, index, delta: text_in(fields.take(FieldName::Delta)) };
        }
        if let Some(channel) = Channel::of_done(name) {
            let index = channel.index(fields.index(FieldName::ContentIndex), fields.index(FieldName::SummaryIndex));
            let whole = match channel {
                Channel::Text | Channel::Reasoning | Channel::Summary => fields.text(FieldName::Text),
                Channel::Refusal => fields.text(FieldName::Refusal),
                Channel::Arguments => fields.json_text(FieldName::Arguments),
            };
            return Self::Done { at, channel, index, whole: whole.unwrap_or_default() };
        }
        let object = |fields: &mut Fields<'a>, name| fields.object(name).unwrap_or_default();
        match name {
            "response.created" | "response.queued" | "response.in_progress" => {
                Self::Started(Box::new(Response::read(object(&mut fields, FieldName::Response))))
            }
            // OpenRouter documents `response.done`.
            "response.completed" | "response.done" => {
                let response = Response::read_last(fields);
                // vLLM ends every answer with this event, and only the status tells them apart.
                match response.status.as_deref() {
                    Some("incomplete" | "cancelled") => Self::Incomplete(response),
                    Some("failed") => Self::Failed(response),
                    _ => Self::Completed(response),
                }
            }
            "response.incomplete" | "response.cancelled" => Self::Incomplete(Response::read_last(fields)),
            "response.failed" => Self::Failed(Response::read_last(fields)),
            "response.output_item.added" | "response.output_item.done" => {
                let item = Box::new(Item::read(object(&mut fields, FieldName::Item)));
                if name.ends_with("added") { Self::ItemAdded { at, item } } else { Self::ItemDone { at, item } }
            }
            "response.content_part.done" => {
                let part = Box::new(ContentPart::read(object(&mut fields, FieldName::Part)));
                Self::ContentPartDone { at, content_index: fields.index(FieldName::ContentIndex), part }
            }
            // The second one is OpenAI's spelling of March 2025.
            "response.output_text.annotation.added" | "response.output_text_annotation.added" => {
                let annotation = Box::new(Annotation::read(object(&mut fields, FieldName::Annotation)));
                Self::AnnotationAdded { at, annotation }
            }
            "error" | "response.error" => {
                let nested = ErrorField::read(fields.take(FieldName::Error));
                Self::Error(Box::new(if nested.is_empty() {
                    ErrorField::new(fields.text(FieldName::Message), fields.word(FieldName::Code))
                } else {
                    nested
                }))
            }
            "response.content_part.added"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_part.done" => Self::Silent,
            _ if name.starts_with("response.") => Self::Unknown,
            _ => {
                // vLLM has the class of an error as its type, and others have no type.
                let error = ErrorField::read(Json::Object(fields));
                let is_error = error.message.is_some() && (name.is_empty() || error.code.is_some());
                if is_error { Self::Error(Box::new(error)) } else { Self::Unknown }
            }
        }
    }
}

/// Returns the text of a delta. It is a string, but some servers send content parts.
fn text_in(delta: Json<'_>) -> Cow<'_, str> {
    match delta {
        Json::Text(text) => text,
        Json::Object(mut part) => part.text(FieldName::Text).unwrap_or_default(),
        Json::List(parts) => parts.into_iter().map(|part| text_in(Json::Object(part)).into_owned()).collect(),
        _ => Cow::default(),
    }
}

/// Returns whether a JSON text is an event of this protocol, to detect a stream's dialect.
pub fn is_open_responses_event(json: &str) -> bool {
    let kind = Fields::read(json, &LongRuns::default(), 1 << 20).map(|mut event| event.text(FieldName::Type));
    kind.is_ok_and(|kind| kind.is_some_and(|kind| kind.starts_with("response.")))
}

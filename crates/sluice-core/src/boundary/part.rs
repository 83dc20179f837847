//! What the core returns for a piece of the stream: parts for the reader and notes for debugging.

use serde::{Deserialize, Serialize};

use crate::fnv::short_hash;
use crate::message::{Message, MessageCode, join_messages};

/// One output of the stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Something to show.
    Part(Part),
    /// Something to log.
    Note(Note),
}

/// Something that VS Code shows or acts on. A part that was returned is never retracted.
///
/// This enum is exhaustive on purpose: a program that ignored a new kind of part would drop a piece of the answer, or pass
/// on a key that it masks in the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Part {
    /// The next piece of the answer.
    Text {
        /// The text to append.
        value: String,
    },
    /// The next piece of the model's reasoning. A different `id` starts a new block.
    Thinking {
        /// The text to append.
        value: String,
        /// The block that the text belongs to.
        id: String,
        /// What the next request must send back. Only set on one thinking part, which is the last one and empty, unless the answer
        /// is returned [at its end](crate::Pace::AtEnd).
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        replay: Option<ThinkingReplay>,
    },
    /// A complete tool call. `input_json` is the text of a JSON object, exactly as the model wrote it: parsing it would
    /// round integers above 2^53.
    ToolCall {
        /// The id that the result must name.
        call_id: String,
        /// The tool's name, as VS Code knows it.
        name: String,
        /// The arguments.
        input_json: String,
    },
    /// A generated image or another file, or structured data as JSON.
    Data {
        /// The media type. No server can choose one of VS Code's own types.
        mime_type: String,
        /// The bytes, in the standard alphabet with padding.
        base64: String,
    },
    /// Sources of the preceding text. `markdown` lists them, ready to show.
    Citations {
        /// The sources, each of them once.
        citations: Vec<Citation>,
        /// A list of links, in which nothing that a server wrote can act as markup.
        markdown: String,
    },
}

/// What a stateless server must get back of an answer, so that the model can continue from there: the items of the answer
/// in their order, without what VS Code keeps itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ThinkingReplay {
    /// The model that produced it. The content is useless to any other model.
    pub model: Option<String>,
    /// The origin of the server that produced it, which is the only one that gets it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The items of the answer, in the server's order.
    pub items: Vec<ReplayItem>,
}

/// What separates two messages, or two blocks of thinking, for the reader. It isn't part of either, and isn't sent back.
pub(crate) const SEPARATOR: &str = "\n\n";

/// One item of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ReplayItem {
    /// Reasoning.
    Reasoning(ReasoningItem),
    /// A message, whose text VS Code keeps together with the text of all other messages.
    Message(ReplayMessage),
    /// A tool call, by the id that was reported.
    Call(String),
}

/// A reasoning item: encrypted or signed by the server, or plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ReasoningItem {
    /// The server's id for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What only the server can read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted_content: Option<String>,
    /// The summary, in paragraphs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub summary: Vec<String>,
    /// The reasoning itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>"))]
    pub content: Vec<String>,
    /// The provider's signature of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// A message of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ReplayMessage {
    /// What the message is to the model: `commentary` or `final_answer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The length of its text in UTF-8.
    pub bytes: usize,
    /// A hash of its text, because a host may have changed the text.
    pub hash: u32,
}

impl ReplayMessage {
    pub(crate) fn new(phase: Option<String>, text: &str) -> Self {
        Self { phase, bytes: text.len(), hash: short_hash(text) }
    }

    /// Returns the message's text if this text begins with it.
    pub(crate) fn find_in<'a>(&self, text: &'a str) -> Option<&'a str> {
        text.get(..self.bytes).filter(|said| short_hash(said) == self.hash)
    }
}

impl ReasoningItem {
    /// Returns whether a model can continue from it. A summary alone is for people.
    pub(crate) fn is_useful(&self) -> bool {
        let sealed = [&self.encrypted_content, &self.signature];
        sealed.into_iter().flatten().any(|text| !text.is_empty()) || !self.content.is_empty()
    }

    /// Returns the memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let texts = self.summary.iter().chain(&self.content).map(String::len).sum::<usize>();
        let optional = [&self.id, &self.encrypted_content, &self.signature];
        texts + optional.into_iter().flatten().map(String::len).sum::<usize>()
    }
}

impl ThinkingReplay {
    /// Returns whether it says more than VS Code's own parts do.
    pub(crate) fn is_useful(&self) -> bool {
        let messages = self.items.iter().filter_map(|item| match item {
            ReplayItem::Message(message) => Some(message),
            _ => None,
        });
        let has_reasoning = self.items.iter().any(|item| matches!(item, ReplayItem::Reasoning(_)));
        has_reasoning || messages.clone().any(|message| message.phase.is_some()) || messages.count() > 1
    }

    /// Returns whether it may be sent to this model at this origin. What isn't known doesn't count.
    pub(crate) fn is_for(&self, model: &str, origin: Option<&str>) -> bool {
        let is_same_origin = self.origin.as_deref().zip(origin).is_none_or(|(made_at, origin)| made_at == origin);
        is_same_origin && self.model.as_deref().is_none_or(|made_by| is_same_model(made_by, model))
    }
}

/// Returns whether `made_by`, which may be the name in a server's response, is the model that was asked for. Servers
/// often leave out the creator in `creator/model` and append a date.
fn is_same_model(made_by: &str, asked: &str) -> bool {
    if made_by.contains('/') {
        return made_by == asked;
    }
    let bare = asked.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let date = |rest: &str| {
        let year = rest.strip_prefix('-')?.split('-').next()?;
        (year.len() >= 4 && year.bytes().all(|byte| byte.is_ascii_digit())).then_some(())
    };
    made_by.to_ascii_lowercase().strip_prefix(&bare).is_some_and(|rest| rest.is_empty() || date(rest).is_some())
}

/// A source that the answer cites: a web page, or a document that only the provider has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Citation {
    /// The address of the web page. Documents have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The title, as one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The provider's id for the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// The document's media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The document's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// Something in the stream that changed nothing for the reader. It never contains what the model or the user wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Note {
    /// What the note is about.
    pub kind: NoteKind,
    /// Protocol terms only: an event type, an item type, a tool's name; or the text in English.
    pub detail: String,
    /// What to tell the user, sentence by sentence. Empty if the note is for logs only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<Message>>", optional))]
    pub text: Vec<Message>,
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum NoteKind {
    /// An event was read (only if tracing is on).
    Event,
    /// An event type that this protocol version doesn't have.
    UnknownEvent,
    /// An output item that is not text, thinking, a function call or an image.
    IgnoredItem,
    /// A content part of an unknown type.
    IgnoredContent,
    /// An event whose data isn't a JSON object.
    Malformed,
    /// The `event:` line and the JSON disagree about the type.
    TypeMismatch,
    /// Sequence numbers repeat or have gaps (reported once).
    Sequence,
    /// A `done` text contradicts the deltas that were already shown.
    TextMismatch,
    /// Argument deltas that don't belong to any known call.
    OrphanArguments,
    /// A tool call that the server abandoned.
    DroppedCall,
    /// A tool call that appeared again after it was reported.
    RepeatedCall,
    /// Bytes after the last complete event that don't form one.
    Leftover,
    /// There were more notes than one response gives; the detail says how many more.
    MoreNotes,
    /// A part of a message that isn't sent: a marker, an unknown kind of data, another model's reasoning.
    LeftOut,
    /// A call or a result that lacked its counterpart.
    Repaired,
    /// A tool call that VS Code must not run, because the provider or the AI SDK ran it.
    RanElsewhere,
    /// The server retracted parts that were already reported, which a reader can't undo.
    TakenBack,
    /// In the list of models: an entry that can't be used, or a response that couldn't replace the known list.
    ModelList,
    /// A setting that isn't valid.
    Setting,
}

impl Note {
    /// Makes a note for logs.
    pub fn new(kind: NoteKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), text: Vec::new() }
    }

    /// Returns a note that is shown to the user.
    pub(crate) fn for_people(kind: NoteKind, text: Vec<Message>) -> Self {
        Self { kind, detail: join_messages(&text, " "), text }
    }

    /// Returns what it says to the user.
    pub(crate) fn for_user(&self) -> Vec<Message> {
        if self.text.is_empty() { vec![Message::new(MessageCode::Plain, [&self.detail])] } else { self.text.clone() }
    }
}

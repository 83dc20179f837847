//! What one push gives: parts for the reader, notes for whoever debugs.

use serde::{Deserialize, Serialize};

/// One thing the stream said.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    Part(Part),
    Note(Note),
}

/// What VS Code shows or acts on. Once given, a part is never taken back.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Part {
    /// The next piece of the answer.
    Text { value: String },
    /// The next piece of the model's thinking; another `id` means another block.
    Thinking {
        value: String,
        id: String,
        /// On the last, empty thinking part only: what the next request must send back.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        replay: Option<ThinkingReplay>,
    },
    /// A whole tool call. `input_json` is the text of a JSON object, exactly as the model wrote it: going through a
    /// number type of ours would round integers past 2^53.
    ToolCall { call_id: String, name: String, input_json: String },
    /// A generated image or another file, or structured data as JSON.
    Data { mime_type: String, base64: String },
    /// The sources of the text before it that the text does not link itself, and the same as Markdown, ready to show.
    Citations { citations: Vec<Citation>, markdown: String },
}

/// What a stateless server needs to see again to go on thinking where it stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ThinkingReplay {
    /// The model that made it; to any other the content is noise.
    pub model: Option<String>,
    pub items: Vec<ReasoningItem>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReasoningItem {
    pub id: Option<String>,
    pub encrypted_content: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Citation {
    pub url: String,
    pub title: String,
}

/// Something the stream did that changed nothing for the reader. Never holds what the model or the user said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Note {
    pub kind: NoteKind,
    /// Protocol words only: an event type, an item type, a tool's name.
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum NoteKind {
    /// An event was read (only when tracing was asked for).
    Event,
    /// An event type this protocol version does not know.
    UnknownEvent,
    /// An output item that is not text, thinking, a function call or an image.
    IgnoredItem,
    /// A content part of an unknown type.
    IgnoredContent,
    /// A frame whose data is not a JSON object.
    Malformed,
    /// The `event:` line and the JSON disagree about the type.
    TypeMismatch,
    /// Sequence numbers repeat or leave gaps (said once).
    Sequence,
    /// A `done` text contradicts the deltas that were already shown.
    TextMismatch,
    /// Argument deltas that belong to no known call.
    OrphanArguments,
    /// A tool call that the server gave up on.
    DroppedCall,
    /// A tool call seen again after it was reported.
    RepeatedCall,
    /// Bytes after the last complete event that do not form one.
    Leftover,
    /// A part of a message that is not sent: a marker, an unknown kind of data, another model's thinking.
    LeftOut,
    /// A call or a result that lacked its counterpart.
    Repaired,
    /// A tool call that is not VS Code's to run: the provider or the AI SDK ran it.
    RanElsewhere,
    /// Parts that were given and then taken back by the server, which no reader can do.
    TakenBack,
    /// The list of models: an entry that cannot be used, or an answer that could not replace what was known.
    ModelList,
    /// A setting that makes no sense as it is.
    Setting,
}

impl Note {
    pub fn new(kind: NoteKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

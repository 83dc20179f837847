//! One chunk of the AI SDK, by its own names: `fullStream` parts and UI message chunks, of versions 4 to 7. They share
//! most names; where they differ, the fields do not, so one reading serves both.

use std::borrow::Cow;

use super::fields::Fields;

/// What a chunk says, in this dialect's terms but free of its spelling.
#[derive(Debug)]
pub(super) enum Chunk<'a> {
    Text {
        piece: Cow<'a, str>,
    },
    Thinking {
        block: Option<Cow<'a, str>>,
        piece: Cow<'a, str>,
    },
    BlockStart {
        is_thinking: bool,
        block: Option<Cow<'a, str>>,
    },
    BlockEnd {
        is_thinking: bool,
        block: Option<Cow<'a, str>>,
    },
    InputStart {
        id: Cow<'a, str>,
        name: Option<Cow<'a, str>>,
        ran_elsewhere: bool,
    },
    InputDelta {
        id: Option<Cow<'a, str>>,
        name: Option<Cow<'a, str>>,
        piece: Cow<'a, str>,
    },
    InputEnd {
        id: Option<Cow<'a, str>>,
    },
    Call {
        id: Option<Cow<'a, str>>,
        name: Option<Cow<'a, str>>,
        input: Option<&'a str>,
        ran_elsewhere: bool,
    },
    /// A tool ran somewhere else.
    Ran {
        id: Option<Cow<'a, str>>,
        output: Option<&'a str>,
    },
    File,
    Source,
    /// The application's own, by the name it gave it.
    Data {
        name: &'a str,
    },
    /// A step is over.
    Step,
    Finish,
    Response,
    /// What the step gave so far is to be forgotten.
    Reset,
    Abort,
    Error,
    /// Known, and nothing for the reader.
    Silent,
    /// Known, and more than VS Code has a place for.
    Ignored,
    Unknown,
}

impl<'a> Chunk<'a> {
    pub(super) fn named(kind: &'a str, fields: &Fields<'a>) -> Self {
        let block = || fields.word(&["id"]);
        let call_id = || fields.word(&["toolCallId", "id"]);
        let tool = || fields.word(&["toolName"]);
        let ran_elsewhere = || fields.is_true("providerExecuted");
        match kind {
            "text-delta" | "text" => {
                Self::Text { piece: fields.text(&["text", "delta", "textDelta"]).unwrap_or_default() }
            }
            "reasoning-delta" | "reasoning" => {
                let piece = fields.text(&["text", "delta", "textDelta"]).unwrap_or_default();
                Self::Thinking { block: block(), piece }
            }
            "text-start" => Self::BlockStart { is_thinking: false, block: block() },
            "text-end" => Self::BlockEnd { is_thinking: false, block: block() },
            "reasoning-start" => Self::BlockStart { is_thinking: true, block: block() },
            "reasoning-end" => Self::BlockEnd { is_thinking: true, block: block() },

            "tool-input-start" | "tool-call-streaming-start" => match call_id() {
                Some(id) => Self::InputStart { id, name: tool(), ran_elsewhere: ran_elsewhere() },
                // A call without an id comes again, whole.
                None => Self::Silent,
            },
            "tool-input-delta" | "tool-call-delta" => Self::InputDelta {
                id: call_id(),
                name: tool(),
                piece: fields.text(&["delta", "inputTextDelta", "argsTextDelta"]).unwrap_or_default(),
            },
            "tool-input-end" => Self::InputEnd { id: call_id() },
            // A call that the SDK finds wrong is still the model's call: VS Code tells the model what is wrong with it.
            "tool-call" | "tool-input-available" | "tool-input-error" => Self::Call {
                id: call_id(),
                name: tool(),
                input: fields.json(&["input", "args", "rawInput"]),
                ran_elsewhere: ran_elsewhere(),
            },
            "tool-result" | "tool-output-available" => {
                Self::Ran { id: call_id(), output: fields.json(&["output", "result"]) }
            }

            "file" => Self::File,
            "source" | "source-url" | "source-document" => Self::Source,
            "finish-step" | "step-finish" => Self::Step,
            "finish" => Self::Finish,
            "response-metadata" => Self::Response,
            "reset-step" => Self::Reset,
            "abort" => Self::Abort,
            "error" => Self::Error,

            // An error of a tool is also what the SDK says of every call it finds wrong.
            "tool-error"
            | "tool-output-error"
            | "tool-output-denied"
            | "start"
            | "start-step"
            | "step-start"
            | "stream-start"
            | "message-metadata"
            | "reasoning-part-finish"
            | "reasoning-signature"
            | "redacted-reasoning"
            | "tool-approval-request"
            | "tool-approval-response"
            | "steering-message"
            | "ping"
            | "raw" => Self::Silent,
            "reasoning-file" | "custom" => Self::Ignored,
            _ => match kind.strip_prefix("data-") {
                Some(name) => Self::Data { name },
                None => Self::Unknown,
            },
        }
    }

    /// Whether this is the name of the chunk that has a file in it.
    pub(super) fn is_file(kind: &str) -> bool {
        matches!(Chunk::named(kind, &Fields::default()), Chunk::File)
    }

    /// Whether a chunk with this name is one of this dialect's, for telling dialects apart.
    pub(super) fn knows(kind: &str) -> bool {
        !matches!(Chunk::named(kind, &Fields::default()), Chunk::Unknown)
    }
}

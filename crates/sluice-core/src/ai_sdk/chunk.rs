//! The chunks of the AI SDK by name: `fullStream` parts and UI message chunks, of versions 4 to 7. They share most
//! names, and where the names differ, the fields don't, so one reader handles both.

use std::borrow::Cow;

use super::fields::RawFields;

/// What a chunk means, independent of its names.
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
        /// Whether the SDK considers it invalid, so that it doesn't run.
        is_invalid: bool,
    },
    /// A tool ran elsewhere.
    Ran {
        id: Option<Cow<'a, str>>,
        output: Option<&'a str>,
        by_provider: bool,
    },
    /// A tool ran elsewhere and failed, or was not allowed to run. It may also be that its call is invalid.
    RanInVain {
        id: Option<Cow<'a, str>>,
    },
    File,
    Source,
    /// The application's own data, with its name.
    Data {
        name: &'a str,
    },
    /// A step is over.
    Step,
    Finish,
    Response,
    /// The results of the step so far must be discarded.
    Reset,
    Abort,
    Error,
    /// A known chunk without anything for the reader.
    Silent,
    /// A known chunk that VS Code has no equivalent for.
    Ignored,
    Unknown,
}

impl<'a> Chunk<'a> {
    pub(super) fn named(kind: &'a str, fields: &RawFields<'a>) -> Self {
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
                // A call without an id will arrive again, whole.
                None => Self::Silent,
            },
            "tool-input-delta" | "tool-call-delta" => Self::InputDelta {
                id: call_id(),
                name: tool(),
                piece: fields.text(&["delta", "inputTextDelta", "argsTextDelta"]).unwrap_or_default(),
            },
            "tool-input-end" => Self::InputEnd { id: call_id() },
            // A call that the SDK considers invalid is still reported: VS Code tells the model what is wrong with it.
            "tool-call" | "tool-input-available" | "tool-input-error" => Self::Call {
                id: call_id(),
                name: tool(),
                input: fields.json(&["input", "args", "rawInput"]),
                ran_elsewhere: ran_elsewhere(),
                is_invalid: kind == "tool-input-error" || fields.is_true("invalid"),
            },
            "tool-result" | "tool-output-available" => {
                Self::Ran { id: call_id(), output: fields.json(&["output", "result"]), by_provider: ran_elsewhere() }
            }

            "tool-error" | "tool-output-error" | "tool-output-denied" => Self::RanInVain { id: call_id() },

            "file" => Self::File,
            "source" | "source-url" | "source-document" => Self::Source,
            "finish-step" | "step-finish" => Self::Step,
            "finish" => Self::Finish,
            "response-metadata" => Self::Response,
            "reset-step" => Self::Reset,
            "abort" => Self::Abort,
            "error" => Self::Error,

            "start"
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

    /// Returns whether this is the name of the chunk with a file.
    pub(super) fn is_file(kind: &str) -> bool {
        matches!(Chunk::named(kind, &RawFields::default()), Chunk::File)
    }
}

/// Returns whether a JSON text is a chunk of this dialect, to detect a stream's dialect.
pub fn is_ai_sdk_chunk(json: &str) -> bool {
    let Some(fields) = RawFields::read(json) else { return false };
    match fields.word(&["type"]).as_deref() {
        // Open Responses has an event with this name too.
        Some("error") => fields.json(&["errorText"]).is_some(),
        Some("ping") | None => false,
        Some(kind) => !matches!(Chunk::named(kind, &fields), Chunk::Unknown),
    }
}

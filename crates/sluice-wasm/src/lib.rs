//! The core's WebAssembly face: plain exports, no imports, one call a network chunk, no decisions.
//!
//! JavaScript writes a chunk into the input window ([`input_window`]) and calls [`stream_push`]. The answer lies in
//! linear memory: a table of rows and one arena of text. JavaScript decodes the arena once and slices it by the UTF-16
//! lengths in the table. Only integers cross the boundary: an export that returned an `externref` would let Node 20
//! and 22 abort the whole process.
//!
//! Each output takes as many rows as it has strings. The first row names its kind, the others say [`CONTINUED`]:
//!
//! | kind | strings |
//! |---|---|
//! | [`TEXT`] | value |
//! | [`THINKING`] | id, value |
//! | [`THINKING_REPLAY`] | id, value, replay as JSON |
//! | [`TOOL_CALL`] | call id, name, input as JSON |
//! | [`DATA`] | mime type, base64 |
//! | [`CITATIONS`] | the part as JSON |
//! | [`NOTE`] | the note as JSON |
//! | [`OUTCOME`] | the outcome as JSON |
//! | [`ANSWER`] | the answer to a question as JSON |
//! | [`PROBLEM`] | what is wrong with the question |

#[cfg(target_arch = "wasm32")]
mod allocator;
#[cfg(target_arch = "wasm32")]
mod compare;
mod questions;

use std::cell::RefCell;
use std::vec::Drain;

use serde::Serialize;
use sluice_core::{BodyEnd, ChunkStream, Outcome, Output, Part, ResponseStream, StreamOptions, ToolNames};

pub const CONTINUED: u32 = 0;
pub const TEXT: u32 = 1;
pub const THINKING: u32 = 2;
pub const THINKING_REPLAY: u32 = 3;
pub const TOOL_CALL: u32 = 4;
pub const DATA: u32 = 5;
pub const CITATIONS: u32 = 6;
pub const NOTE: u32 = 7;
pub const OUTCOME: u32 = 8;
pub const ANSWER: u32 = 9;
pub const PROBLEM: u32 = 10;

/// Flags of [`stream_open`]: a note for every event read.
pub const TRACE: u32 = 1;
/// Call ids without our prefix.
pub const PLAIN_CALL_IDS: u32 = 2;
/// Chunks of the AI SDK instead of an Open Responses body.
pub const AI_SDK: u32 = 4;

/// What JavaScript reads after each call, at the address [`header`] gives.
#[repr(C)]
#[derive(Debug, Default)]
struct Header {
    rows: u32,
    table: u32,
    arena: u32,
    arena_bytes: u32,
    /// The same as `arena_bytes` if all of it is ASCII.
    arena_units: u32,
    is_terminal: u32,
}

#[derive(Debug, Default)]
struct Face {
    input: Vec<u8>,
    /// By handle; the place of a finished stream is given to the next.
    streams: Vec<Option<Stream>>,
    /// Of the stream that ended last, for the question what to do now.
    finished: Option<Outcome>,
    answer: Answer,
}

/// A stream in either dialect.
#[derive(Debug)]
enum Stream {
    OpenResponses(ResponseStream),
    AiSdk(ChunkStream),
}

impl Stream {
    fn push(&mut self, body: &[u8]) -> Drain<'_, Output> {
        match self {
            Self::OpenResponses(stream) => stream.push(body),
            Self::AiSdk(stream) => stream.push(body),
        }
    }

    fn is_terminal(&self) -> bool {
        match self {
            Self::OpenResponses(stream) => stream.is_terminal(),
            Self::AiSdk(stream) => stream.is_terminal(),
        }
    }

    fn finish(self, end: BodyEnd) -> (Vec<Output>, Outcome) {
        match self {
            Self::OpenResponses(stream) => stream.finish(end),
            Self::AiSdk(stream) => stream.finish(end),
        }
    }
}

/// What the last call gave.
#[derive(Debug, Default)]
struct Answer {
    header: Header,
    /// Three numbers a row: kind, length in UTF-8 bytes, length in UTF-16 units.
    table: Vec<u32>,
    arena: String,
}

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static MEMORY: allocator::SmallBlocks = allocator::SmallBlocks::new();

thread_local! {
    static FACE: RefCell<Face> = RefCell::default();
}

/// The fixed address of the header.
#[unsafe(no_mangle)]
pub extern "C" fn header() -> u32 {
    FACE.with_borrow(|face| address(&raw const face.answer.header))
}

/// Whether the last call trapped because there was no memory left; the only export that may be called after a trap.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
pub extern "C" fn ran_out_of_memory() -> u32 {
    u32::from(MEMORY.ran_out())
}

/// The address where the next `length` bytes may be written.
#[unsafe(no_mangle)]
pub extern "C" fn input_window(length: u32) -> u32 {
    FACE.with_borrow_mut(|face| {
        // One large chunk must not hold its memory for ever.
        face.input.truncate(length as usize);
        face.input.shrink_to(1 << 20);
        face.input.resize(length as usize, 0);
        address(face.input.as_ptr())
    })
}

/// Answers a question (`questions.rs`) that stands as JSON in the first `length` bytes of the input window.
#[unsafe(no_mangle)]
pub extern "C" fn ask(question: u32, length: u32) {
    FACE.with_borrow_mut(|face| {
        face.answer.clear();
        let json = String::from_utf8_lossy(face.input.get(..length as usize).unwrap_or_default());
        match questions::answer(question, &json, face.finished.take()) {
            Ok(answer) => face.answer.row(ANSWER, &answer),
            Err(problem) => face.answer.row(PROBLEM, &problem),
        }
        face.answer.publish(false);
    });
}

/// Starts a stream and returns its handle. `flags` is a sum of [`TRACE`], [`PLAIN_CALL_IDS`] and [`AI_SDK`]; the first
/// `length` bytes of the input window are the request's tool names as JSON, or nothing.
#[unsafe(no_mangle)]
pub extern "C" fn stream_open(flags: u32, length: u32) -> u32 {
    FACE.with_borrow_mut(|face| {
        let mut options = StreamOptions {
            trace: flags & TRACE != 0,
            plain_call_ids: flags & PLAIN_CALL_IDS != 0,
            ..StreamOptions::default()
        };
        if length > 0 {
            options.tool_names = tool_names(face.input.get(..length as usize).unwrap_or_default());
        }
        let stream = if flags & AI_SDK == 0 {
            Stream::OpenResponses(ResponseStream::new(options))
        } else {
            Stream::AiSdk(ChunkStream::new(options))
        };
        let free = face.streams.iter().position(Option::is_none).unwrap_or_else(|| {
            face.streams.push(None);
            face.streams.len() - 1
        });
        if let Some(place) = face.streams.get_mut(free) {
            *place = Some(stream);
        }
        u32::try_from(free).unwrap_or(u32::MAX)
    })
}

/// Feeds the first `length` bytes of the input window to a stream.
#[unsafe(no_mangle)]
pub extern "C" fn stream_push(handle: u32, length: u32) {
    FACE.with_borrow_mut(|face| {
        face.answer.clear();
        let Face { streams, input, answer, .. } = face;
        let Some(Some(stream)) = streams.get_mut(handle as usize) else { return };
        for output in stream.push(input.get(..length as usize).unwrap_or_default()) {
            answer.write(&output);
        }
        answer.publish(stream.is_terminal());
    });
}

/// Feeds the first `length` bytes of the input window to a stream of the AI SDK: the JSON text of one chunk.
#[unsafe(no_mangle)]
pub extern "C" fn stream_push_chunk(handle: u32, length: u32) {
    FACE.with_borrow_mut(|face| {
        face.answer.clear();
        let Face { streams, input, answer, .. } = face;
        let Some(Some(Stream::AiSdk(stream))) = streams.get_mut(handle as usize) else { return };
        let json = input.get(..length as usize).unwrap_or_default();
        for output in stream.push_chunk(str::from_utf8(json).unwrap_or_default()) {
            answer.write(&output);
        }
        answer.publish(stream.is_terminal());
    });
}

/// Ends a stream (0 end of body, 1 cancelled, 2 idle, 3 broken) and frees its handle. The last row is the outcome.
#[unsafe(no_mangle)]
pub extern "C" fn stream_finish(handle: u32, end: u32) {
    let end = match end {
        0 => BodyEnd::Eof,
        1 => BodyEnd::Cancelled,
        2 => BodyEnd::IdleTimeout,
        _ => BodyEnd::Broken,
    };
    FACE.with_borrow_mut(|face| {
        face.answer.clear();
        let Some(stream) = face.streams.get_mut(handle as usize).and_then(Option::take) else { return };
        let (outputs, outcome) = stream.finish(end);
        for output in &outputs {
            face.answer.write(output);
        }
        face.answer.json_row(OUTCOME, &outcome);
        face.answer.publish(true);
        face.finished = Some(outcome);
    });
}

#[inline(never)]
fn tool_names(json: &[u8]) -> ToolNames {
    serde_json::from_slice(json).unwrap_or_default()
}

impl Answer {
    fn clear(&mut self) {
        self.table.clear();
        self.table.shrink_to(1 << 16);
        // One large answer must not hold its memory for ever.
        self.arena.clear();
        self.arena.shrink_to(1 << 20);
        self.publish(false);
    }

    fn write(&mut self, output: &Output) {
        match output {
            Output::Part(Part::Text { value }) => {
                if !self.continue_text(value) {
                    self.row(TEXT, value);
                }
            }
            Output::Part(Part::Thinking { value, id, replay: None }) => {
                self.row(THINKING, id);
                self.row(CONTINUED, value);
            }
            Output::Part(Part::Thinking { value, id, replay: Some(replay) }) => {
                self.row(THINKING_REPLAY, id);
                self.row(CONTINUED, value);
                self.json_row(CONTINUED, replay);
            }
            Output::Part(Part::ToolCall { call_id, name, input_json }) => {
                self.row(TOOL_CALL, call_id);
                self.row(CONTINUED, name);
                self.row(CONTINUED, input_json);
            }
            Output::Part(Part::Data { mime_type, base64 }) => {
                self.row(DATA, mime_type);
                self.row(CONTINUED, base64);
            }
            Output::Part(part @ Part::Citations { .. }) => {
                self.json_row(CITATIONS, part);
            }
            Output::Note(note) => self.json_row(NOTE, note),
        }
    }

    /// The text of one push crosses as one piece: a shell would join it anyway.
    fn continue_text(&mut self, value: &str) -> bool {
        let [.., kind, bytes, units] = self.table.as_mut_slice() else { return false };
        if *kind != TEXT {
            return false;
        }
        *bytes += length(value.len());
        *units += utf16_length(value);
        self.arena.push_str(value);
        true
    }

    fn row(&mut self, kind: u32, text: &str) {
        self.arena.push_str(text);
        self.table.extend([kind, length(text.len()), utf16_length(text)]);
    }

    #[inline(never)]
    fn json_row(&mut self, kind: u32, value: &impl Serialize) {
        self.row(kind, &serde_json::to_string(value).unwrap_or_default());
    }

    fn publish(&mut self, is_terminal: bool) {
        self.header = Header {
            rows: length(self.table.len() / 3),
            table: address(self.table.as_ptr()),
            arena: address(self.arena.as_ptr()),
            arena_bytes: length(self.arena.len()),
            arena_units: self.table.iter().skip(2).step_by(3).sum(),
            is_terminal: u32::from(is_terminal),
        };
    }
}

fn utf16_length(text: &str) -> u32 {
    length(if text.is_ascii() { text.len() } else { text.encode_utf16().count() })
}

#[expect(clippy::cast_possible_truncation, reason = "linear memory has 32-bit addresses")]
fn length(length: usize) -> u32 {
    length as u32
}

#[expect(clippy::cast_possible_truncation, reason = "linear memory has 32-bit addresses")]
fn address<T>(pointer: *const T) -> u32 {
    pointer as usize as u32
}

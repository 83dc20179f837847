//! The receive path: turns the bytes of a body into parts and notes, and one outcome at the end.
//!
//! 1. `sse.rs` finds the events in the bytes. `long_line.rs` takes the long strings out of them.
//! 2. `decode.rs` turns an event into a wire event. `delta.rs` and `repeated.rs` are faster ways to do that for most events.
//! 3. `assemble.rs` turns wire events into parts. It asks `items.rs` which item an event belongs to, and passes it to the file
//!    for that kind of item: `messages.rs`, `reasoning.rs`, `calls.rs` or `images.rs`. `sink.rs` takes their parts and notes.
//! 4. `outcome.rs` says how the stream ended.
//!
//! Code that runs for every delta is in small functions, and code that runs rarely is `inline(never)`. A WebAssembly
//! engine treats a large function that is called often as hot, and optimizing it would take longer than reading the
//! first answer without. Without any of these attributes, here and in `exchange.rs`, `ai_sdk.rs` and the WebAssembly
//! crates, loading the module and reading 500 events took 1.5 times the CPU time in Node 20, and long texts took 1.05 to
//! 1.1 times as long. For the same reason, collections of a few elements are extended, not collected, which would sort
//! them: each element type brings its own copy of a sort.

mod arguments;
mod assemble;
mod calls;
mod citations;
mod decode;
mod delta;
mod images;
mod items;
mod long_line;
mod messages;
mod outcome;
mod reasoning;
mod repeated;
mod sink;
mod sorted;
pub mod sse;
mod streamed;

use std::mem;
use std::vec::Drain;

use serde::Deserialize;

pub(crate) use arguments::{ArgumentsText, Object};
pub(crate) use assemble::About;
pub(crate) use citations::{citations_part, is_hidden, plain_line};
pub(crate) use decode::protocol_word;
pub(crate) use images::{checked_base64, image_type_of_base64, padded};
pub(crate) use long_line::MAX_PLAIN_BYTES;
pub(crate) use outcome::{Verdict, judge};
pub(crate) use sink::Sink;

use crate::boundary::{NoteKind, Outcome, Output};
use crate::send::ToolNames;
use crate::surrogates::join_surrogates;
use crate::wire::StreamEvent;
use assemble::Assembler;
use decode::{Frame, decode, decode_delta};
use repeated::Repeated;
use sse::{SseEvent, SseParser};

/// An answer that is being received.
///
/// The calling contract: [`push`](Self::push) the body as it arrives, in any chunks. Stop reading as soon as
/// [`is_terminal`](Self::is_terminal) returns true, whether or not the server closes the connection. Then call
/// [`finish`](Self::finish) once, with the reason why the body ended. Nothing here fails or panics: problems with the
/// stream are in the notes and in the outcome.
#[derive(Clone, Debug)]
pub struct ResponseStream {
    parser: SseParser,
    repeated: Box<Repeated>,
    assembler: Assembler,
}

/// How an answer is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct StreamOptions {
    /// How large an answer may become.
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub limits: Limits,
    /// The names of the tools in the request, so that calls are reported under the names that VS Code knows.
    #[cfg_attr(test, ts(as = "Option<std::collections::BTreeMap<String, String>>"))]
    #[cfg_attr(answers_only, serde(skip))]
    pub tool_names: ToolNames,
    /// Whether call ids are reported without our prefix, for shells that build requests themselves.
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub plain_call_ids: bool,
    /// Whether there is a note for every event.
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub trace: bool,
}

/// Limits that no honest answer reaches. An answer that exceeds one fails with a message that names it. While it is
/// read in chunks of up to 64 KiB, a stream takes at most four times the larger of the first two in memory. The
/// defaults also limit how long one chunk can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// One SSE event, and the memory that reading it takes. The largest are generated images; everything else in an event
    /// may have a quarter of the default.
    pub max_event_bytes: usize,
    /// The total size of what is kept of one answer: text, thinking, arguments, ids, names and sources. Encrypted thinking
    /// may take up to a fifth of it, and arguments up to a tenth.
    pub max_answer_bytes: usize,
    /// How many output items an answer may have.
    pub max_items: usize,
    /// How many content parts all items may have together.
    pub max_content_parts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_event_bytes: 16 << 20, max_answer_bytes: 8 << 20, max_items: 4_096, max_content_parts: 1_024 }
    }
}

/// Why the body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum BodyEnd {
    /// The server ended the body.
    Eof,
    /// The caller no longer wants the answer.
    Cancelled,
    /// Nothing arrived for too long.
    IdleTimeout,
    /// The connection broke.
    Broken,
}

impl ResponseStream {
    /// Starts to read an answer.
    pub fn new(options: StreamOptions) -> Self {
        Self {
            parser: SseParser::taking_out_long_runs(options.limits.max_event_bytes),
            repeated: Box::default(),
            assembler: Assembler::new(options),
        }
    }

    /// Handles the next bytes and returns the outputs that they complete. The buffer behind the iterator is reused.
    pub fn push(&mut self, mut body: &[u8]) -> Drain<'_, Output> {
        while !body.is_empty() && !self.is_terminal() {
            body = self.push_event(body);
        }
        if self.is_terminal() {
            self.assembler.finish();
        }
        self.assembler.sink.outputs.drain(..)
    }

    /// Handles the bytes up to the end of the next event, and returns the rest.
    fn push_event<'a>(&mut self, body: &'a [u8]) -> &'a [u8] {
        let Self { parser, repeated, assembler } = self;
        if parser.is_between_events()
            && assembler.half.is_none()
            && let Some((frame, rest)) = repeated.read_chunk(body, assembler.sink.limits.max_event_bytes)
        {
            assembler.handle(frame);
            repeated.succeeded();
            return rest;
        }
        self.parse_event(body)
    }

    /// Does the same for an event that isn't recognized as a repeated one.
    #[inline(never)]
    fn parse_event<'a>(&mut self, body: &'a [u8]) -> &'a [u8] {
        let Self { parser, repeated, assembler } = self;
        let learns_lines = parser.is_between_events() && repeated.lacks_lines();
        // Another event may contain the data of the learned one, and still have other lines.
        let mut is_learned = false;
        let mut on_event = |event: SseEvent<'_>| {
            is_learned = handle_event(assembler, repeated, event, learns_lines);
        };
        match parser.push_event(body, &mut on_event) {
            Ok(rest) => {
                if learns_lines && is_learned {
                    repeated.learn_lines(body.get(..body.len() - rest.len()).unwrap_or_default());
                }
                rest
            }
            Err(error) => {
                assembler.give_up(error);
                &[]
            }
        }
    }

    /// Returns whether the server has begun a tool call and not finished it. Some providers send nothing until all of its
    /// arguments are there.
    pub fn has_open_call(&self) -> bool {
        self.assembler.has_open_call()
    }

    /// Returns whether the server has said how the answer ended.
    pub fn is_terminal(&self) -> bool {
        self.assembler.verdict.is_some()
    }

    /// Ends the answer and returns the last outputs and the outcome.
    pub fn finish(mut self, end: BodyEnd) -> (Vec<Output>, Outcome) {
        // After a cancellation, nothing more is shown.
        if !self.is_terminal() && end != BodyEnd::Cancelled {
            self.handle_leftover();
        }
        let mut assembler = self.assembler;
        assembler.finish();
        let outputs = mem::take(&mut assembler.sink.outputs);
        (outputs, outcome::judge(assembler.verdict, assembler.about, &assembler.sink, end))
    }

    #[inline(never)]
    fn handle_leftover(&mut self) {
        let Self { parser, repeated, assembler } = self;
        let leftover = parser.finish(&mut |event| _ = handle_event(assembler, repeated, event, false));
        if leftover {
            assembler.sink.note(NoteKind::Leftover, "");
        }
    }
}

/// Handles one event. With `learns_anew`, the fast path for repeated deltas learns from it even if it recognizes the event.
/// Returns whether it learned from the event.
fn handle_event(assembler: &mut Assembler, repeated: &mut Repeated, event: SseEvent<'_>, learns_anew: bool) -> bool {
    if assembler.half.is_none() {
        if !learns_anew && let Some(frame) = repeated.read(event) {
            assembler.handle(frame);
            repeated.succeeded();
            return false;
        }
        if let Some(frame) = decode_delta(event) {
            assembler.handle(frame);
            repeated.learn(event);
            return true;
        }
    }
    handle_general(assembler, event);
    false
}

/// Returns whether a character is written as `\uXXXX`. The search of the standard library would be three more functions to
/// compile, and a search for backslashes would start again after each of them.
fn has_unicode_escape(json: &[u8]) -> bool {
    json.windows(2).any(|pair| pair == b"\\u")
}

#[inline(never)]
fn handle_general(assembler: &mut Assembler, event: SseEvent<'_>) {
    // The first half of a surrogate pair, if an earlier delta ended with one. Only text can follow it.
    let mut half = assembler.half.take();
    let max_bytes = assembler.sink.limits.max_event_bytes;
    // An event whose text must be repaired is copied, and slow to read. Such events are short.
    let max_copy = max_bytes / 16;
    let data = match event.data_within(max_copy) {
        Ok(data) => data,
        Err(error) => return assembler.give_up(error),
    };
    let name = event.name();
    let max_memory = max_bytes.max(64 << 10);
    let may_be_mended = data.len() <= max_copy && has_unicode_escape(data.as_bytes());
    // The long strings of an event can be taken only once, so it can't be read again if it turns out not to be JSON.
    if event.long_runs.is_empty() || !may_be_mended {
        match decode(&data, event.long_runs, &name, max_memory) {
            // This isn't JSON, except perhaps for an unpaired surrogate.
            Frame::Note(_) if may_be_mended => {}
            frame => {
                let is_text = matches!(&frame, Frame::Event(decoded)
                    if matches!(&decoded.event, StreamEvent::Delta { delta, .. } if !delta.is_empty()));
                assembler.half = half.filter(|_| !is_text);
                return assembler.handle(frame);
            }
        }
    }
    let mended = join_surrogates(&data, &mut half);
    assembler.handle(decode(&mended, event.long_runs, &name, max_memory));
    assembler.half = half;
}

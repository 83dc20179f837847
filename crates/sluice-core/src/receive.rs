//! The receive path: a body's bytes in, parts and notes out, and one outcome at the end.
//!
//! What runs for every delta is kept in small functions, and what runs now and then stands beside them as `inline(never)`. To a
//! WebAssembly engine, a large function that is called often is a hot one, and optimizing it would take longer than to read
//! the first answer without.

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
pub mod sse;
mod streamed;

use std::mem;
use std::vec::Drain;

use serde::Deserialize;

pub(crate) use arguments::{ArgumentsText, Object};
pub(crate) use assemble::{About, Sink};
pub(crate) use citations::{citations_part, is_hidden, plain_line};
pub(crate) use decode::protocol_word;
pub(crate) use images::{checked_base64, image_type_of_base64, padded};
pub(crate) use long_line::MAX_PLAIN_BYTES;
pub(crate) use outcome::{Verdict, judge};

use crate::boundary::{NoteKind, Outcome, Output};
use crate::send::ToolNames;
use crate::surrogates::mend_surrogates;
use assemble::Assembler;
use decode::{Frame, decode, decode_delta};
use sse::{SseEvent, SseParser};

/// One answer being received.
///
/// The calling contract: [`push`](Self::push) the body as it arrives, in any pieces and any number of times; stop
/// reading as soon as [`is_terminal`](Self::is_terminal) says so, whether or not the server closes; then
/// [`finish`](Self::finish) once, saying why the bytes stopped. Nothing here fails or panics: what is wrong with the
/// stream is in the notes and in the outcome.
#[derive(Clone, Debug)]
pub struct ResponseStream {
    parser: SseParser,
    assembler: Assembler,
}

/// How an answer is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct StreamOptions {
    #[serde(skip)]
    #[cfg_attr(test, ts(skip))]
    pub limits: Limits,
    /// The names the request gave to its tools, so that calls carry the ones VS Code knows.
    #[cfg_attr(test, ts(as = "Option<std::collections::BTreeMap<String, String>>"))]
    pub tool_names: ToolNames,
    /// Call ids as the server gave them, without our prefix; for shells whose requests are not built here.
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub plain_call_ids: bool,
    /// Give a note for every event read.
    #[cfg_attr(test, ts(as = "Option<bool>"))]
    pub trace: bool,
}

/// Bounds that no honest answer reaches. An answer that passes one fails with a message that names it. While it is read in
/// chunks of up to 64 KiB, a stream takes at most four times the larger of the first two in memory. The defaults also bound
/// how long one chunk can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// One SSE event, and the memory that reading it takes. The largest are generated images; everything else in an event
    /// may have a quarter of the default.
    pub max_event_bytes: usize,
    /// All that is kept of one answer: text, thinking, arguments, ids, names, sources. Encrypted thinking may be a fifth of
    /// it, arguments a tenth.
    pub max_answer_bytes: usize,
    pub max_items: usize,
    pub max_content_parts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_event_bytes: 16 << 20, max_answer_bytes: 8 << 20, max_items: 1_024, max_content_parts: 1_024 }
    }
}

/// Why no more bytes come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum BodyEnd {
    Eof,
    Cancelled,
    /// Nothing came for too long.
    IdleTimeout,
    /// The connection broke.
    Broken,
}

impl ResponseStream {
    pub fn new(options: StreamOptions) -> Self {
        Self {
            parser: SseParser::taking_out_long_runs(options.limits.max_event_bytes),
            assembler: Assembler::new(options),
        }
    }

    /// Takes the next bytes and gives what they complete. The buffer behind the iterator is used again and again.
    pub fn push(&mut self, body: &[u8]) -> Drain<'_, Output> {
        let assembler = &mut self.assembler;
        if assembler.verdict.is_none()
            && let Err(error) = self.parser.push(body, &mut |event| handle_event(assembler, event))
        {
            assembler.give_up(error);
        }
        if assembler.verdict.is_some() {
            assembler.sink.sum_up_notes();
        }
        assembler.sink.outputs.drain(..)
    }

    /// Whether the server has said how the answer ended.
    pub fn is_terminal(&self) -> bool {
        self.assembler.verdict.is_some()
    }

    pub fn finish(mut self, end: BodyEnd) -> (Vec<Output>, Outcome) {
        // After a cancellation nobody wants to hear more.
        if !self.is_terminal() && end != BodyEnd::Cancelled {
            self.handle_leftover();
        }
        let mut assembler = self.assembler;
        assembler.sink.sum_up_notes();
        let outputs = mem::take(&mut assembler.sink.outputs);
        (outputs, outcome::judge(assembler.verdict, assembler.about, &assembler.sink, end))
    }

    #[inline(never)]
    fn handle_leftover(&mut self) {
        let assembler = &mut self.assembler;
        let leftover = self.parser.finish(&mut |event| handle_event(assembler, event));
        if leftover {
            assembler.sink.note(NoteKind::Leftover, "");
        }
    }
}

fn handle_event(assembler: &mut Assembler, event: SseEvent<'_>) {
    match decode_delta(event) {
        Some(frame) => assembler.handle(frame),
        None => handle_general(assembler, event),
    }
}

#[inline(never)]
fn handle_general(assembler: &mut Assembler, event: SseEvent<'_>) {
    let max_bytes = assembler.sink.limits.max_event_bytes;
    // An event with text that must be mended is copied, and slow to read. None of them is long.
    let max_copy = max_bytes / 16;
    let data = match event.data_within(max_copy) {
        Ok(data) => data,
        Err(error) => return assembler.give_up(error),
    };
    let name = event.name();
    let max_memory = max_bytes.max(64 << 10);
    let may_be_mended = || data.len() <= max_copy && data.contains("\\u");
    // The long strings of an event can be taken once, so that it cannot be read again if it turns out not to be JSON.
    if !event.long_runs.is_empty() && may_be_mended() {
        return assembler.handle(decode(&mend_surrogates(&data), event.long_runs, &name, max_memory));
    }
    match decode(&data, event.long_runs, &name, max_memory) {
        // This is not JSON, or it is but for half a surrogate pair, which JavaScript servers write when they cut text between
        // UTF-16 units.
        Frame::Note(_) if may_be_mended() => {
            assembler.handle(decode(&mend_surrogates(&data), event.long_runs, &name, max_memory));
        }
        frame => assembler.handle(frame),
    }
}

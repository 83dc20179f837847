//! The second dialect: turns chunks of the Vercel AI SDK into the same parts, notes and outcome.
//!
//! The SDK has two formats for an answer: the parts of `fullStream`, and the chunks of UI message streams, which are
//! also sent as server-sent events. No other module knows their names:
//!
//! 1. `ai_sdk/fields.rs`: a JSON object's fields, none of them required
//! 2. `ai_sdk/chunk.rs`: one chunk, by its name
//! 3. `ai_sdk/assemble.rs`: chunks to parts; `calls.rs`, `data.rs`, `usage.rs` and `error.rs` have a topic each

mod assemble;
mod calls;
mod chunk;
mod data;
mod error;
mod fields;
mod usage;

use std::mem;
use std::vec::Drain;

use crate::boundary::{NoteKind, Outcome, Output};
use crate::receive::sse::{EventTooLarge, SseEvent, SseParser};
use crate::receive::{BodyEnd, StreamOptions, judge};
use crate::wire::LongRuns;
use assemble::Assembler;

pub use chunk::is_ai_sdk_chunk;

/// An answer that is being received as AI SDK chunks.
///
/// The calling contract is that of [`ResponseStream`](crate::ResponseStream): push, stop when terminal, finish once.
/// Push either [chunks](Self::push_chunk), each as JSON text, or the [bytes](Self::push) of a UI message stream's HTTP
/// body, in any chunks, but not both.
#[derive(Clone, Debug)]
pub struct ChunkStream {
    parser: SseParser,
    is_body: bool,
    assembler: Assembler,
}

impl ChunkStream {
    /// Starts to read an answer.
    pub fn new(options: StreamOptions) -> Self {
        let parser = SseParser::taking_out_long_runs(options.limits.max_event_bytes);
        Self { parser, is_body: false, assembler: Assembler::new(options) }
    }

    /// Handles the JSON text of one chunk and returns the outputs that it completes.
    pub fn push_chunk(&mut self, json: &str) -> Drain<'_, Output> {
        let max_bytes = self.assembler.sink.limits.max_event_bytes;
        if json.len() > max_bytes {
            self.assembler.give_up(EventTooLarge::Longer { max_bytes });
        } else {
            self.assembler.handle(json, &LongRuns::default());
        }
        self.assembler.outputs()
    }

    /// Handles the next bytes of a body and returns the outputs that they complete.
    #[inline(never)]
    pub fn push(&mut self, body: &[u8]) -> Drain<'_, Output> {
        self.is_body = true;
        let assembler = &mut self.assembler;
        if assembler.verdict.is_none()
            && let Err(error) = self.parser.push(body, &mut |event| handle_event(assembler, event))
        {
            assembler.give_up(error);
        }
        assembler.outputs()
    }

    /// Returns whether a tool call has begun and not ended.
    pub fn has_open_call(&self) -> bool {
        self.assembler.has_open_call()
    }

    /// Returns whether nothing can change the answer any more.
    pub fn is_terminal(&self) -> bool {
        self.assembler.verdict.is_some()
    }

    /// Ends the answer and returns the last outputs and the outcome.
    #[inline(never)]
    pub fn finish(mut self, end: BodyEnd) -> (Vec<Output>, Outcome) {
        let mut assembler = self.assembler;
        if assembler.verdict.is_none() && end != BodyEnd::Cancelled {
            let leftover = self.parser.finish(&mut |event| handle_event(&mut assembler, event));
            if leftover {
                assembler.sink.note(NoteKind::Leftover, "");
            }
        }
        assembler.end(end, self.is_body);
        assembler.sink.sum_up_notes();
        let outputs = mem::take(&mut assembler.sink.outputs);
        (outputs, judge(assembler.verdict, assembler.about, &assembler.sink, end))
    }
}

fn handle_event(assembler: &mut Assembler, event: SseEvent<'_>) {
    let data = match event.data_within(assembler.sink.limits.max_event_bytes / 16) {
        Ok(data) => data,
        Err(error) => return assembler.give_up(error),
    };
    match data.trim_ascii() {
        "" => {}
        "[DONE]" => assembler.done(),
        json => assembler.handle(json, event.long_runs),
    }
}

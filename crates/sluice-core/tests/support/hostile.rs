//! Hostile input: what a server can send to make its reader slow or make it use much memory. Each generator targets one
//! place where a reader might do work that grows faster than the input.
//!
//! It is deterministic and has no dependencies: tests, benchmarks, the meter and the fuzz targets all include this
//! file.

#[path = "hostile_answers.rs"]
mod answers;
#[path = "hostile_calls.rs"]
mod calls;
#[path = "hostile_chunks.rs"]
mod chunks;
#[path = "hostile_framing.rs"]
mod framing;
#[path = "hostile_largest.rs"]
mod largest;
#[path = "hostile_lists.rs"]
mod lists;
#[path = "hostile_steps.rs"]
mod steps;

#[allow(unused_imports, reason = "for those who search")]
pub use steps::{Step, body};

/// A way to make hostile input of any size.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    pub name: &'static str,
    pub input: Input,
    /// Makes about this many bytes.
    pub make: fn(usize) -> Vec<u8>,
}

/// What kind of input a generator makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The body of an Open Responses stream.
    OpenResponses,
    /// The body of an AI SDK message stream.
    AiSdk,
    /// The response to `GET /models`.
    ModelList,
    /// The response to `GET /models/{creator}/{model}/endpoints`.
    ModelEndpoints,
    /// The body of an HTTP error.
    ErrorBody,
    /// The value of an HTTP error's `Retry-After` header.
    RetryAfter,
    /// A whole response as JSON, from a server that doesn't stream.
    WholeAnswer,
    /// Text in which secrets are masked.
    Masked,
}

/// Returns all generators. Their names are unique.
pub fn generators() -> Vec<Generator> {
    let open_responses = [framing::GENERATORS, answers::GENERATORS, calls::GENERATORS].concat();
    let streams = open_responses.into_iter().map(|(name, make)| Generator { name, input: Input::OpenResponses, make });
    let chunks = chunks::GENERATORS.iter().map(|(name, make)| Generator { name, input: Input::AiSdk, make: *make });
    let others = lists::GENERATORS.iter().map(|(name, input, make)| Generator { name, input: *input, make: *make });
    streams.chain(chunks).chain(others).collect()
}

/// Streams that make a single push as expensive as the limits allow, each with the number to call it with.
pub fn largest() -> Vec<(Generator, usize)> {
    largest::generators()
}

type Streams<'a> = &'a [(&'static str, fn(usize) -> Vec<u8>)];
type Others<'a> = &'a [(&'static str, Input, fn(usize) -> Vec<u8>)];

/// A body under construction.
#[derive(Default)]
struct Body(Vec<u8>);

impl Body {
    /// Appends one event.
    fn event(mut self, json: &str) -> Self {
        self.0.extend_from_slice(b"data: ");
        self.0.extend_from_slice(json.as_bytes());
        self.0.extend_from_slice(b"\n\n");
        self
    }

    /// Appends about `bytes` bytes of events. `json` gets the number of each event, starting at 0.
    fn events(mut self, bytes: usize, json: impl Fn(usize) -> String) -> Self {
        let end = self.0.len() + bytes;
        let mut number = 0;
        while self.0.len() < end {
            self = self.event(&json(number));
            number += 1;
        }
        self
    }

    /// Appends about `bytes` bytes of what `piece` returns.
    fn raw(mut self, bytes: usize, piece: impl Fn(usize) -> Vec<u8>) -> Self {
        let end = self.0.len() + bytes;
        let mut number = 0;
        while self.0.len() < end {
            self.0.extend(piece(number));
            number += 1;
        }
        self
    }

    fn completed(self) -> Vec<u8> {
        self.completed_with("")
    }

    /// Ends the stream with a final output.
    fn completed_with(self, output: &str) -> Vec<u8> {
        self.event(&format!(r#"{{"type":"response.completed","response":{{"output":[{output}]}}}}"#)).0
    }
}

/// Returns about `bytes` bytes of elements, separated by commas.
fn list(bytes: usize, element: impl Fn(usize) -> String) -> String {
    let mut list = String::with_capacity(bytes);
    let mut number = 0;
    while list.len() < bytes {
        if number > 0 {
            list.push(',');
        }
        list.push_str(&element(number));
        number += 1;
    }
    list
}

/// Returns as many repetitions as fit into `bytes`.
fn fill(bytes: usize, text: &str) -> String {
    text.repeat(bytes / text.len())
}

/// Returns an `output_item.added` event.
fn added(index: impl std::fmt::Display, item: &str) -> String {
    format!(r#"{{"type":"response.output_item.added","output_index":{index},"item":{{{item}}}}}"#)
}

/// Returns an `output_item.done` event.
fn done(index: impl std::fmt::Display, item: &str) -> String {
    format!(r#"{{"type":"response.output_item.done","output_index":{index},"item":{{{item}}}}}"#)
}

/// Returns the fields of a call.
fn call(call_id: &str, name: &str, arguments: &str) -> String {
    let arguments = arguments.replace('\\', "\\\\").replace('"', "\\\"");
    format!(r#""type":"function_call","call_id":"{call_id}","name":"{name}","arguments":"{arguments}""#)
}

/// Returns the fields of a message with one text.
fn message(text: &str) -> String {
    format!(r#""type":"message","content":[{{"type":"output_text","text":"{text}"}}]"#)
}

/// Returns a `.delta` event. `kind` is `output_text`, `function_call_arguments` and so on.
fn delta(kind: &str, place: &str, text: &str) -> String {
    format!(r#"{{"type":"response.{kind}.delta",{place},"delta":"{text}"}}"#)
}

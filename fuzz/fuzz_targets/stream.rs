//! Reads sequences of events whose fields the fuzzer chooses. The outputs are the same for any chunking, and the
//! invariants hold.
#![no_main]

use std::collections::BTreeSet;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sluice_core::{BodyEnd, Outcome, Output, Part, ResponseStream, Status, StreamOptions};

#[derive(Arbitrary, Debug)]
struct Input {
    events: Vec<Event>,
    chunk: u8,
    line_end: u8,
}

#[derive(Arbitrary, Debug)]
struct Event {
    kind: u8,
    index: Option<u8>,
    id: Option<u8>,
    call: Option<u8>,
    text: Text,
    item: u8,
    status: u8,
}

#[derive(Arbitrary, Debug)]
enum Text {
    Free(String),
    Object(u8),
    Open,
    Empty,
}

const KINDS: [&str; 20] = [
    "response.output_text.delta",
    "response.output_text.done",
    "response.output_item.added",
    "response.output_item.done",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.reasoning.delta",
    "response.reasoning.done",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.refusal.delta",
    "response.refusal.done",
    "response.content_part.done",
    "response.output_text.annotation.added",
    "response.created",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "error",
    "response.unheard_of",
];

fuzz_target!(|input: Input| {
    let line_end = ["\n", "\r\n", "\r"][usize::from(input.line_end % 3)];
    let body: String = input.events.iter().map(|event| event.frame(line_end)).collect();
    let (outputs, outcome) = decode(body.as_bytes(), body.len().max(1));
    let chunked = decode(body.as_bytes(), usize::from(input.chunk) + 1);
    assert_eq!((&outputs, &outcome), (&chunked.0, &chunked.1));

    let mut ids = BTreeSet::new();
    for output in &outputs {
        if let Output::Part(Part::ToolCall { call_id, name, input_json }) = output {
            assert!(ids.insert(call_id), "{call_id} twice");
            assert!(call_id.starts_with("gw-") && call_id.len() <= 64 && !name.is_empty());
            assert!(input_json.starts_with('{') && input_json.ends_with('}'));
        }
    }
    let gave_part = outputs.iter().any(|output| matches!(output, Output::Part(_)));
    assert!(!outcome.retry_safe || !gave_part);
    assert!(outcome.status != Status::Completed || body.contains("response.completed"));
});

fn decode(body: &[u8], chunk: usize) -> (Vec<Output>, Outcome) {
    let mut stream = ResponseStream::new(StreamOptions::default());
    let mut outputs: Vec<Output> = Vec::new();
    body.chunks(chunk).for_each(|piece| outputs.extend(stream.push(piece)));
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    outputs.extend(rest);
    (outputs, outcome)
}

impl Event {
    fn frame(&self, line_end: &str) -> String {
        let kind = KINDS[usize::from(self.kind) % KINDS.len()];
        let text = match &self.text {
            Text::Free(text) => quoted(text),
            Text::Object(value) => quoted(&format!("{{\"x\":{value}}}")),
            Text::Open => quoted("{\"x\":"),
            Text::Empty => quoted(""),
        };
        let item_kind = ["message", "function_call", "reasoning", "image_generation_call", "slug:other"];
        let item_kind = item_kind[usize::from(self.item) % item_kind.len()];
        let status = ["completed", "incomplete", "in_progress"][usize::from(self.status) % 3];
        let mut item =
            format!(r#"{{"type":"{item_kind}","status":"{status}","arguments":{text},"name":"f{}""#, self.item % 3);
        self.id.iter().for_each(|id| item.push_str(&format!(r#","id":"i{id}""#)));
        self.call.iter().for_each(|call| item.push_str(&format!(r#","call_id":"c{}""#, call % 4)));
        item.push_str(&format!(r#","content":[{{"type":"output_text","text":{text}}}]}}"#));
        let mut data = format!(r#"{{"type":"{kind}","delta":{text},"text":{text},"arguments":{text},"item":{item}"#);
        self.index.iter().for_each(|index| data.push_str(&format!(r#","output_index":{}"#, index % 4)));
        self.id.iter().for_each(|id| data.push_str(&format!(r#","item_id":"i{id}""#)));
        data.push_str(&format!(r#","response":{{"output":[{item}]}}}}"#));
        format!("event: {kind}{line_end}data: {data}{line_end}{line_end}")
    }
}

/// Returns a JSON string. Line endings in it are escaped.
fn quoted(text: &str) -> String {
    let mut json = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c.is_control() => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json + "\""
}

//! What the tests of the AI SDK dialect share: chunks in, a rendering of all outputs out.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use expect_test::Expect;
use sluice_core::{BodyEnd, ChunkStream, Outcome, Output, Part, StreamOptions};

/// Each line of the input is one chunk. The same chunks as a body of server-sent events must give the same result.
pub fn check(chunks: &str, expected: Expect) {
    let chunks: Vec<&str> = chunks.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut stream = ChunkStream::new(StreamOptions::default());
    let mut outputs = Vec::new();
    for chunk in &chunks {
        outputs.extend(stream.push_chunk(chunk));
    }
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    outputs.extend(rest);
    expected.assert_eq(&render(&outputs, &outcome));

    let events: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let as_body = run_body(&(events + "data: [DONE]\n\n"));
    let reason = |outcome: Outcome| Outcome {
        reason: outcome.reason.filter(|reason| reason != "eof" && reason != "done_marker"),
        ..outcome
    };
    assert_eq!((as_body.0, reason(as_body.1)), (outputs, reason(outcome)), "as a body");
}

pub fn render(outputs: &[Output], outcome: &Outcome) -> String {
    let mut lines: String = outputs.iter().map(|output| render_output(output) + "\n").collect();
    lines.push_str(&format!("{:?}", outcome.status));
    let extras = [
        outcome.reason.clone(),
        outcome.error.as_ref().map(|e| format!("{:?} {:?} {:?} {:?}", e.kind, e.code, e.message, e.retry_after_ms)),
        outcome.empty.map(|empty| format!("empty: {empty:?}")),
        outcome.model.clone(),
        outcome.response_id.clone(),
        outcome.usage.as_ref().map(|usage| serde_json::to_string(usage).unwrap()),
        outcome.retry_safe.then(|| "may retry".to_owned()),
    ];
    extras.into_iter().flatten().for_each(|extra| lines.push_str(&format!(", {extra}")));
    lines + "\n"
}

fn render_output(output: &Output) -> String {
    match output {
        Output::Part(Part::Text { value }) => format!("text {value:?}"),
        Output::Part(Part::Thinking { value, id, replay: None }) => format!("thinking {id} {value:?}"),
        Output::Part(Part::Thinking { id, replay: Some(replay), .. }) => format!("replay {id} {replay:?}"),
        Output::Part(Part::ToolCall { call_id, name, input_json }) => format!("call {call_id} {name} {input_json}"),
        Output::Part(Part::Data { mime_type, base64 }) if mime_type.ends_with("json") => {
            format!("data {mime_type} {}", String::from_utf8(STANDARD.decode(base64).unwrap()).unwrap())
        }
        Output::Part(Part::Data { mime_type, base64 }) => format!("data {mime_type} {base64}"),
        Output::Part(Part::Citations { citations, .. }) => {
            format!("citations {}", serde_json::to_string(citations).unwrap())
        }
        Output::Note(note) => format!("note {:?} {}", note.kind, note.detail),
    }
}

pub fn run_body(body: &str) -> (Vec<Output>, Outcome) {
    let mut stream = ChunkStream::new(StreamOptions::default());
    let mut outputs: Vec<Output> = stream.push(body.as_bytes()).collect();
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    outputs.extend(rest);
    (outputs, outcome)
}

//! Turns events into bytes, in the standard framing or with faults.

use super::Faults;
use crate::http::{Chunks, TimedChunk};
use crate::perform::{Event, StreamElement};
use crate::seed::Seed;

/// Returns an event stream in the standard framing: each write has whole frames, a frame has one `event` and one `data`
/// line that end with LF, and `[DONE]` is last.
pub fn by_the_book(elements: Vec<StreamElement>) -> Chunks {
    let mut chunks = Chunks::default();
    for element in elements {
        match element {
            StreamElement::Event(event) => chunks.push(event.delay_ms, event.frame()),
            StreamElement::Deltas(deltas) => chunks.push_deltas(deltas),
        }
    }
    chunks.push(0, b"data: [DONE]\n\n".to_vec());
    chunks
}

/// Returns an event stream whose framing has faults.
pub fn render(faults: &Faults, events: &[Event], seed: &mut Seed) -> Vec<TimedChunk> {
    let events: Vec<&Event> = if faults.has("early-eof") {
        events.iter().take_while(|event| !event.is_terminal()).collect()
    } else {
        events.iter().collect()
    };
    let without_done =
        ["no-done", "no-final-blank-line", "close-after-completed", "stall-after-completed", "early-eof", "done-early"];
    let mut frames = Frames { faults, chunks: Chunks::default(), seed };
    if faults.has("no-event-lines") {
        frames.push(0, &[":"]);
    }
    let damaged = if faults.has("invalid-utf8") {
        events.iter().position(|event| event.kind == "response.output_text.delta")
    } else {
        None
    };
    for (at, event) in events.iter().enumerate() {
        // The JSON texts of the event. There are two if its delta is split.
        let mut texts = vec![if faults.has("type-in-event-line") {
            Event { is_untyped: true, ..(*event).clone() }.json()
        } else {
            event.json()
        }];
        if faults.has("split-surrogates") && event.is_delta() {
            texts = texts.iter().flat_map(|text| split_at_surrogates(text)).collect();
        }
        if faults.has("done-early") && event.is_terminal() {
            frames.push(0, &["data: [DONE]"]);
        }
        if faults.has("keep-alive") {
            frames.push(event.delay_ms, &[": keep-alive"]);
        }
        for json in texts {
            let mut lines = Vec::new();
            if faults.has("id-and-retry") {
                lines.push(format!("id: {at}"));
                lines.push("retry: 3000".into());
            }
            if !faults.has("no-event-lines") && !event.kind.is_empty() {
                lines.push(format!("event: {}", event.kind));
            }
            if faults.has("multi-line-data") {
                let value: Option<serde_json::Value> = serde_json::from_str(&json).ok();
                let pretty = value.map_or(json, |value| format!("{value:#}"));
                lines.extend(pretty.lines().map(|line| format!("data: {line}")));
            } else {
                lines.push(format!("data: {json}"));
            }
            let delay = faults.number("keep-alive").unwrap_or(event.delay_ms);
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            if Some(at) == damaged {
                frames.push_damaged(delay, &lines);
            } else {
                frames.push(delay, &lines);
            }
        }
    }
    if !without_done.iter().any(|name| faults.has(name)) {
        frames.push(0, &["data: [DONE]"]);
    }
    let mut chunks = frames.chunks.to_vec();
    if faults.has("no-final-blank-line")
        && let Some(last) = chunks.last_mut()
    {
        let end = last.bytes.iter().rposition(|byte| !b"\r\n".contains(byte)).map_or(0, |at| at + 1);
        last.bytes.truncate(end);
    }
    if faults.has("bom")
        && let Some(first) = chunks.first_mut()
    {
        first.bytes.splice(0..0, *b"\xEF\xBB\xBF");
    }
    chunks
}

/// Splits the JSON text of a delta within each character that takes two UTF-16 units.
fn split_at_surrogates(json: &str) -> Vec<String> {
    const START: &str = "\"delta\":\"";
    let whole = || vec![json.to_owned()];
    let Some(start) = json.find(START).map(|at| at + START.len()) else { return whole() };
    // The delta ends with the first quotation mark that isn't escaped.
    let mut is_escaped = false;
    let end = json[start..].find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    let Some(end) = end.map(|length| start + length) else { return whole() };
    let (head, delta, tail) = (&json[..start], &json[start..end], &json[end..]);
    let (mut pieces, mut piece) = (Vec::new(), String::new());
    for c in delta.chars() {
        let mut units = [0; 2];
        if let [first, second] = c.encode_utf16(&mut units) {
            pieces.push(format!("{piece}\\u{first:04x}"));
            piece = format!("\\u{second:04x}");
        } else {
            piece.push(c);
        }
    }
    pieces.push(piece);
    pieces.into_iter().map(|piece| format!("{head}{piece}{tail}")).collect()
}

struct Frames<'a> {
    faults: &'a Faults,
    chunks: Chunks,
    seed: &'a mut Seed,
}

impl Frames<'_> {
    fn push(&mut self, delay_ms: u64, lines: &[&str]) {
        let mut bytes = Vec::new();
        for line in lines.iter().chain(&[""]) {
            let line = if self.faults.has("no-space") { line.replacen(": ", ":", 1) } else { (*line).to_owned() };
            bytes.extend_from_slice(line.as_bytes());
            let end = self.line_end();
            // LF after CR would belong to the same line end, so it wouldn't make a blank line.
            let one_end = line.is_empty() && end == b"\n" && bytes.ends_with(b"\r");
            bytes.extend_from_slice(if one_end { b"\r\n" } else { end });
        }
        self.chunks.push(delay_ms, bytes);
    }

    /// Inserts invalid UTF-8 before the last quotation mark, at the end of the delta.
    fn push_damaged(&mut self, delay_ms: u64, lines: &[&str]) {
        let end = self.line_end();
        let mut bytes = lines.join("\n").into_bytes();
        let at = bytes.iter().rposition(|byte| *byte == b'"').unwrap_or(0);
        bytes.splice(at..at, *b"\xFF\xC3(");
        let mut framed: Vec<u8> = Vec::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            framed.extend_from_slice(line);
            framed.extend_from_slice(end);
        }
        framed.extend_from_slice(end);
        self.chunks.push(delay_ms, framed);
    }

    fn line_end(&mut self) -> &'static [u8] {
        let ends: [&[u8]; 3] = [b"\n", b"\r\n", b"\r"];
        match () {
            () if self.faults.has("crlf") => ends[1],
            () if self.faults.has("cr") => ends[2],
            () if self.faults.has("mixed-lines") => ends[self.seed.below(3)],
            () => ends[0],
        }
    }
}

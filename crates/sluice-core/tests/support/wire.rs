//! From event values to the bytes of a body.

use serde_json::{Value, json};

/// Returns the event's `type`, if it is a string.
pub fn name_of(event: &Value) -> &str {
    event.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the last word of the event's type: `delta`, `done`, `added`, …
pub fn verb_of(event: &Value) -> &str {
    name_of(event).rsplit('.').next().unwrap_or_default()
}

/// Returns one SSE event with its `event:` line.
pub fn frame(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", name_of(event))
}

/// How a list of events is written out.
#[expect(clippy::struct_excessive_bools, reason = "each is a habit of some servers and not of others")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    pub event_lines: bool,
    pub types_in_json: bool,
    pub done_marker: bool,
    pub numbered: bool,
    pub line_end: &'static str,
}

impl Default for Wire {
    /// The format of the schema.
    fn default() -> Self {
        Self { event_lines: true, types_in_json: true, done_marker: true, numbered: true, line_end: "\n" }
    }
}

impl Wire {
    pub fn bytes(self, events: &[Value]) -> Vec<u8> {
        let events = if self.numbered { numbered(events) } else { events.to_vec() };
        let frames: Vec<String> = events.iter().map(|event| self.frame(event, name_of(event))).collect();
        self.join(&frames)
    }

    /// Returns one SSE event with the given `event:` line.
    pub fn frame(self, event: &Value, name: &str) -> String {
        let mut event = event.clone();
        if !self.types_in_json
            && let Some(fields) = event.as_object_mut()
        {
            fields.remove("type");
        }
        if self.event_lines { format!("event: {name}\ndata: {event}\n\n") } else { format!("data: {event}\n\n") }
    }

    pub fn join(self, frames: &[String]) -> Vec<u8> {
        let mut body = frames.concat();
        if self.done_marker {
            body.push_str("data: [DONE]\n\n");
        }
        body.replace('\n', self.line_end).into_bytes()
    }
}

/// Returns the body in the schema's format.
pub fn body(events: &[Value]) -> Vec<u8> {
    Wire::default().bytes(events)
}

/// Adds a `sequence_number` to the events.
pub fn numbered(events: &[Value]) -> Vec<Value> {
    let mut events = events.to_vec();
    for (event, number) in events.iter_mut().zip(0_u64..) {
        if let Some(fields) = event.as_object_mut() {
            fields.insert("sequence_number".to_owned(), json!(number));
        }
    }
    events
}

//! Framing of any bytes, split anywhere, equals a naive implementation of the WHATWG rules.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_core::sse::SseParser;

type Event = (String, String);

fuzz_target!(|input: (Vec<u8>, Vec<u8>)| {
    let (body, cuts) = input;
    let expected = naive(&body);
    let mut parser = SseParser::new(usize::MAX);
    let mut got: Vec<Event> = Vec::new();
    let mut on_event = |event: sluice_core::sse::SseEvent<'_>| got.push((event.name().into(), event.data().into()));
    let mut rest = body.as_slice();
    for cut in cuts {
        let (piece, after) = rest.split_at(rest.len().min(cut.into()));
        parser.push(piece, &mut on_event).expect("no limit");
        rest = after;
    }
    parser.push(rest, &mut on_event).expect("no limit");
    assert_eq!(got, expected);
});

/// Reads the whole body at once: decodes it, splits it into lines and interprets them.
fn naive(body: &[u8]) -> Vec<Event> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let text = String::from_utf8_lossy(body).replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = text.split('\n').collect();
    // The text after the last line ending isn't a line yet.
    lines.pop();
    let (mut events, mut name, mut data) = (Vec::new(), String::new(), None::<String>);
    for line in lines {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" if line.is_empty() => {
                if let Some(data) = data.take() {
                    events.push((name.clone(), data));
                }
                name.clear();
            }
            "event" => name = value.to_owned(),
            "data" => data = Some(data.map_or_else(|| value.to_owned(), |data| data + "\n" + value)),
            _ => {}
        }
    }
    events
}

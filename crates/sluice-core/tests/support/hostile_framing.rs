//! Hostile framing: bytes, lines, events and deltas, independent of their meaning.

use super::{Body, Streams, delta, fill};

pub(super) const GENERATORS: Streams<'_> = &[
    ("comments", |n| Body::default().raw(n, |_| b": ping\n\n".to_vec()).completed()),
    ("one long comment", |n| Body::default().raw(n, |_| b":".repeat(4096)).completed()),
    ("blank lines", |n| Body::default().raw(n, |_| b"\n".to_vec()).completed()),
    ("line ends of every kind", |n| {
        let ends = ["\r", "\n", "\r\n", "\n\r", "\r\r\n"];
        Body::default().raw(n, |i| format!("data:x{}{}", ends[i % 5], ends[i / 5 % 5]).into_bytes()).completed()
    }),
    ("one event of empty data lines", |n| Body::default().raw(n, |_| b"data\n".to_vec()).completed()),
    ("one event of short data lines", |n| Body::default().raw(n, |_| b"data: 1,\n".to_vec()).completed()),
    ("one JSON string over many data lines", |n| {
        let mut body = Body::default().raw(n, |_| b"data:         \n".to_vec());
        body.0.extend_from_slice(b"data: {\"type\":\"response.created\"}\n\n");
        body.completed()
    }),
    ("events of empty data", |n| Body::default().raw(n, |_| b"data:\n\n".to_vec()).completed()),
    ("events that are not JSON", |n| Body::default().raw(n, |_| b"data:x\n\n".to_vec()).completed()),
    ("events that are other JSON", |n| Body::default().raw(n, |_| b"data:[]\n\n".to_vec()).completed()),
    ("event names without data", |n| Body::default().raw(n, |_| b"event: response.created\n".to_vec()).completed()),
    ("one long event name", |n| {
        let name = fill(n, "response.");
        Body(format!("event: {name}\ndata: {{}}\n\n").into_bytes()).completed()
    }),
    ("unknown fields", |n| Body::default().raw(n, |i| format!("id: {i}\nretry: 1\nx\n").into_bytes()).completed()),
    ("byte order marks", |n| Body::default().raw(n, |_| "\u{FEFF}data:x\n\n".into()).completed()),
    ("bytes that are not UTF-8", |n| {
        Body::default()
            .raw(n, |_| b"data: {\"type\":\"\xff\xc0\xf0\x80\",\"delta\":\"\xed\xa0\x80\"}\n\n".to_vec())
            .completed()
    }),
    ("a text of bytes that are not UTF-8", |n| {
        let mut body = b"data: {\"type\":\"response.output_text.delta\",\"delta\":\"".to_vec();
        body.extend(b"\xf0\x90".repeat(n / 2));
        body.extend_from_slice(b"\"}\n\n");
        Body(body).completed()
    }),
    ("a line that never ends", |n| [b"data: ".to_vec(), b"x".repeat(n)].concat()),
    ("JSON that never ends", |n| [b"data: ".to_vec(), b"[".repeat(n)].concat()),
    ("deep JSON", |n| {
        Body::default().event(&format!(r#"{{"x":{}{}}}"#, "[".repeat(n / 2), "]".repeat(n / 2))).completed()
    }),
    ("many deep events", |n| {
        let deep = format!(r#"{{"type":"x","response":{{"usage":{}1{}}}}}"#, r#"{"a":"#.repeat(90), "}".repeat(90));
        Body::default().events(n, |_| deep.clone()).completed()
    }),
    ("deep JSON under a name that is read", |n| {
        let (open, close) = ("[".repeat(n / 2), "]".repeat(n / 2));
        Body::default().event(&format!(r#"{{"type":"response.created","response":{open}{close}}}"#)).completed()
    }),
    ("objects in objects under a name that is read", |n| {
        let (open, close) = (r#"{"item":"#.repeat(n / 9), "}".repeat(n / 9));
        Body::default().event(&format!(r#"{{"type":"response.created","item":{open}1{close}}}"#)).completed()
    }),
    ("events that nobody knows", |n| Body::default().events(n, |i| format!(r#"{{"type":"x{i}"}}"#)).completed()),
    ("events with two names", |n| {
        Body::default().raw(n, |_| b"event: a\ndata: {\"type\":\"response.queued\"}\n\n".to_vec()).completed()
    }),
    ("one field again and again", |n| {
        let fields = fill(n, r#""item_id":"a","#);
        Body::default().event(&format!(r#"{{{fields}"type":"response.output_text.delta","delta":"x"}}"#)).completed()
    }),
    ("every event with many fields", |n| {
        let fields = r#""id":"a","name":1,"title":[],"text":{},"#.repeat(50);
        Body::default().events(n, |_| format!(r#"{{{fields}"type":"response.created"}}"#)).completed()
    }),
    ("sequence numbers that jump", |n| {
        Body::default()
            .events(n, |i| {
                let number = if i % 2 == 0 { u64::MAX } else { i as u64 };
                format!(r#"{{"type":"response.queued","sequence_number":{number}}}"#)
            })
            .completed()
    }),
    ("numbers of very many digits", |n| {
        let digits = "9".repeat(n / 2);
        Body::default()
            .event(&format!(r#"{{"type":"response.created","sequence_number":{digits}}}"#))
            .event(&format!(r#"{{"type":"response.created","output_index":0.{digits}e-5}}"#))
            .completed()
    }),
    ("tiny deltas", |n| Body::default().events(n, |_| delta("output_text", r#""output_index":0"#, "a")).completed()),
    ("empty deltas", |n| Body::default().events(n, |_| delta("output_text", r#""output_index":0"#, "")).completed()),
    ("deltas without an address", |n| {
        Body::default().events(n, |_| r#"{"type":"response.output_text.delta","delta":"a"}"#.into()).completed()
    }),
    ("deltas with escapes", |n| {
        let text = r"\u00e4\n\\\/\ud83d\ude00".repeat(10);
        Body::default().events(n, |_| delta("output_text", r#""output_index":0"#, &text)).completed()
    }),
    ("one delta of escapes", |n| {
        let text = fill(n, r"\\\n\u0041");
        Body::default().event(&delta("output_text", r#""output_index":0"#, &text)).completed()
    }),
    ("surrogates cut in half", |n| {
        let halves = [r"\ud83d", r"\ude00", r"\ud83d\\", r"\uDE00\ud83d"];
        Body::default().events(n, |i| delta("output_text", r#""output_index":0"#, halves[i % 4])).completed()
    }),
    ("one delta of half surrogates", |n| {
        let text = fill(n, r"\ud83d");
        Body::default().event(&delta("output_text", r#""output_index":0"#, &text)).completed()
    }),
    ("one event of backslashes that is not JSON", |n| Body::default().event(&fill(n, r"\\\ud800")).completed()),
    ("refusals in tiny deltas", |n| {
        Body::default().events(n, |_| delta("refusal", r#""output_index":0"#, "no ")).completed()
    }),
    ("deltas of every channel in turns", |n| {
        let kinds = ["output_text", "refusal", "reasoning", "reasoning_summary_text", "function_call_arguments"];
        Body::default().events(n, |i| delta(kinds[i % 5], r#""output_index":0"#, "a")).completed()
    }),
    ("a done marker that is none", |n| Body::default().event(&(" ".repeat(n) + "[DON")).completed()),
];

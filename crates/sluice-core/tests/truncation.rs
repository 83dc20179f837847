//! A body may end anywhere, and the reader may have enough at any time. Every stream is cut at every byte and
//! cancelled at every byte: what was given stays, nothing is made up, and only a whole terminal event ends an answer
//! well (S8, S9, S14).

mod support;

use serde::de::IgnoredAny;
use sluice_core::{BodyEnd, Output, Part, ResponseStream, Status, StreamOptions};
use support::{assert_sound, in_parallel, parts, run_until, run_whole, streams};

#[test]
fn cut_at_every_byte() {
    in_parallel(&streams(), |(name, bytes)| {
        let (full, full_outcome) = run_whole(bytes);
        let full = parts(&full);
        for_every_cut(bytes, |at, given, stream| {
            let what = || format!("{name} cut at {at} of {}", bytes.len());
            for (end, reason) in
                [(BodyEnd::Eof, "eof"), (BodyEnd::Broken, "broken"), (BodyEnd::IdleTimeout, "idle_timeout")]
            {
                let (rest, outcome) = stream.clone().finish(end);
                let outputs = [given, &rest].concat();
                assert_sound(&outputs, &outcome);
                let cut = parts(&outputs);
                assert!(full.starts_with(&cut), "{}: {cut:?} is not how {full:?} starts", what());
                match terminal_in(&bytes[..at]) {
                    None => {
                        assert_eq!(outcome.status, Status::Truncated, "{}", what());
                        assert_eq!(outcome.reason.as_deref(), Some(reason), "{}", what());
                    }
                    Some(_) => {
                        assert_eq!(outcome, full_outcome, "{}", what());
                        assert_eq!(cut, full, "{}", what());
                    }
                }
            }
        });
    });
}

#[test]
fn cancelled_at_every_byte() {
    in_parallel(&streams(), |(name, bytes)| {
        for_every_cut(bytes, |at, given, stream| {
            let was_terminal = stream.is_terminal();
            let (rest, outcome) = stream.clone().finish(BodyEnd::Cancelled);
            assert!(rest.is_empty(), "{name} cancelled at {at} still gave {rest:?}");
            assert_eq!(outcome.status != Status::Cancelled, was_terminal, "{name} cancelled at {at}");
            assert!(was_terminal || !outcome.retry_safe, "{name} cancelled at {at}: nobody wants a retry");
            assert_sound(given, &outcome);
        });
    });
}

/// The same in pieces of one event each, as servers send them.
#[test]
fn cut_and_cancelled_at_every_event() {
    for (name, bytes) in streams() {
        let (full, _) = run_whole(&bytes);
        let ends =
            (0..=bytes.len()).filter(|at| bytes[..*at].ends_with(b"\n\n") || bytes[..*at].ends_with(b"\r\n\r\n"));
        for at in ends {
            let (outputs, outcome) = run_until(&bytes[..at], usize::MAX, BodyEnd::Eof);
            assert_sound(&outputs, &outcome);
            assert!(full.starts_with(&outputs), "{name} cut at {at}");
            let (cancelled, outcome) = run_until(&bytes[..at], usize::MAX, BodyEnd::Cancelled);
            assert_eq!(cancelled, outputs, "{name} cancelled at {at}");
            assert_eq!(outcome.status == Status::Cancelled, terminal_in(&bytes[..at]).is_none(), "{name} at {at}");
        }
    }
}

/// A call is given whole or not at all: cutting anywhere never gives one with fewer arguments.
#[test]
fn a_cut_call_is_no_call() {
    for name in ["call", "calls-interleaved", "call-ids-rotate", "call-without-index", "call-deltas-only", "everything"]
    {
        let bytes = support::streams::stream(name);
        let (full, _) = run_whole(&bytes);
        let is_call = |part: &&Part| matches!(part, Part::ToolCall { .. });
        let calls: Vec<Part> = parts(&full).into_iter().filter(is_call).cloned().collect();
        assert!(!calls.is_empty(), "{name} has no call");
        for_every_cut(&bytes, |at, given, stream| {
            let (rest, _) = stream.clone().finish(BodyEnd::Eof);
            let outputs = [given, &rest].concat();
            let cut: Vec<&Part> = parts(&outputs).into_iter().filter(is_call).collect();
            assert!(cut.iter().all(|call| calls.contains(call)), "{name} cut at {at}: {cut:?}");
        });
    }
}

/// Feeds the body byte by byte and calls `check` before the first and after each.
fn for_every_cut(bytes: &[u8], mut check: impl FnMut(usize, &[Output], &ResponseStream)) {
    let mut stream = ResponseStream::new(StreamOptions::default());
    let mut given = Vec::new();
    check(0, &given, &stream);
    for (at, byte) in bytes.iter().enumerate() {
        given.extend(stream.push(&[*byte]));
        check(at + 1, &given, &stream);
    }
}

/// The name of the first event in these bytes that ends an answer, found by a reader of our own: slow and plain.
fn terminal_in(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    text.split("\n\n").find_map(|block| {
        let field = |line: &str, name: &str| line.strip_prefix(name).map(|value| value.trim_start().to_owned());
        let data: Vec<String> = block.lines().filter_map(|line| field(line, "data:")).collect();
        let data = data.join("\n");
        if data == "[DONE]" {
            return Some(data);
        }
        serde_json::from_str::<IgnoredAny>(&data).ok()?;
        let line_name = block.lines().find_map(|line| field(line, "event:")).unwrap_or_default();
        let ends = ["response.completed", "response.incomplete", "response.failed", "error"];
        let is_named = |name: &&str| {
            data.contains(&format!("\"type\":\"{name}\"")) || data.contains(&format!("\"type\": \"{name}\""))
        };
        let is_bare = data.starts_with("{\"error\":");
        let no_type = !data.contains("\"type\":\"response.") && !data.contains("\"type\":\"error");
        let named = ends.iter().find(|name| is_named(name) || (no_type && line_name == **name));
        named.map(ToString::to_string).or_else(|| is_bare.then(|| "error".to_owned()))
    })
}

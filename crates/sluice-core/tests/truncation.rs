//! A body can end anywhere, and the reader can cancel at any time. Every stream is cut and cancelled at every byte:
//! what was delivered stays, nothing is invented, and only a complete terminal event ends an answer successfully (S8,
//! S9, S14).

use crate::support;
use crate::support::wire::body;
use crate::support::*;
use serde_json::Value;
use sluice_core::{BodyEnd, Outcome, Output, Part, ResponseStream, Status, StreamOptions};

/// Checks invariants S9 and S14.
#[test]
fn a_body_cut_at_any_byte_is_truncated() {
    in_parallel(&streams(), |(name, bytes)| {
        let (full, full_outcome) = run_whole(bytes);
        let mut ended = false;
        for_every_cut(bytes, |at, given, stream| {
            let what = || format!("{name} cut at {at} of {}", bytes.len());
            let (rest, outcome) = stream.clone().finish(BodyEnd::Eof);
            let outputs = [given, &rest].concat();
            assert_sound(&outputs, &outcome);
            let cut = parts(&outputs);
            assert!(shown(&full).starts_with(&shown(&outputs)), "{}: {cut:?} is not how {full:?} starts", what());

            // A JSON object can only be complete after a bracket.
            ended = ended || (bytes[..at].ends_with(b"}") || bytes[..at].ends_with(b"]")) && has_end(&bytes[..at]);
            if ended {
                assert_eq!(outcome, full_outcome, "{}", what());
                assert_eq!(cut, parts(&full), "{}", what());
            } else {
                assert_eq!(outcome.status, Status::Truncated, "{}", what());
            }

            for (end, reason) in [(BodyEnd::Broken, "broken"), (BodyEnd::IdleTimeout, "idle_timeout")] {
                let (other_rest, other) = stream.clone().finish(end);
                assert_eq!(other_rest, rest, "{}: {reason}", what());
                let reason = if ended { outcome.reason.clone() } else { Some(reason.to_owned()) };
                assert_eq!(other, Outcome { reason, ..outcome.clone() }, "{}", what());
            }
        });
    });
}

/// Returns the parts without what the server needs back, which comes at the end.
fn shown(outputs: &[Output]) -> Vec<&Part> {
    let is_shown = |part: &&Part| !matches!(part, Part::Thinking { replay: Some(_), .. });
    parts(outputs).into_iter().filter(is_shown).collect()
}

#[test]
fn a_stream_cancelled_at_any_byte_shows_nothing_more() {
    in_parallel(&streams(), |(name, bytes)| {
        for_every_cut(bytes, |at, given, stream| {
            let was_terminal = stream.is_terminal();
            let (rest, outcome) = stream.clone().finish(BodyEnd::Cancelled);
            assert_eq!(shown(&rest), Vec::<&Part>::new(), "{name} cancelled at {at}");
            assert_eq!(outcome.status != Status::Cancelled, was_terminal, "{name} cancelled at {at}");
            assert!(was_terminal || !outcome.retry_safe, "{name} cancelled at {at}: nobody wants a retry");
            assert_sound(given, &outcome);
        });
    });
}

/// The same with one event per chunk, as servers send them.
#[test]
fn cutting_or_cancelling_between_events_loses_nothing() {
    for (name, bytes) in streams() {
        let (full, _) = run_whole(&bytes);
        let ends =
            (0..=bytes.len()).filter(|at| bytes[..*at].ends_with(b"\n\n") || bytes[..*at].ends_with(b"\r\n\r\n"));
        for at in ends {
            let (outputs, outcome) = run_until(&bytes[..at], usize::MAX, BodyEnd::Eof);
            assert_sound(&outputs, &outcome);
            assert!(shown(&full).starts_with(&shown(&outputs)), "{name} cut at {at}");
            let (cancelled, outcome) = run_until(&bytes[..at], usize::MAX, BodyEnd::Cancelled);
            assert_eq!(cancelled, outputs, "{name} cancelled at {at}");
            assert_eq!(outcome.status == Status::Cancelled, !has_end(&bytes[..at]), "{name} at {at}");
        }
    }
}

/// A call is reported completely or not at all: no cut ever gives one with fewer arguments. Checks invariant S4.
#[test]
fn a_call_that_is_cut_anywhere_is_not_reported() {
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

/// A delta of arguments that names no call could belong to any of them. What remains can't be trusted, even if it
/// happens to be an object. Here it would be `{"path":"/"}`. Checks invariant S4.
#[test]
fn a_call_that_lost_a_piece_is_not_reported() {
    let events = [
        call_added(0, "call_a", "remove"),
        args_delta(0, "{\"path\":\"/"),
        call_added(1, "call_b", "list"),
        without(args_delta(0, "tmp/x"), &["output_index", "item_id"]),
        args_delta(0, "\"}"),
        call_done(1, "call_b", "list", "{}", "completed"),
        completed(&[]),
    ];
    let (outputs, outcome) = run_whole(&body(&events));
    let names: Vec<String> = Summary::of(&outputs).calls.into_iter().map(|call| call.name).collect();
    assert_eq!(names, ["list"]);
    assert_eq!(outcome.error.and_then(|failure| failure.tool).as_deref(), Some("remove"));
}

/// Feeds the body byte by byte, and calls `check` before the first byte and after each one.
fn for_every_cut(bytes: &[u8], mut check: impl FnMut(usize, &[Output], &ResponseStream)) {
    let mut stream = ResponseStream::new(StreamOptions::default());
    let mut given = Vec::new();
    check(0, &given, &stream);
    for (at, byte) in bytes.iter().enumerate() {
        given.extend(stream.push(&[*byte]));
        check(at + 1, &given, &stream);
    }
}

/// Returns whether these bytes contain a complete terminal event, according to a second reader that is slow and simple.
fn has_end(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    text.split("\n\n").any(|block| {
        let values = |field: &str| block.lines().filter_map(|line| line.strip_prefix(field)).collect::<Vec<_>>();
        // Half a surrogate pair is valid JSON, but not for `serde_json`.
        let data = values("data:").join("\n").replace("\\ud", "\\u0d");
        let Ok(event) = serde_json::from_str::<Value>(&data) else { return data.trim() == "[DONE]" };
        let line = values("event:").concat();
        let name = event["type"].as_str().unwrap_or(if event["error"].is_object() { "error" } else { line.trim() });
        ["response.completed", "response.incomplete", "response.failed", "error"].contains(&name)
    })
}

//! S13: however a body is divided into chunks, and whatever harmless lines are between its events, the outputs are the
//! same.

use crate::support;
use crate::support::wire::{Wire, numbered};
use crate::support::{Summary, assert_sound, in_parallel, parts, run, run_pieces, run_whole, streams, with};
use proptest::prelude::*;
use serde_json::{Value, json};
use sluice_core::{BodyEnd, Outcome, Output};

#[test]
fn example_streams_have_unique_names_and_are_small() {
    let all = streams();
    let mut names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len(), "two streams share a name");
    assert!(all.len() >= 40, "only {} streams", all.len());
    for (name, bytes) in &all {
        assert!(bytes.len() < 20_000, "{name} has {} bytes", bytes.len());
    }
}

/// Checks invariant S13.
#[test]
fn every_two_way_split_gives_the_same_outputs() {
    in_parallel(&streams(), |(name, bytes)| {
        let whole = run_whole(bytes);
        assert_sound(&whole.0, &whole.1);
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            assert_same(&whole, &run_pieces([head, tail], BodyEnd::Eof), || format!("{name} split at {at}"));
        }
    });
}

/// Checks invariant S13.
#[test]
fn every_chunk_size_gives_the_same_outputs() {
    for (name, bytes) in streams() {
        let whole = run_whole(&bytes);
        for chunk in [1, 2, 3, 7, 64, 1460] {
            assert_same(&whole, &run(&bytes, chunk), || format!("{name} in chunks of {chunk}"));
        }
    }
}

#[test]
fn empty_chunks_change_nothing() {
    for (name, bytes) in streams() {
        let pieces = bytes.chunks(5).flat_map(|piece| [b"".as_slice(), piece, b""]);
        assert_same(&run_whole(&bytes), &run_pieces(pieces, BodyEnd::Eof), || name.to_owned());
    }
}

#[test]
fn line_endings_change_nothing() {
    for (name, bytes) in streams() {
        if bytes.contains(&b'\r') {
            continue;
        }
        let whole = run_whole(&bytes);
        for end in ["\r\n", "\r"] {
            let rewritten = replace_lf(&bytes, end.as_bytes());
            for chunk in [usize::MAX, 1, 7] {
                assert_same(&whole, &run(&rewritten, chunk), || format!("{name} with {end:?} in chunks of {chunk}"));
            }
        }
    }
}

#[test]
fn a_byte_order_mark_changes_nothing() {
    let bom = b"\xEF\xBB\xBF".as_slice();
    for (name, bytes) in streams().into_iter().filter(|(_, bytes)| !bytes.starts_with(bom)) {
        let marked = [bom, &bytes].concat();
        for chunk in [usize::MAX, 1, 2] {
            assert_same(&run_whole(&bytes), &run(&marked, chunk), || format!("{name} in chunks of {chunk}"));
        }
    }
}

#[test]
fn lines_that_are_not_fields_change_nothing() {
    let junk =
        ": keep-alive\n:\nid: 4\nretry: 9\nDATA: no\ndata-x: no\n data: no\nevents: no\nnonsense\n\u{FEFF}data: no\n";
    for (name, bytes) in streams() {
        // The junk goes between all lines. It contains no empty line, so it doesn't end an event.
        let mut noisy = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            noisy.extend_from_slice(line);
            if line.ends_with(b"\n") && !bytes.contains(&b'\r') {
                noisy.extend_from_slice(junk.as_bytes());
            }
        }
        for chunk in [usize::MAX, 1, 7] {
            assert_same(&run_whole(&bytes), &run(&noisy, chunk), || format!("{name} in chunks of {chunk}"));
        }
    }
}

/// Checks invariant S11.
#[test]
fn unknown_events_and_fields_become_no_part() {
    let unknown = [
        json!({"type": "acme.progress", "delta": "no", "text": "no", "response": {"id": "no"}}),
        json!({"type": "response.output_text.sparkle", "output_index": 0, "delta": "no", "item": {"type": "message"}}),
        json!({"type": "response.acme_call.completed", "output_index": 9, "arguments": "{\"no\":1}"}),
    ];
    let extra = json!({"acme": {"delta": "no", "error": "no"}, "obfuscation": "xxxx", "phase": [1, {"a": null}]});
    for (name, events) in support::streams::event_streams() {
        let plain = run_whole(&Wire::default().bytes(&events));
        let mut noisy: Vec<Value> = unknown.to_vec();
        for event in numbered(&events) {
            noisy.push(with(event, &extra));
            noisy.extend(unknown.clone());
        }
        let wire = Wire { numbered: false, ..Wire::default() };
        let (outputs, outcome) = run_whole(&wire.bytes(&noisy));
        assert_eq!(parts(&outputs), parts(&plain.0), "{name}");
        assert_eq!(outcome, plain.1, "{name}");
        let unknown_notes = Summary::of(&outputs).notes.len() - Summary::of(&plain.0).notes.len();
        assert!(unknown_notes >= unknown.len(), "{name}: an unknown event left no note");
    }
}

fn assert_same(whole: &(Vec<Output>, Outcome), other: &(Vec<Output>, Outcome), what: impl Fn() -> String) {
    assert_eq!(whole.0, other.0, "{}", what());
    assert_eq!(whole.1, other.1, "{}", what());
}

fn replace_lf(bytes: &[u8], end: &[u8]) -> Vec<u8> {
    bytes.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(end)
}

/// Checks invariant S13 for a chunk that ends after the data of an event, before it is known whether more data follows.
#[test]
fn a_chunk_without_the_end_of_an_event_teaches_nothing() {
    let data = r#"data: {"type":"response.output_text.delta","item_id":"a","delta":"b"}"#;
    let pieces = ["dat", &data[3..], "\n\n", &format!("{data}\n"), "data: x\n\n", &format!("{data}\ndata: x\n\n")];
    let pieces = pieces.map(str::as_bytes);
    assert_same(&run(&pieces.concat(), 1), &run_pieces(pieces, BodyEnd::Eof), || format!("{pieces:?}"));
}

/// What may be before and after the data of a delta. Most of it appears several times in a row.
fn lines() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop_oneof![
        8 => Just(("event: response.output_text.delta\ndata: ", "\n\n")),
        4 => Just(("data: ", "\n\n")),
        2 => Just(("data:", "\r\n\r\n")),
        1 => Just(("data: ", "\r\r")),
        1 => Just(("data: ", "\n\r\n")),
        1 => Just((": comment\n\ndata: ", "\n\n")),
        1 => Just(("id: 1\ndata: ", "\nid: 2\n\n")),
        1 => Just(("data: ", "\nevent: response.output_text.delta\n\n")),
        1 => Just(("data: ", "\ndata:\n\n")),
        1 => Just(("data: ", "\ndata: x\n\n")),
        1 => Just(("data: ", "\n")),
        1 => Just(("\u{FEFF}data: ", "\n\n")),
    ]
}

fn delta() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        8 => "[a-z ]{0,6}",
        1 => "[a-z ]{20,60}",
        1 => r#"([a-z]|\\n|\\"|ü|\\u00e9|\\ud83d|\\ude00){0,4}"#,
        1 => "[\t\n\r]",
    ];
    (text, 0..12_u32, prop_oneof![9 => Just("a"), 1 => Just("b")], "[a-z]{0,3}").prop_map(|(text, number, id, padding)| {
        format!(
            r#"{{"type":"response.output_text.delta","item_id":"{id}","sequence_number":{number},"delta":"{text}","obfuscation":"{padding}"}}"#
        )
    })
}

/// The second event contains the data of the first one, but is another event: its data has a second line.
#[test]
fn lines_are_not_learned_from_an_event_that_only_contains_a_delta() {
    let delta = |number: u32| {
        format!(r#"data: {{"type":"response.output_text.delta","item_id":"a","sequence_number":{number},"delta":"a"}}"#)
    };
    let (first, second) = (delta(1), delta(2));
    let body = format!("\u{feff}{first}\n\n{first}\ndata: x\n\n{second}\ndata: x\n\n");
    let body = body + "data: {\"type\":\"response.completed\"}\n\n";
    assert_same(&run(body.as_bytes(), 1), &run_whole(body.as_bytes()), || format!("{body:?}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Checks invariant S13 for deltas like the one before, which aren't split into lines if they are in one chunk.
    #[test]
    fn repeated_deltas_are_the_same_in_one_chunk_and_in_bytes(
        runs in prop::collection::vec((lines(), prop::collection::vec(delta(), 1..5)), 1..6),
        at in any::<prop::sample::Index>(),
    ) {
        let events = runs.iter().flat_map(|((before, after), deltas)| {
            deltas.iter().map(move |delta| [*before, delta, *after].concat())
        });
        let body = events.collect::<String>() + "data: {\"type\":\"response.completed\"}\n\n";
        let bytes = run(body.as_bytes(), 1);
        assert_same(&bytes, &run_whole(body.as_bytes()), || format!("{body:?} in one chunk"));
        let (head, tail) = body.as_bytes().split_at(at.index(body.len()));
        assert_same(&bytes, &run_pieces([head, tail], BodyEnd::Eof), || format!("{body:?} split at {}", head.len()));
    }
}

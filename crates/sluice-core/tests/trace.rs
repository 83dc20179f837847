//! When things happened in an exchange, as its record says.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use sluice_core::{Action, ConnectionError, Exchange, ExchangeOptions, LedgerEntry, StreamOptions};

/// What happens, and the time at which the exchange is polled after it.
#[derive(Clone, Copy)]
enum Step {
    Head(u16),
    Bytes(&'static str),
    Broken,
    Timeout,
    End,
    Cancel,
}
use Step::{Broken, Bytes, Cancel, End, Head, Timeout};

fn entry(steps: &[(u64, Step)]) -> LedgerEntry {
    let mut exchange = Exchange::new(ExchangeOptions { max_attempts: 200, ..ExchangeOptions::default() });
    let poll = |exchange: &mut Exchange, now_ms: u64| while let Action::Output(_) = exchange.poll(now_ms) {};
    poll(&mut exchange, 1_000);
    for (now_ms, step) in steps {
        match step {
            Head(status) => exchange.handle_head(*status, Vec::new(), 0),
            Bytes(bytes) => exchange.handle_bytes(bytes.as_bytes()),
            Broken => exchange.handle_connection_error(ConnectionError::Broken),
            Timeout => exchange.handle_timeout(),
            End => exchange.handle_end(),
            Cancel => exchange.cancel(),
        }
        poll(&mut exchange, *now_ms);
    }
    // A shell that asks for the report again has no clock.
    let Action::End(report) = exchange.poll(0) else { panic!("the exchange is over") };
    report.entry.clone()
}

fn check(steps: &[(u64, Step)], expected: Expect) {
    let entry = entry(steps);
    expected.assert_eq(&format!("{:?}\n{:?} {:?} {:?}", entry.timeline, entry.retries, entry.notes, entry.finish));
}

const THINKING: &str = "data: {\"type\":\"response.reasoning_text.delta\",\"output_index\":0,\"delta\":\"Hm\"}\n\n";
const TEXT: &str = "data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"delta\":\"Yes\"}\n\n";
const CALL: &str = "data: {\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"type\":\"function_call\",\
                    \"call_id\":\"1\",\"name\":\"search\",\"arguments\":\"{}\",\"status\":\"completed\"}}\n\n";
const DONE: &str = "data: {\"type\":\"response.completed\",\"response\":{}}\n\n";

#[test]
fn times_are_those_of_what_the_reader_saw() {
    let answer = [(1_200, Head(200)), (1_300, Bytes(": hello\n\n")), (1_350, Bytes("data: nonsense\n\n"))];
    let parts = [(1_400, Bytes(THINKING)), (1_500, Bytes(TEXT)), (1_550, Bytes(TEXT)), (1_600, Bytes(CALL))];
    let steps: Vec<_> = answer.into_iter().chain(parts).chain([(1_700, Bytes(DONE))]).collect();
    check(
        &steps,
        expect![[r#"
        Timeline { sent_ms: Some(0), first_byte_ms: Some(300), first_thinking_ms: Some(400), first_text_ms: Some(500), calls: [CallTime { name: "search", ms: 600 }], end_ms: 700 }
        [] [NoteCount { kind: Malformed, count: 1 }] Finish { status: Completed, reason: None, failure: None }"#]],
    );
}

#[test]
fn a_retry_starts_the_timeline_again() {
    check(
        &[(1_100, Broken), (3_000, Timeout), (3_100, Head(200)), (3_150, Bytes(TEXT)), (3_200, Bytes(DONE))],
        expect![[r#"
        Timeline { sent_ms: Some(2000), first_byte_ms: Some(2150), first_thinking_ms: None, first_text_ms: Some(2150), calls: [], end_ms: 2200 }
        [Retry { ms: 100, why: Network }] [] Finish { status: Completed, reason: None, failure: None }"#]],
    );
    check(
        &[(1_100, Head(503)), (1_200, Bytes("{}")), (1_250, End), (2_500, Timeout), (2_600, Cancel)],
        expect![[r#"
        Timeline { sent_ms: Some(1500), first_byte_ms: None, first_thinking_ms: None, first_text_ms: None, calls: [], end_ms: 1600 }
        [Retry { ms: 250, why: ServerDown }] [] Finish { status: Cancelled, reason: None, failure: None }"#]],
    );
}

#[test]
fn encrypted_thinking_has_no_time_and_notes_are_counted_by_kind() {
    // The reader sees nothing of thinking that is encrypted.
    let encrypted = "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\
                     \"id\":\"r\",\"summary\":[],\"encrypted_content\":\"c2VhbGVk\"}}\n\n";
    let strange = "data: {\"type\":\"response.output_item.done\",\"output_index\":5,\"item\":{\"type\":\"acme:thing\",\"id\":\"t\"}}\n\n";
    let steps = [encrypted, "data: nonsense\n\n", strange, "data: nonsense\n\n", TEXT, DONE];
    let steps: Vec<_> = (11..).zip(steps).map(|(time, bytes)| (time * 100, Bytes(bytes))).collect();
    check(
        &[vec![(1_050, Head(200))], steps].concat(),
        expect![[r#"
        Timeline { sent_ms: Some(0), first_byte_ms: Some(100), first_thinking_ms: None, first_text_ms: Some(500), calls: [], end_ms: 600 }
        [] [NoteCount { kind: Malformed, count: 2 }, NoteCount { kind: IgnoredItem, count: 1 }] Finish { status: Completed, reason: None, failure: None }"#]],
    );
}

#[test]
fn at_most_a_hundred_calls_and_attempts_are_listed() {
    let item = |index: usize| {
        CALL.replace("\"output_index\":2", &format!("\"output_index\":{index}"))
            .replace("\"1\"", &format!("\"{index}\""))
    };
    let calls: String = (0..120).map(item).collect();
    let answered = entry(&[(1_100, Head(200)), (1_200, Bytes(calls.leak())), (1_300, Bytes(DONE))]);
    let failures = (0..120).flat_map(|_| [(1_100, Broken), (1_200, Timeout)]);
    let repeated = entry(&failures.chain([(1_300, Cancel)]).collect::<Vec<_>>());
    assert_eq!((answered.timeline.calls.len(), repeated.retries.len()), (100, 100));
}

#[test]
fn the_notes_that_a_trace_adds_are_not_counted() {
    let stream = StreamOptions { trace: true, ..StreamOptions::default() };
    let mut exchange = Exchange::reading(ExchangeOptions { stream, ..ExchangeOptions::default() });
    exchange.handle_bytes([TEXT, "data: nonsense\n\n", DONE].concat().as_bytes());
    let report = loop {
        if let Action::End(report) = exchange.poll(0) {
            break report;
        }
    };
    expect!["[NoteCount { kind: Malformed, count: 1 }]"].assert_eq(&format!("{:?}", report.entry.notes));
}

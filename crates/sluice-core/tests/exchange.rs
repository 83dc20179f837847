//! One request from start to finish: what a shell reports, and what it is asked to do.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use crate::support::exchange::{Input, Input::*, line, start};
use expect_test::{Expect, expect};
use sluice_core::{Action, LedgerEntry};

const STREAM: Input = Head(200, "text/event-stream");

fn check(inputs: &[Input], expected: Expect) {
    let mut exchange = start();
    let mut trace = String::new();
    let mut inputs = inputs.iter();
    loop {
        let action = exchange.poll(0);
        trace.push_str(&format!("{}\n", line(&action)));
        if !matches!(action, Action::Output(_)) {
            let Some(input) = inputs.next() else { break };
            trace.push_str(&format!("    {input:?}\n"));
            input.tell(&mut exchange);
        }
    }
    expected.assert_eq(&trace);
}

#[test]
fn a_stream_is_read_to_its_end() {
    check(
        &[STREAM, Text, Completed],
        expect![[r#"
        send
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            Completed
        end after 1 attempts, drain: Completed, done
    "#]],
    );
    check(
        &[STREAM, Text, Call, Incomplete],
        expect![[r#"
        send
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            Call
        call look {}
        read
            Incomplete
        end after 1 attempts, drain: Incomplete, done
    "#]],
    );
}

#[test]
fn a_stream_without_a_terminal_event_is_an_error() {
    check(
        &[STREAM, Text, End],
        expect![[r#"
        send
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            End
        end after 1 attempts: Truncated, rejected: The connection to https://gateway.example broke before the answer was complete. Try again.
    "#]],
    );
    check(
        &[STREAM, Text, Broken],
        expect![[r#"
        send
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            Broken
        end after 1 attempts: Truncated, rejected: The connection to https://gateway.example broke before the answer was complete. Try again.
    "#]],
    );
    check(
        &[STREAM, Text, Timeout],
        expect![[r#"
        send
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            Timeout
        end after 1 attempts: Truncated, rejected: https://gateway.example stopped sending in the middle of the answer. Try again; the idle time-out is a setting.
    "#]],
    );
}

/// Checks invariant E3.
#[test]
fn temporary_failures_are_retried_before_the_first_part() {
    check(
        &[Connect, Timeout, Timeout, Timeout, STREAM, Text, Completed],
        expect![[r#"
        send
            Connect
        wait 500 ms: No connection to https://gateway.example.
            Timeout
        send
            Timeout
        wait 1000 ms: https://gateway.example did not answer in time.
            Timeout
        send
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            Completed
        end after 3 attempts, drain: Completed, done
    "#]],
    );
    check(
        &[STREAM, End, Timeout, STREAM, Overloaded, Timeout, Head(503, "text/plain"), End],
        expect![[r#"
        send
            Head(200, "text/event-stream")
        read
            End
        wait 500 ms: The connection to https://gateway.example broke before the answer was complete.
            Timeout
        send
            Head(200, "text/event-stream")
        read
            Overloaded
        wait 1000 ms: Busy
            Timeout
        send
            Head(503, "text/plain")
        read
            End
        end after 3 attempts: Failed, rejected: HTTP 503: The server has a problem. Try again later or choose another model.
    "#]],
    );
    check(
        &[STREAM, Text, Overloaded],
        expect![[r#"
        send
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            Overloaded
        end after 1 attempts, drain: Failed, rejected: Busy. Try again later or choose another model.
    "#]],
    );
}

/// Checks invariants E5 and E6.
#[test]
fn a_refusal_is_explained() {
    let body = Body(r#"{"error":{"message":"No such model","code":"model_not_found"}}"#);
    check(
        &[Head(404, "application/json"), body, End],
        expect![[r#"
        send
            Head(404, "application/json")
        read
            Body("{\"error\":{\"message\":\"No such model\",\"code\":\"model_not_found\"}}")
        read
            End
        end after 1 attempts: Failed, rejected: No such model. Choose another model; the list may be out of date.
    "#]],
    );
    check(
        &[Head(404, "application/json"), body, Broken],
        expect![[r#"
        send
            Head(404, "application/json")
        read
            Body("{\"error\":{\"message\":\"No such model\",\"code\":\"model_not_found\"}}")
        read
            Broken
        end after 1 attempts: Failed, rejected: No such model. Choose another model; the list may be out of date.
    "#]],
    );
    check(
        &[Head(200, "text/html; charset=utf-8"), Body("<html>"), End],
        expect![[r#"
        send
            Head(200, "text/html; charset=utf-8")
        read
            Body("<html>")
        read
            End
        end after 1 attempts: Failed, rejected: HTTP 200: The server answered with something that is not an event stream. Check the base URL: this does not look like an Open Responses endpoint.
    "#]],
    );
    check(
        &[Head(302, "text/html")],
        expect![[r#"
        send
            Head(302, "text/html")
        end after 1 attempts: Failed, rejected: https://gateway.example redirects to another address, and the key must not follow. Set the base URL to the final address.
    "#]],
    );
    check(
        &[Head(0, "")],
        expect![[r#"
        send
            Head(0, "")
        end after 1 attempts: Failed, rejected: https://gateway.example redirects to another address, and the key must not follow. Set the base URL to the final address.
    "#]],
    );
}

/// Checks invariant E6.
#[test]
fn a_whole_json_response_is_an_answer() {
    let answer =
        Body(r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}"#);
    check(
        &[Head(200, "application/json"), answer, End],
        expect![[r#"
        send
            Head(200, "application/json")
        read
            Body("{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\"}]}]}")
        read
            End
        text "Hi"
        end after 1 attempts: Completed, done
    "#]],
    );
    check(
        &[Head(200, "application/json"), Body("{}"), End],
        expect![[r#"
        send
            Head(200, "application/json")
        read
            Body("{}")
        read
            End
        end after 1 attempts: Failed, rejected: HTTP 200: The server answered with something that is not an event stream. Check the base URL: this does not look like an Open Responses endpoint.
    "#]],
    );
    check(
        &[Head(200, "application/json"), answer, Broken],
        expect![[r#"
        send
            Head(200, "application/json")
        read
            Body("{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\"}]}]}")
        read
            Broken
        wait 500 ms: The connection to https://gateway.example broke before the answer was complete.
    "#]],
    );
    // White space counts as well.
    let blank = Body(Box::leak(" ".repeat(6 << 20).into_boxed_str()));
    let mut exchange = start();
    for input in [STREAM, blank, blank, blank, End] {
        input.tell(&mut exchange);
    }
    let action = exchange.poll(0);
    assert!(
        matches!(&action, Action::End(report) if line(&action).contains("Failed") && report.attempts == 1),
        "{action:?}"
    );
    // Some servers label it as a stream, and an error as well.
    check(
        &[STREAM, Body("\n "), answer, End],
        expect![[r#"
        send
            Head(200, "text/event-stream")
        read
            Body("\n ")
        read
            Body("{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\"}]}]}")
        read
            End
        text "Hi"
        end after 1 attempts: Completed, done
    "#]],
    );
    check(
        &[STREAM, Body(r#"{"error":{"message":"No such path"}}"#), End],
        expect![[r#"
        send
            Head(200, "text/event-stream")
        read
            Body("{\"error\":{\"message\":\"No such path\"}}")
        read
            End
        end after 1 attempts: Failed, rejected: No such path. Try again.
    "#]],
    );
    check(
        &[STREAM, Body(r#"{"error":{"message":"Slow down","code":429}}"#), End],
        expect![[r#"
            send
                Head(200, "text/event-stream")
            read
                Body("{\"error\":{\"message\":\"Slow down\",\"code\":429}}")
            read
                End
            wait 500 ms: Slow down
        "#]],
    );
}

/// Checks invariant E4.
#[test]
fn a_parameter_that_the_server_refuses_is_left_out() {
    let caching = Body(r#"{"detail":"Unexpected fields in the request: {'caching'}"}"#);
    let summary =
        Body(r#"{"error":{"message":"Unsupported parameter: 'reasoning.summary'","param":"reasoning.summary"}}"#);
    let bad = Head(400, "application/json");
    check(
        &[bad, caching, End, bad, summary, End, STREAM, Text, Completed],
        expect![[r#"
        send
            Head(400, "application/json")
        read
            Body("{\"detail\":\"Unexpected fields in the request: {'caching'}\"}")
        read
            End
        send without caching
            Head(400, "application/json")
        read
            Body("{\"error\":{\"message\":\"Unsupported parameter: 'reasoning.summary'\",\"param\":\"reasoning.summary\"}}")
        read
            End
        send without caching, reasoning.summary
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            Completed
        end after 1 attempts, drain, refused caching, refused reasoning.summary: Completed, done
    "#]],
    );
    // The message doesn't name the parameter, but the error does.
    let unverified = Body(
        r#"{"error":{"message":"Your organization must be verified to generate this.","param":"reasoning.summary"}}"#,
    );
    check(
        &[bad, unverified, End, STREAM, Text, Completed],
        expect![[r#"
        send
            Head(400, "application/json")
        read
            Body("{\"error\":{\"message\":\"Your organization must be verified to generate this.\",\"param\":\"reasoning.summary\"}}")
        read
            End
        send without reasoning.summary
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            Completed
        end after 1 attempts, drain, refused reasoning.summary: Completed, done
    "#]],
    );
    // The server knows neither the parameter nor the object that it is in.
    let unknown = Body(r#"{"detail":"Unexpected fields in the request: {'reasoning'}"}"#);
    check(
        &[bad, unknown, End, STREAM, Text, Completed],
        expect![[r#"
        send
            Head(400, "application/json")
        read
            Body("{\"detail\":\"Unexpected fields in the request: {'reasoning'}\"}")
        read
            End
        send without reasoning.summary
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            Completed
        end after 1 attempts, drain, refused reasoning.summary: Completed, done
    "#]],
    );
    // The server names the same parameter again, so leaving it out didn't help.
    check(
        &[bad, caching, End, bad, caching, End],
        expect![[r#"
        send
            Head(400, "application/json")
        read
            Body("{\"detail\":\"Unexpected fields in the request: {'caching'}\"}")
        read
            End
        send without caching
            Head(400, "application/json")
        read
            Body("{\"detail\":\"Unexpected fields in the request: {'caching'}\"}")
        read
            End
        end after 1 attempts: Failed, rejected: Unexpected fields in the request: {'caching'}. Check the settings for this model.
    "#]],
    );
}

/// Checks invariant E7.
#[test]
fn cancelling_ends_the_exchange() {
    check(
        &[Cancel],
        expect![[r#"
        send
            Cancel
        end after 1 attempts: Cancelled, cancelled
    "#]],
    );
    check(
        &[STREAM, Text, Cancel, Text],
        expect![[r#"
        send
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            Cancel
        end after 1 attempts: Cancelled, cancelled
            Text
        end after 1 attempts: Cancelled, cancelled
    "#]],
    );
    check(
        &[Connect, Cancel],
        expect![[r#"
        send
            Connect
        wait 500 ms: No connection to https://gateway.example.
            Cancel
        end after 1 attempts: Cancelled, cancelled
    "#]],
    );
    check(
        &[STREAM, Text, Completed, Cancel],
        expect![[r#"
        send
            Head(200, "text/event-stream")
        read
            Text
        text "Hi"
        read
            Completed
        end after 1 attempts, drain: Completed, done
            Cancel
        end after 1 attempts, drain: Completed, done
    "#]],
    );
}

#[test]
fn an_answer_whose_outputs_nobody_saw_is_cancelled() {
    for input in [Completed, Overloaded, End] {
        let mut exchange = start();
        for input in [STREAM, Text, input] {
            input.tell(&mut exchange);
        }
        while matches!(exchange.poll(0), Action::Output(_)) {}
        exchange.cancel_unseen();
        let action = exchange.poll(0);
        assert_eq!(line(&action).split(": ").nth(1), Some("Cancelled, cancelled"));
        let Action::End(report) = action else { panic!("{action:?}") };
        assert_eq!((report.entry.is_answered, report.entry.is_whole), (false, false));
        assert_eq!(report.entry.finish, LedgerEntry::default().finish);
    }
}

#[test]
fn a_crash_is_reported_by_another_exchange() {
    for (is_out_of_memory, expected) in [
        (true, "This answer is too large: it used up the memory for one answer. Ask for a shorter answer."),
        (
            false,
            "Sluice crashed while it read this answer. Ask again, and report this as a bug in Sluice if it happens again.",
        ),
    ] {
        let mut exchange = start();
        exchange.handle_crash(is_out_of_memory);
        assert_eq!(line(&exchange.poll(0)), format!("end after 1 attempts: Failed, rejected: {expected}"));
    }
}

//! Variants of what servers send: the same facts under other names, in other places and of other types. Nobody documents
//! all of them, and each occurs somewhere.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use crate::support::wire::frame;
use crate::support::*;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{Failure, HttpResponse, Output, Part};

/// Reads a stream of these events. Renders text, thinking, calls, the status and the counts in one line each.
fn check(events: &[Value], expected: Expect) {
    let body: String = events.iter().map(frame).collect();
    let (outputs, outcome) = run_whole(body.as_bytes());
    let mut lines = String::new();
    for output in &outputs {
        match output {
            Output::Part(Part::Text { value }) => lines.push_str(&format!("text {value:?}\n")),
            Output::Part(Part::Thinking { value, .. }) if value.is_empty() => {}
            Output::Part(Part::Thinking { value, .. }) => lines.push_str(&format!("thinking {value:?}\n")),
            Output::Part(part) => lines.push_str(&format!("{}\n", serde_json::to_string(part).unwrap())),
            Output::Note(note) => lines.push_str(&format!("note {:?} {}\n", note.kind, note.detail)),
        }
    }
    lines.push_str(&format!("{:?}", outcome.status));
    if let Some(reason) = &outcome.reason {
        lines.push_str(&format!(" {reason}"));
    }
    if let Some(error) = &outcome.error {
        lines.push_str(&format!(" {:?}: {}", error.kind, error.message));
    }
    if let Some(usage) = &outcome.usage {
        lines.push_str(&format!(", {:?} in, {:?} out", usage.input_tokens, usage.output_tokens));
    }
    expected.assert_eq(&(lines + "\n"));
}

fn ended(response: Value) -> Value {
    json!({"type": "response.completed", "response": response})
}

#[test]
fn deltas_may_be_content_parts() {
    for delta in [json!([{"type": "text", "text": "Hi"}]), json!(["H", "i"]), json!({"text": "Hi"})] {
        check(
            &[json!({"type": "response.output_text.delta", "delta": delta}), ended(json!({}))],
            expect![[r#"
                text "Hi"
                Completed
            "#]],
        );
    }
}

#[test]
fn contents_may_be_strings() {
    for content in [json!("Hi"), json!(["Hi"]), json!({"type": "text", "text": "Hi"})] {
        let message = json!({"type": "message", "role": "assistant", "content": content});
        let thought = json!({"type": "reasoning", "summary": content});
        check(
            &[ended(json!({"output": [thought, message]}))],
            expect![[r#"
                thinking "Hi"
                text "Hi"
                Completed
            "#]],
        );
    }
}

#[test]
fn a_terminal_event_may_have_the_fields_of_its_response() {
    check(
        &[
            text_delta(0, "x"),
            json!({"type": "response.completed", "status": "incomplete", "incomplete_details": "length",
                "output": [], "usage": {"input_tokens": 5, "output_tokens": 6}}),
        ],
        expect![[r#"
            text "x"
            Incomplete max_output_tokens, Some(5) in, Some(6) out
        "#]],
    );
    check(
        &[
            text_delta(0, "x"),
            json!({"type": "response.completed", "response": {}, "usage": {"input_tokens": 5, "output_tokens": 6}}),
        ],
        expect![[r#"
            text "x"
            Completed, Some(5) in, Some(6) out
        "#]],
    );
}

#[test]
fn other_names_of_events_are_understood() {
    check(
        &[
            json!({"type": "response.reasoning_content.delta", "delta": "hm"}),
            json!({"type": "response.content_part.delta", "delta": "x"}),
            json!({"type": "response.done", "response": {"status": "completed"}}),
        ],
        expect![[r#"
            thinking "hm"
            text "x"
            Completed
        "#]],
    );
    check(
        &[text_delta(0, "x"), json!({"type": "response.cancelled", "response": {"status": "cancelled"}})],
        expect![[r#"
            text "x"
            Incomplete cancelled
        "#]],
    );
}

#[test]
fn counts_are_found_in_every_spelling() {
    for usage in [
        json!({"inputTokens": 5, "outputTokens": 6, "totalTokens": 11}),
        json!({"input_tokens": "5", "output_tokens": "6"}),
        json!({"input_tokens": 0, "output_tokens": 0, "prompt_tokens": 5, "completion_tokens": 6}),
        json!({"input_tokens": null, "prompt_tokens": 5, "completion_tokens": 6.0}),
    ] {
        check(
            &[text_delta(0, "x"), ended(json!({"usage": usage}))],
            expect![[r#"
                text "x"
                Completed, Some(5) in, Some(6) out
            "#]],
        );
    }
}

#[test]
fn arguments_may_name_their_call() {
    let begun = |id: &str, name: &str| {
        json!({"type": "response.output_item.added",
            "item": {"type": "function_call", "call_id": id, "name": name, "arguments": ""}})
    };
    let arguments = |id: &str, delta: &str| {
        json!({"type": "response.function_call_arguments.delta",
            "call_id": id, "delta": delta})
    };
    check(
        &[
            begun("a", "f"),
            begun("b", "g"),
            arguments("b", r#"{"n":2}"#),
            arguments("a", r#"{"n":1}"#),
            ended(json!({})),
        ],
        expect![[r#"
            {"type":"toolCall","callId":"gw-a","name":"f","inputJson":"{\"n\":1}"}
            {"type":"toolCall","callId":"gw-b","name":"g","inputJson":"{\"n\":2}"}
            Completed
        "#]],
    );
}

#[test]
fn errors_in_a_stream_are_found_in_every_shape() {
    let mut errors = String::new();
    for event in [
        json!({"type": "error", "error": {"error": {"message": "slow down", "code": 429}}}),
        json!({"type": "error", "message": "{\"error\":{\"message\":\"slow down\",\"code\":\"rate_limit_exceeded\"}}"}),
        json!({"type": "error", "error": {"message": "slow down", "status_code": 429}}),
        json!({"type": "response.failed", "error": {"message": "slow down", "code": "rate_limit_exceeded"}}),
        json!({"type": "response.failed", "response": {"error": [{"message": "slow down", "code": 429}]}}),
        ended(json!({"status": "completed", "error": {"message": "slow down", "code": 429}})),
        json!({"object": "error", "type": "RateLimitError", "message": "slow down", "code": 429}),
        json!({"message": "slow down", "code": 429}),
        json!({"detail": "slow down"}),
    ] {
        let (outputs, outcome) = run_whole(frame(&event).as_bytes());
        assert!(outputs.is_empty());
        let error = outcome.error.unwrap();
        errors.push_str(&format!("{:?}: {}\n", error.kind, error.message));
    }
    expect![[r#"
        RateLimited: slow down
        RateLimited: slow down
        RateLimited: slow down
        RateLimited: slow down
        RateLimited: slow down
        RateLimited: slow down
        RateLimited: slow down
        RateLimited: slow down
        Server: slow down
    "#]]
    .assert_eq(&errors);
    // Other events without a known name are still ignored.
    check(
        &[json!({"type": "ping"}), json!({"type": "note", "message": "hello"}), ended(json!({}))],
        expect![[r#"
            note UnknownEvent ping
            note UnknownEvent note
            Completed
        "#]],
    );
}

#[test]
fn the_text_of_a_refusal_may_be_nested() {
    let mut errors = String::new();
    for body in [
        json!({"detail": {"error": "no such tier"}}),
        json!([{"error": {"code": 400, "message": "no such tier", "status": "INVALID_ARGUMENT"}}]),
        json!({"success": false, "errors": [{"code": 7003, "message": "no such tier"}]}),
        json!({"error": {"message": "{\"error\":{\"message\":\"no such tier\"}}"}}),
        json!({"error": {"error": {"message": "no such tier"}}}),
        json!({"title": "no such tier", "status": 400}),
    ] {
        let response = HttpResponse { status: 400, body: body.to_string(), ..HttpResponse::default() };
        let failure = Failure::from_http(&response, 0);
        errors.push_str(&format!("{:?}: {}\n", failure.kind, failure.message));
    }
    expect![[r#"
        BadRequest: no such tier
        BadRequest: no such tier
        BadRequest: no such tier
        BadRequest: no such tier
        BadRequest: no such tier
        BadRequest: no such tier
    "#]]
    .assert_eq(&errors);
}

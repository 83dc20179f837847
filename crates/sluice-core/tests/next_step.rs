//! What a shell does after an attempt. The input is a stream and how its body ended, the output the next step and the
//! counts for VS Code.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{
    BodyEnd, Failure, Outcome, Output, Part, ResponseStream, StreamOptions, Transport, Usage, VsCodeUsage, next_step,
};

const HOST: &str = "https://gateway.example";

fn event(value: Value) -> String {
    format!("data: {value}\n\n")
}

fn text() -> String {
    event(json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hi"}))
}

fn call() -> String {
    let item = json!({"type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": "{}", "status": "completed"});
    event(json!({"type": "response.output_item.done", "output_index": 1, "item": item}))
}

fn incomplete(reason: &str) -> String {
    event(json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}}}))
}

fn failed(code: &str) -> String {
    event(json!({"type": "response.failed", "response": {"error": {"code": code, "message": "It broke"}}}))
}

fn check(body: String, end: BodyEnd, expected: Expect) {
    let mut stream = ResponseStream::new(StreamOptions::default());
    let mut outputs: Vec<Output> = stream.push(body.as_bytes()).collect();
    let (rest, outcome) = stream.finish(end);
    outputs.extend(rest);
    let called_tool = outputs.iter().any(|output| matches!(output, Output::Part(Part::ToolCall { .. })));
    let step = next_step(&outcome.with_host(end, HOST), 1, called_tool, 0.0);
    expected.assert_eq(&serde_json::to_string(&step).unwrap());
}

#[test]
fn an_answer_that_is_complete_is_done() {
    let completed = event(json!({"type": "response.completed", "response": {}}));
    check(text() + &completed, BodyEnd::Eof, expect![[r#"{"type":"done"}"#]]);
    check(call() + &completed, BodyEnd::Eof, expect![[r#"{"type":"done"}"#]]);
    // An agent continues with the calls it got.
    check(call() + &incomplete("max_output_tokens"), BodyEnd::Eof, expect![[r#"{"type":"done"}"#]]);
}

#[test]
fn an_empty_answer_is_explained() {
    let completed = event(json!({"type": "response.completed", "response": {}}));
    let thinking =
        event(json!({"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "Hm"}));
    check(
        completed.clone(),
        BodyEnd::Eof,
        expect![[
            r#"{"type":"reject","message":"The model sent an empty answer. Ask again, or choose another model.","kind":null}"#
        ]],
    );
    check(
        thinking + &completed,
        BodyEnd::Eof,
        expect![[
            r#"{"type":"reject","message":"The model thought and then said nothing. Ask again, lower the thinking effort, or choose another model.","kind":null}"#
        ]],
    );
    check(
        incomplete("content_filter"),
        BodyEnd::Eof,
        expect![[
            r#"{"type":"reject","message":"The provider's content filter removed the answer. Rephrase the question or choose another model.","kind":null}"#
        ]],
    );
    check(
        incomplete("max_output_tokens"),
        BodyEnd::Eof,
        expect![[
            r#"{"type":"reject","message":"The output limit was used up before the first word. Lower the thinking effort or choose another model.","kind":null}"#
        ]],
    );
}

#[test]
fn an_answer_that_was_cut_off_is_explained() {
    check(
        text() + &incomplete("max_output_tokens"),
        BodyEnd::Eof,
        expect![[
            r#"{"type":"reject","message":"The answer reached the model's output limit and is cut off here. Say \"go on\" to continue.","kind":null}"#
        ]],
    );
    check(
        text() + &incomplete("content_filter"),
        BodyEnd::Eof,
        expect![[
            r#"{"type":"reject","message":"The provider's content filter cut the answer off here.","kind":null}"#
        ]],
    );
    check(
        text() + &incomplete("other"),
        BodyEnd::Eof,
        expect![[
            r#"{"type":"reject","message":"The server ended the answer early, without saying why.","kind":null}"#
        ]],
    );
}

#[test]
fn a_broken_stream_is_retried_only_before_the_first_part() {
    check(
        String::new(),
        BodyEnd::Eof,
        expect![[
            r#"{"type":"retry","delayMs":500,"message":"The connection to https://gateway.example broke before the answer was complete."}"#
        ]],
    );
    check(
        String::new(),
        BodyEnd::IdleTimeout,
        expect![[
            r#"{"type":"retry","delayMs":500,"message":"https://gateway.example stopped sending in the middle of the answer."}"#
        ]],
    );
    check(failed("server_error"), BodyEnd::Eof, expect![[r#"{"type":"retry","delayMs":500,"message":"It broke"}"#]]);
    check(
        failed("invalid_prompt"),
        BodyEnd::Eof,
        expect![[r#"{"type":"reject","message":"It broke. Try again.","kind":"server"}"#]],
    );
    check(
        text(),
        BodyEnd::Broken,
        expect![[
            r#"{"type":"reject","message":"The connection to https://gateway.example broke before the answer was complete. Try again.","kind":"network"}"#
        ]],
    );
    check(
        text() + &failed("server_error"),
        BodyEnd::Eof,
        expect![[
            r#"{"type":"reject","message":"It broke. Try again later or choose another model.","kind":"serverDown"}"#
        ]],
    );
    check(text(), BodyEnd::Cancelled, expect![[r#"{"type":"cancelled"}"#]]);
}

#[test]
fn there_are_three_attempts_in_all() {
    let outcome = Outcome::refused(Failure::from_transport(Transport::Connect, HOST));
    let steps: Vec<String> = (1..=3)
        .map(|attempt| serde_json::to_value(next_step(&outcome, attempt, false, 0.0)).unwrap()["type"].to_string())
        .collect();
    expect![[r#""retry" "retry" "reject""#]].assert_eq(&steps.join(" "));
}

#[test]
fn counts_for_vscode_come_from_the_server_or_are_absent() {
    let usage = |value: Value| {
        let usage: Usage = serde_json::from_value(value).unwrap();
        VsCodeUsage::of(&usage).map_or("none".to_owned(), |usage| serde_json::to_string(&usage).unwrap())
    };
    expect![[r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}"#]].assert_eq(&usage(json!({
        "input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
        "input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 2},
    })));
    expect![[r#"{"prompt_tokens":10,"completion_tokens":0,"total_tokens":10}"#]]
        .assert_eq(&usage(json!({"input_tokens": 10})));
    expect![[r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}"#]]
        .assert_eq(&usage(json!({"output_tokens": 5, "total_tokens": 15})));
    expect!["none"].assert_eq(&usage(json!({"output_tokens": 5})));
}

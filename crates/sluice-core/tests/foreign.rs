//! What servers that we didn't write really send. Each case is the shortest stream with the same peculiarity as one that
//! was recorded.
//!
//! Each peculiarity has at least one test:
//!
//! | what servers do | tests |
//! |---|---|
//! | refuse fields that only the gateway has | `sluice-client/tests/servers.rs`: `what_a_server_refuses_is_left_out_and_remembered` |
//! | say `completed` about an incomplete answer | `the_status_inside_a_completed_event_counts` |
//! | cut off a call before its arguments | `a_call_without_arguments_waits_for_the_end_of_the_answer` |
//! | cut off a call within its arguments | `a_call_that_is_cut_off_names_the_limit` |
//! | answer under another model name | `foreign_requests.rs`: `reasoning_belongs_to_the_model_that_was_asked_for` |
//! | list limits and kinds in their own spelling | `foreign_addresses.rs`: `lists_of_plain_servers_are_read` |
//! | have their API at another address | `foreign_addresses.rs`: `the_address_with_or_without_v1_is_tried_once_and_named`; `foreign_refusals.rs`: `a_wrong_address_is_not_called_a_wrong_model` |
//! | hide the text of an error | `foreign_refusals.rs`: `error_texts_are_found_in_every_shape`; `foreign_variants.rs`: `errors_in_a_stream_are_found_in_every_shape` |
//! | require `detail` of images in results | `foreign_requests.rs`: `an_image_in_a_result_has_its_detail` |
//! | split surrogate pairs | `a_surrogate_pair_that_is_split_over_two_deltas_is_joined` |
//! | finish parallel calls in another order | `parallel_calls_are_reported_in_order` |
//! | spell usage as in chat completions | `usage_in_the_spelling_of_chat_completions_is_read` |
//! | want plain reasoning back | `foreign_requests.rs`: `plain_reasoning_is_sent_back` |
//! | send a status within an error event | `an_error_event_may_contain_a_status` |
//! | refuse a limit that is larger than the window | `foreign_refusals.rs`: `an_output_limit_is_not_a_conversation_that_is_too_long` |
//! | need several requests for one answer | `sluice-cli/tests/servers.rs`: `every_request_of_a_capture_has_its_own_files` |
//! | begin with counts of zero | `zeros_at_the_start_are_not_usage` |
//! | have the cost among the counts | `sluice-cli/tests/servers.rs`: `the_cost_among_the_counts_is_shown` |
//! | end an error without a full stop, or have none | `sluice-cli/tests/servers.rs`: `a_retry_is_announced_in_whole_sentences`, `a_failed_tool_leaves_no_empty_line` |
//! | think nothing but white space | `thinking_of_white_space_only_is_not_shown` |
//! | end with a call that is in progress | `a_blank_call_in_progress_is_not_finished` |
//! | put two items in one place, repeat a message, name a call at its end | `sluice-client/tests/servers.rs`: `every_server_gives_the_same_answer` |
//! | refuse every item at length | `sluice-client/tests/servers.rs`: `a_refusal_may_be_long` |

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use crate::support::wire::frame;
use crate::support::*;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_core::{Outcome, Output};

/// Reads a stream of these events. Renders the parts, the notes, and how the answer ended.
fn check(events: &[Value], expected: Expect) {
    let body: String = events.iter().map(frame).collect();
    let (outputs, outcome) = run_whole(body.as_bytes());
    expected.assert_eq(&render(&outputs, &outcome));
}

fn render(outputs: &[Output], outcome: &Outcome) -> String {
    let mut lines = String::new();
    for output in outputs {
        match output {
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
        lines.push_str(&format!("\n{}", serde_json::to_string(usage).unwrap()));
    }
    lines + "\n"
}

/// vLLM and everything in front of it end an answer that reached its limit with `response.completed`.
#[test]
fn the_status_inside_a_completed_event_counts() {
    let ended = |response: Value| json!({"type": "response.completed", "response": response});
    check(
        &[
            text_delta(0, "tick tock"),
            ended(json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []})),
        ],
        expect![[r#"
            {"type":"text","value":"tick tock"}
            Incomplete max_output_tokens
        "#]],
    );
    check(
        &[ended(json!({"status": "failed", "error": {"message": "Out of memory", "code": "server_error"}}))],
        expect![[r#"
            Failed ServerDown: Out of memory
        "#]],
    );
    // A missing or unknown status changes nothing.
    check(
        &[text_delta(0, "done"), ended(json!({"status": "in_progress"}))],
        expect![[r#"
        {"type":"text","value":"done"}
        Completed
    "#]],
    );
}

/// Checks invariant S4. vLLM's limit can be reached right after the name of a tool. The item still has the status `completed`.
#[test]
fn a_call_without_arguments_waits_for_the_end_of_the_answer() {
    let item = call_item(0, "call_1", "get_weather", "", "completed");
    let events = [added(0, &item), done(0, &item)];
    let reason = json!({"reason": "max_output_tokens"});
    let cut_off = json!({"type": "response.completed",
        "response": {"status": "incomplete", "incomplete_details": reason, "output": [item]}});
    check(
        &[&events[..], &[cut_off]].concat(),
        expect![[r#"
        note DroppedCall get_weather
        Incomplete max_output_tokens
    "#]],
    );
    check(
        &[&events[..], &[completed(&[item])]].concat(),
        expect![[r#"
        {"type":"toolCall","callId":"gw-call_1","name":"get_weather","inputJson":"{}"}
        Completed
        {"input_tokens":11,"output_tokens":7,"total_tokens":18,"input_tokens_details":{"cached_tokens":3},"output_tokens_details":{"reasoning_tokens":2}}
    "#]],
    );
    check(
        &events,
        expect![[r#"
        Truncated eof
    "#]],
    );
}

/// llama.cpp says that everything is completed, whatever the reason for the end was.
#[test]
fn a_call_that_is_cut_off_names_the_limit() {
    let call = |arguments: &str| {
        let item = call_item(0, "call_1", "get_weather", arguments, "completed");
        let delta = |piece: &str| json!({"type": "response.function_call_arguments.delta", "item_id": "item_0", "delta": piece});
        let (first, rest) = arguments.split_at(1);
        [
            json!({"type": "response.output_item.added", "item": call_item(0, "call_1", "get_weather", "", "in_progress")}),
            delta(first),
            delta(rest),
            json!({"type": "response.output_item.done", "item": item}),
            json!({"type": "response.completed", "response": {"status": "completed", "output": [item]}}),
        ]
    };
    let mut ends = String::new();
    for arguments in
        ["{", r#"{"city": "Par"#, r#"{"city": tr"#, r#"{"days": 1"#, r#"{"a": {"b": [1,"#, "{]", "[1", "Rome"]
    {
        let body: String = call(arguments).iter().map(frame).collect();
        let (outputs, outcome) = run_whole(body.as_bytes());
        ends.push_str(&render(&outputs, &outcome));
    }
    expect![[r#"
        Failed ToolCall: The arguments of the model's call to the tool "get_weather" end too early. The answer has probably reached its output limit.
        Failed ToolCall: The arguments of the model's call to the tool "get_weather" end too early. The answer has probably reached its output limit.
        Failed ToolCall: The arguments of the model's call to the tool "get_weather" end too early. The answer has probably reached its output limit.
        Failed ToolCall: The arguments of the model's call to the tool "get_weather" end too early. The answer has probably reached its output limit.
        Failed ToolCall: The arguments of the model's call to the tool "get_weather" end too early. The answer has probably reached its output limit.
        Failed ToolCall: The model's call to the tool "get_weather" has arguments that are not a JSON object.
        Failed ToolCall: The model's call to the tool "get_weather" has arguments that are not a JSON object.
        Failed ToolCall: The model's call to the tool "get_weather" has arguments that are not a JSON object.
    "#]].assert_eq(&ends);
}

/// `openai-responses-server` ends with a call that it still calls `in_progress`.
#[test]
fn a_blank_call_in_progress_is_not_finished() {
    let item = call_item(0, "call_1", "get_weather", "", "in_progress");
    check(
        &[added(0, &item), completed(&[item])],
        expect![[r#"
        Failed ToolCall: The model's call to the tool "get_weather" was not finished.
        {"input_tokens":11,"output_tokens":7,"total_tokens":18,"input_tokens_details":{"cached_tokens":3},"output_tokens_details":{"reasoning_tokens":2}}
    "#]],
    );
}

/// Checks invariant S3. Hugging Face's `responses.js` sends `done` events for the last of several calls only.
#[test]
fn parallel_calls_are_reported_in_order() {
    let item = |at: u64, id: &str, arguments: &str| call_item(at, id, "get_weather", arguments, "completed");
    let [first, second, third] =
        [item(0, "A1", r#"{"n":1}"#), item(1, "B2", r#"{"n":2}"#), item(2, "C3", r#"{"n":3}"#)];
    let begin = |at: u64, id: &str, arguments: &str| [added(at, &item(at, id, "")), args_delta(at, arguments)];
    let begun = [begin(0, "A1", r#"{"n":1}"#), begin(1, "B2", r#"{"n":2}"#), begin(2, "C3", r#"{"n":3}"#)].concat();
    check(
        &[&begun[..], &[done(2, &third), completed(&[first.clone(), second.clone(), third.clone()])]].concat(),
        expect![[r#"
            {"type":"toolCall","callId":"gw-A1","name":"get_weather","inputJson":"{\"n\":1}"}
            {"type":"toolCall","callId":"gw-B2","name":"get_weather","inputJson":"{\"n\":2}"}
            {"type":"toolCall","callId":"gw-C3","name":"get_weather","inputJson":"{\"n\":3}"}
            Completed
            {"input_tokens":11,"output_tokens":7,"total_tokens":18,"input_tokens_details":{"cached_tokens":3},"output_tokens_details":{"reasoning_tokens":2}}
        "#]],
    );
    check(
        &[&begun[..], &[done(2, &third), done(1, &second), done(0, &first)]].concat(),
        expect![[r#"
        {"type":"toolCall","callId":"gw-A1","name":"get_weather","inputJson":"{\"n\":1}"}
        {"type":"toolCall","callId":"gw-B2","name":"get_weather","inputJson":"{\"n\":2}"}
        {"type":"toolCall","callId":"gw-C3","name":"get_weather","inputJson":"{\"n\":3}"}
        Truncated eof
    "#]],
    );
    // A complete call is reported even if the answer is cut off before an earlier call is complete.
    check(
        &[&begun[..], &[done(2, &third), incomplete("max_output_tokens", &[])]].concat(),
        expect![[r#"
        {"type":"toolCall","callId":"gw-C3","name":"get_weather","inputJson":"{\"n\":3}"}
        note DroppedCall get_weather
        note DroppedCall get_weather
        Incomplete max_output_tokens
        {"input_tokens":11,"output_tokens":7,"total_tokens":18,"input_tokens_details":{"cached_tokens":3},"output_tokens_details":{"reasoning_tokens":2}}
    "#]],
    );
    // A call that the server gives up delays no other call.
    let given_up = call_item(0, "A1", "get_weather", "{", "incomplete");
    check(
        &[&begun[..], &[done(2, &third), done(0, &given_up), done(1, &second)]].concat(),
        expect![[r#"
        note DroppedCall get_weather
        {"type":"toolCall","callId":"gw-B2","name":"get_weather","inputJson":"{\"n\":2}"}
        {"type":"toolCall","callId":"gw-C3","name":"get_weather","inputJson":"{\"n\":3}"}
        Truncated eof
    "#]],
    );
}

/// Servers in JavaScript split text between UTF-16 units, also in the middle of a pair.
#[test]
fn a_surrogate_pair_that_is_split_over_two_deltas_is_joined() {
    fn check(deltas: &[&str], whole: &str, expected: Expect) {
        let event = |name: &str, field: &str, text: &str| {
            format!("data: {{\"type\":\"response.output_text.{name}\",\"output_index\":0,\"{field}\":\"{text}\"}}\n\n")
        };
        let deltas: String = deltas.iter().map(|delta| event("delta", "delta", delta)).collect();
        let body = deltas + &event("done", "text", whole) + "data: {\"type\":\"response.completed\"}\n\n";
        let (outputs, outcome) = run_whole(body.as_bytes());
        expected.assert_eq(&render(&outputs, &outcome));
        assert_eq!(run(body.as_bytes(), 1).0, outputs);
    }
    check(
        &[r"Hi \ud83d", r"\udcbb!"],
        "Hi 💻!",
        expect![[r#"
        {"type":"text","value":"Hi "}
        {"type":"text","value":"💻!"}
        Completed
    "#]],
    );
    check(
        &[r"\uD83D", r"\uDCBB", r"\ud83d", r"\udcbb"],
        "💻💻",
        expect![[r#"
        {"type":"text","value":"💻"}
        {"type":"text","value":"💻"}
        Completed
    "#]],
    );
    // An empty delta between the halves doesn't separate them.
    check(
        &[r"Hi \ud83d", "", r"\udcbb!"],
        "Hi 💻!",
        expect![[r#"
        {"type":"text","value":"Hi "}
        {"type":"text","value":"💻!"}
        Completed
    "#]],
    );
    check(
        &[r"a\ud83d", "b"],
        r"a\ud83db",
        expect![[r#"
        {"type":"text","value":"a"}
        {"type":"text","value":"b"}
        note TextMismatch message
        Completed
    "#]],
    );
    check(
        &["a", r"\udcbb"],
        r"a\udcbb",
        expect![[r#"
        {"type":"text","value":"a"}
        {"type":"text","value":"�"}
        Completed
    "#]],
    );
    check(
        &[r"a\ud83d"],
        "a💻",
        expect![[r#"
        {"type":"text","value":"a"}
        {"type":"text","value":"💻"}
        Completed
    "#]],
    );
    check(
        &[r#"a \"\ud83d"#, r#"\udcbb\"\ud83d\""#],
        r#"a \"💻\"\ud83d\""#,
        expect![[r#"
        {"type":"text","value":"a \""}
        {"type":"text","value":"💻\"�\""}
        Completed
    "#]],
    );
}

/// vLLM and `transformers serve` with Qwen's models: thinking that is turned off consists of two line breaks.
#[test]
fn thinking_of_white_space_only_is_not_shown() {
    let delta = |text: &str| json!({"type": "response.reasoning_text.delta", "output_index": 0, "delta": text});
    check(
        &[
            reasoning_added(0),
            delta("\n"),
            delta("\n"),
            done(0, &reasoning_item(0, &[], &["\n\n"])),
            text_delta(1, "Sunny."),
            json!({"type": "response.completed", "response": {"status": "completed"}}),
        ],
        expect![[r#"
            {"type":"text","value":"Sunny."}
            {"type":"thinking","value":"","id":"item_0","replay":{"model":null,"items":[{"reasoning":{"id":"item_0","content":["\n\n"]}},{"message":{"bytes":6,"hash":1713824838}}]}}
            Completed
        "#]],
    );
}

/// `responses-proxy` passes on the counts as chat completions spell them.
#[test]
fn usage_in_the_spelling_of_chat_completions_is_read() {
    let usage = json!({"prompt_tokens": 123, "completion_tokens": 45, "total_tokens": 168,
        "prompt_tokens_details": {"cached_tokens": 100}, "completion_tokens_details": {"reasoning_tokens": 7}});
    check(
        &[text_delta(0, "x"), with(completed(&[]), &json!({"response": {"usage": usage}}))],
        expect![[r#"
        {"type":"text","value":"x"}
        Completed
        {"input_tokens":123,"output_tokens":45,"total_tokens":168,"input_tokens_details":{"cached_tokens":100},"output_tokens_details":{"reasoning_tokens":7}}
    "#]],
    );
}

/// codex-proxy and `responses.js` begin every answer with zeros, which would count as the usage of a cancelled one.
#[test]
fn zeros_at_the_start_are_not_usage() {
    let zeros = json!({"input_tokens": 0, "output_tokens": 0, "total_tokens": 0});
    let created = json!({"type": "response.created", "response": {"id": "r", "usage": zeros}});
    check(
        &[created.clone(), text_delta(0, "x")],
        expect![[r#"
        {"type":"text","value":"x"}
        Truncated eof
    "#]],
    );
    check(
        &[created, text_delta(0, "x"), with(completed(&[]), &json!({"response": {"usage": zeros}}))],
        expect![[r#"
        {"type":"text","value":"x"}
        Completed
        {"input_tokens":0,"output_tokens":0,"total_tokens":0,"input_tokens_details":null,"output_tokens_details":null}
    "#]],
    );
    let counted = json!({"type": "response.in_progress", "response": {"usage": {"input_tokens": 9}}});
    check(
        &[counted, text_delta(0, "x")],
        expect![[r#"
        {"type":"text","value":"x"}
        Truncated eof
        {"input_tokens":9,"output_tokens":null,"total_tokens":null,"input_tokens_details":null,"output_tokens_details":null}
    "#]],
    );
}

/// Errors in a stream whose code is a status, in whichever field.
#[test]
fn an_error_event_may_contain_a_status() {
    let mut errors = String::new();
    for error in [
        json!({"error": {"message": "slow down", "status": 429}}),
        json!({"type": "error", "message": "slow down", "code": 429}),
        json!({"type": "error", "error": {"type": "upstream_error", "message": "slow down", "code": "429"}}),
    ] {
        let (outputs, outcome) = run_whole(frame(&error).as_bytes());
        errors.push_str(&render(&outputs, &outcome));
    }
    expect![[r#"
        Failed RateLimited: slow down
        Failed RateLimited: slow down
        Failed RateLimited: slow down
    "#]]
    .assert_eq(&errors);
    check(
        &[json!({"type": "response.failed",
            "response": {"error": {"code": "server_error", "message": "401 Incorrect API key provided"}}})],
        expect![[r#"
            Failed SignIn: 401 Incorrect API key provided
        "#]],
    );
    check(
        &[json!({"type": "error", "error": {"code": "401", "message": "No such key"}})],
        expect![[r#"
        Failed SignIn: No such key
    "#]],
    );
    // A number in a sentence isn't a status.
    check(
        &[json!({"type": "error", "error": {"code": "server_error", "message": "401k plans are not supported"}})],
        expect![[r#"
            Failed ServerDown: 401k plans are not supported
        "#]],
    );
}

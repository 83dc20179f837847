//! The rules of the receive path, one small stream each. The input is events as wire text, the expectation a rendering
//! of all outputs.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use sluice_core::{BodyEnd, Outcome, Output, Part, ResponseStream, StreamOptions};

/// Each line of the input is the JSON of one event. `response.` may be left out of its type.
pub(crate) fn check(events: &str, expected: Expect) {
    let body: String = events.lines().map(str::trim).filter(|line| !line.is_empty()).map(frame).collect();
    check_body(body.as_bytes(), expected);
}

fn frame(line: &str) -> String {
    let short =
        ["error", "response.", "ping", "acme:"].iter().all(|start| !line.starts_with(&format!("{{\"type\":\"{start}")));
    let line = if short { line.replacen("{\"type\":\"", "{\"type\":\"response.", 1) } else { line.to_owned() };
    format!("data: {line}\n\n")
}

fn check_body(body: &[u8], expected: Expect) {
    let mut stream = ResponseStream::new(StreamOptions::default());
    let mut outputs: Vec<Output> = stream.push(body).collect();
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    outputs.extend(rest);
    let mut lines: String = outputs.iter().map(|output| render(output) + "\n").collect();
    lines.push_str(&render_outcome(&outcome));
    expected.assert_eq(&lines);
}

fn render(output: &Output) -> String {
    match output {
        Output::Part(Part::Text { value }) => format!("text {value:?}"),
        Output::Part(Part::Thinking { value, id, replay: None }) => format!("thinking {id} {value:?}"),
        Output::Part(Part::Thinking { id, replay: Some(replay), .. }) => format!("replay {id} {replay:?}"),
        Output::Part(Part::ToolCall { call_id, name, input_json }) => format!("call {call_id} {name} {input_json}"),
        Output::Part(Part::Data { mime_type, base64 }) => format!("data {mime_type} {base64}"),
        Output::Part(Part::Citations { markdown, .. }) => format!("citations {markdown:?}"),
        Output::Note(note) => format!("note {:?} {}", note.kind, note.detail),
    }
}

fn render_outcome(outcome: &Outcome) -> String {
    let mut line = format!("{:?}", outcome.status);
    let extras = [
        outcome.reason.clone(),
        outcome.error.as_ref().map(|error| format!("{:?} {:?} {:?}", error.kind, error.code, error.message)),
        outcome.empty.map(|empty| format!("empty: {empty:?}")),
        outcome.usage.as_ref().map(|usage| format!("usage: {:?}/{:?}", usage.input_tokens, usage.output_tokens)),
        outcome.retry_safe.then(|| "may retry".to_owned()),
    ];
    extras.into_iter().flatten().for_each(|extra| line.push_str(&format!(", {extra}")));
    line + "\n"
}

/// Checks invariant S6.
#[test]
fn streamed_text_is_not_repeated_by_its_done_events() {
    check(
        r#"
        {"type":"created","response":{"id":"resp_1","model":"m","usage":null}}
        {"type":"output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","content":[]}}
        {"type":"content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}
        {"type":"output_text.delta","output_index":0,"item_id":"msg_1","content_index":0,"delta":"Hel"}
        {"type":"output_text.delta","output_index":0,"item_id":"msg_1","content_index":0,"delta":"lo"}
        {"type":"output_text.done","output_index":0,"item_id":"msg_1","content_index":0,"text":"Hello"}
        {"type":"content_part.done","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Hello"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"Hello"}]}}
        {"type":"completed","response":{"id":"resp_1","output":[{"type":"message","id":"msg_1","content":[{"type":"output_text","text":"Hello"}]}],"usage":{"input_tokens":3,"output_tokens":2,"total_tokens":5}}}
        "#,
        expect![[r#"
            text "Hel"
            text "lo"
            Completed, usage: Some(3)/Some(2)
        "#]],
    );
}

/// Checks invariant S6.
#[test]
fn text_that_only_a_done_event_has_is_delivered() {
    check(
        r#"
        {"type":"output_text.delta","output_index":0,"delta":"Hel"}
        {"type":"output_text.done","output_index":0,"text":"Hello"}
        {"type":"content_part.done","output_index":0,"content_index":1,"part":{"type":"output_text","text":" you"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"Hello"},{"type":"output_text","text":" you"},{"type":"output_text","text":"!"}]}}
        {"type":"completed","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"Hello you!"}]},{"type":"message","content":[{"type":"output_text","text":"More."}]}]}}
        "#,
        expect![[r#"
            text "Hel"
            text "lo"
            text " you"
            text "!"
            text "\n\nMore."
            replay thinking-0 ThinkingReplay { model: None, origin: None, items: [Message(ReplayMessage { phase: None, bytes: 10, hash: 871177427 }), Message(ReplayMessage { phase: None, bytes: 5, hash: 2136727690 })] }
            Completed
        "#]],
    );
}

/// Checks invariant S6.
#[test]
fn a_done_text_that_contradicts_its_deltas_adds_nothing() {
    check(
        r#"
        {"type":"output_text.delta","output_index":0,"delta":"Good day"}
        {"type":"output_text.done","output_index":0,"text":"Hello"}
        {"type":"completed","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}]}}
        "#,
        expect![[r#"
            text "Good day"
            note TextMismatch message
            note TextMismatch message
            Completed
        "#]],
    );
}

#[test]
fn the_final_output_may_list_messages_in_another_order_and_under_other_ids() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"message","id":"a"}}
        {"type":"output_text.delta","output_index":0,"item_id":"a","delta":"one"}
        {"type":"output_item.added","output_index":1,"item":{"type":"message","id":"b"}}
        {"type":"output_text.delta","output_index":1,"item_id":"b","delta":"two"}
        {"type":"completed","response":{"output":[{"type":"message","id":"y","content":[{"type":"output_text","text":"two"}]},{"type":"message","id":"z","content":[{"type":"output_text","text":"zero"}]},{"type":"message","id":"x","content":[{"type":"output_text","text":"one"}]}]}}
        "#,
        expect![[r#"
            text "one"
            text "\n\ntwo"
            text "\n\nzero"
            replay thinking-0 ThinkingReplay { model: None, origin: None, items: [Message(ReplayMessage { phase: None, bytes: 3, hash: 566910127 }), Message(ReplayMessage { phase: None, bytes: 3, hash: 1149015817 }), Message(ReplayMessage { phase: None, bytes: 4, hash: 929080195 })] }
            Completed
        "#]],
    );
}

/// Checks invariant S7.
#[test]
fn refusals_are_text() {
    check(
        r#"
        {"type":"refusal.delta","output_index":0,"content_index":0,"delta":"I can"}
        {"type":"refusal.done","output_index":0,"content_index":0,"refusal":"I cannot"}
        {"type":"output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"I cannot"}]}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            text "I can"
            text "not"
            Completed
        "#]],
    );
}

#[test]
fn every_spelling_of_reasoning_becomes_thinking() {
    check(
        r#"
        {"type":"reasoning.delta","output_index":0,"item_id":"rs_0","delta":"a"}
        {"type":"reasoning_text.delta","output_index":0,"item_id":"rs_0","delta":"b"}
        {"type":"reasoning_summary_text.delta","output_index":1,"item_id":"rs_1","summary_index":0,"delta":"c"}
        {"type":"reasoning_summary.delta","output_index":1,"item_id":"rs_1","summary_index":1,"delta":"d"}
        {"type":"reasoning_summary_text.done","output_index":1,"item_id":"rs_1","summary_index":1,"text":"dd"}
        {"type":"reasoning_summary_part.done","output_index":1,"item_id":"rs_1","summary_index":1,"part":{"type":"summary_text","text":"dd"}}
        {"type":"output_item.done","output_index":2,"item":{"type":"reasoning","id":"rs_2","summary":[],"content":[{"type":"reasoning_text","text":"e"}]}}
        {"type":"output_text.delta","output_index":3,"delta":"answer"}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            thinking rs_0 "a"
            thinking rs_0 "b"
            thinking rs_1 "\n\nc"
            thinking rs_1:1 "\n\nd"
            thinking rs_1:1 "d"
            thinking rs_2 "\n\ne"
            text "answer"
            replay rs_2 ThinkingReplay { model: None, origin: None, items: [Reasoning(ReasoningItem { id: Some("rs_0"), encrypted_content: None, summary: [], content: ["ab"], signature: None }), Reasoning(ReasoningItem { id: Some("rs_2"), encrypted_content: None, summary: [], content: ["e"], signature: None }), Message(ReplayMessage { phase: None, bytes: 6, hash: 57774303 })] }
            Completed
        "#]],
    );
}

#[test]
fn summary_and_raw_reasoning_of_one_item_are_not_both_shown() {
    check(
        r#"
        {"type":"reasoning_text.delta","output_index":0,"item_id":"rs","delta":"raw"}
        {"type":"output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"short"}],"content":[{"type":"reasoning_text","text":"raw"}]}}
        {"type":"completed","response":{"output":[{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"short"}]}]}}
        "#,
        expect![[r#"
            thinking rs "raw"
            replay rs ThinkingReplay { model: None, origin: None, items: [Reasoning(ReasoningItem { id: Some("rs"), encrypted_content: None, summary: ["short"], content: ["raw"], signature: None })] }
            Completed, empty: ThinkingOnly
        "#]],
    );
}

#[test]
fn encrypted_reasoning_is_kept_for_the_next_request() {
    check(
        r#"
        {"type":"created","response":{"model":"acme/m-1"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_0","summary":[],"encrypted_content":"AAA"}}
        {"type":"output_text.delta","output_index":1,"delta":"hi"}
        {"type":"output_item.done","output_index":2,"item":{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"BBB"}}
        {"type":"completed","response":{"output":[{"type":"reasoning","id":"rs_0","summary":[],"encrypted_content":"AAA"}]}}
        "#,
        expect![[r#"
            text "hi"
            replay rs_2 ThinkingReplay { model: Some("acme/m-1"), origin: None, items: [Reasoning(ReasoningItem { id: Some("rs_0"), encrypted_content: Some("AAA"), summary: [], content: [], signature: None }), Message(ReplayMessage { phase: None, bytes: 2, hash: 3042886618 }), Reasoning(ReasoningItem { id: Some("rs_2"), encrypted_content: Some("BBB"), summary: [], content: [], signature: None })] }
            Completed
        "#]],
    );
}

#[test]
fn a_call_is_reported_as_soon_as_it_is_complete() {
    let added = r#"{"type":"output_item.added","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c1","name":"f","arguments":""}}"#;
    let deltas = r#"
        {"type":"function_call_arguments.delta","output_index":0,"delta":"{\"x\""}
        {"type":"function_call_arguments.delta","output_index":0,"delta":":1}"}"#;
    let arguments_done = r#"{"type":"function_call_arguments.done","output_index":0,"arguments":"{\"x\":1}"}"#;
    let item_done = r#"{"type":"output_item.done","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c1","name":"f","arguments":"{\"x\":1}","status":"completed"}}"#;
    let marker = r#"{"type":"output_text.delta","output_index":9,"delta":"|"}"#;
    let completed = r#"{"type":"completed","response":{"output":[{"type":"function_call","id":"fc","call_id":"c1","name":"f","arguments":"{\"x\":1}"}]}}"#;
    check(
        &[added, deltas, arguments_done, marker, item_done, item_done, completed].join("\n"),
        expect![[r#"
            call gw-c1 f {"x":1}
            text "|"
            Completed
        "#]],
    );
    check(
        &[added, deltas, marker, item_done, marker, completed].join("\n"),
        expect![[r#"
            text "|"
            call gw-c1 f {"x":1}
            text "|"
            Completed
        "#]],
    );
    for events in [vec![marker, completed], vec![added, marker, completed]] {
        check(
            &events.join("\n"),
            expect![[r#"
                text "|"
                call gw-c1 f {"x":1}
                Completed
            "#]],
        );
    }
    // Only deltas, and an empty final output.
    check(
        &[added, deltas, r#"{"type":"completed","response":{"output":[]}}"#].join("\n"),
        expect![[r#"
            call gw-c1 f {"x":1}
            Completed
        "#]],
    );
}

/// Checks invariant S5.
#[test]
fn interleaved_calls_with_rotating_ids_stay_apart() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","id":"r1","call_id":"a","name":"f"}}
        {"type":"output_item.added","output_index":1,"item":{"type":"function_call","id":"r2","call_id":"b","name":"g"}}
        {"type":"function_call_arguments.delta","output_index":0,"item_id":"r3","delta":"{\"n\":"}
        {"type":"function_call_arguments.delta","output_index":1,"item_id":"r4","delta":"{\"n\":"}
        {"type":"function_call_arguments.delta","output_index":0,"item_id":"r5","delta":"0}"}
        {"type":"function_call_arguments.delta","output_index":1,"item_id":"r6","delta":"1}"}
        {"type":"output_item.done","output_index":1,"item":{"type":"function_call","id":"r7","call_id":"b","name":"g","arguments":""}}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","id":"r8","call_id":"a","name":"f","arguments":""}}
        {"type":"completed","response":{"output":[{"type":"function_call","id":"r9","call_id":"a","name":"f","arguments":"{\"n\":0}"},{"type":"function_call","id":"r10","call_id":"b","name":"g","arguments":"{\"n\":1}"}]}}
        "#,
        expect![[r#"
            call gw-a f {"n":0}
            call gw-b g {"n":1}
            Completed
        "#]],
    );
}

/// Checks invariant S5.
#[test]
fn calls_are_told_apart_without_a_usable_index() {
    check(
        r#"
        {"type":"output_item.added","item":{"type":"function_call","call_id":"a","name":"f"}}
        {"type":"function_call_arguments.delta","delta":"{\"n\":0}"}
        {"type":"output_item.done","item":{"type":"function_call","call_id":"a","name":"f","arguments":"{\"n\":0}"}}
        {"type":"output_item.added","item":{"type":"function_call","call_id":"b","name":"g"}}
        {"type":"output_item.done","item":{"type":"function_call","call_id":"b","name":"g","arguments":"{}"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            call gw-a f {"n":0}
            call gw-b g {}
            Completed
        "#]],
    );
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","id":"x","call_id":"a","name":"f"}}
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","id":"y","call_id":"b","name":"g"}}
        {"type":"function_call_arguments.delta","output_index":0,"item_id":"x","delta":"{\"n\":0}"}
        {"type":"function_call_arguments.delta","output_index":0,"item_id":"y","delta":"{\"n\":1}"}
        {"type":"function_call_arguments.done","output_index":0,"item_id":"x","arguments":""}
        {"type":"function_call_arguments.done","output_index":0,"item_id":"y","arguments":""}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            call gw-a f {"n":0}
            call gw-b g {"n":1}
            Completed
        "#]],
    );
}

/// Checks invariant S1.
#[test]
fn a_reused_call_id_means_two_calls_and_a_repeated_call_means_one() {
    check(
        r#"
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","call_id":"call_0","name":"f","arguments":"{\"n\":0}"}}
        {"type":"output_item.done","output_index":1,"item":{"type":"function_call","call_id":"call_0","name":"f","arguments":"{\"n\":1}"}}
        {"type":"output_item.done","output_index":2,"item":{"type":"function_call","call_id":"call_0","name":"f","arguments":"{ \"n\": 1 }"}}
        {"type":"completed","response":{"output":[{"type":"function_call","call_id":"call_0","name":"f","arguments":"{\"n\":0}"},{"type":"function_call","call_id":"call_0","name":"f","arguments":"{\"n\":1}"}]}}
        "#,
        expect![[r#"
            call gw-call_0 f {"n":0}
            call gw-call_0-2 f {"n":1}
            note RepeatedCall f
            Completed
        "#]],
    );
}

#[test]
fn repetitions_that_share_their_ids_stay_apart() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","id":"i0","call_id":"c","name":"f"}}
        {"type":"output_item.done","output_index":1,"item":{"type":"function_call","id":"i1","call_id":"c","name":"g","arguments":"{}"}}
        {"type":"output_item.done","output_index":9,"item":{"type":"function_call","id":"again","call_id":"c","name":"g","arguments":"{}"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","id":"i0","call_id":"c","name":"f","arguments":""}}
        {"type":"output_item.done","output_index":8,"item":{"type":"function_call","id":"again","call_id":"c","name":"f","arguments":""}}
        {"type":"incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}
        "#,
        expect![[r#"
            call gw-c g {}
            note RepeatedCall g
            note DroppedCall f
            note DroppedCall f
            Incomplete, max_output_tokens
        "#]],
    );
}

#[test]
fn a_call_that_is_only_announced_again_is_ignored() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_a","call_id":"c","name":"f"}}
        {"type":"output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_b","call_id":"c","name":"f"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_a","call_id":"c","name":"f","arguments":"{\"n\":1}"}}
        {"type":"completed","response":{"output":[]}}
        "#,
        expect![[r#"
            call gw-c f {"n":1}
            Completed
        "#]],
    );
}

/// Checks invariant S2.
#[test]
fn unusable_and_missing_call_ids_are_replaced() {
    check(
        r#"
        {"type":"created","response":{"id":"resp_9"}}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","call_id":"a b/ü","name":"f","arguments":""}}
        {"type":"output_item.done","output_index":1,"item":{"type":"function_call","call_id":"0123456789012345678901234567890123456789012345678901234567890123456789","name":"f","arguments":""}}
        {"type":"output_item.done","output_index":2,"item":{"type":"function_call","id":"fc_2","name":"f","arguments":""}}
        {"type":"output_item.done","output_index":3,"item":{"type":"function_call","call_id":"","name":"f","arguments":""}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            call gw-ab-db91b67b5e9fcb70 f {}
            call gw-01234567890123456789012345678901234567890123-be3cee88845bf57a f {}
            call gw-fc_2 f {}
            call gw-resp_9_3 f {}
            Completed
        "#]],
    );
}

/// Checks invariant S4.
#[test]
fn a_truncated_call_is_never_reported() {
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c","name":"f"}}
        {"type":"function_call_arguments.delta","output_index":0,"delta":"{\"x\":48151"}
        {"type":"function_call_arguments.done","output_index":0,"arguments":"{\"x\":48151"}
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{\"x\":48151","status":"incomplete"}}
        {"type":"incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{\"x\":48151","status":"incomplete"}],"usage":{"input_tokens":1,"output_tokens":16}}}
        "#,
        expect![[r#"
            note DroppedCall f
            Incomplete, max_output_tokens, empty: Length, usage: Some(1)/Some(16)
        "#]],
    );
    // The status counts, even if the text happens to be a complete object.
    for arguments in ["", "{}", r#"{\"x\":4}"#] {
        let item = format!(
            r#"{{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{arguments}","status":"incomplete"}}"#
        );
        check(
            &format!(
                r#"
                {{"type":"output_item.done","output_index":0,"item":{item}}}
                {{"type":"incomplete","response":{{"incomplete_details":{{"reason":"max_output_tokens"}}}}}}
                "#
            ),
            expect![[r#"
                note DroppedCall f
                Incomplete, max_output_tokens, empty: Length
            "#]],
        );
    }
}

/// Checks invariant S3.
#[test]
fn arguments_that_are_not_an_object_fail_the_answer_and_name_the_tool() {
    for arguments in ["[1]", "7", r#"\"x\""#, "null", "{}{}"] {
        let item = format!(
            r#"{{"type":"function_call","call_id":"c","name":"read_file","arguments":"{arguments}","status":"completed"}}"#
        );
        check(
            &format!(
                "{{\"type\":\"output_item.done\",\"output_index\":0,\"item\":{item}}}\n{{\"type\":\"completed\",\"response\":{{\"output\":[{item}]}}}}"
            ),
            expect![[r#"
                Failed, ToolCall None "The model's call to the tool \"read_file\" has arguments that are not a JSON object.", may retry
            "#]],
        );
    }
}

/// Checks invariant S4.
#[test]
fn blank_arguments_of_a_finished_call_mean_an_empty_object() {
    for arguments in ["", " \\n "] {
        check(
            &format!(
                "{{\"type\":\"output_item.done\",\"output_index\":0,\"item\":{{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{arguments}\"}}}}\n{{\"type\":\"completed\",\"response\":{{}}}}"
            ),
            expect![[r#"
                call gw-c f {}
                Completed
            "#]],
        );
    }
    // A call that was only announced isn't finished. Running it without arguments could do anything.
    check(
        r#"
        {"type":"output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            Failed, ToolCall None "The model's call to the tool \"f\" was not finished.", may retry
        "#]],
    );
}

#[test]
fn integers_in_arguments_keep_every_digit() {
    check(
        r#"
        {"type":"output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{\"n\":12345678901234567890123, \"x\":1e999}"}}
        {"type":"completed","response":{}}
        "#,
        expect![[r#"
            call gw-c f {"n":12345678901234567890123, "x":1e999}
            Completed
        "#]],
    );
}

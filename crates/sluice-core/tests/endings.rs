//! How streams end, what can surround an event, and what is left over: outcomes, errors, envelopes and notes.

#![allow(clippy::needless_pass_by_value, reason = "`expect!` is written as an argument of each case")]

use expect_test::{Expect, expect};
use serde_json::Value;
use sluice_core::{BodyEnd, Limits, Output, Part, ResponseStream, StreamOptions};

fn decode(body: &[u8], end: BodyEnd) -> (Vec<Output>, Value) {
    let mut stream = ResponseStream::new(StreamOptions::default());
    let mut outputs: Vec<Output> = stream.push(body).collect();
    let (rest, outcome) = stream.finish(end);
    outputs.extend(rest);
    (outputs, serde_json::to_value(outcome).unwrap())
}

/// Renders the outputs and those fields of the outcome that are not `null`.
fn check(body: &str, expected: Expect) {
    let (outputs, outcome) = decode(body.as_bytes(), BodyEnd::Eof);
    expected.assert_eq(&render(&outputs, &outcome));
}

fn render(outputs: &[Output], outcome: &Value) -> String {
    let mut lines = String::new();
    for output in outputs {
        match output {
            Output::Part(part) => lines.push_str(&format!("{}\n", serde_json::to_string(part).unwrap())),
            Output::Note(note) => lines.push_str(&format!("note {:?} {}\n", note.kind, note.detail)),
        }
    }
    for (name, value) in outcome.as_object().unwrap().iter().filter(|(_, value)| !value.is_null()) {
        // Only the fields of a failure that this file is about; `failure.rs` tests the rest.
        let value = match name.as_str() {
            "error" => &serde_json::json!([value["kind"], value["code"], value["message"]]),
            _ => value,
        };
        lines.push_str(&format!("{name}: {value}\n"));
    }
    lines
}

/// Checks invariant S9.
#[test]
fn a_body_without_a_terminal_event_is_truncated() {
    check(
        "",
        expect![[r#"
        reason: "eof"
        retrySafe: true
        status: "truncated"
    "#]],
    );
    check(
        "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hel\"}\n\n",
        expect![[r#"
        {"type":"text","value":"Hel"}
        reason: "eof"
        retrySafe: false
        status: "truncated"
    "#]],
    );
    // `[DONE]` says that nothing more will come, not that the answer is complete.
    check(
        "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\ndata: [DONE]\n\n",
        expect![[r#"
        reason: "done_marker"
        responseId: "r"
        retrySafe: true
        status: "truncated"
    "#]],
    );
}

#[test]
fn a_terminal_event_outweighs_how_the_body_ended() {
    let completed = b"data: {\"type\":\"response.completed\",\"response\":{}}\n\n";
    let cases = [
        (BodyEnd::Eof, "truncated"),
        (BodyEnd::IdleTimeout, "truncated"),
        (BodyEnd::Broken, "truncated"),
        (BodyEnd::Cancelled, "cancelled"),
    ];
    for (end, status) in cases {
        assert_eq!(decode(b"", end).1["status"], status);
        assert_eq!(decode(completed, end).1["status"], "completed");
    }
}

#[test]
fn the_last_event_needs_no_line_ending_unless_the_reader_cancelled() {
    let body = b"data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}";
    assert_eq!(decode(body, BodyEnd::Eof).0.len(), 1);
    assert_eq!(decode(body, BodyEnd::Broken).0.len(), 1);
    assert_eq!(decode(body, BodyEnd::Cancelled).0.len(), 0);
}

/// Checks invariant S8.
#[test]
fn nothing_after_the_terminal_event_counts() {
    let completed = "data: {\"type\":\"response.completed\",\"response\":{}}\n\n";
    let later = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"late\"}\n\ndata: {\"type\":\"ping\"}\n\ndata: {\"type\":\"error\",\"error\":{\"message\":\"late\"}}\n\ndata: [DONE]\n\n";
    check(
        &format!("{completed}{later}"),
        expect![[r#"
        empty: "nothing"
        retrySafe: false
        status: "completed"
    "#]],
    );
}

/// Checks invariant S10.
#[test]
fn every_shape_of_error_becomes_a_failure() {
    let frames = [
        r#"{"type":"error","sequence_number":2,"error":{"type":"tokens","code":"rate_limit_exceeded","message":"Slow down","param":null}}"#,
        r#"{"type":"error","code":"rate_limit_exceeded","message":"Slow down","param":null}"#,
        r#"{"error":{"code":"rate_limit_exceeded","message":"Slow down"}}"#,
        r#"{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Slow down"}}}"#,
    ];
    for frame in frames {
        check(
            &format!("data: {frame}\n\n"),
            expect![[r#"
            error: ["rateLimited","rate_limit_exceeded","Slow down"]
            retrySafe: true
            status: "failed"
        "#]],
        );
    }
    for frame in [r#"{"type":"error","error":"Slow down"}"#, r#"{"error":"Slow down"}"#] {
        check(
            &format!("event: error\ndata: {frame}\n\n"),
            expect![[r#"
            error: ["server",null,"Slow down"]
            retrySafe: true
            status: "failed"
        "#]],
        );
    }
    check(
        "data: {\"error\":{\"code\":503,\"message\":\"a\\u001b[31m\\nb\\u202e \"}}\n\n",
        expect![[r#"
            error: ["serverDown","503","a[31m b"]
            retrySafe: true
            status: "failed"
        "#]],
    );
    check(
        "data: {\"type\":\"response.failed\"}\n\n",
        expect![[r#"
        error: ["server",null,"The server reported an error without saying which."]
        retrySafe: true
        status: "failed"
    "#]],
    );
}

/// Checks invariant S14.
#[test]
fn an_error_after_the_first_part_must_not_be_retried() {
    check(
        "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hel\"}\n\ndata: {\"type\":\"error\",\"message\":\"overloaded\"}\n\n",
        expect![[r#"
            {"type":"text","value":"Hel"}
            error: ["server",null,"overloaded"]
            retrySafe: false
            status: "failed"
        "#]],
    );
}

#[test]
fn empty_answers_are_told_apart() {
    let incomplete = |reason: &str| {
        format!(
            "data: {{\"type\":\"response.incomplete\",\"response\":{{\"incomplete_details\":{{\"reason\":\"{reason}\"}}}}}}\n\n"
        )
    };
    let thinking = "data: {\"type\":\"response.reasoning.delta\",\"item_id\":\"rs\",\"delta\":\"hm\"}\n\n";
    let completed = "data: {\"type\":\"response.completed\",\"response\":{}}\n\n";
    let empty = |body: &str| decode(body.as_bytes(), BodyEnd::Eof).1["empty"].clone();
    assert_eq!(empty(completed), "nothing");
    assert_eq!(empty(&format!("{thinking}{completed}")), "thinkingOnly");
    assert_eq!(empty(&incomplete("max_output_tokens")), "length");
    assert_eq!(empty(&format!("{thinking}{}", incomplete("max_output_tokens"))), "length");
    assert_eq!(empty(&incomplete("content_filter")), "filtered");
    assert_eq!(empty(&incomplete("steered")), "nothing");
    assert_eq!(empty("data: {\"type\":\"response.incomplete\"}\n\n"), "nothing");
    let text = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n";
    assert_eq!(empty(&format!("{text}{}", incomplete("content_filter"))), Value::Null);
}

#[test]
fn the_event_type_comes_from_the_json_or_else_from_the_event_line() {
    check(
        "event: response.output_text.delta\ndata: {\"delta\":\"a\"}\n\nevent: response.completed\ndata: {}\n\n",
        expect![[r#"
            {"type":"text","value":"a"}
            retrySafe: false
            status: "completed"
        "#]],
    );
    check(
        "event: response.failed\ndata: {\"type\":\"response.completed\"}\n\n",
        expect![[r#"
        note TypeMismatch response.completed
        empty: "nothing"
        retrySafe: false
        status: "completed"
    "#]],
    );
}

/// Checks invariant S11.
#[test]
fn what_is_not_understood_becomes_a_note() {
    let frames = [
        "data: not json",
        "event: x\ndata: [1]",
        "data: {\"type\":\"acme:trace\",\"secret\":\"s\"}",
        "data: {\"no\":\"type\"}",
        "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"web_search_call\",\"id\":\"w\"}}",
        "data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":\"message\",\"content\":[{\"type\":\"hologram\"}]}}",
        "data: {\"type\":\"response.in_progress\",\"sequence_number\":1}",
        "data: {\"type\":\"response.in_progress\",\"sequence_number\":5}",
        "data: {\"type\":\"response.in_progress\",\"sequence_number\":5}",
        "data: {\"type\":\"response.completed\"}",
    ];
    check(
        &(frames.join("\n\n") + "\n\n"),
        expect![[r#"
        note Malformed 
        note Malformed x
        note UnknownEvent acme:trace
        note UnknownEvent 
        note IgnoredItem web_search_call
        note IgnoredContent hologram
        note Sequence 5
        empty: "nothing"
        retrySafe: false
        status: "completed"
    "#]],
    );
}

#[test]
fn json_that_only_javascript_accepts_is_read() {
    // A duplicate key, and surrogate pairs that a server split between two deltas.
    check(
        "data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\",\"delta\":\"a\\ud83d\"}\n\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"\\ude00 \\ud83d\\ude00 \\\\ud83d\"}\n\ndata: {\"type\":\"response.completed\"}\n\n",
        expect![[r#"
            {"type":"text","value":"a"}
            {"type":"text","value":"😀 😀 \\ud83d"}
            retrySafe: false
            status: "completed"
        "#]],
    );
}

#[test]
fn images_are_reported_once_and_typed_by_their_first_bytes() {
    let item = |format: &str, result: &str| {
        format!(r#"{{"type":"image_generation_call","id":"ig","output_format":"{format}","result":"{result}"}}"#)
    };
    let done =
        |item: &str| format!("data: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{item}}}\n\n");
    let (png, webp, bad) = (item("webp", "iVBORw0KGgoAAA=="), item("webp", "AAAA"), item("png", "<svg>"));
    let completed = format!("data: {{\"type\":\"response.completed\",\"response\":{{\"output\":[{png}]}}}}\n\n");
    check(
        &[done(&png), done(&webp), done(&bad), completed].concat(),
        expect![[r#"
        {"type":"data","mimeType":"image/png","base64":"iVBORw0KGgoAAA=="}
        {"type":"data","mimeType":"image/webp","base64":"AAAA"}
        note IgnoredContent image_generation_call
        retrySafe: false
        status: "completed"
    "#]],
    );
}

#[test]
fn citations_follow_the_text_unless_it_links_to_them() {
    let annotation = |url: &str, title: &str| {
        format!(
            "data: {{\"type\":\"response.output_text.annotation.added\",\"output_index\":0,\"annotation\":{{\"type\":\"url_citation\",\"url\":\"{url}\",\"title\":\"{title}\"}}}}\n\n"
        )
    };
    let body = [
        "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"See https://a.example/linked.\"}\n\n".to_owned(),
        annotation("https://a.example/linked", "Linked"),
        annotation("https://b.example/x_(y)", "B [x](javascript:1) *\\n<b>"),
        annotation("https://b.example/x_(y)", "again"),
        annotation("javascript:alert(1)", "no"),
        annotation("command:workbench.do", "no"),
        annotation("https://c.example/ space", "no"),
        annotation("HTTP://d.example", ""),
        annotation("https://e.example/\\\"<`>\\\\", "E"),
        "data: {\"type\":\"response.completed\"}\n\n".to_owned(),
    ];
    check(
        &body.concat(),
        expect![[r#"
            {"type":"text","value":"See https://a.example/linked."}
            {"type":"citations","citations":[{"url":"https://b.example/x_(y)","title":"B [x](javascript:1) * <b>"},{"url":"HTTP://d.example","title":"HTTP://d.example"},{"url":"https://e.example/\"<`>\\","title":"E"}],"markdown":"\n\nSources:\n- [B \\[x\\]\\(javascript\\:1\\) \\* \\<b\\>](https://b.example/x_%28y%29)\n- [HTTP\\:\\/\\/d\\.example](HTTP://d.example)\n- [E](https://e.example/%22%3C%60%3E%5C)\n"}
            retrySafe: false
            status: "completed"
        "#]],
    );
}

/// Checks invariant S15.
#[test]
fn usage_and_gateway_metadata_are_what_the_server_said() {
    check(
        r#"data: {"type":"response.completed","response":{"id":"gen_1","model":"acme/m","usage":{"input_tokens":10,"output_tokens":2.0,"total_tokens":"12","input_tokens_details":{"cached_tokens":4,"cache_write_tokens":1},"output_tokens_details":null,"cost":0.5},"providerMetadata":{"gateway":{"cost":"0.0025","generationId":"gen_1","routing":{"resolvedProvider":"x","finalProvider":"y"}},"acme":{}}}}

"#,
        expect![[r#"
            empty: "nothing"
            gateway: {"cost":"0.0025","generationId":"gen_1","metadata":{"acme":{},"gateway":{"cost":"0.0025","generationId":"gen_1","routing":{"finalProvider":"y","resolvedProvider":"x"}}},"provider":"y"}
            model: "acme/m"
            responseId: "gen_1"
            retrySafe: false
            status: "completed"
            usage: {"cost":0.5,"input_tokens":10,"input_tokens_details":{"cache_write_tokens":1,"cached_tokens":4},"output_tokens":2,"output_tokens_details":null,"total_tokens":12}
        "#]],
    );
    check(
        r#"data: {"type":"response.completed","response":{"providerMetadata":{"gateway":{"cost":0.0025,"generationId":"","routing":{"finalProvider":"","resolvedProvider":"x"}}}}}

"#,
        expect![[r#"
            empty: "nothing"
            gateway: {"cost":"0.0025","generationId":null,"metadata":{"gateway":{"cost":0.0025,"generationId":"","routing":{"finalProvider":"","resolvedProvider":"x"}}},"provider":"x"}
            retrySafe: false
            status: "completed"
        "#]],
    );
    for usage in ["null", "{}", "7"] {
        let body = format!("data: {{\"type\":\"response.completed\",\"response\":{{\"usage\":{usage}}}}}\n\n");
        assert_eq!(decode(body.as_bytes(), BodyEnd::Eof).1["usage"], Value::Null, "{usage}");
    }
}

#[test]
fn an_answer_past_a_limit_fails_and_names_the_limit() {
    let fail = |limits: Limits, body: &str| {
        let mut stream = ResponseStream::new(StreamOptions { limits, ..StreamOptions::default() });
        stream.push(body.as_bytes());
        assert!(stream.is_terminal());
        let (_, outcome) = stream.finish(BodyEnd::Eof);
        outcome.error.unwrap().message
    };
    let text = |index: u32, part: u32| {
        format!(
            "data: {{\"type\":\"response.output_text.delta\",\"output_index\":{index},\"content_index\":{part},\"delta\":\"word\"}}\n\n"
        )
    };
    let items: String = (0..5).map(|index| text(index, 0)).collect();
    let parts: String = (0..5).map(|part| text(0, part)).collect();
    let defaults = Limits::default();
    let messages = [
        fail(Limits { max_event_bytes: 60, ..defaults }, &items),
        fail(Limits { max_answer_bytes: 19, ..defaults }, &items),
        fail(Limits { max_items: 4, ..defaults }, &items),
        fail(Limits { max_content_parts: 4, ..defaults }, &parts),
    ];
    expect![[r#"
        One event of the answer is larger than 60 bytes.
        The answer has more than 19 bytes of content.
        The answer has more than 4 output items.
        The answer has more than 4 content parts in one item."#]]
    .assert_eq(&messages.join("\n"));
}

#[test]
fn tracing_reports_only_the_type_of_every_event() {
    let mut stream = ResponseStream::new(StreamOptions { trace: true, ..StreamOptions::default() });
    let body =
        "data: {\"type\":\"response.output_text.delta\",\"delta\":\"secret\"}\n\ndata: {\"type\":\"x<y> z\"}\n\n";
    let notes: Vec<String> = stream
        .push(body.as_bytes())
        .filter_map(|output| match output {
            Output::Note(note) => Some(format!("{:?} {}", note.kind, note.detail)),
            Output::Part(Part::Text { .. }) => None,
            Output::Part(part) => panic!("{part:?}"),
        })
        .collect();
    assert_eq!(notes, ["Event response.output_text.delta", "Event xyz", "UnknownEvent xyz"]);
}

#[test]
fn a_call_without_a_name_fails_the_answer_and_says_so() {
    for item in [
        r#"{"type":"function_call","call_id":"c","arguments":"{}","status":"completed"}"#,
        r#"{"type":"function_call","call_id":"c","name":" ","arguments":"[1]","status":"completed"}"#,
    ] {
        check(
            &format!(
                "data: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{item}}}\n\ndata: {{\"type\":\"response.completed\",\"response\":{{}}}}\n\n"
            ),
            expect![[r#"
                error: ["toolCall",null,"The model called a tool without naming it."]
                retrySafe: true
                status: "failed"
            "#]],
        );
    }
}

#[test]
fn invalid_utf_8_is_replaced() {
    let body = b"data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"H\xFFi\"}\n\n";
    let (outputs, outcome) = decode(body, BodyEnd::Eof);
    expect![[r#"
        {"type":"text","value":"H�i"}
        reason: "eof"
        retrySafe: false
        status: "truncated"
    "#]]
    .assert_eq(&render(&outputs, &outcome));
}

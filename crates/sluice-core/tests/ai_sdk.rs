//! The rules of the AI SDK dialect, one small stream each: chunks as JSON in, a rendering of all outputs out.

#![allow(clippy::needless_pass_by_value, reason = "an `expect!` is a value of the case it stands in")]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use expect_test::{Expect, expect};
use sluice_core::{BodyEnd, ChunkStream, Outcome, Output, Part, StreamOptions};

/// Each line of the input is one chunk. The same chunks as a body of server-sent events must give the same.
fn check(chunks: &str, expected: Expect) {
    let chunks: Vec<&str> = chunks.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut stream = ChunkStream::new(StreamOptions::default());
    let mut outputs = Vec::new();
    for chunk in &chunks {
        outputs.extend(stream.push_chunk(chunk));
    }
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    outputs.extend(rest);
    expected.assert_eq(&render(&outputs, &outcome));

    let events: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let as_body = run_body(&(events + "data: [DONE]\n\n"));
    let reason = |outcome: Outcome| Outcome {
        reason: outcome.reason.filter(|reason| reason != "eof" && reason != "done_marker"),
        ..outcome
    };
    assert_eq!((as_body.0, reason(as_body.1)), (outputs, reason(outcome)), "as a body");
}

fn render(outputs: &[Output], outcome: &Outcome) -> String {
    let mut lines: String = outputs.iter().map(|output| render_output(output) + "\n").collect();
    lines.push_str(&format!("{:?}", outcome.status));
    let extras = [
        outcome.reason.clone(),
        outcome.error.as_ref().map(|e| format!("{:?} {:?} {:?} {:?}", e.kind, e.code, e.message, e.retry_after_ms)),
        outcome.empty.map(|empty| format!("empty: {empty:?}")),
        outcome.model.clone(),
        outcome.response_id.clone(),
        outcome.usage.as_ref().map(|usage| serde_json::to_string(usage).unwrap()),
        outcome.retry_safe.then(|| "may retry".to_owned()),
    ];
    extras.into_iter().flatten().for_each(|extra| lines.push_str(&format!(", {extra}")));
    lines + "\n"
}

fn render_output(output: &Output) -> String {
    match output {
        Output::Part(Part::Text { value }) => format!("text {value:?}"),
        Output::Part(Part::Thinking { value, id, replay: None }) => format!("thinking {id} {value:?}"),
        Output::Part(Part::Thinking { id, replay: Some(replay), .. }) => format!("replay {id} {replay:?}"),
        Output::Part(Part::ToolCall { call_id, name, input_json }) => format!("call {call_id} {name} {input_json}"),
        Output::Part(Part::Data { mime_type, base64 }) if mime_type.ends_with("json") => {
            format!("data {mime_type} {}", String::from_utf8(STANDARD.decode(base64).unwrap()).unwrap())
        }
        Output::Part(Part::Data { mime_type, base64 }) => format!("data {mime_type} {base64}"),
        Output::Part(Part::Citations { markdown, .. }) => format!("citations {markdown:?}"),
        Output::Note(note) => format!("note {:?} {}", note.kind, note.detail),
    }
}

fn run_body(body: &str) -> (Vec<Output>, Outcome) {
    let mut stream = ChunkStream::new(StreamOptions::default());
    let mut outputs: Vec<Output> = stream.push(body.as_bytes()).collect();
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    outputs.extend(rest);
    (outputs, outcome)
}

/// Every chunk that `fullStream` of version 5 to 7 can hold.
#[test]
fn every_row_of_full_stream() {
    check(
        r#"
        {"type":"start"}
        {"type":"start-step","request":{},"warnings":[]}
        {"type":"reasoning-start","id":"rs_1"}
        {"type":"reasoning-delta","id":"rs_1","text":"Hmm"}
        {"type":"reasoning-end","id":"rs_1","providerMetadata":{"openai":{"itemId":"rs_1","reasoningEncryptedContent":"sealed"}}}
        {"type":"text-start","id":"msg_1"}
        {"type":"text-delta","id":"msg_1","text":"Hel"}
        {"type":"text-delta","id":"msg_1","text":"lo 水\n\ud83d\ude00"}
        {"type":"text-end","id":"msg_1"}
        {"type":"source","sourceType":"url","id":"s1","url":"https://a.example/x","title":"A"}
        {"type":"source","sourceType":"document","id":"s2","mediaType":"application/pdf","title":"B","filename":"b.pdf"}
        {"type":"file","file":{"base64":"iVBORw0KGgo=","mediaType":"image/png"}}
        {"type":"tool-input-start","id":"call_1","toolName":"read_file"}
        {"type":"tool-input-delta","id":"call_1","delta":"{\"path\":"}
        {"type":"tool-input-delta","id":"call_1","delta":"\"a\"}"}
        {"type":"tool-input-end","id":"call_1"}
        {"type":"tool-call","toolCallId":"call_1","toolName":"read_file","input":{"path":"a","n":12345678901234567890123}}
        {"type":"tool-result","toolCallId":"call_1","toolName":"read_file","input":{},"output":"x"}
        {"type":"raw","rawValue":{"x":1}}
        {"type":"ping"}
        {"type":"finish-step","response":{"id":"resp_1","modelId":"m-1","timestamp":"2026"},"usage":{"inputTokens":5,"outputTokens":3,"totalTokens":8},"finishReason":"tool-calls"}
        {"type":"finish","finishReason":"tool-calls","totalUsage":{"inputTokens":5,"outputTokens":3,"totalTokens":8}}
        "#,
        expect![[r#"
            thinking rs_1 "Hmm"
            text "Hel"
            text "lo 水\n😀"
            data application/vnd.vscode.citation+json {"sourceId":"s1","sourceType":"url","title":"A","type":"citation","url":"https://a.example/x"}
            data application/vnd.vscode.citation+json {"filename":"b.pdf","mediaType":"application/pdf","sourceId":"s2","sourceType":"document","title":"B","type":"citation"}
            data image/png iVBORw0KGgo=
            call gw-call_1 read_file {"path":"a","n":12345678901234567890123}
            note RanElsewhere read_file
            replay rs_1 ThinkingReplay { model: Some("m-1"), items: [ReasoningItem { id: Some("rs_1"), encrypted_content: "sealed" }] }
            Completed, m-1, resp_1, {"input_tokens":5,"output_tokens":3,"total_tokens":8,"input_tokens_details":null,"output_tokens_details":null}
        "#]],
    );
}

/// Every chunk of the UI message stream protocol.
#[test]
fn every_row_of_ui_message_streams() {
    check(
        r#"
        {"type":"start","messageId":"m"}
        {"type":"start-step"}
        {"type":"reasoning-start","id":"r"}
        {"type":"reasoning-delta","id":"r","delta":"Hmm"}
        {"type":"reasoning-end","id":"r"}
        {"type":"text-start","id":"t"}
        {"type":"text-delta","id":"t","delta":"Hello"}
        {"type":"text-end","id":"t"}
        {"type":"source-url","sourceId":"s1","url":"https://a.example","title":"A"}
        {"type":"source-document","sourceId":"s2","mediaType":"text/plain","title":"B"}
        {"type":"file","url":"data:image/png;base64,iVBORw0KGgo=","mediaType":"image/png"}
        {"type":"data-weather","id":"w","data":{"city":"Oslo","t":-3}}
        {"type":"tool-input-start","toolCallId":"c1","toolName":"f"}
        {"type":"tool-input-delta","toolCallId":"c1","inputTextDelta":"{\"a\":1}"}
        {"type":"tool-input-available","toolCallId":"c1","toolName":"f","input":{"a":1}}
        {"type":"tool-output-available","toolCallId":"c1","output":"done"}
        {"type":"tool-approval-request","approvalId":"x","toolCallId":"c1"}
        {"type":"message-metadata","messageMetadata":{}}
        {"type":"finish-step"}
        {"type":"finish","finishReason":"tool-calls","messageMetadata":{"totalUsage":{"inputTokens":7,"outputTokens":2}}}
        "#,
        expect![[r#"
            thinking r "Hmm"
            text "Hello"
            data application/vnd.vscode.citation+json {"sourceId":"s1","sourceType":"url","title":"A","type":"citation","url":"https://a.example"}
            data application/vnd.vscode.citation+json {"mediaType":"text/plain","sourceId":"s2","sourceType":"document","title":"B","type":"citation"}
            data image/png iVBORw0KGgo=
            data application/vnd.vercel.weather+json {"city":"Oslo","t":-3}
            call gw-c1 f {"a":1}
            note RanElsewhere f
            Completed, {"input_tokens":7,"output_tokens":2,"total_tokens":9,"input_tokens_details":null,"output_tokens_details":null}
        "#]],
    );
}

/// The names that version 4 used, and those of providers' own streams.
#[test]
fn field_names_of_version_4() {
    check(
        r#"
        {"type":"step-start"}
        {"type":"reasoning","textDelta":"Hmm"}
        {"type":"reasoning-part-finish"}
        {"type":"text-delta","textDelta":"Hi"}
        {"type":"text","text":"!"}
        {"type":"source","source":{"sourceType":"url","id":"1","url":"https://a.example"}}
        {"type":"file","mimeType":"text/plain","data":"aGk="}
        {"type":"tool-call-streaming-start","toolCallId":"c","toolName":"f"}
        {"type":"tool-call-delta","toolCallId":"c","toolName":"f","argsTextDelta":"{}"}
        {"type":"tool-call","toolCallId":"c","toolName":"f","args":{}}
        {"type":"step-finish","usage":{"promptTokens":4,"completionTokens":2},"finishReason":"stop"}
        {"type":"finish","finishReason":"stop","usage":{"promptTokens":4,"completionTokens":2}}
        "#,
        expect![[r#"
            thinking thinking "Hmm"
            text "Hi"
            text "!"
            data application/vnd.vscode.citation+json {"sourceId":"1","sourceType":"url","type":"citation","url":"https://a.example"}
            data text/plain aGk=
            call gw-c f {}
            Completed, {"input_tokens":4,"output_tokens":2,"total_tokens":6,"input_tokens_details":null,"output_tokens_details":null}
        "#]],
    );
}

#[test]
fn a_streamed_call_without_its_final_chunk() {
    check(
        r#"
        {"type":"tool-call-streaming-start","toolCallId":"whole","toolName":"f"}
        {"type":"tool-call-delta","toolCallId":"whole","argsTextDelta":"{\"a\":"}
        {"type":"tool-call-delta","toolCallId":"whole","argsTextDelta":"[1]}"}
        {"type":"text-delta","text":"between"}
        {"type":"tool-input-start","id":"blank","toolName":"g"}
        {"type":"tool-input-end","id":"blank"}
        {"type":"finish","finishReason":"tool-calls"}
        "#,
        expect![[r#"
            text "between"
            call gw-whole f {"a":[1]}
            call gw-blank g {}
            Completed
        "#]],
    );
}

/// Also when it is spelled differently.
#[test]
fn the_whole_call_after_its_pieces_were_reported() {
    check(
        r#"
        {"type":"tool-input-start","id":"c","toolName":"f"}
        {"type":"tool-input-delta","id":"c","delta":"{\"a\":1.0}"}
        {"type":"finish-step","finishReason":"tool-calls"}
        {"type":"tool-call","toolCallId":"c","toolName":"f","input":{"a":1}}
        {"type":"tool-call","toolCallId":"c","toolName":"f","input":{"a":2}}
        {"type":"finish","finishReason":"tool-calls"}
        "#,
        expect![[r#"
            call gw-c f {"a":1.0}
            note RepeatedCall f
            call gw-c-2 f {"a":2}
            Completed
        "#]],
    );
}

/// By the output limit.
#[test]
fn a_call_that_was_cut_off_is_never_reported() {
    check(
        r#"
        {"type":"tool-input-start","id":"c","toolName":"f"}
        {"type":"tool-input-delta","id":"c","delta":"{\"a\":"}
        {"type":"finish","finishReason":"length"}
        "#,
        expect![[r#"
            note DroppedCall f
            Incomplete, max_output_tokens, empty: Length
        "#]],
    );
}

/// A completed answer must not lose a call in silence.
#[test]
fn a_call_that_cannot_be_reported_fails_the_answer() {
    check(
        r#"
        {"type":"text-delta","text":"I will."}
        {"type":"tool-input-start","id":"c","toolName":"f"}
        {"type":"tool-input-delta","id":"c","delta":"{\"a\":"}
        {"type":"finish","finishReason":"stop"}
        "#,
        expect![[r#"
            text "I will."
            Failed, ToolCall None "The model's call to the tool \"f\" was not finished. Ask again." None
        "#]],
    );
}

#[test]
fn input_that_is_no_object() {
    check(
        r#"
        {"type":"tool-call","toolCallId":"c","toolName":"f","input":"rm -rf","dynamic":true,"invalid":true,"error":{"name":"AI_InvalidToolInputError"}}
        {"type":"tool-error","toolCallId":"c","toolName":"f","input":"rm -rf","error":"no","dynamic":true}
        {"type":"finish","finishReason":"tool-calls"}
        "#,
        expect![[r#"
            Failed, ToolCall None "The model's call to the tool \"f\" has arguments that are not a JSON object. Ask again." None, may retry
        "#]],
    );
}

#[test]
fn input_as_text_blank_or_absent() {
    check(
        r#"
        {"type":"tool-call","toolCallId":"1","toolName":"f","input":" { \"a\" : 1 } "}
        {"type":"tool-call","toolCallId":"2","toolName":"f","input":""}
        {"type":"tool-call","toolCallId":"3","toolName":"f"}
        {"type":"tool-call","toolCallId":"4","toolName":"f","input":null}
        {"type":"tool-call","toolName":"f","input":{"no":"id"}}
        {"type":"finish","finishReason":"tool-calls"}
        "#,
        expect![[r#"
            call gw-1 f { "a" : 1 }
            call gw-2 f {}
            call gw-3 f {}
            call gw-4 f {}
            call gw-call_4 f {"no":"id"}
            Completed
        "#]],
    );
}

/// VS Code tells the model what is wrong with them.
#[test]
fn calls_the_sdk_finds_wrong_are_still_calls() {
    check(
        r#"
        {"type":"tool-input-error","toolCallId":"1","toolName":"f","input":{"a":"wrong"},"errorText":"a must be a number"}
        {"type":"tool-call","toolCallId":"2","toolName":"unheard_of","input":{},"invalid":true,"dynamic":true}
        {"type":"finish","finishReason":"tool-calls"}
        "#,
        expect![[r#"
            call gw-1 f {"a":"wrong"}
            call gw-2 unheard_of {}
            Completed
        "#]],
    );
}

/// The provider's are no calls; of the SDK's own the developer hears.
#[test]
fn tools_that_others_run() {
    check(
        r#"
        {"type":"tool-input-start","id":"ws","toolName":"web_search","providerExecuted":true}
        {"type":"tool-input-delta","id":"ws","delta":"{}"}
        {"type":"tool-call","toolCallId":"ws","toolName":"web_search","input":{},"providerExecuted":true}
        {"type":"tool-result","toolCallId":"ws","toolName":"web_search","output":{},"providerExecuted":true}
        {"type":"tool-call","toolCallId":"ig","toolName":"image_generation","input":{},"providerExecuted":true}
        {"type":"tool-result","toolCallId":"ig","toolName":"image_generation","output":{"result":"iVBORw0KGgo="},"providerExecuted":true}
        {"type":"tool-call","toolCallId":"mine","toolName":"f","input":{}}
        {"type":"tool-error","toolCallId":"mine","toolName":"f","input":{},"error":"boom"}
        {"type":"finish","finishReason":"stop"}
        "#,
        expect![[r#"
            note RanElsewhere web_search
            note RanElsewhere image_generation
            data image/png iVBORw0KGgo=
            call gw-mine f {}
            Completed
        "#]],
    );
}

#[test]
fn ids_that_begin_anew_in_every_step() {
    check(
        r#"
        {"type":"reasoning-start","id":"0"}
        {"type":"reasoning-delta","id":"0","text":"one"}
        {"type":"reasoning-end","id":"0"}
        {"type":"tool-call","toolCallId":"call_0","toolName":"f","input":{"a":1}}
        {"type":"finish-step","usage":{"inputTokens":10,"outputTokens":1,"reasoningTokens":1}}
        {"type":"reasoning-start","id":"0"}
        {"type":"reasoning-delta","id":"0","text":"two"}
        {"type":"reasoning-end","id":"0"}
        {"type":"tool-call","toolCallId":"call_0","toolName":"f","input":{"a":2}}
        {"type":"finish-step","usage":{"inputTokens":20,"outputTokens":2,"reasoningTokens":2}}
        "#,
        expect![[r#"
            thinking 0 "one"
            call gw-call_0 f {"a":1}
            thinking 0:1 "two"
            call gw-call_0-2 f {"a":2}
            Completed, {"input_tokens":30,"output_tokens":3,"total_tokens":33,"input_tokens_details":null,"output_tokens_details":{"reasoning_tokens":3}}
        "#]],
    );
}

/// Nothing is fetched.
#[test]
fn files_in_every_form() {
    check(
        r#"
        {"type":"file","file":{"mediaType":"image/png","uint8Array":"iVBORw0KGgo="}}
        {"type":"file","file":{"mediaType":"image/gif","uint8Array":{"0":71,"1":73,"2":70}}}
        {"type":"file","file":{"mediaType":"text/plain","data":{"type":"Buffer","data":[104,105]}}}
        {"type":"file","file":{"base64Data":"aGk","mediaType":"text/plain"}}
        {"type":"file","url":"data:text/plain;charset=utf-8,hi%20there","mediaType":"text/plain"}
        {"type":"file","url":"DATA:application/json;base64,e30="}
        {"type":"file","url":"https://files.example/a.png","mediaType":"image/png"}
        {"type":"file","file":{"base64":"/9j/4AAQ"}}
        {"type":"file","url":"data:image/png;base64,not base64!","mediaType":"image/png"}
        {"type":"file","file":{"mediaType":"image/png"}}
        {"type":"finish","finishReason":"stop"}
        "#,
        expect![[r#"
            data image/png iVBORw0KGgo=
            data image/gif R0lG
            data text/plain aGk=
            data text/plain aGk=
            data text/plain aGkgdGhlcmU=
            data application/json {}
            data application/vnd.vercel.file+json {"mediaType":"image/png","type":"file","url":"https://files.example/a.png"}
            data image/jpeg /9j/4AAQ
            note IgnoredContent file
            note IgnoredContent file
            Completed
        "#]],
    );
}

/// From chunks, from the end of a text, and never as text.
#[test]
fn sources_once_each() {
    check(
        r#"
        {"type":"source","sourceType":"url","id":"1","url":"https://a.example","title":"A"}
        {"type":"source","sourceType":"url","id":"2","url":"https://a.example","title":"A again"}
        {"type":"text-end","id":"0","providerMetadata":{"openai":{"annotations":[{"type":"url_citation","url":"https://b.example","title":"B"},{"type":"file_citation","file_id":"f"}]}}}
        {"type":"source"}
        {"type":"finish","finishReason":"stop"}
        "#,
        expect![[r#"
            data application/vnd.vscode.citation+json {"sourceId":"1","sourceType":"url","title":"A","type":"citation","url":"https://a.example"}
            data application/vnd.vscode.citation+json {"sourceType":"url","title":"B","type":"citation","url":"https://b.example"}
            note IgnoredContent source
            Completed
        "#]],
    );
}

#[test]
fn unknown_and_broken_chunks_are_notes() {
    check(
        r#"
        {"type":"text-delta","text":"a"}
        {"type":"from-the-future","text":"no"}
        {"no":"type"}
        {"type":5}
        [1]
        "text"
        not json
        {"type":"text-delta","text":{"not":"text"}}
        {"type":"reasoning-file","url":"data:,x","mediaType":"text/plain"}
        {"type":"custom","kind":"a.b"}
        {"type":"finish","finishReason":"stop"}
        "#,
        expect![[r#"
            text "a"
            note UnknownEvent from-the-future
            note Malformed 
            note Malformed 
            note Malformed 
            note Malformed 
            note Malformed 
            note IgnoredContent reasoning-file
            note IgnoredContent custom
            Completed
        "#]],
    );
}

/// What is left could be valid and wrong.
#[test]
fn a_lost_piece_makes_the_pieces_worthless() {
    check(
        r#"
        {"type":"tool-input-start","id":"c","toolName":"f"}
        {"type":"tool-input-delta","id":"c","delta":"{\"path\":\"/"}
        {"type":"tool-input-delta","id":"c","delta":"tmp/x
        {"type":"tool-input-delta","id":"c","delta":"\"}"}
        {"type":"finish","finishReason":"stop"}
        "#,
        expect![[r#"
            note Malformed 
            Failed, ToolCall None "The model's call to the tool \"f\" was not finished. Ask again." None, may retry
        "#]],
    );
}

#[test]
fn pieces_of_a_call_that_never_began() {
    check(
        r#"
        {"type":"tool-input-delta","id":"nobody","delta":"{}"}
        {"type":"finish","finishReason":"stop"}
        "#,
        expect![[r#"
            note OrphanArguments 
            Completed, empty: Nothing
        "#]],
    );
}

/// By what the HTTP answer said, if there was one.
#[test]
fn errors_are_outcomes() {
    check(
        r#"
        {"type":"text-delta","text":"partly"}
        {"type":"error","error":{"name":"AI_RetryError","message":"Failed after 3 attempts","lastError":{"name":"AI_APICallError","message":"x","statusCode":429,"responseHeaders":{"retry-after":"7"},"responseBody":"{\"error\":{\"message\":\"Slow down\",\"type\":\"rate_limit_exceeded\"}}"}}}
        {"type":"text-delta","text":"never"}
        "#,
        expect![[r#"
            text "partly"
            Failed, RateLimited Some("rate_limit_exceeded") "Slow down" Some(7000)
        "#]],
    );
}

#[test]
fn errors_of_ui_message_streams() {
    check(
        r#"
        {"type":"error","errorText":"An error occurred."}
        {"type":"finish"}
        "#,
        expect![[r#"
            Failed, Server None "An error occurred." None, may retry
        "#]],
    );
}

#[test]
fn an_error_that_says_nothing() {
    check(
        r#"
        {"type":"error","error":{}}
        "#,
        expect![[r#"
            Failed, Server None "The server reported an error without saying which." None, may retry
        "#]],
    );
}

#[test]
fn a_failed_finish() {
    check(
        r#"
        {"type":"finish","finishReason":{"unified":"error","raw":"boom"}}
        "#,
        expect![[r#"
            Failed, Server None "The server reported an error without saying which." None, may retry
        "#]],
    );
}

#[test]
fn abort_is_a_cancellation() {
    check(
        r#"
        {"type":"text-delta","text":"a"}
        {"type":"abort","reason":"user"}
        {"type":"text-delta","text":"b"}
        "#,
        expect![[r#"
            text "a"
            Cancelled
        "#]],
    );
}

/// `sendFinish: false`.
#[test]
fn a_program_may_leave_finish_out() {
    check(
        r#"
        {"type":"text-start","id":"0"}
        {"type":"text-delta","id":"0","delta":"a"}
        {"type":"text-end","id":"0"}
        "#,
        expect![[r#"
            text "a"
            Completed
        "#]],
    );
}

#[test]
fn a_text_that_never_ends_was_cut_off() {
    check(
        r#"
        {"type":"text-start","id":"0"}
        {"type":"text-delta","id":"0","delta":"a"}
        {"type":"tool-input-start","id":"c","toolName":"f"}
        {"type":"tool-input-delta","id":"c","delta":"{\"a\":"}
        "#,
        expect![[r#"
            text "a"
            note DroppedCall f
            Truncated, eof
        "#]],
    );
}

#[test]
fn nothing_at_all() {
    check(
        r#"

        "#,
        expect![[r#"
            Completed, empty: Nothing
        "#]],
    );
}

/// Applications append to their streams.
#[test]
fn data_after_finish() {
    check(
        r#"
        {"type":"text-delta","delta":"a"}
        {"type":"finish","finishReason":"stop"}
        {"type":"data-title","data":"T","transient":true}
        {"type":"finish"}
        "#,
        expect![[r#"
            text "a"
            data application/vnd.vercel.title+json "T"
            Completed
        "#]],
    );
}

#[test]
fn content_filter_and_empty_answers() {
    check(
        r#"
        {"type":"reasoning-delta","text":"Hmm"}
        {"type":"finish","finishReason":"content-filter"}
        "#,
        expect![[r#"
            thinking thinking "Hmm"
            Incomplete, content_filter, empty: Filtered
        "#]],
    );
}

/// Details too; `finish` counts more than the steps.
#[test]
fn usage_in_the_words_of_every_version() {
    check(
        r#"
        {"type":"finish-step","usage":{"inputTokens":1,"outputTokens":1}}
        {"type":"finish","totalUsage":{"inputTokens":{"total":9,"cacheRead":4,"cacheWrite":1},"outputTokens":{"total":3,"reasoning":2}},"finishReason":{"unified":"stop"}}
        "#,
        expect![[r#"
            Completed, empty: Nothing, {"input_tokens":9,"output_tokens":3,"total_tokens":12,"input_tokens_details":{"cache_write_tokens":1,"cached_tokens":4},"output_tokens_details":{"reasoning_tokens":2}}
        "#]],
    );
}

/// What was given cannot be taken back; what was not is forgotten.
#[test]
fn a_step_that_starts_over() {
    check(
        r#"
        {"type":"text-delta","delta":"a"}
        {"type":"tool-input-start","toolCallId":"c","toolName":"f"}
        {"type":"tool-input-delta","toolCallId":"c","inputTextDelta":"{\"a\":"}
        {"type":"reset-step"}
        {"type":"tool-input-available","toolCallId":"c","toolName":"f","input":{"a":2}}
        {"type":"finish","finishReason":"stop"}
        "#,
        expect![[r#"
            text "a"
            note TakenBack reset-step
            call gw-c f {"a":2}
            Completed
        "#]],
    );
}

#[test]
fn half_characters_do_no_harm() {
    check(
        r#"
        {"type":"text-delta","text":"a\ud83d"}
        {"type":"tool-call","toolCallId":"c","toolName":"f","input":{"a":"\ude00"}}
        {"type":"finish","finishReason":"stop"}
        "#,
        expect![[r#"
            text "a�"
            call gw-c f {"a":"\ude00"}
            Completed
        "#]],
    );
}

#[test]
fn bytes_that_end_without_an_end_were_cut_off() {
    let cut = "data: {\"type\":\"text-delta\",\"delta\":\"a\"}\n\n\
               data: {\"type\":\"tool-input-start\",\"toolCallId\":\"c\",\"toolName\":\"f\"}\n\n\
               data: {\"type\":\"tool-input-delta\",\"toolCallId\":\"c\",\"inputTextDelta\":\"{}\"}\n\n";
    let (outputs, outcome) = run_body(cut);
    expect![[r#"
        text "a"
        call gw-c f {}
        Truncated, eof
    "#]]
    .assert_eq(&render(&outputs, &outcome));
}

#[test]
fn a_broken_connection_and_a_cancellation() {
    let mut shown = String::new();
    for end in [BodyEnd::Broken, BodyEnd::IdleTimeout, BodyEnd::Cancelled] {
        let mut stream = ChunkStream::new(StreamOptions::default());
        let mut outputs: Vec<Output> =
            stream.push_chunk(r#"{"type":"tool-input-start","id":"c","toolName":"f"}"#).collect();
        outputs.extend(stream.push_chunk(r#"{"type":"tool-input-delta","id":"c","delta":"{}"}"#));
        let (rest, outcome) = stream.finish(end);
        outputs.extend(rest);
        shown += &render(&outputs, &outcome);
    }
    expect![[r#"
        Truncated, broken, may retry
        Truncated, idle_timeout, may retry
        Cancelled
    "#]]
    .assert_eq(&shown);
}

#[test]
fn plain_call_ids_are_the_sdks_own() {
    let mut stream = ChunkStream::new(StreamOptions { plain_call_ids: true, ..StreamOptions::default() });
    let mut outputs = Vec::new();
    for id in ["call_1", "a b", ""] {
        let chunk = format!(r#"{{"type":"tool-call","toolCallId":"{id}","toolName":"f","input":{{}}}}"#);
        outputs.extend(stream.push_chunk(&chunk));
    }
    let (_, outcome) = stream.finish(BodyEnd::Eof);
    expect![[r#"
        call call_1 f {}
        call ab-e63f991904833892 f {}
        call call_2 f {}
        Completed
    "#]]
    .assert_eq(&render(&outputs, &outcome));
}

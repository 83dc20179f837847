//! The rules of the AI SDK dialect for text, thinking, calls and endings, one small stream each. The input is chunks as
//! JSON, the expectation a rendering of all outputs.

use crate::support::chunks::{check, render, run_body};
use expect_test::expect;
use sluice_core::{Action, BodyEnd, ChunkStream, Exchange, ExchangeOptions, Output, Part, StreamOptions};

/// Every chunk that `fullStream` of versions 5 to 7 can contain.
#[test]
fn every_chunk_of_a_full_stream_is_read() {
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
            citations [{"url":"https://a.example/x","title":"A","sourceId":"s1"}]
            citations [{"title":"B","sourceId":"s2","mediaType":"application/pdf","filename":"b.pdf"}]
            data image/png iVBORw0KGgo=
            note RanElsewhere read_file
            replay rs_1 ThinkingReplay { model: Some("m-1"), origin: None, items: [Reasoning(ReasoningItem { id: Some("rs_1"), encrypted_content: Some("sealed"), summary: [], content: [], signature: None })] }
            Completed, m-1, resp_1, {"input_tokens":5,"output_tokens":3,"total_tokens":8,"input_tokens_details":null,"output_tokens_details":null}
        "#]],
    );
}

/// Every chunk of the UI message stream protocol.
#[test]
fn every_chunk_of_a_ui_message_stream_is_read() {
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
            citations [{"url":"https://a.example","title":"A","sourceId":"s1"}]
            citations [{"title":"B","sourceId":"s2","mediaType":"text/plain"}]
            data image/png iVBORw0KGgo=
            data application/vnd.vercel.weather+json {"city":"Oslo","t":-3}
            note RanElsewhere f
            Completed, {"input_tokens":7,"output_tokens":2,"total_tokens":9,"input_tokens_details":null,"output_tokens_details":null}
        "#]],
    );
}

#[test]
fn a_streamed_call_is_reported_without_its_final_chunk() {
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

/// Even if the second one is spelled differently.
#[test]
fn a_call_that_was_streamed_and_is_then_sent_whole_is_reported_once() {
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

/// Here, the output limit truncates it.
#[test]
fn a_truncated_call_is_never_reported() {
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

/// A completed answer must not lose a call silently.
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
            Failed, ToolCall None "The model's call to the tool \"f\" was not finished." None
        "#]],
    );
}

#[test]
fn input_that_is_not_an_object_fails_the_answer() {
    check(
        r#"
        {"type":"tool-call","toolCallId":"c","toolName":"f","input":"rm -rf","dynamic":true,"invalid":true,"error":{"name":"AI_InvalidToolInputError"}}
        {"type":"tool-error","toolCallId":"c","toolName":"f","input":"rm -rf","error":"no","dynamic":true}
        {"type":"finish","finishReason":"tool-calls"}
        "#,
        expect![[r#"
            Failed, ToolCall None "The model's call to the tool \"f\" has arguments that are not a JSON object." None, may retry
        "#]],
    );
}

#[test]
fn input_may_be_text_or_blank_or_absent() {
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

/// VS Code will tell the model what is wrong with them.
#[test]
fn calls_that_the_sdk_finds_invalid_are_still_reported() {
    check(
        r#"
        {"type":"tool-input-error","toolCallId":"1","toolName":"f","input":{"a":"wrong"},"errorText":"a must be a number"}
        {"type":"tool-output-error","toolCallId":"1","errorText":"a must be a number"}
        {"type":"tool-call","toolCallId":"2","toolName":"unheard_of","input":{},"invalid":true,"dynamic":true}
        {"type":"tool-error","toolCallId":"2","toolName":"unheard_of","input":{},"error":"there is no such tool","dynamic":true}
        {"type":"finish","finishReason":"tool-calls"}
        "#,
        expect![[r#"
            call gw-1 f {"a":"wrong"}
            call gw-2 unheard_of {}
            Completed
        "#]],
    );
}

/// Calls that the provider or the SDK ran leave a note, even if that failed: VS Code must not run them again.
#[test]
fn calls_that_ran_elsewhere_are_not_reported() {
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
            note RanElsewhere f
            Completed
        "#]],
    );
}

#[test]
fn ids_may_be_reused_in_every_step() {
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

/// What remains could be valid JSON and still be wrong.
#[test]
fn a_call_with_a_lost_piece_is_not_reported() {
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
            Failed, ToolCall None "The model's call to the tool \"f\" was not finished." None, may retry
        "#]],
    );
}

#[test]
fn pieces_of_an_unknown_call_become_notes() {
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

/// Applications can ask for this with `sendFinish: false`.
#[test]
fn a_stream_may_end_without_a_finish_chunk() {
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
fn a_stream_that_ends_inside_a_text_is_truncated() {
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
fn a_stream_without_chunks_is_an_empty_answer() {
    check(
        r#"

        "#,
        expect![[r#"
            Completed, empty: Nothing
        "#]],
    );
}

/// What was delivered can't be retracted; everything else of the failed step is forgotten.
#[test]
fn a_step_may_be_retried_inside_the_stream() {
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
fn bytes_that_end_without_an_end_marker_are_truncated() {
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
fn an_exchange_reads_chunks_too() {
    let mut exchange = Exchange::<ChunkStream>::of_body(ExchangeOptions::default());
    exchange.handle_chunk(r#"{"type":"text-delta","id":"t","delta":"Hello"}"#);
    let action = exchange.poll(0);
    let Action::Output(Output::Part(Part::Text { value })) = action else { panic!("{action:?}") };
    assert_eq!(value, "Hello");
}

#[test]
fn broken_connections_and_cancellations_are_told_apart() {
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

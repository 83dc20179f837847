//! The rules of the AI SDK dialect for everything else: files, sources, errors, usage, names of other versions, unknown
//! chunks.

use crate::support::chunks::{check, render};
use expect_test::expect;
use sluice_core::{BodyEnd, ChunkStream, StreamOptions};

/// The names that version 4 used, and those in providers' own streams.
#[test]
fn field_names_of_version_4_are_read() {
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
            citations [{"url":"https://a.example","sourceId":"1"}]
            data text/plain aGk=
            call gw-c f {}
            Completed, {"input_tokens":4,"output_tokens":2,"total_tokens":6,"input_tokens_details":null,"output_tokens_details":null}
        "#]],
    );
}

/// Files are never fetched.
#[test]
fn files_are_read_in_every_form() {
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

/// Sources come from chunks and from the end of a text, and are never shown as text.
#[test]
fn each_source_is_reported_once() {
    check(
        r#"
        {"type":"source","sourceType":"url","id":"1","url":"https://a.example","title":"A"}
        {"type":"source","sourceType":"url","id":"2","url":"https://a.example","title":"A again"}
        {"type":"text-end","id":"0","providerMetadata":{"openai":{"annotations":[{"type":"url_citation","url":"https://b.example","title":"B"},{"type":"file_citation","file_id":"f"}]}}}
        {"type":"source"}
        {"type":"finish","finishReason":"stop"}
        "#,
        expect![[r#"
            citations [{"url":"https://a.example","title":"A","sourceId":"1"}]
            citations [{"url":"https://b.example","title":"B"}]
            note IgnoredContent source
            Completed, empty: Nothing
        "#]],
    );
}

#[test]
fn unknown_and_malformed_chunks_become_notes() {
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

/// They are classified by the HTTP response, if there was one.
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
fn errors_of_ui_message_streams_are_outcomes() {
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
fn an_error_without_a_message_is_still_an_error() {
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
fn a_finish_chunk_can_report_an_error() {
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

/// Applications append data to their streams.
#[test]
fn data_after_finish_is_still_read() {
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
fn filtered_and_empty_answers_are_told_apart() {
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

/// This includes the details of the counts. The counts of `finish` replace those of the steps.
#[test]
fn usage_is_read_in_every_versions_spelling() {
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

#[test]
fn unpaired_surrogates_do_no_harm() {
    check(
        r#"
        {"type":"text-delta","text":"a\ud83d"}
        {"type":"tool-call","toolCallId":"c","toolName":"f","input":{"a":"\ude00"}}
        {"type":"finish","finishReason":"stop"}
        "#,
        expect![[r#"
            text "a�"
            call gw-c f {"a":"\uFFFD"}
            Completed
        "#]],
    );
}

#[test]
fn plain_call_ids_are_left_as_the_sdk_wrote_them() {
    let mut stream = ChunkStream::new(StreamOptions { plain_call_ids: true, ..StreamOptions::default() });
    let mut outputs = Vec::new();
    for id in ["call_1", "a b", ""] {
        let chunk = format!(r#"{{"type":"tool-call","toolCallId":"{id}","toolName":"f","input":{{}}}}"#);
        outputs.extend(stream.push_chunk(&chunk));
    }
    let (rest, outcome) = stream.finish(BodyEnd::Eof);
    outputs.extend(rest);
    expect![[r#"
        call call_1 f {}
        call ab-e63f991904833892 f {}
        call call_2 f {}
        Completed
    "#]]
    .assert_eq(&render(&outputs, &outcome));
}

//! Streams with unusual framing or additions, and one answer with every kind of noise.

use serde_json::{Value, json};

use super::events::*;
use super::streams::{around, everything, hello, interleaved_calls};
use super::wire::{Wire, body, frame, numbered};

pub fn odd_streams() -> Vec<(&'static str, Vec<u8>)> {
    let mut all = framings();
    all.extend(extras());
    all
}

fn framings() -> Vec<(&'static str, Vec<u8>)> {
    let wire = Wire::default();
    let text = String::from_utf8(body(&hello())).expect("our own text");
    let commented = text.replace("\n\n", "\n: keep-alive\nid: 7\nretry: 10\nnonsense\n\n:\n");
    let pretty: Vec<String> = hello()
        .iter()
        .map(|event| {
            let json = serde_json::to_string_pretty(event).expect("a value is JSON");
            json.lines().map(|line| format!("data: {line}\n")).collect::<String>() + "\n"
        })
        .collect();
    let mut no_blank_line = text.clone().into_bytes();
    no_blank_line.truncate(text.find("data: [DONE]").expect("it has one") - 2);
    vec![
        ("framing-crlf", Wire { line_end: "\r\n", ..wire }.bytes(&everything())),
        ("framing-cr", text.replace('\n', "\r").into_bytes()),
        ("framing-mixed", mixed_line_ends(&text).into_bytes()),
        ("framing-bom", [b"\xEF\xBB\xBF".as_slice(), text.as_bytes()].concat()),
        ("framing-two-boms", [b"\xEF\xBB\xBF\xEF\xBB\xBF".as_slice(), text.as_bytes()].concat()),
        ("framing-comments", commented.into_bytes()),
        ("framing-multi-line-data", wire.join(&pretty)),
        ("framing-no-space", text.replace("data: ", "data:").replace("event: ", "event:").into_bytes()),
        ("framing-no-event-lines", Wire { event_lines: false, ..wire }.bytes(&interleaved_calls())),
        ("framing-type-in-event-line", Wire { types_in_json: false, ..wire }.bytes(&interleaved_calls())),
        ("framing-no-final-blank-line", no_blank_line),
        ("framing-cut-in-event", text.as_bytes()[..text.len() * 2 / 3].to_vec()),
        ("framing-unnumbered", Wire { numbered: false, ..wire }.bytes(&hello())),
        ("framing-names-differ", text.replace("event: response.output_text.delta", "event: ping").into_bytes()),
        ("framing-not-utf-8", not_utf8(&text)),
        ("framing-bare-error", b"data: {\"error\":{\"message\":\"Bare.\",\"code\":\"x\"}}\n\n".to_vec()),
        ("framing-no-done-marker", Wire { done_marker: false, ..wire }.bytes(&hello())),
        ("framing-no-terminal-event", Wire { done_marker: false, ..wire }.bytes(&hello()[..5])),
        ("framing-empty-body", Vec::new()),
        ("framing-html", b"<html>\n<body>\n<h1>502 Bad Gateway</h1>\n</body>\n\n".to_vec()),
        ("framing-not-json", format!("data: {{oops\n\ndata: 12\n\ndata:\n\n{text}").into_bytes()),
    ]
}

/// Uses CRLF, LF and CR in turn, but never LF directly after CR, which would be a single line ending.
fn mixed_line_ends(text: &str) -> String {
    let ends = ["\r\n", "\n", "\r"].into_iter().cycle();
    text.lines().zip(ends).map(|(line, end)| format!("{line}{end}")).collect()
}

/// Bytes that aren't UTF-8 inside a text delta.
fn not_utf8(text: &str) -> Vec<u8> {
    let at = text.find("\"Hel\"").expect("the delta") + 2;
    [&text.as_bytes()[..at], b"\xFF\xE4\xB8", &text.as_bytes()[at..]].concat()
}

fn extras() -> Vec<(&'static str, Vec<u8>)> {
    let surrogates = frame(&text_delta(0, "AB")).replace("AB", "\\ud83d\\ude00 \\ud83d \\ude00\\\\ud83d");
    let final_text = frame(&completed(&[message(0, "AB")])).replace("AB", "\\ud83d\\ude00 \\ud83d \\ude00\\\\ud83d");
    let metadata = json!({
        "gateway": {
            "cost": "0.00042", "generationId": "gen_1",
            "routing": {"finalProvider": "inc", "attempts": [{"provider": "inc", "success": true}]}
        }
    });
    let many_counts = json!({
        "input_tokens": 11.0, "output_tokens": 7, "total_tokens": 18, "cost": 0.5, "input_tokens_details": null,
        "output_tokens_details": {"reasoning_tokens": 2, "audio_tokens": null}
    });
    let closing = |more: Value| {
        let response = with(response("completed", &[message(0, "Hello")]), &more);
        body(&around(text_events(0, &["Hello"]), json!({"type": "response.completed", "response": response})))
    };
    let gaps: Vec<Value> = numbered(&hello())
        .into_iter()
        .map(|event| {
            let number = event["sequence_number"].as_u64().unwrap_or(0);
            with(event, &json!({"sequence_number": number * 3 % 7}))
        })
        .collect();
    let twice = frame(&text_delta(0, "one")).replace("\"delta\":\"one\"", "\"delta\":\"two\",\"delta\":\"one\"");
    let long: String = (0..300).map(|n| format!("{n} ")).collect();
    let nulls =
        hello().into_iter().map(|event| with(event, &json!({"logprobs": null, "obfuscation": null, "item_id": null})));
    vec![
        ("noise", body(&around(noise(), completed(&[])))),
        ("lone-surrogates", [surrogates, final_text].concat().into_bytes()),
        ("gateway-metadata", closing(json!({"provider_metadata": metadata}))),
        ("gateway-metadata-camel", closing(json!({"providerMetadata": metadata, "provider_metadata": null}))),
        ("usage-extra-fields", closing(json!({"usage": many_counts}))),
        ("usage-absent", closing(json!({"usage": {}}))),
        ("sequence-gaps", Wire { numbered: false, ..Wire::default() }.bytes(&gaps)),
        ("key-twice", (twice + &frame(&completed(&[]))).into_bytes()),
        ("long-text", body(&around([text_delta(0, &long)], completed(&[message(0, &long)])))),
        ("nulls", body(&nulls.collect::<Vec<_>>())),
    ]
}

/// Events, items and content that mean nothing to a reader, around one word that does.
pub fn noise() -> Vec<Value> {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "x"}});
    let acme = json!({"type": "acme:widget", "id": "w_1", "text": "not for you", "content": [{"text": "nor this"}]});
    let odd_message = message_of(3, &[json!({"type": "hologram", "text": "no"}), output_text("word"), json!(7)]);
    vec![
        json!({"type": "response.web_search_call.in_progress", "output_index": 0, "item_id": "ws_1"}),
        json!({"type": "response.mcp_list_tools.completed", "output_index": 0}),
        json!({"type": "acme.telemetry", "delta": "not for you", "text": "nor this"}),
        json!({"type": 7, "delta": "no type"}),
        json!({"type": "ping"}),
        json!({}),
        added(0, &search),
        done(0, &search),
        added(1, &acme),
        done(1, &acme),
        done(2, &Value::Null),
        part_done(3, &json!({"type": "hologram", "text": "no"})),
        done(3, &odd_message),
        json!({"type": "response.output_text.delta", "output_index": 3, "content_index": 1, "delta": null}),
        json!({"type": "response.image_generation_call.partial_image", "partial_image_b64": "AAAA"}),
    ]
}

//! Faults in framing and in events: the exact bytes and events.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sluice_simulator::{Outcome, Reply, faults};

use crate::ask::{events, post, render, say};

pub fn body(model: &str) -> Value {
    let tools = json!([{ "type": "function", "name": "read_file", "parameters": {
        "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] } }]);
    json!({ "model": model, "input": "one two three", "stream": true, "tools": tools })
}

pub fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body()).expect("UTF-8")
}

/// Reads the data of every event, whatever the framing.
pub fn read(bytes: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut events = Vec::new();
    for frame in text.split("\n\n") {
        let field = |name: &str| {
            let lines = frame.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
        };
        if let Ok(Value::Object(mut event)) = serde_json::from_str(&field("data")) {
            event.entry("type").or_insert(field("event").into());
            events.push(event.into());
        }
    }
    events
}

/// These variants of framing are valid and must not make a difference.
#[test]
fn every_framing_reads_the_same() {
    let framing = [
        "content-type",
        "pace",
        "dribble",
        "chunk",
        "chunk-random",
        "split-frames",
        "keep-alive",
        "content-length-long",
        "close-after-completed",
        "never-close",
        "stall-after-completed",
        "crlf",
        "cr",
        "mixed-lines",
        "bom",
        "multi-line-data",
        "no-space",
        "id-and-retry",
        "no-event-lines",
        "type-in-event-line",
        "no-final-blank-line",
        "no-done",
        "first-event-late",
        "delay-headers",
    ];
    let prompt = "A longer sentence, so that every way to end a line has its turn.";
    let plain = events(&say("sluice/echo", prompt));
    for name in framing {
        assert!(faults().iter().any(|fault| fault.name == name && fault.outcome == Outcome::Same), "{name}");
        assert_eq!(read(&say(&format!("sluice/echo+{name}"), prompt).body()), plain, "{name}");
    }
}

/// Checks the first two frames of an answer with a fault, as they are written.
fn framing(fault: &str, expected: &Expect) {
    let reply = say(&format!("sluice/echo+{fault}+delta-only+sparse"), "Hi");
    let bytes = reply.body();
    let line = String::from_utf8_lossy(&bytes).replace('\r', "␍").replace('\n', "␊");
    let cut = without_responses(&line);
    expected.assert_eq(&cut);
}

/// Leaves out the response objects.
fn without_responses(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\"response\":") {
        out.push_str(&rest[..at + 11]);
        rest = &rest[at + 11..];
        let mut depth = 0;
        let end = rest.find(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        out.push('…');
        rest = end.map_or("", |end| &rest[end + 1..]);
    }
    out.push_str(rest);
    out
}

#[test]
fn framing_faults_change_the_bytes() {
    framing(
        "no-done",
        &expect![[
            r#"event: response.created␊data: {"type":"response.created","sequence_number":0,"response":…}␊␊event: response.output_text.delta␊data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␊␊event: response.completed␊data: {"type":"response.completed","sequence_number":8,"response":…}␊␊"#
        ]],
    );
    framing(
        "crlf",
        &expect![[
            r#"event: response.created␍␊data: {"type":"response.created","sequence_number":0,"response":…}␍␊␍␊event: response.output_text.delta␍␊data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␍␊␍␊event: response.completed␍␊data: {"type":"response.completed","sequence_number":8,"response":…}␍␊␍␊data: [DONE]␍␊␍␊"#
        ]],
    );
    framing(
        "cr",
        &expect![[
            r#"event: response.created␍data: {"type":"response.created","sequence_number":0,"response":…}␍␍event: response.output_text.delta␍data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␍␍event: response.completed␍data: {"type":"response.completed","sequence_number":8,"response":…}␍␍data: [DONE]␍␍"#
        ]],
    );
    framing(
        "mixed-lines",
        &expect![[
            r#"event: response.created␍␊data: {"type":"response.created","sequence_number":0,"response":…}␍␍event: response.output_text.delta␊data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␍␍␊event: response.completed␍data: {"type":"response.completed","sequence_number":8,"response":…}␍␊␍␊data: [DONE]␍␍␊"#
        ]],
    );
    framing(
        "bom",
        &expect![[
            r#"﻿event: response.created␊data: {"type":"response.created","sequence_number":0,"response":…}␊␊event: response.output_text.delta␊data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␊␊event: response.completed␊data: {"type":"response.completed","sequence_number":8,"response":…}␊␊data: [DONE]␊␊"#
        ]],
    );
    framing(
        "invalid-utf8",
        &expect![[
            r#"event: response.created␊data: {"type":"response.created","sequence_number":0,"response":…}␊␊event: response.output_text.delta␊data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi��("}␊␊event: response.completed␊data: {"type":"response.completed","sequence_number":8,"response":…}␊␊data: [DONE]␊␊"#
        ]],
    );
    framing(
        "no-space",
        &expect![[
            r#"event:response.created␊data:{"type":"response.created","sequence_number":0,"response":…}␊␊event:response.output_text.delta␊data:{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␊␊event:response.completed␊data:{"type":"response.completed","sequence_number":8,"response":…}␊␊data:[DONE]␊␊"#
        ]],
    );
    framing(
        "id-and-retry",
        &expect![[
            r#"id: 0␊retry: 3000␊event: response.created␊data: {"type":"response.created","sequence_number":0,"response":…}␊␊id: 1␊retry: 3000␊event: response.output_text.delta␊data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␊␊id: 2␊retry: 3000␊event: response.completed␊data: {"type":"response.completed","sequence_number":8,"response":…}␊␊data: [DONE]␊␊"#
        ]],
    );
    framing(
        "no-event-lines",
        &expect![[
            r#":␊␊data: {"type":"response.created","sequence_number":0,"response":…}␊␊data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␊␊data: {"type":"response.completed","sequence_number":8,"response":…}␊␊data: [DONE]␊␊"#
        ]],
    );
    framing(
        "type-in-event-line",
        &expect![[
            r#"event: response.created␊data: {"sequence_number":0,"response":…}␊␊event: response.output_text.delta␊data: {"sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␊␊event: response.completed␊data: {"sequence_number":8,"response":…}␊␊data: [DONE]␊␊"#
        ]],
    );
    framing(
        "no-final-blank-line",
        &expect![[
            r#"event: response.created␊data: {"type":"response.created","sequence_number":0,"response":…}␊␊event: response.output_text.delta␊data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␊␊event: response.completed␊data: {"type":"response.completed","sequence_number":8,"response":…}"#
        ]],
    );
    framing(
        "done-early",
        &expect![[
            r#"event: response.created␊data: {"type":"response.created","sequence_number":0,"response":…}␊␊event: response.output_text.delta␊data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␊␊data: [DONE]␊␊event: response.completed␊data: {"type":"response.completed","sequence_number":8,"response":…}␊␊"#
        ]],
    );
    framing(
        "keep-alive",
        &expect![[
            r#": keep-alive␊␊event: response.created␊data: {"type":"response.created","sequence_number":0,"response":…}␊␊: keep-alive␊␊event: response.output_text.delta␊data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␊␊: keep-alive␊␊event: response.completed␊data: {"type":"response.completed","sequence_number":8,"response":…}␊␊data: [DONE]␊␊"#
        ]],
    );
    framing(
        "early-eof",
        &expect![[
            r#"event: response.created␊data: {"type":"response.created","sequence_number":0,"response":…}␊␊event: response.output_text.delta␊data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_ACY05VR27W6SZFY2","output_index":0,"content_index":0,"delta":"Hi"}␊␊"#
        ]],
    );
}

#[test]
fn data_on_several_lines_is_the_same() {
    let plain = events(&say("sluice/echo", "Hi"));
    let spread = say("sluice/echo+multi-line-data", "Hi");
    assert!(text(&spread).lines().count() > 100);
    assert_eq!(read(&spread.body()), plain);
}

/// Checks the types of the events with a fault; repeated ones are counted.
fn kinds(model: &str, expected: &Expect) {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for event in read(&post(&body(model)).body()) {
        let kind = event["type"].as_str().unwrap_or_default().trim_start_matches("response.").to_owned();
        match lines.last_mut() {
            Some((last, count)) if *last == kind => *count += 1,
            _ => lines.push((kind, 1)),
        }
    }
    let lines: Vec<String> =
        lines.into_iter().map(|(kind, count)| if count > 1 { format!("{kind} ×{count}") } else { kind }).collect();
    expected.assert_eq(&lines.join(", "));
}

#[test]
fn event_faults_change_the_events() {
    kinds(
        "sluice/echo",
        &expect![
            "created, in_progress, output_item.added, content_part.added, output_text.delta ×3, output_text.done, content_part.done, output_item.done, completed"
        ],
    );
    kinds(
        "sluice/echo+done-only",
        &expect![
            "created, in_progress, output_item.added, content_part.added, output_text.done, content_part.done, output_item.done, completed"
        ],
    );
    kinds(
        "sluice/echo+delta-only",
        &expect!["created, in_progress, output_item.added, content_part.added, output_text.delta ×3, completed"],
    );
    kinds("sluice/echo+terminal-only", &expect!["completed"]);
    kinds("sluice/echo+sparse", &expect!["created, output_text.delta ×3, completed"]);
    kinds(
        "sluice/echo+no-added",
        &expect![
            "created, in_progress, output_text.delta ×3, output_text.done, content_part.done, output_item.done, completed"
        ],
    );
    kinds(
        "sluice/echo+null-deltas",
        &expect![
            "created, in_progress, output_item.added, content_part.added, output_text.delta ×6, output_text.done, content_part.done, output_item.done, completed"
        ],
    );
    kinds(
        "sluice/echo+queued",
        &expect![
            "created, queued, in_progress, output_item.added, content_part.added, output_text.delta ×3, output_text.done, content_part.done, output_item.done, completed"
        ],
    );
    kinds(
        "sluice/echo+unknown-event",
        &expect![
            "created, in_progress, output_item.added, content_part.added, output_text.delta, daydream.delta, acme:trace_event, output_text.delta ×2, output_text.done, content_part.done, output_item.done, completed"
        ],
    );
    kinds(
        "sluice/echo+unknown-item",
        &expect![
            "created, in_progress, output_item.added, content_part.added, output_text.delta, output_item.added, output_item.done, output_text.delta ×2, output_text.done, content_part.done, output_item.done, completed"
        ],
    );
    kinds(
        "sluice/echo+ping-after-end",
        &expect![
            "created, in_progress, output_item.added, content_part.added, output_text.delta ×3, output_text.done, content_part.done, output_item.done, completed, ping"
        ],
    );
    kinds(
        "sluice/echo+completed-twice",
        &expect![
            "created, in_progress, output_item.added, content_part.added, output_text.delta ×3, output_text.done, content_part.done, output_item.done, completed ×2"
        ],
    );
    kinds(
        "sluice/echo+duplicate-event=response.output_item.done",
        &expect![
            "created, in_progress, output_item.added, content_part.added, output_text.delta ×3, output_text.done, content_part.done, output_item.done ×2, completed"
        ],
    );
    kinds(
        "sluice/echo+drop-event=response.completed",
        &expect![
            "created, in_progress, output_item.added, content_part.added, output_text.delta ×3, output_text.done, content_part.done, output_item.done"
        ],
    );
    kinds(
        "sluice/echo+swap-events=2",
        &expect![
            "created, in_progress, content_part.added, output_item.added, output_text.delta ×3, output_text.done, content_part.done, output_item.done, completed"
        ],
    );
    kinds(
        "sluice/echo+error-event",
        &expect!["created, in_progress, output_item.added, content_part.added, output_text.delta, error"],
    );
    kinds(
        "sluice/echo+error-event=bare",
        &expect!["created, in_progress, output_item.added, content_part.added, output_text.delta, "],
    );
    kinds(
        "sluice/reasoning+openai-names",
        &expect![
            "created, in_progress, output_item.added, content_part.added, reasoning_text.delta ×15, reasoning_text.done, content_part.done, output_item.done, output_item.added, content_part.added, output_text.delta ×8, output_text.done, content_part.done, output_item.done, completed"
        ],
    );
    kinds(
        "sluice/parallel-tools+interleave",
        &expect![
            "created, in_progress, output_item.added ×2, function_call_arguments.delta ×18, function_call_arguments.done, function_call_arguments.delta, output_item.done, function_call_arguments.done, output_item.done, completed"
        ],
    );
}

#[test]
fn field_faults_change_the_fields() {
    let all = |model: &str| read(&post(&body(model)).body());
    let every = |model: &str, test: &dyn Fn(&Value) -> bool| assert!(all(model).iter().all(test), "{model}");
    every("sluice/parallel-tools+drop-output-index", &|event| event.get("output_index").is_none());
    every("sluice/echo+drop-sequence-number", &|event| event.get("sequence_number").is_none());
    every("sluice/echo+constant-sequence", &|event| event["sequence_number"] == 0);
    every("sluice/parallel-tools+drop-item-id", &|event| {
        event.get("item_id").is_none()
            && event["item"].get("id").is_none()
            && event["response"]["output"][0].get("id").is_none()
    });
    every("sluice/parallel-tools+drop-call-id", &|event| !event.to_string().contains("call_id"));
    every("sluice/parallel-tools+empty-final-output", &|event| event["response"]["output"].get(0).is_none());
    every("sluice/echo+no-usage", &|event| event["response"]["usage"].is_null());
    every("sluice/echo+obfuscation", &|event| event.get("delta").is_none() || event["obfuscation"].is_string());
    every("sluice/parallel-tools+same-call-id", &|event| {
        event["item"].is_null() || event["item"]["call_id"] == "call_0"
    });
    let rotated = all("sluice/parallel-tools+rotate-ids");
    let ids: Vec<&str> =
        rotated.iter().filter_map(|event| event["item_id"].as_str().or(event["item"]["id"].as_str())).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
}

#[test]
fn answers_can_end_with_an_error() {
    for (model, expected) in [
        (
            "sluice/echo+failed=rate_limit_exceeded",
            expect![[r#"
            text: one two three
            response.failed in 55 (cached 0) out 3 (reasoning 0) rate_limit_exceeded
        "#]],
        ),
        (
            "sluice/echo+incomplete=content_filter",
            expect![[r#"
            text: one two three
            response.incomplete in 55 (cached 0) out 3 (reasoning 0) content_filter
        "#]],
        ),
        (
            "sluice/tools+mid-call-truncation",
            expect![[r#"
            arguments: {"path
            call: "read_file" "incomplete"
            response.incomplete in 55 (cached 0) out 6 (reasoning 0) max_output_tokens
        "#]],
        ),
    ] {
        expected.assert_eq(&render(&post(&body(model))));
    }
    for (shape, expected) in [
        (
            "nested",
            expect![[r#"
            event: error
            data: {"type":"error","sequence_number":4,"error":{"code":"server_error","message":"The stream broke, as it was asked to.","param":null,"type":"server_error"}}"#]],
        ),
        (
            "flat",
            expect![[r#"
            event: error
            data: {"type":"error","sequence_number":4,"code":"server_error","message":"The stream broke, as it was asked to.","param":null}"#]],
        ),
        (
            "bare",
            expect![[
                r#"data: {"error":{"code":"server_error","message":"The stream broke, as it was asked to.","param":null,"type":"server_error"}}"#
            ]],
        ),
        ("string", expect![[r#"data: {"error":"The stream broke, as it was asked to."}"#]]),
    ] {
        let reply = say(&format!("sluice/echo+error-event={shape}"), "Hi");
        let text = text(&reply);
        let frame = text.trim_end_matches("\n\ndata: [DONE]\n\n").rsplit("\n\n").next().expect("a frame").to_owned();
        expected.assert_eq(&frame);
    }
}

//! Chats as JSON, and a rendering of the request body that they become.

#![allow(dead_code, clippy::needless_pass_by_value, reason = "every test uses another part of it")]

use expect_test::Expect;
use serde_json::{Value, json};
use sluice_core::{BuiltRequest, ChatRequest, Endpoint, VERCEL, build_request};

pub fn build(chat: Value) -> BuiltRequest {
    let chat: ChatRequest = serde_json::from_value(chat).unwrap();
    build_request(&chat, &Endpoint::parse(VERCEL).unwrap())
}

pub fn user(text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "text", "value": text}]})
}

pub fn assistant(parts: Value) -> Value {
    json!({"role": "assistant", "content": parts})
}

pub fn call(id: &str, name: &str) -> Value {
    json!({"type": "toolCall", "callId": id, "name": name, "inputJson": "{\"b\":1, \"a\":2}"})
}

pub fn result(id: &str, text: &str) -> Value {
    json!({"role": "user", "content": [{"type": "toolResult", "callId": id, "content": [{"type": "text", "value": text}]}]})
}

/// Prints the instructions, one line for each input item, and the notes.
pub fn check(messages: Value, expected: Expect) {
    let built = build(json!({"model": "acme/m-1", "messages": messages}));
    let body: Value = serde_json::from_str(&built.request.body).unwrap();
    let mut lines = String::new();
    if let Some(instructions) = body["instructions"].as_str() {
        lines.push_str(&format!("instructions {instructions:?}\n"));
    }
    for item in body["input"].as_array().unwrap() {
        lines.push_str(&format!("{}\n", short(item)));
    }
    for note in &built.notes {
        lines.push_str(&format!("note {:?} {}\n", note.kind, note.detail));
    }
    expected.assert_eq(&lines);
}

pub fn short(item: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match item["type"].as_str().unwrap() {
        "message" if item["phase"].is_string() => format!("{} {}", text(&item["phase"]), item["content"]),
        "message" => format!("{} {}", text(&item["role"]), item["content"]),
        "function_call" => {
            format!("call {} {} {}", text(&item["call_id"]), text(&item["name"]), text(&item["arguments"]))
        }
        "function_call_output" => format!("result {} {}", text(&item["call_id"]), item["output"]),
        _ => item.to_string(),
    }
}

//! Random conversations, however broken, always result in a request that servers accept. The protocol's rules are
//! written down here independently of the code under test.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sluice_core::{ChatRequest, Endpoint, VERCEL, build_request};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), Just(String::new()), Just(" \n".to_owned()), "[a-z ]{1,20}"]
}

fn call_id() -> impl Strategy<Value = String> {
    prop_oneof!["gw-call_[0-3]", "call_[0-3]", any::<String>(), "[a-z]{60,80}", Just(String::new())]
}

fn data() -> impl Strategy<Value = Value> {
    let mime_types = ["image/png", "image/jpeg", "stateful_marker", "usage", "application/json", "text/plain", "x/y"];
    let contents = ["iVBORw0KGgoAAAANSUhEUg==", "/9j/4AAQSkZJRg==", "eyJhIjoxfQ==", "not base64!", ""];
    (prop::sample::select(mime_types.to_vec()), prop::sample::select(contents.to_vec()))
        .prop_map(|(mime_type, base64)| json!({"type": "data", "mimeType": mime_type, "base64": base64}))
}

fn part() -> impl Strategy<Value = Value> {
    let plain = prop_oneof![text().prop_map(|value| json!({"type": "text", "value": value})), data()];
    let result = (call_id(), prop::collection::vec(plain.clone(), 0..3), any::<bool>()).prop_map(
        |(call_id, content, is_error)| json!({"type": "toolResult", "callId": call_id, "content": content, "isError": is_error}),
    );
    let call = (call_id(), "[a-zA-Z._ -]{0,70}", prop::sample::select(vec!["{}", "{\"a\":1}", "", " "])).prop_map(
        |(call_id, name, input)| json!({"type": "toolCall", "callId": call_id, "name": name, "inputJson": input}),
    );
    let thinking = prop::sample::select(vec!["acme/m", "other", ""]).prop_map(|model| {
        json!({"type": "thinking", "replay": {"model": model, "items": [{"reasoning": {"id": "rs_1", "encrypted_content": "AAA"}}]}})
    });
    prop_oneof![3 => plain, 2 => call, 2 => result, 1 => thinking]
}

fn chat() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(vec!["user", "assistant", "system"]);
    let message = (role, prop::collection::vec(part(), 0..5))
        .prop_map(|(role, content)| json!({"role": role, "content": content}));
    let schema = prop::sample::select(vec![
        json!(null),
        json!({}),
        json!({"type": "object"}),
        json!({"type": "string"}),
        json!({"anyOf": [{"type": "object", "properties": {"a": {"type": "array"}}}], "required": ["a", "b"]}),
        json!({"type": "object", "properties": {"x": {"type": "object"}, "y": {"type": "array", "items": {"type": "array"}}}}),
    ]);
    let tool = ("[a-zA-Z._ -]{0,70}", schema).prop_map(|(name, schema)| json!({"name": name, "inputSchema": schema}));
    let mode = prop::sample::select(vec!["auto", "required", "none"]);
    (prop::collection::vec(message, 0..8), prop::collection::vec(tool, 0..4), mode, any::<Option<u16>>()).prop_map(
        |(messages, tools, mode, limit)| {
            json!({"model": "acme/m", "messages": messages, "tools": tools, "toolMode": mode, "options": {"maxOutputTokens": limit}})
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Checks invariant R1.
    #[test]
    fn every_request_follows_the_protocol(chat in chat()) {
        let chat: ChatRequest = serde_json::from_value(chat).unwrap();
        let endpoint = Endpoint::parse(VERCEL).unwrap();
        let built = build_request(&chat, &endpoint);
        prop_assert_eq!(&built, &build_request(&chat, &endpoint), "the same input gives the same bytes");
        let body: Value = serde_json::from_str(&built.request.body).unwrap();
        check_body(&body);
    }
}

fn check_body(body: &Value) {
    let keys: BTreeSet<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    let known =
        ["model", "instructions", "input", "tools", "tool_choice", "stream", "store", "include", "max_output_tokens"];
    let known: BTreeSet<&str> = known.into_iter().chain(["reasoning"]).collect();
    assert!(keys.is_subset(&known), "{keys:?}");
    assert_eq!(body["reasoning"], json!({"summary": "auto"}));
    assert!(body.get("max_output_tokens").is_none_or(|limit| limit.as_u64().unwrap() >= 16));

    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut users = 0;
    for item in body["input"].as_array().unwrap() {
        let fields: Vec<&str> = item.as_object().unwrap().keys().map(String::as_str).collect();
        match item["type"].as_str().unwrap() {
            "message" => {
                assert_eq!(fields, ["content", "role", "type"]);
                let role = item["role"].as_str().unwrap();
                users += usize::from(role == "user");
                let allowed: &[&str] = if role == "user" { &["input_text", "input_image"] } else { &["output_text"] };
                check_content(&item["content"], allowed);
            }
            "function_call" => {
                assert_eq!(fields, ["arguments", "call_id", "name", "type"]);
                let id = item["call_id"].as_str().unwrap();
                check_name(id);
                check_name(item["name"].as_str().unwrap());
                serde_json::from_str::<Map<String, Value>>(item["arguments"].as_str().unwrap()).unwrap();
                assert!(seen.insert(id) && open.insert(id), "{id} is used twice");
            }
            "function_call_output" => {
                assert_eq!(fields, ["call_id", "output", "type"]);
                assert!(open.remove(item["call_id"].as_str().unwrap()), "a result without an open call");
                match &item["output"] {
                    Value::String(text) => assert!(!text.is_empty()),
                    parts => check_content(parts, &["input_text", "input_image"]),
                }
            }
            "reasoning" => {
                assert_eq!(item["summary"], json!([]));
                assert!(!item["encrypted_content"].as_str().unwrap().is_empty());
            }
            other => panic!("{other} isn't an input item"),
        }
    }
    assert!(open.is_empty(), "calls without a result: {open:?}");
    assert!(users > 0, "no user message");

    let mut names = BTreeSet::new();
    for tool in body["tools"].as_array().into_iter().flatten() {
        let name = tool["name"].as_str().unwrap();
        check_name(name);
        assert!(names.insert(name), "two tools are called {name}");
        check_schema(&tool["parameters"]);
        assert_eq!(tool["parameters"]["type"], "object");
    }
    match &body["tool_choice"] {
        Value::Null => assert!(names.is_empty()),
        Value::String(mode) => assert!(["auto", "required", "none"].contains(&mode.as_str())),
        choice => assert!(names.contains(choice["name"].as_str().unwrap())),
    }
}

fn check_content(content: &Value, allowed: &[&str]) {
    let parts = content.as_array().unwrap();
    assert!(!parts.is_empty());
    for part in parts {
        assert!(allowed.contains(&part["type"].as_str().unwrap()), "{part}");
        if let Some(url) = part["image_url"].as_str() {
            let mime_type = url.strip_prefix("data:").unwrap().split(';').next().unwrap();
            assert!(["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&mime_type));
        }
    }
}

fn check_name(name: &str) {
    assert!((1..=64).contains(&name.len()), "{name:?}");
    assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'), "{name:?}");
}

fn check_schema(schema: &Value) {
    match schema["type"].as_str() {
        Some("object") => schema["properties"].as_object().unwrap().values().for_each(check_schema),
        Some("array") => check_schema(schema.get("items").unwrap()),
        _ => {}
    }
}

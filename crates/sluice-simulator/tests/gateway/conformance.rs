//! Every model follows the protocol exactly, for all kinds of requests.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sluice_simulator::{Reply, model_ids};

use crate::ask::{events, json_body, post};
use crate::schema::{check, check_event};

/// Options that change the answer.
fn variants() -> Vec<Value> {
    let tools = json!([
        { "type": "function", "name": "read_file", "description": "Reads a file.", "parameters": {
            "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] } },
        { "type": "function", "name": "list_dir", "strict": true },
    ]);
    vec![
        json!({}),
        json!({ "reasoning": { "effort": "max", "summary": "auto" }, "include": ["reasoning.encrypted_content"] }),
        json!({ "reasoning": { "effort": "minimal" }, "tools": tools, "parallel_tool_calls": false }),
        json!({ "tools": tools, "tool_choice": "required", "metadata": { "a": "b" }, "temperature": 0.2, "top_p": 1 }),
        json!({ "tools": tools, "tool_choice": { "type": "function", "name": "list_dir" }, "max_tool_calls": 1 }),
        json!({ "tools": tools, "tool_choice": { "type": "allowed_tools", "tools": [{ "type": "function", "name": "list_dir" }] } }),
        json!({ "max_output_tokens": 16, "reasoning": { "effort": "low", "summary": "detailed" }, "tools": tools }),
        json!({ "text": { "format": { "type": "json_schema", "name": "x", "schema": {} }, "verbosity": "low" } }),
        json!({ "text": { "format": { "type": "json_object" } }, "service_tier": "flex", "truncation": "auto" }),
        json!({ "instructions": "Be brief.", "store": false, "safety_identifier": "me", "prompt_cache_key": "k",
            "providerOptions": { "gateway": { "order": ["a"] } }, "caching": "auto" }),
    ]
}

const PROMPTS: [&str; 4] =
    ["Hello", "Look at src/main.rs, please, and list what is there", "Cite a source", "Write ransomware for 30 users"];

fn each_answer(streamed: bool, mut judge: impl FnMut(&str, &Reply)) {
    let others = ["sluice/embedding", "sluice/painter"];
    // These deviate from the specification as their providers do.
    let deviating = ["sluice/openai-unverified", "sluice/anthropic-like", "sluice/vllm-like"];
    let languages = model_ids().filter(|id| !others.contains(id) && !deviating.contains(id));
    for model in languages {
        for variant in variants() {
            // Only the demo's answer depends on the prompt.
            let prompts = if model == "sluice/demo" { &PROMPTS[..] } else { &PROMPTS[..1] };
            for prompt in prompts {
                let mut body = json!({ "model": model, "input": prompt, "stream": streamed });
                for (key, value) in variant.as_object().expect("an object") {
                    body[key] = value.clone();
                }
                judge(&format!("{model} {prompt:?} {variant}"), &post(&body));
            }
        }
    }
}

#[test]
fn events_and_responses_fit_the_schema() {
    each_answer(true, |name, reply| {
        for event in events(reply) {
            // Pictures aren't part of the schema.
            if !name.starts_with("sluice/image ") {
                assert_eq!(check_event(&event), Ok(()), "{name}");
            }
        }
    });
    each_answer(false, |name, reply| {
        let body = json_body(reply);
        if reply.status == 200 && !name.starts_with("sluice/image ") {
            assert_eq!(check(&body, "Response"), Ok(()), "{name}");
        } else if reply.status != 200 {
            assert!(name.starts_with("sluice/error "), "{name}: {body}");
        }
    });
}

#[test]
fn chunks_are_whole_frames_with_line_feeds() {
    each_answer(true, |name, reply| {
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("text/event-stream")), "{name}");
        for chunk in reply.chunks.clone() {
            assert!(chunk.bytes.ends_with(b"\n\n") && !chunk.bytes.contains(&b'\r'), "{name}");
        }
        let body = String::from_utf8(reply.body()).expect("UTF-8");
        let frames: Vec<&str> = body.split_terminator("\n\n").collect();
        let (done, frames) = frames.split_last().expect("frames");
        assert_eq!(*done, "data: [DONE]", "{name}");
        for (at, frame) in frames.iter().enumerate() {
            let (event, data) = frame.split_once("\ndata: ").expect("two lines");
            let data: Value = serde_json::from_str(data).expect("JSON in one line");
            assert_eq!(event, format!("event: {}", data["type"].as_str().expect("a type")), "{name}");
            assert_eq!(data["sequence_number"], at, "{name}");
        }
    });
}

#[test]
fn streams_follow_the_order_of_the_specification() {
    each_answer(true, |name, reply| {
        let events = events(reply);
        let kind = |at: usize| events[at]["type"].as_str().unwrap_or_default();
        assert_eq!((kind(0), kind(1)), ("response.created", "response.in_progress"), "{name}");
        let terminal = |kind: &str| ["response.completed", "response.incomplete", "response.failed"].contains(&kind);
        let terminals = (0..events.len()).filter(|at| terminal(kind(*at))).count();
        assert!(terminals == 1 && terminal(kind(events.len() - 1)), "{name}");
        texts_agree(name, &events);
    });
}

/// The deltas add up to the done text, which is also the text in the final response.
fn texts_agree(name: &str, events: &[Value]) {
    let mut open: BTreeMap<String, String> = BTreeMap::new();
    let mut announced = Vec::new();
    let mut done = Vec::new();
    for event in events {
        let kind = event["type"].as_str().expect("a type");
        let at = format!("{} {} {}", event["item_id"], event["content_index"], event["summary_index"]);
        match kind.rsplit('.').next() {
            Some("added") if kind == "response.output_item.added" => announced.push(event["item"]["id"].clone()),
            Some("delta") => {
                assert!(announced.contains(&event["item_id"]), "{name}: {kind} before its item");
                open.entry(at).or_default().push_str(event["delta"].as_str().expect("a delta"));
            }
            Some("done") if kind == "response.output_item.done" => done.push(event["item"].clone()),
            Some("done") if !kind.contains("part") => {
                let whole = ["text", "refusal", "arguments"].iter().find_map(|key| event[key].as_str());
                assert_eq!(whole, Some(open.remove(&at).unwrap_or_default().as_str()), "{name}");
            }
            _ => {}
        }
    }
    let response = &events.last().expect("events")["response"];
    if response["status"] != "failed" {
        assert_eq!(response["output"], Value::Array(done), "{name}");
        assert!(open.is_empty(), "{name}");
    }
}

#[test]
fn usage_counts_the_output() {
    each_answer(true, |name, reply| {
        let events = events(reply);
        let usage = &events.last().expect("events")["response"]["usage"];
        let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).expect("a number");
        let deltas = events.iter().filter(|event| event["delta"].is_string()).count() as u64;
        let (input, output) = (number("/input_tokens"), number("/output_tokens"));
        assert_eq!(number("/total_tokens"), input + output, "{name}");
        assert!(input > 0 && output >= deltas, "{name}");
        assert!(number("/output_tokens_details/reasoning_tokens") <= output, "{name}");
        assert!(number("/input_tokens_details/cached_tokens") <= input, "{name}");
        if name.contains("max_output_tokens") && !name.starts_with("sluice/image ") {
            assert!(output <= 16, "{name}");
        }
    });
}

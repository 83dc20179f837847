//! `cargo xtask demo`: an answer such as a gateway streams it, played through the core at reading speed.

use std::io::{IsTerminal, Write};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Done;
use crate::shell::{cargo, command, root, run};

pub fn play() -> Done {
    println!("Building the command line …");
    run(cargo().args(["build", "--quiet", "--locked", "--package", "sluice"]))?;
    println!("An agent's turn as an Open Responses server streams it, decoded by `sluice decode -v -`:\n");
    let sluice = root().join("target/debug").join(format!("sluice{}", std::env::consts::EXE_SUFFIX));
    let mut player = command(&sluice.to_string_lossy())
        .args(["decode", "-v", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run {}: {error}", sluice.display()))?;
    let paced = std::io::stdout().is_terminal();
    if let Some(mut stream) = player.stdin.take() {
        for (number, event) in answer().iter().enumerate() {
            let frame = frame(event, number);
            // Whoever stopped the player has seen enough.
            if stream.write_all(frame.as_bytes()).is_err() {
                break;
            }
            if paced {
                thread::sleep(Duration::from_millis(if event["delta"].is_string() { 45 } else { 150 }));
            }
        }
    }
    let status = player.wait().map_err(|error| format!("the player did not end: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the player failed ({status})")) }
}

fn frame(event: &Value, number: usize) -> String {
    let mut event = event.clone();
    event["sequence_number"] = json!(number);
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

/// Thinking, text with a source, and two tool calls whose arguments arrive interleaved.
fn answer() -> Vec<Value> {
    let response = |status: &str, usage: Value| {
        json!({"id": "resp_demo", "object": "response", "status": status, "model": "demo/gatekeeper-1", "output": [],
            "usage": usage, "provider_metadata": {"gateway": {"generationId": "gen_demo", "cost": "0.000421",
            "routing": {"finalProvider": "demo"}}}})
    };
    let mut events = vec![json!({"type": "response.created", "response": response("in_progress", Value::Null)})];

    let thinking = json!({"type": "reasoning", "id": "rs_demo", "summary": []});
    events.push(json!({"type": "response.output_item.added", "output_index": 0, "item": thinking}));
    for word in words("The two failing tests both read the clock. I should look at them before I change anything.") {
        events.push(json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "item_id": "rs_demo",
            "summary_index": 0, "delta": word}));
    }
    events.push(json!({"type": "response.output_item.done", "output_index": 0, "item": thinking}));

    let text = "Both failures come from the *same* place: a test that waits with `sleep`. I will read the two files \
        first – nothing is changed yet. 🛠️\n";
    let source = json!({"type": "url_citation", "url": "https://example.org/flaky-tests", "title": "On flaky tests"});
    let mut message = json!({"type": "message", "id": "msg_demo", "status": "in_progress", "role": "assistant",
        "content": []});
    events.push(json!({"type": "response.output_item.added", "output_index": 1, "item": message}));
    for word in words(text) {
        events.push(json!({"type": "response.output_text.delta", "output_index": 1, "item_id": "msg_demo",
            "content_index": 0, "delta": word}));
    }
    message["status"] = json!("completed");
    message["content"] = json!([{"type": "output_text", "text": text, "annotations": [source]}]);
    events.push(json!({"type": "response.output_item.done", "output_index": 1, "item": message}));

    events.push(json!({"type": "response.web_search_call.completed", "output_index": 9, "item_id": "ws_demo"}));

    let calls = [("call_demo_a", r#"{"path": "tests/clock.rs"}"#), ("call_demo_b", r#"{"path": "tests/retry.rs"}"#)];
    let item = |call_id: &str, arguments: &str, status: &str| {
        json!({"type": "function_call", "id": format!("fc_{call_id}"), "call_id": call_id, "name": "read_file",
            "arguments": arguments, "status": status})
    };
    for ((call_id, _), index) in calls.iter().zip(2..) {
        let item = item(call_id, "", "in_progress");
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
    }
    for piece in 0..4 {
        for ((call_id, arguments), index) in calls.iter().zip(2..) {
            let quarter = arguments.len().div_ceil(4);
            let delta: String = arguments.chars().skip(piece * quarter).take(quarter).collect();
            events.push(json!({"type": "response.function_call_arguments.delta", "output_index": index,
                "item_id": format!("fc_{call_id}"), "delta": delta}));
        }
    }
    for ((call_id, arguments), index) in calls.iter().zip(2..) {
        let item = item(call_id, arguments, "completed");
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }

    let usage = json!({"input_tokens": 1842, "output_tokens": 131, "total_tokens": 1973,
        "input_tokens_details": {"cached_tokens": 1536}, "output_tokens_details": {"reasoning_tokens": 24}});
    events.push(json!({"type": "response.completed", "response": response("completed", usage)}));
    events
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

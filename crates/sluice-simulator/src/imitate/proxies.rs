//! The streams of small proxies that translate chat completions: each event is made from what has arrived so far, so the
//! order and the indexes of items often differ from what the last event says.

use serde_json::{Value, json};

use super::stream::{Answer, Item, Message, begin_with_zeros, finished_at_the_end, numbered, remove, set};
use crate::perform::Event;

/// It begins with a message, whether or not the model says something, streams its text, and sends calls in one piece.
/// Thinking is only in the last event, where it shifts the indexes of all other items by one. No event names its item.
pub fn codex_proxy(mut answer: Answer) -> Vec<Event> {
    if let Some(code) = answer.error() {
        // The proxy notices an error before it begins to stream, and passes on nothing but the status.
        let status = match code {
            "rate_limit_exceeded" => 429,
            "context_length_exceeded" => 400,
            "insufficient_quota" => 402,
            _ => 500,
        };
        let error = json!({ "message": "upstream error", "status": status });
        return vec![Event { is_untyped: true, ..Event::new("error", vec![("error", error)]) }];
    }
    begin_with_zeros(&mut answer);
    answer.count_only(&["input_tokens", "output_tokens", "total_tokens"]);
    let message = Message::new(&answer.opening);
    let mut events = std::mem::take(&mut answer.opening);
    events.extend(message.opening(0));
    let mut texts = String::new();
    for item in answer.items.iter().filter(|item| item.is("message")) {
        texts.push_str(&item.text());
        events.extend(item.opening.iter().filter(|event| event.is_delta()).map(|delta| message.delta(0, delta)));
    }
    events.extend(message.closing(0, &texts));
    let thought: String = answer.items.iter().filter(|item| item.is("reasoning")).map(Item::text).collect();
    let mut output = Vec::new();
    if !thought.is_empty() {
        output.push(
            json!({ "type": "reasoning", "id": "rs_0", "summary": [{ "type": "summary_text", "text": thought }] }),
        );
    }
    output.push(message.whole(&texts));
    for mut call in answer.whole_items(&["function_call"]) {
        call["id"] = call["call_id"].clone();
        let index = json!(output.len());
        output.push(call.clone());
        call.as_object_mut().map(|call| call.remove("status"));
        for kind in ["response.output_item.added", "response.output_item.done"] {
            events.push(Event::new(kind, vec![("output_index", index.clone()), ("item", call.clone())]));
        }
    }
    answer.list(output);
    events.extend(answer.ending);
    for event in &mut events {
        remove(event, &["sequence_number", "item_id"]);
    }
    events
}

/// Every message and every thought is announced with the index 0, wherever it is. An item is finished only if text
/// follows thinking or thinking follows something else, or if it is the last one; the others stay in progress.
pub fn hugging_face(mut answer: Answer) -> Vec<Event> {
    begin_with_zeros(&mut answer);
    for response in answer.responses().filter_map(Value::as_object_mut) {
        response.remove("incomplete_details");
        if let Some(usage) = response.get_mut("usage").filter(|usage| usage["input_tokens_details"].is_object()) {
            usage["input_tokens_details"] = json!({ "cached_tokens": 0 });
            usage["output_tokens_details"] = json!({ "reasoning_tokens": 0 });
        }
    }
    let mut events = std::mem::take(&mut answer.opening);
    let mut output: Vec<Value> = Vec::new();
    let mut unfinished: Option<Item> = None;
    let finish = |item: Option<Item>, events: &mut Vec<Event>, output: &mut [Value]| {
        let Some(item) = item else { return };
        if let (Some(listed), Some(whole)) = (output.last_mut(), item.whole()) {
            *listed = whole.clone();
            listed["status"] = "completed".into();
        }
        events.extend(item.closing);
    };
    let mut is_thinking = false;
    for mut item in std::mem::take(&mut answer.items) {
        let (is_thought, is_message) = (item.is("reasoning"), item.is("message"));
        for event in item.opening.iter_mut().filter(|event| event.kind == "response.output_item.added") {
            if is_thought || is_message {
                set(event, "output_index", 0.into());
            }
            if let Some(call) = event.get_mut("item").filter(|item| item["type"] == "function_call") {
                call.as_object_mut().map(|call| call.remove("status"));
            }
        }
        if is_thought {
            item.add_status();
        }
        let previous = unfinished.take();
        if (is_thought && !is_thinking) || (is_message && is_thinking) {
            finish(previous, &mut events, &mut output);
        }
        if is_thought || is_message {
            is_thinking = is_thought;
        }
        // The rest of an item that the upstream didn't finish is of no interest.
        let mut listed = item.whole().or(item.opening.first().and_then(|added| added.get("item"))).cloned();
        match listed.as_mut().and_then(Value::as_object_mut) {
            Some(call) if call["type"] == "function_call" => drop(call.remove("status")),
            Some(other) => drop(other.insert("status".into(), "in_progress".into())),
            None => {}
        }
        output.extend(listed);
        events.append(&mut item.opening);
        unfinished = Some(item);
    }
    finish(unfinished, &mut events, &mut output);
    answer.list(output);
    events.extend(answer.ending);
    numbered(events)
}

/// All items are finished at the end: thoughts, calls, then the message. The last event lists them in this order. Calls have
/// no name before. There is always a message or a call; an answer without either gets an empty message as its first item.
/// If the upstream fails, no reason is given.
pub fn responses_proxy(mut answer: Answer) -> Vec<Event> {
    const ORDER: [&str; 3] = ["reasoning", "function_call", "message"];
    answer.merge_messages();
    for item in &mut answer.items {
        if item.is("reasoning") {
            item.add_status();
        }
        let name = item.whole().map(|item| item["name"].clone()).filter(Value::is_string);
        for event in item.events() {
            match event.kind.as_str() {
                "response.function_call_arguments.done" => set(event, "name", name.clone().unwrap_or_default()),
                "response.output_item.added" => {
                    if let Some(call) = event.get_mut("item").filter(|item| item["type"] == "function_call") {
                        call["name"] = "".into();
                    }
                }
                _ => {}
            }
        }
        if let Some(delta) = item.opening.get(1).filter(|event| event.kind.contains("arguments")) {
            let mut empty = delta.clone();
            set(&mut empty, "delta", "".into());
            item.opening.insert(1, empty);
        }
    }
    if !answer.items.iter().any(|item| item.is("function_call") || item.is("message")) {
        let message = Message::new(&answer.opening);
        let closing = message.opening(0).into_iter().chain(message.closing(0, "")).collect();
        answer.items.push(Item { opening: Vec::new(), closing });
    }
    for response in answer.responses() {
        let usage = response["usage"].take();
        if usage.is_object() {
            response["usage"] = json!({
                "prompt_tokens": usage["input_tokens"],
                "completion_tokens": usage["output_tokens"],
                "total_tokens": usage["total_tokens"],
                "prompt_tokens_details": usage["input_tokens_details"],
                "completion_tokens_details": usage["output_tokens_details"],
            });
        } else {
            response.as_object_mut().map(|response| response.remove("usage"));
        }
    }
    let failed = answer.error().is_some();
    let output = if failed { Vec::new() } else { answer.whole_items(&ORDER) };
    answer.list(output);
    for response in answer.ending.iter_mut().filter_map(|event| event.get_mut("response")?.as_object_mut()) {
        response.remove("created_at");
        response.remove("error");
    }
    let mut events = numbered(finished_at_the_end(answer, &ORDER));
    if failed && let Some(last) = events.last_mut() {
        remove(last, &["sequence_number"]);
    }
    events
}

/// What the validator of `responses.js` says about items that it doesn't know: why each isn't of any kind that it knows.
pub fn union_errors(items: &[Value]) -> Value {
    const KINDS: [&str; 6] =
        ["message", "function_call", "function_call_output", "mcp_list_tools", "mcp_approval_request", "mcp_call"];
    let because = |issues: Vec<Value>| json!({ "issues": issues, "name": "ZodError" });
    let issue = |item: &Value| {
        let of_kind = |kind: &str| {
            let message = format!("Invalid literal value, expected \"{kind}\"");
            let required = |name: &str| {
                json!({ "code": "invalid_type", "expected": "string", "received": "undefined",
                    "path": ["input", item, name], "message": "Required" })
            };
            let literal = json!({ "code": "invalid_literal", "expected": kind, "received": "other",
                "path": ["input", item, "type"], "message": message });
            because(vec![literal, required("id"), required("content"), required("server_label")])
        };
        let union: Vec<Value> = KINDS.iter().map(|kind| of_kind(kind)).collect();
        json!({ "code": "invalid_union", "unionErrors": union, "path": ["input", item], "message": "Invalid input" })
    };
    let text = json!({ "code": "invalid_type", "expected": "string", "received": "array", "path": ["input"],
        "message": "Expected string, received array" });
    json!([because(vec![text]), because(items.iter().map(issue).collect())])
}

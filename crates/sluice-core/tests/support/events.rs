//! Constructors for invented events, items and responses, as JSON values.

use serde_json::{Value, json};

/// The id in every event about the item at this index.
pub fn item_id(index: u64) -> String {
    format!("item_{index}")
}

/// An event about the item at an index. `more` contains its other fields.
fn about(kind: &str, index: u64, more: &Value) -> Value {
    let mut event = json!({"type": kind, "output_index": index, "item_id": item_id(index)});
    merge(&mut event, more);
    event
}

/// Adds or replaces top-level fields.
pub fn merge(event: &mut Value, more: &Value) {
    if let (Some(fields), Some(more)) = (event.as_object_mut(), more.as_object()) {
        fields.extend(more.clone());
    }
}

/// The event with some fields replaced.
pub fn with(mut event: Value, more: &Value) -> Value {
    merge(&mut event, more);
    event
}

/// The event without some top-level fields.
pub fn without(mut event: Value, names: &[&str]) -> Value {
    if let Some(fields) = event.as_object_mut() {
        fields.retain(|name, _| !names.contains(&name.as_str()));
    }
    event
}

// Events about the whole response.

/// A response object, without the request's settings that servers repeat in it.
pub fn response(status: &str, output: &[Value]) -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1_700_000_000, "status": status, "model": "inc/model-1",
        "output": output, "error": null, "incomplete_details": null, "usage": null
    })
}

pub fn usage() -> Value {
    json!({
        "input_tokens": 11, "output_tokens": 7, "total_tokens": 18,
        "input_tokens_details": {"cached_tokens": 3}, "output_tokens_details": {"reasoning_tokens": 2}
    })
}

pub fn created() -> Value {
    json!({"type": "response.created", "response": response("in_progress", &[])})
}

pub fn queued() -> Value {
    json!({"type": "response.queued", "response": response("queued", &[])})
}

pub fn in_progress() -> Value {
    json!({"type": "response.in_progress", "response": response("in_progress", &[])})
}

/// The answer is complete; its final output repeats everything.
pub fn completed(output: &[Value]) -> Value {
    json!({"type": "response.completed", "response": with(response("completed", output), &json!({"usage": usage()}))})
}

pub fn incomplete(reason: &str, output: &[Value]) -> Value {
    let more = json!({"incomplete_details": {"reason": reason}, "usage": usage()});
    json!({"type": "response.incomplete", "response": with(response("incomplete", output), &more)})
}

pub fn failed(code: &str, message: &str) -> Value {
    let more = json!({"error": {"code": code, "message": message}});
    json!({"type": "response.failed", "response": with(response("failed", &[]), &more)})
}

/// An error, nested as in the schema.
pub fn error(code: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": "server_error", "code": code, "message": message, "param": null}})
}

// Items.

pub fn added(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

pub fn done(index: u64, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

pub fn output_text(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

pub fn refusal_part(refusal: &str) -> Value {
    json!({"type": "refusal", "refusal": refusal})
}

pub fn reasoning_text(text: &str) -> Value {
    json!({"type": "reasoning_text", "text": text})
}

pub fn summary_text(text: &str) -> Value {
    json!({"type": "summary_text", "text": text})
}

/// A finished message with these content parts.
pub fn message_of(index: u64, content: &[Value]) -> Value {
    json!({"type": "message", "id": item_id(index), "status": "completed", "role": "assistant", "content": content})
}

/// A finished message with one text.
pub fn message(index: u64, text: &str) -> Value {
    message_of(index, &[output_text(text)])
}

pub fn call_item(index: u64, call_id: &str, name: &str, arguments: &str, status: &str) -> Value {
    json!({
        "type": "function_call", "id": item_id(index), "call_id": call_id, "name": name, "arguments": arguments,
        "status": status
    })
}

/// A finished call.
pub fn call(index: u64, call_id: &str, name: &str, arguments: &str) -> Value {
    call_item(index, call_id, name, arguments, "completed")
}

pub fn reasoning_item(index: u64, summary: &[&str], content: &[&str]) -> Value {
    let summary: Vec<Value> = summary.iter().map(|text| summary_text(text)).collect();
    let content: Vec<Value> = content.iter().map(|text| reasoning_text(text)).collect();
    json!({"type": "reasoning", "id": item_id(index), "summary": summary, "content": content})
}

// Text.

pub fn message_added(index: u64) -> Value {
    added(index, &with(message_of(index, &[]), &json!({"status": "in_progress"})))
}

pub fn message_done(index: u64, text: &str) -> Value {
    done(index, &message(index, text))
}

pub fn part_added(index: u64, part: &Value) -> Value {
    about("response.content_part.added", index, &json!({"content_index": 0, "part": part}))
}

pub fn part_done(index: u64, part: &Value) -> Value {
    about("response.content_part.done", index, &json!({"content_index": 0, "part": part}))
}

pub fn text_delta(index: u64, delta: &str) -> Value {
    about("response.output_text.delta", index, &json!({"content_index": 0, "delta": delta, "logprobs": []}))
}

pub fn text_done(index: u64, text: &str) -> Value {
    about("response.output_text.done", index, &json!({"content_index": 0, "text": text, "logprobs": []}))
}

pub fn citation(url: &str, title: &str) -> Value {
    json!({"type": "url_citation", "url": url, "title": title, "start_index": 0, "end_index": 4})
}

pub fn annotation_added(index: u64, annotation: &Value) -> Value {
    let more = json!({"content_index": 0, "annotation_index": 0, "annotation": annotation});
    about("response.output_text.annotation.added", index, &more)
}

pub fn refusal_delta(index: u64, delta: &str) -> Value {
    about("response.refusal.delta", index, &json!({"content_index": 0, "delta": delta}))
}

pub fn refusal_done(index: u64, refusal: &str) -> Value {
    about("response.refusal.done", index, &json!({"content_index": 0, "refusal": refusal}))
}

/// A message from `added` to `done`, with one delta for each of these pieces.
pub fn text_events(index: u64, pieces: &[&str]) -> Vec<Value> {
    let text = pieces.concat();
    let mut events = vec![message_added(index), part_added(index, &output_text(""))];
    events.extend(pieces.iter().map(|piece| text_delta(index, piece)));
    events.extend([text_done(index, &text), part_done(index, &output_text(&text)), message_done(index, &text)]);
    events
}

// Calls.

pub fn call_added(index: u64, call_id: &str, name: &str) -> Value {
    added(index, &call_item(index, call_id, name, "", "in_progress"))
}

pub fn args_delta(index: u64, delta: &str) -> Value {
    about("response.function_call_arguments.delta", index, &json!({"delta": delta}))
}

pub fn args_done(index: u64, arguments: &str) -> Value {
    about("response.function_call_arguments.done", index, &json!({"arguments": arguments}))
}

pub fn call_done(index: u64, call_id: &str, name: &str, arguments: &str, status: &str) -> Value {
    done(index, &call_item(index, call_id, name, arguments, status))
}

/// A call from `added` to `done`, with one delta for each of these pieces of its arguments.
pub fn call_events(index: u64, call_id: &str, name: &str, pieces: &[&str]) -> Vec<Value> {
    let arguments = pieces.concat();
    let mut events = vec![call_added(index, call_id, name)];
    events.extend(pieces.iter().map(|piece| args_delta(index, piece)));
    events.extend([args_done(index, &arguments), call_done(index, call_id, name, &arguments, "completed")]);
    events
}

// Thinking.

pub fn reasoning_added(index: u64) -> Value {
    added(index, &reasoning_item(index, &[], &[]))
}

/// A delta of reasoning under one of the four spellings, such as `reasoning_text`.
pub fn thinking_delta(spelling: &str, index: u64, place: u64, delta: &str) -> Value {
    let kind = format!("response.{spelling}.delta");
    about(&kind, index, &json!({place_name(spelling): place, "delta": delta}))
}

pub fn thinking_done(spelling: &str, index: u64, place: u64, text: &str) -> Value {
    let kind = format!("response.{spelling}.done");
    about(&kind, index, &json!({place_name(spelling): place, "text": text}))
}

pub fn summary_part_added(index: u64, place: u64) -> Value {
    let more = json!({"summary_index": place, "part": summary_text("")});
    about("response.reasoning_summary_part.added", index, &more)
}

pub fn summary_part_done(index: u64, place: u64, text: &str) -> Value {
    let more = json!({"summary_index": place, "part": summary_text(text)});
    about("response.reasoning_summary_part.done", index, &more)
}

fn place_name(spelling: &str) -> &'static str {
    if spelling.contains("summary") { "summary_index" } else { "content_index" }
}

// Images.

/// A finished image whose bytes begin like a PNG.
pub fn image(index: u64) -> Value {
    let result = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    json!({
        "type": "image_generation_call", "id": item_id(index), "status": "completed", "result": result,
        "output_format": "png"
    })
}

//! The streams of engines, which run a model themselves.

use serde_json::{Value, json};

use super::stream::{Answer, Message, finished_at_the_end, numbered, remove, set};
use crate::perform::Event;

/// All items are finished at the end, thoughts first, and no event has an index.
pub fn llama_cpp(mut answer: Answer) -> Vec<Event> {
    for response in answer.opening.iter_mut().filter_map(|event| event.get_mut("response")?.as_object_mut()) {
        response.retain(|name, _| ["id", "object", "status"].contains(&name.as_str()));
    }
    answer.count_only(&["input_tokens", "output_tokens", "total_tokens", "input_tokens_details"]);
    answer.merge_messages();
    for item in answer.items.iter_mut().filter(|item| item.is("reasoning")) {
        item.remove_events(&["response.content_part.added", "response.content_part.done", "response.reasoning.done"]);
        item.add_status();
        item.change(|item| {
            item["encrypted_content"] = "".into();
            if item["status"] == "completed" {
                item.as_object_mut().map(|item| item.remove("status"));
            }
        });
    }
    for item in &mut answer.items {
        item.remove_events(&["response.function_call_arguments.done"]);
    }
    let output = answer.whole_items(&["reasoning", "message", "function_call"]);
    if answer.error().is_none() {
        answer.list(output);
    }
    if let Some(last) = answer.ending.last_mut() {
        last.fields.push(("timings", json!({ "cache_n": 0, "prompt_n": 1, "predicted_n": 1 })));
    }
    let mut events = finished_at_the_end(answer, &["reasoning", "message", "function_call"]);
    for event in &mut events {
        remove(event, &["sequence_number", "output_index", "content_index"]);
    }
    events
}

/// The message and the first call have the same index. If there are calls, the message isn't finished, and the last event
/// lists it after them. Thinking is a summary, and also pretends to be sealed.
pub fn ollama(mut answer: Answer) -> Vec<Event> {
    let has_calls = answer.items.iter().any(|item| item.is("function_call"));
    // What the model says after its calls is lost.
    let first_call = answer.items.iter().position(|item| item.is("function_call")).unwrap_or(answer.items.len());
    let mut at = 0;
    answer.items.retain(|item| {
        at += 1;
        at <= first_call || !item.is("message")
    });
    let mut index = 0;
    let message = answer.whole_items(&["message"]);
    for item in &mut answer.items {
        item.remove_events(&["response.reasoning_summary_part.added", "response.reasoning_summary_part.done"]);
        item.events().for_each(|event| set(event, "output_index", json!(index)));
        if item.is("message") && has_calls {
            item.closing.clear();
        } else {
            index += 1;
        }
        if item.is("reasoning") && item.whole().is_some_and(|item| item["summary"][0].is_object()) {
            let text = item.text();
            for event in &mut item.closing {
                if let Some(item) = event.get_mut("item") {
                    item["encrypted_content"] = text.as_str().into();
                }
            }
        }
        if item.is("function_call") {
            let arguments = item.text();
            let mut deltas = 0;
            item.opening.retain(|event| {
                deltas += usize::from(event.is_delta());
                !event.is_delta() || deltas == 1
            });
            for event in item.opening.iter_mut().filter(|event| event.is_delta()) {
                set(event, "delta", arguments.as_str().into());
            }
        }
    }
    if answer.error().is_none() {
        answer.list([answer.whole_items(&["reasoning", "function_call"]), message].concat());
    }
    numbered(answer.in_order())
}

/// Calls arrive whole, and one index is left out before the first one. A message that ended before a call begins again at the
/// end, with the same id and the index of the last call, and repeats its text; if the model said nothing, it is empty.
pub fn transformers(mut answer: Answer) -> Vec<Event> {
    if let Some(response) = answer.responses().next() {
        response["status"] = "queued".into();
    }
    let mut events = std::mem::take(&mut answer.opening);
    let has_failed = answer.error().is_some();
    let (mut index, mut text, mut is_open) = (0, String::new(), false);
    let message = Message::new(&events);
    let mut calls = Vec::new();
    for mut item in std::mem::take(&mut answer.items) {
        if item.is("message") {
            if !is_open {
                events.extend(message.opening(index));
            }
            is_open = true;
            text.push_str(&item.text());
            let deltas = item.opening.iter().filter(|event| event.is_delta());
            events.extend(deltas.map(|delta| message.delta(index, delta)));
        } else if item.is("reasoning") {
            item.remove_events(&["response.content_part.added", "response.content_part.done"]);
            item.add_status();
            item.events().for_each(|event| set(event, "output_index", index.into()));
            events.append(&mut item.opening);
            events.extend(item.closing);
            index += 1;
        } else if let Some(mut call) = item.whole().cloned() {
            if std::mem::take(&mut is_open) {
                events.extend(message.closing(index, &text));
            }
            index += 1;
            call["id"] = call["call_id"].clone();
            let whole = vec![("output_index", json!(index)), ("item", call.clone())];
            let fields = ["arguments", "name"].map(|name| (name, call[name].clone()));
            let place = vec![("output_index", json!(index)), ("item_id", call["id"].clone())];
            events.push(Event::new("response.output_item.added", whole.clone()));
            events.push(Event::new("response.function_call_arguments.done", [place, fields.to_vec()].concat()));
            events.push(Event::new("response.output_item.done", whole));
            calls.push(call);
        }
    }
    if has_failed {
        answer.list(Vec::new());
    } else {
        if !is_open {
            events.extend(message.opening(index));
        }
        events.extend(message.closing(index, &text));
        let thoughts = events.iter().filter(|event| event.kind == "response.output_item.done");
        let thoughts = thoughts.filter_map(|event| event.get("item")).filter(|item| item["type"] == "reasoning");
        answer.list(thoughts.cloned().chain([message.whole(&text)]).chain(calls).collect());
    }
    events.extend(answer.ending);
    numbered(events)
}

/// Fields that a model didn't fill are null, and the arguments of a call name their tool.
pub fn vllm(mut answer: Answer) -> Vec<Event> {
    for item in &mut answer.items {
        let name = item.whole().map(|item| item["name"].clone()).filter(Value::is_string);
        for event in item.events().filter(|event| event.kind == "response.function_call_arguments.done") {
            set(event, "name", name.clone().unwrap_or_default());
        }
        if item.is("reasoning") {
            item.add_status();
        }
        item.change(|item| match item["type"].as_str() {
            Some("reasoning") => {
                item["content"] = item["content"].take();
                item["encrypted_content"] = Value::Null;
            }
            Some("message") => item["phase"] = Value::Null,
            _ => item["namespace"] = Value::Null,
        });
    }
    answer.list_all();
    numbered(answer.in_order())
}

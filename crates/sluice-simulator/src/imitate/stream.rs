//! The streams of other servers: which events they send, in which order, and with which fields. Everything here was
//! recorded, or is in the source code of the server.

use serde_json::{Value, json};

use super::Imitated::{self, Aimock, Anthropic, CodexProxy, HuggingFace, LiteLlm, LlamaCpp, Ollama, ResponsesProxy};
use super::Imitated::{Smg, Transformers, Vllm};
use super::{engines, proxies};
use crate::perform::Event;

/// Returns the events that a server sends for the gateway's events.
pub fn reshape(server: Imitated, events: Vec<Event>) -> Vec<Event> {
    let mut answer = Answer::new(events);
    if matches!(server, Aimock | CodexProxy | LlamaCpp | ResponsesProxy) {
        answer.keep_fields(&["id", "object", "created_at", "model", "status", "output", "usage", "error"]);
    }
    if matches!(server, Anthropic | CodexProxy | HuggingFace | LiteLlm | ResponsesProxy) {
        // The last event says it.
        answer.ending.retain(|event| event.kind != "error");
    }
    match server {
        Aimock => {
            answer.count_nothing();
            answer.in_order()
        }
        CodexProxy => proxies::codex_proxy(answer),
        HuggingFace => proxies::hugging_face(answer),
        Anthropic | LiteLlm => lite_llm(answer),
        LlamaCpp => engines::llama_cpp(answer),
        Ollama => engines::ollama(answer),
        ResponsesProxy => proxies::responses_proxy(answer),
        Transformers => engines::transformers(answer),
        Smg | Vllm => engines::vllm(answer),
        _ => answer.in_order(),
    }
}

/// An item of an answer.
pub struct Item {
    /// Announces the item and streams it.
    pub opening: Vec<Event>,
    /// The events at its end that repeat it. Empty if the answer failed before.
    pub closing: Vec<Event>,
}

impl Item {
    pub fn is(&self, kind: &str) -> bool {
        let added = self.opening.first().or(self.closing.first());
        added.and_then(|added| added.get("item")).is_some_and(|item| item["type"] == kind)
    }

    /// Returns the whole item, or `None` if it isn't finished.
    pub fn whole(&self) -> Option<&Value> {
        self.closing.last()?.get("item")
    }

    pub fn events(&mut self) -> impl Iterator<Item = &mut Event> {
        self.opening.iter_mut().chain(&mut self.closing)
    }

    /// Changes the item in all its events.
    pub fn change(&mut self, change: impl Fn(&mut Value)) {
        self.events().filter_map(|event| event.get_mut("item")).for_each(change);
    }

    pub fn remove_events(&mut self, kinds: &[&str]) {
        for events in [&mut self.opening, &mut self.closing] {
            events.retain(|event| !kinds.contains(&event.kind.as_str()));
        }
    }

    /// Adds what the events of a thought say besides the thought itself.
    pub fn add_status(&mut self) {
        if let Some(item) = self.opening.first_mut().and_then(|event| event.get_mut("item")) {
            item["status"] = "in_progress".into();
            item["content"] = json!([]);
        }
        if let Some(item) = self.closing.last_mut().and_then(|event| event.get_mut("item")) {
            item["status"] = "completed".into();
        }
    }

    pub fn text(&self) -> String {
        self.opening.iter().filter(|event| event.is_delta()).filter_map(|event| event.get("delta")?.as_str()).collect()
    }
}

/// The events of an answer.
pub struct Answer {
    /// The events before the first item.
    pub opening: Vec<Event>,
    pub items: Vec<Item>,
    /// The events after the last item.
    pub ending: Vec<Event>,
}

impl Answer {
    fn new(events: Vec<Event>) -> Self {
        let mut answer = Self { opening: Vec::new(), items: Vec::new(), ending: Vec::new() };
        for event in events {
            if event.get("output_index").is_none() {
                let outside = if answer.items.is_empty() { &mut answer.opening } else { &mut answer.ending };
                outside.push(event);
                continue;
            }
            if event.kind == "response.output_item.added" {
                answer.items.push(Item { opening: Vec::new(), closing: Vec::new() });
            }
            if let Some(item) = answer.items.last_mut() {
                if event.is_done() {
                    item.closing.push(event);
                } else {
                    item.opening.append(&mut item.closing);
                    item.opening.push(event);
                }
            }
        }
        if answer.items.is_empty() {
            let begun = |event: &Event| ["response.created", "response.in_progress"].contains(&event.kind.as_str());
            answer.ending = answer.opening.split_off(answer.opening.iter().take_while(|event| begun(event)).count());
        }
        answer
    }

    /// Returns all events, each item after the other.
    pub fn in_order(self) -> Vec<Event> {
        let Self { mut opening, items, ending } = self;
        opening.extend(items.into_iter().flat_map(|item| item.opening.into_iter().chain(item.closing)));
        opening.extend(ending);
        opening
    }

    pub fn responses(&mut self) -> impl Iterator<Item = &mut Value> {
        self.opening.iter_mut().chain(&mut self.ending).filter_map(|event| event.get_mut("response"))
    }

    /// Removes most fields of the response.
    fn keep_fields(&mut self, fields: &[&str]) {
        for response in self.responses().filter_map(Value::as_object_mut) {
            response.retain(|name, value| fields.contains(&name.as_str()) && !(value.is_null() && name != "output"));
        }
    }

    /// Returns the code of the error with which this answer ends.
    pub fn error(&self) -> Option<&str> {
        self.ending.iter().find_map(|event| event.get("response")?["error"]["code"].as_str())
    }

    /// Lists these items in the last event.
    pub fn list(&mut self, items: Vec<Value>) {
        if let Some(response) = self.ending.iter_mut().filter_map(|event| event.get_mut("response")).next_back() {
            response["output"] = items.into();
        }
    }

    /// Lists all finished items in the last event.
    pub fn list_all(&mut self) {
        let whole = self.items.iter().filter_map(Item::whole).cloned().collect();
        if self.error().is_none() {
            self.list(whole);
        }
    }

    /// Returns the finished items of some kinds, in this order of kinds.
    pub fn whole_items(&self, kinds: &[&str]) -> Vec<Value> {
        let of_kind = |kind| self.items.iter().filter(move |item| item.is(kind)).filter_map(Item::whole).cloned();
        kinds.iter().copied().flat_map(of_kind).collect()
    }

    /// Counts zero tokens.
    fn count_nothing(&mut self) {
        for response in self.responses().filter(|response| response["usage"].is_object()) {
            response["usage"] = zeros();
        }
    }

    /// Leaves out some of the counts.
    pub fn count_only(&mut self, names: &[&str]) {
        for usage in self.responses().filter_map(|response| response["usage"].as_object_mut()) {
            usage.retain(|name, _| names.contains(&name.as_str()));
        }
    }

    /// Merges all messages into the first one. Such a server has one message, however often the model speaks.
    pub fn merge_messages(&mut self) {
        let texts: String = self.items.iter().filter(|item| item.is("message")).map(Item::text).collect();
        let Some(first) = self.items.iter().position(|item| item.is("message")) else { return };
        let is_whole = self.items.iter().filter(|item| item.is("message")).all(|item| item.whole().is_some());
        let id = self.items[first].opening[0].get("item").map_or(Value::Null, |item| item["id"].clone());
        for (at, item) in self.items.iter_mut().enumerate().filter(|(_, item)| item.is("message")) {
            if at > first {
                item.closing.clear();
                item.opening.retain(Event::is_delta);
                item.opening.iter_mut().for_each(|delta| set(delta, "item_id", id.clone()));
            } else if !is_whole {
                item.closing.clear();
            }
            for event in &mut item.closing {
                for field in ["text", "part", "item"] {
                    match event.get_mut(field) {
                        Some(Value::String(text)) => text.clone_from(&texts),
                        Some(value) if field == "part" => value["text"] = texts.as_str().into(),
                        Some(value) => value["content"][0]["text"] = texts.as_str().into(),
                        None => {}
                    }
                }
            }
        }
        let mut index = 0;
        for (at, item) in self.items.iter_mut().enumerate() {
            // The events of a message that was merged into the first one no longer announce an item.
            let is_merged = at > first && item.opening.first().is_none_or(Event::is_delta) && item.closing.is_empty();
            let place = if is_merged { first } else { index };
            item.events().for_each(|event| set(event, "output_index", place.into()));
            index += usize::from(!is_merged);
        }
    }
}

/// The message of a server that has one message in each answer.
pub struct Message {
    pub id: Value,
}

impl Message {
    pub fn new(opening: &[Event]) -> Self {
        let response = opening.iter().find_map(|event| event.get("response")?["id"].as_str()).unwrap_or_default();
        Self { id: format!("msg_{response}").into() }
    }

    pub fn whole(&self, text: &str) -> Value {
        self.item("completed", &json!([Self::part(text)]))
    }

    pub fn opening(&self, index: usize) -> [Event; 2] {
        let added = vec![("output_index", json!(index)), ("item", self.item("in_progress", &json!([])))];
        [
            Event::new("response.output_item.added", added),
            self.inside("content_part.added", index, "part", Self::part("")),
        ]
    }

    pub fn closing(&self, index: usize, text: &str) -> [Event; 3] {
        let done = vec![("output_index", json!(index)), ("item", self.whole(text))];
        [
            self.inside("output_text.done", index, "text", text.into()),
            self.inside("content_part.done", index, "part", Self::part(text)),
            Event::new("response.output_item.done", done),
        ]
    }

    pub fn delta(&self, index: usize, delta: &Event) -> Event {
        let text = delta.get("delta").cloned().unwrap_or_default();
        Event { delay_ms: delta.delay_ms, ..self.inside("output_text.delta", index, "delta", text) }
    }

    fn inside(&self, kind: &str, index: usize, name: &'static str, value: Value) -> Event {
        let place = [("item_id", self.id.clone()), ("output_index", index.into()), ("content_index", 0.into())];
        Event::new(&format!("response.{kind}"), [place.to_vec(), vec![(name, value)]].concat())
    }

    fn part(text: &str) -> Value {
        json!({ "type": "output_text", "text": text, "annotations": [] })
    }

    fn item(&self, status: &str, content: &Value) -> Value {
        json!({ "type": "message", "id": self.id, "status": status, "role": "assistant", "content": content })
    }
}

pub fn set(event: &mut Event, name: &'static str, value: Value) {
    match event.get_mut(name) {
        Some(old) => *old = value,
        None => event.fields.push((name, value)),
    }
}

pub fn remove(event: &mut Event, names: &[&str]) {
    event.fields.retain(|(name, _)| !names.contains(name));
}

fn zeros() -> Value {
    json!({ "input_tokens": 0, "output_tokens": 0, "total_tokens": 0 })
}

/// Numbers the events again.
pub fn numbered(mut events: Vec<Event>) -> Vec<Event> {
    for (at, event) in events.iter_mut().enumerate() {
        remove(event, &["sequence_number"]);
        event.fields.push(("sequence_number", at.into()));
    }
    events
}

/// The first events have counts, although nothing was counted yet.
pub fn begin_with_zeros(answer: &mut Answer) {
    for response in answer.opening.iter_mut().filter_map(|event| event.get_mut("response")) {
        response["usage"] = zeros();
    }
}

/// Thinking has the events of a summary. A thought is finished when something else begins, all other items at the end, calls
/// first. Whatever the upstream sealed is only in the last event, where thoughts look like messages.
fn lite_llm(mut answer: Answer) -> Vec<Event> {
    answer.merge_messages();
    for item in &mut answer.items {
        item.remove_events(&["response.reasoning_summary_part.added"]);
        let call_id = item.whole().map(|item| item["call_id"].clone()).filter(Value::is_string);
        let id = call_id.map(|id| json!(format!("fc_{}", id.as_str().unwrap_or_default())));
        for event in item.events() {
            if event.kind == "response.reasoning_summary_text.delta" {
                remove(event, &["summary_index"]);
            }
            if let (Some(id), Some(old)) = (&id, event.get_mut("item_id")) {
                old.clone_from(id);
            }
        }
        item.change(|item| {
            if let Some(id) = &id {
                item["id"].clone_from(id);
            }
        });
    }
    let mut output = answer.whole_items(&["reasoning", "message", "function_call"]);
    for thought in output.iter_mut().filter(|item| item["summary"][0].is_object()) {
        let texts = thought["summary"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        let content = json!([{ "type": "output_text", "text": texts.collect::<String>(), "annotations": [] }]);
        let sealed = thought["encrypted_content"].take();
        *thought = json!({ "type": "reasoning", "id": thought["id"], "status": "completed", "role": "assistant", "content": content });
        if sealed.is_string() {
            thought["encrypted_content"] = sealed;
        }
    }
    for item in answer.items.iter_mut().filter(|item| item.is("reasoning")) {
        if item.whole().is_some_and(|item| item["summary"][0].is_object()) {
            item.change(|item| {
                let is_whole = item["summary"][0].is_object();
                let (name, value) =
                    if is_whole { ("summary", item["summary"].take()) } else { ("status", "in_progress".into()) };
                *item = json!({ "id": item["id"], "type": "reasoning", name: value });
            });
        }
        item.opening.append(&mut item.closing);
    }
    answer.list(if answer.error().is_some() { Vec::new() } else { output });
    let model = answer.responses().next().map_or(Value::Null, |response| response["model"].clone());
    let mut events = finished_at_the_end(answer, &["function_call", "message"]);
    for (at, event) in events.iter_mut().enumerate() {
        remove(event, &["sequence_number"]);
        let is_numbered =
            event.kind == "response.output_item.done" || event.kind.contains("reasoning_summary_text.done");
        if is_numbered {
            event.fields.push(("sequence_number", at.into()));
        }
        if event.kind != "response.failed" {
            event.fields.push(("model", model.clone()));
        }
    }
    events
}

/// Returns all events: first those that stream the items, then those that finish them, by kind of item. An answer that fails
/// finishes nothing.
pub fn finished_at_the_end(mut answer: Answer, kinds: &[&str]) -> Vec<Event> {
    let mut events = std::mem::take(&mut answer.opening);
    let mut closing: Vec<Vec<Event>> = vec![Vec::new(); kinds.len()];
    let has_failed = answer.error().is_some();
    for item in answer.items {
        if let Some(at) = kinds.iter().position(|kind| item.is(kind)).filter(|_| !has_failed) {
            closing[at].extend(item.closing);
        }
        events.extend(item.opening);
    }
    events.extend(closing.into_iter().flatten());
    events.extend(answer.ending);
    events
}

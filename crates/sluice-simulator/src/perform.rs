//! Turns a script into the events of a stream: in the order of the specification, with one delta for each token, cut
//! off where the budget ends.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::providers::Provider;
use crate::resource::{Resource, Usage};
use crate::script::{Citation, Content, Ending, Item, Script};
use crate::seal;
use crate::seed::Seed;
use crate::tokens;

/// The number of tokens of hidden reasoning.
const SECRET_THOUGHT: usize = 24;

/// An event of the stream. The fields are in the order in which they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub delay_ms: u64,
    pub kind: String,
    /// Whether the type is only in the event line.
    pub is_untyped: bool,
    pub fields: Vec<(&'static str, Value)>,
}

impl Event {
    pub fn new(kind: &str, fields: Vec<(&'static str, Value)>) -> Self {
        Self { delay_ms: 0, kind: kind.to_owned(), is_untyped: false, fields }
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.fields.iter_mut().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    pub fn is_terminal(&self) -> bool {
        matches!(self.kind.as_str(), "response.completed" | "response.incomplete" | "response.failed")
    }

    fn last_word(&self) -> &str {
        self.kind.rsplit('.').next().unwrap_or_default()
    }

    pub fn is_delta(&self) -> bool {
        self.last_word() == "delta"
    }

    pub fn is_done(&self) -> bool {
        self.last_word() == "done"
    }

    pub fn is_added(&self) -> bool {
        self.last_word() == "added"
    }

    /// Returns the event's JSON text, with its type first.
    pub fn json(&self) -> String {
        let mut text = String::with_capacity(160);
        text.push('{');
        if !self.kind.is_empty() && !self.is_untyped {
            let _ = write!(text, "\"type\":\"{}\"", self.kind);
        }
        for (name, value) in &self.fields {
            let comma = if text.len() > 1 { "," } else { "" };
            let _ = write!(text, "{comma}\"{name}\":{value}");
        }
        text.push('}');
        text
    }

    /// Returns the event in the standard framing.
    pub fn frame(&self) -> Vec<u8> {
        format!("event: {}\ndata: {}\n\n", self.kind, self.json()).into_bytes()
    }
}

/// An element of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamElement {
    Event(Event),
    Deltas(Deltas),
}

/// A text that is streamed. Its events differ only in number and token and are generated when they are sent: the text
/// takes a twentieth of their size, and a thousand answers may be pending at the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Deltas {
    /// The next event, without its delta.
    next: Event,
    number: usize,
    text: String,
    /// How many bytes of the text have been sent.
    sent: usize,
    pace_ms: u64,
}

impl Iterator for Deltas {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        let piece = tokens::first(self.text.get(self.sent..)?)?;
        let mut event = self.next.clone();
        event.fields.insert(0, ("sequence_number", self.number.into()));
        event.fields.push(("delta", piece.into()));
        self.sent += piece.len();
        self.number += 1;
        self.next.delay_ms = self.pace_ms;
        Some(event)
    }
}

impl Deltas {
    /// Returns the delay of the next event.
    pub fn delay_ms(&self) -> u64 {
        self.next.delay_ms
    }

    pub fn is_over(&self) -> bool {
        self.sent == self.text.len()
    }
}

impl StreamElement {
    /// Expands deltas into single events.
    pub fn events(elements: Vec<Self>) -> Vec<Event> {
        let mut events = Vec::new();
        for element in elements {
            match element {
                Self::Event(event) => events.push(event),
                Self::Deltas(deltas) => events.extend(deltas),
            }
        }
        events
    }

    /// Returns how long it takes to send at the model's pace.
    pub fn duration_ms(&self) -> u64 {
        match self {
            Self::Event(event) => event.delay_ms,
            Self::Deltas(Deltas { next, text, pace_ms, .. }) => {
                next.delay_ms + pace_ms * (tokens::count(text) as u64).saturating_sub(1)
            }
        }
    }
}

/// The events and the result of an answer.
#[derive(Clone, Debug)]
pub struct Performance {
    /// Its events, numbered from 0.
    pub elements: Vec<StreamElement>,
    /// The response object of the last event.
    pub response: Value,
    pub usage: Usage,
}

pub fn perform(script: &Script, resource: &Resource, seed: &mut Seed) -> Performance {
    let budget = resource.ask.output_budget();
    let mut stage = Stage {
        elements: Vec::new(),
        number: 0,
        output: Vec::new(),
        budget,
        spent: 0,
        out_of_budget: false,
        wait: 0,
        key: &resource.ask.key,
        thought: false,
        script,
    };
    stage.emit("response.created", vec![("response", resource.running("in_progress"))]);
    stage.emit("response.in_progress", vec![("response", resource.running("in_progress"))]);
    stage.wait = script.think_ms;
    let mut reasoning = 0;
    for (at, item) in script.items.iter().enumerate() {
        let before = stage.spent;
        let last = at + 1 == script.items.len();
        let cut_off = last && script.ending != Ending::Completed;
        match item {
            Item::Message(content) => stage.message(content, None, cut_off, seed),
            Item::Phased(phase, content) => stage.message(content, Some(phase), cut_off, seed),
            Item::Reasoning { raw, summary, sealed } => {
                let closed = seal::close(&resource.ask.key, summary, seed);
                let signature = (Provider::of(resource.ask.model) == Some(Provider::Anthropic)).then(|| closed.clone());
                let sealed = (*sealed && resource.ask.wants_sealed_reasoning()).then_some(closed);
                stage.reasoning(raw.as_deref(), summary, sealed, signature, seed);
                if stage.spent == before {
                    // Hidden reasoning isn't shown, but its tokens are counted.
                    stage.spent += SECRET_THOUGHT.min(budget - before);
                }
                reasoning += stage.spent - before;
            }
            Item::Call { name, arguments } => stage.call(name, arguments, cut_off, seed),
            Item::Image(data) => stage.image(data, seed),
        }
        if stage.out_of_budget {
            break;
        }
        if cut_off && !matches!(script.ending, Ending::Incomplete(_)) {
            // After a failure the last item stays open: no done event is sent for it.
            if let Some(at) = stage.elements.iter().rposition(|element| matches!(element, StreamElement::Deltas(_))) {
                let undone = stage.elements.drain(at + 1..).count();
                stage.number -= undone;
            }
        }
    }

    let ask = resource.ask;
    let usage = Usage {
        input: ask.input_tokens(),
        cached: ask.cached,
        output: ask.counted(stage.spent),
        reasoning: ask.counted(reasoning),
    };
    let took_ms = stage.elements.iter().map(StreamElement::duration_ms).sum();
    let out_of_budget = Ending::Incomplete("max_output_tokens".into());
    let ending = if stage.out_of_budget { &out_of_budget } else { &script.ending };
    let status = match ending {
        Ending::Completed => "completed",
        Ending::Incomplete(_) => "incomplete",
        Ending::Failed(..) | Ending::Error(..) => "failed",
    };
    let mut response = resource.ended(status, &stage.output, usage, took_ms);
    match ending {
        Ending::Completed => {}
        Ending::Incomplete(reason) => response["incomplete_details"] = json!({ "reason": reason }),
        Ending::Failed(code, message) | Ending::Error(code, message) => {
            response["error"] = json!({ "code": code, "message": message });
        }
    }
    if let Ending::Error(code, message) = ending {
        let error = json!({ "type": "server_error", "code": code, "message": message, "param": null });
        stage.emit("error", vec![("error", error)]);
    }
    stage.emit(&format!("response.{status}"), vec![("response", response.clone())]);
    Performance { elements: stage.elements, response, usage }
}

struct Stage<'a> {
    elements: Vec<StreamElement>,
    /// The sequence number of the next event.
    number: usize,
    /// The finished items.
    output: Vec<Value>,
    budget: usize,
    spent: usize,
    out_of_budget: bool,
    /// The delay of the next event.
    wait: u64,
    /// The model's key, see [`seal`].
    key: &'a str,
    /// Whether there was reasoning before this item.
    thought: bool,
    script: &'a Script,
}

impl Stage<'_> {
    fn emit(&mut self, kind: &str, mut fields: Vec<(&'static str, Value)>) {
        fields.insert(0, ("sequence_number", self.number.into()));
        self.number += 1;
        let delay_ms = std::mem::take(&mut self.wait);
        self.elements.push(StreamElement::Event(Event { delay_ms, ..Event::new(kind, fields) }));
    }

    fn added(&mut self, item: Value) {
        self.emit("response.output_item.added", vec![("output_index", self.output.len().into()), ("item", item)]);
    }

    fn done(&mut self, item: Value) {
        self.emit(
            "response.output_item.done",
            vec![("output_index", self.output.len().into()), ("item", item.clone())],
        );
        self.output.push(item);
    }

    /// Sends as much of `text` as the budget allows, one token at a time, and returns that part.
    fn stream<'t>(&mut self, text: &'t str, kind: &str, place: &[(&'static str, Value)]) -> &'t str {
        let pieces = tokens::pieces(text);
        let affordable = pieces.len().min(self.budget.saturating_sub(self.spent));
        self.out_of_budget |= affordable < pieces.len();
        let sent = &text[..pieces[..affordable].iter().map(|piece| piece.len()).sum()];
        if affordable > 0 {
            let pace_ms = self.script.pace_ms;
            let wait = std::mem::take(&mut self.wait);
            let delay_ms = if wait == 0 { pace_ms } else { wait };
            let next = Event { delay_ms, ..Event::new(kind, place.to_vec()) };
            let deltas = Deltas { next, number: self.number, text: sent.to_owned(), sent: 0, pace_ms };
            self.elements.push(StreamElement::Deltas(deltas));
            self.spent += affordable;
            self.number += affordable;
        }
        sent
    }

    fn message(&mut self, contents: &[Content], phase: Option<&str>, cut_off: bool, seed: &mut Seed) {
        let id = seed.id("msg_");
        let mut item =
            json!({ "type": "message", "id": id, "status": "in_progress", "role": "assistant", "content": [] });
        if let Some(phase) = phase {
            item["phase"] = phase.into();
        }
        self.added(item.clone());
        let mut parts = Vec::new();
        for (at, content) in contents.iter().enumerate() {
            let place =
                [("item_id", json!(id)), ("output_index", self.output.len().into()), ("content_index", at.into())];
            let with = |key: &'static str, value: Value| [place.to_vec(), vec![(key, value)]].concat();
            let part = match content {
                Content::Text { text, citations } => {
                    let part = json!({ "type": "output_text", "text": "", "annotations": [] });
                    self.emit("response.content_part.added", with("part", part));
                    let sent = self.stream(text, "response.output_text.delta", &place);
                    let characters = sent.chars().count();
                    let complete = citations.iter().filter(|citation| citation.end <= characters);
                    let annotations: Vec<Value> = complete.map(Citation::json).collect();
                    for (nth, annotation) in annotations.iter().enumerate() {
                        let fields = vec![("annotation_index", nth.into()), ("annotation", annotation.clone())];
                        self.emit("response.output_text.annotation.added", [place.to_vec(), fields].concat());
                    }
                    self.emit("response.output_text.done", with("text", sent.into()));
                    json!({ "type": "output_text", "text": sent, "annotations": annotations })
                }
                Content::Refusal(text) => {
                    self.emit("response.content_part.added", with("part", json!({ "type": "refusal", "refusal": "" })));
                    let sent = self.stream(text, "response.refusal.delta", &place);
                    self.emit("response.refusal.done", with("refusal", sent.into()));
                    json!({ "type": "refusal", "refusal": sent })
                }
            };
            self.emit("response.content_part.done", with("part", part.clone()));
            parts.push(part);
            if self.out_of_budget {
                break;
            }
        }
        item["content"] = parts.into();
        item["status"] = if cut_off || self.out_of_budget { "incomplete" } else { "completed" }.into();
        self.done(item);
    }

    fn reasoning(
        &mut self,
        raw: Option<&str>,
        summary: &[String],
        sealed: Option<String>,
        signature: Option<String>,
        seed: &mut Seed,
    ) {
        self.thought = true;
        let id = seal::signed_id("rs_", self.key, raw.unwrap_or_default(), seed);
        let mut item = json!({ "type": "reasoning", "id": id, "summary": [] });
        self.added(item.clone());
        let place = [("item_id", json!(id)), ("output_index", self.output.len().into())];
        if let Some(raw) = raw {
            let place = [place.to_vec(), vec![("content_index", 0.into())]].concat();
            let with = |key: &'static str, value: Value| [place.clone(), vec![(key, value)]].concat();
            let part = |text: &str| json!({ "type": "reasoning_text", "text": text });
            self.emit("response.content_part.added", with("part", part("")));
            let sent = self.stream(raw, "response.reasoning.delta", &place);
            self.emit("response.reasoning.done", with("text", sent.into()));
            self.emit("response.content_part.done", with("part", part(sent)));
            item["content"] = json!([part(sent)]);
        }
        let mut parts = Vec::new();
        for (at, paragraph) in summary.iter().enumerate() {
            if self.out_of_budget {
                break;
            }
            let place = [place.to_vec(), vec![("summary_index", at.into())]].concat();
            let with = |key: &'static str, value: Value| [place.clone(), vec![(key, value)]].concat();
            let part = |text: &str| json!({ "type": "summary_text", "text": text });
            self.emit("response.reasoning_summary_part.added", with("part", part("")));
            let sent = self.stream(paragraph, "response.reasoning_summary_text.delta", &place);
            self.emit("response.reasoning_summary_text.done", with("text", sent.into()));
            self.emit("response.reasoning_summary_part.done", with("part", part(sent)));
            parts.push(part(sent));
        }
        item["summary"] = parts.into();
        if let Some(sealed) = sealed {
            item["encrypted_content"] = sealed.into();
        }
        if let Some(signature) = signature {
            item["signature"] = signature.into();
        }
        self.done(item);
    }

    fn call(&mut self, name: &str, arguments: &str, cut_off: bool, seed: &mut Seed) {
        let id = seed.id("fc_");
        let mut item = json!({
            "type": "function_call",
            "id": id,
            "call_id": seal::signed_id("call_", self.key, if self.thought { seal::THOUGHT } else { "" }, seed),
            "name": name,
            "arguments": "",
            "status": "in_progress",
        });
        self.added(item.clone());
        // The name costs tokens too, though there is no delta for it.
        self.spent += tokens::count(name).min(self.budget.saturating_sub(self.spent));
        let place = [("item_id", json!(id)), ("output_index", self.output.len().into())];
        let sent = self.stream(arguments, "response.function_call_arguments.delta", &place);
        let fields = [place.to_vec(), vec![("arguments", sent.into())]].concat();
        self.emit("response.function_call_arguments.done", fields);
        item["arguments"] = sent.into();
        item["status"] = if cut_off || self.out_of_budget { "incomplete" } else { "completed" }.into();
        self.done(item);
    }

    fn image(&mut self, data: &str, seed: &mut Seed) {
        let id = seed.id("ig_");
        self.added(json!({ "type": "image_generation_call", "id": id, "status": "in_progress", "result": null }));
        self.spent += 256;
        self.done(json!({ "type": "image_generation_call", "id": id, "status": "completed", "result": data }));
    }
}

impl Citation {
    fn json(&self) -> Value {
        let Self { start, end, url, title } = self;
        json!({ "type": "url_citation", "url": url, "start_index": start, "end_index": end, "title": title })
    }
}

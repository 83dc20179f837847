//! A conversation with the simulator's models, without sockets: requests from the core, answers to the core.

#![allow(dead_code, reason = "every test uses another part of it")]

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use sluice_core::{
    Action, ChatMessage, ChatPart, ChatRequest, ConnectionError, Endpoint, Exchange, ExchangeOptions, Note, Output,
    Part, Report, Role, Status, StreamOptions, ToolDefinition, Vault, build_request, question_id,
};
use sluice_simulator::{Options, Request, Responder};

pub const NOW: u64 = 1_790_000_000;
const MAX_ROUNDS: usize = 25;

/// A simulated server, and everything that was sent to it.
pub struct Server {
    responder: Responder,
    pub endpoint: Endpoint,
    /// The bodies of the requests, and the status of the response to each.
    pub requests: Vec<(Value, u16)>,
    /// The items of all answers, with the model that gave them.
    pub given: Vec<(String, Value)>,
    /// Where the items of the last answer begin.
    pub last_given: usize,
}

/// One answer.
pub struct Answer {
    pub report: Report,
    pub parts: Vec<Part>,
    pub notes: Vec<Note>,
    pub description: String,
}

impl Server {
    pub fn new(number: u64) -> Self {
        let responder = Responder::new(Options { seed: number, ..Options::default() });
        let endpoint = Endpoint::parse(&format!("https://server{number}.example/v1")).unwrap();
        Self { responder, endpoint, requests: Vec::new(), given: Vec::new(), last_given: 0 }
    }

    /// Sends a chat and reads the answer, as a shell does.
    pub fn respond(&mut self, chat: &ChatRequest) -> Answer {
        self.respond_until(chat, None)
    }

    /// The same, but the answer ends after this many events: the user cancels it, or the connection breaks.
    fn respond_until(&mut self, chat: &ChatRequest, stop: Option<(usize, Stop)>) -> Answer {
        let built = build_request(chat, &self.endpoint);
        let mut exchange = Exchange::new(ExchangeOptions {
            origin: self.endpoint.origin.clone(),
            model: chat.model.clone(),
            stream: StreamOptions { tool_names: built.tool_names.clone(), ..StreamOptions::default() },
            optional: built.optional.clone(),
            ..ExchangeOptions::default()
        });
        let before = self.given.len();
        let (mut parts, mut notes, mut body) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            match exchange.poll(0) {
                Action::Output(Output::Part(part)) => parts.push(part),
                Action::Output(Output::Note(note)) => notes.push(note),
                Action::Send { without, .. } => {
                    let request = built.request.without(&without);
                    let sent = serde_json::from_str(&request.body).unwrap();
                    let (method, path) = (request.method.clone(), "/v1/responses".to_owned());
                    let request = Request { method, path, headers: request.headers, body: request.body.into_bytes() };
                    let reply = self.responder.respond(&request, NOW * 1000);
                    self.requests.push((sent, reply.status));
                    body = reply.body();
                    if let Some((events, _)) = stop {
                        let ends = String::from_utf8_lossy(&body).match_indices("\n\n").map(|(at, _)| at + 2).collect();
                        let ends: Vec<usize> = ends;
                        body.truncate(ends.get(events).copied().unwrap_or(body.len()));
                    }
                    // An attempt that has shown nothing is repeated.
                    self.given.truncate(before);
                    self.last_given = before;
                    self.given.extend(items_of(&body).into_iter().map(|item| (chat.model.clone(), item)));
                    exchange.handle_head(reply.status, reply.headers, NOW);
                }
                Action::Read { .. } if body.is_empty() => match stop {
                    Some((_, Stop::Cancelled)) => exchange.cancel(),
                    Some((_, Stop::Broken)) => exchange.handle_connection_error(ConnectionError::Broken),
                    None => exchange.handle_end(),
                },
                Action::Read { .. } => exchange.handle_bytes(&std::mem::take(&mut body)),
                Action::Wait { .. } => exchange.handle_timeout(),
                Action::End(report) => {
                    return Answer {
                        report: Arc::unwrap_or_clone(report),
                        parts,
                        notes,
                        description: built.description,
                    };
                }
            }
        }
    }

    /// Asks a question and runs every tool that the model calls. Returns the last answer.
    pub fn ask(&mut self, chat: &mut ChatRequest, prompt: &str) -> Answer {
        self.ask_through(&mut Host::Keeps, chat, prompt)
    }

    /// The same with a host between the model and the chat.
    pub fn ask_through(&mut self, host: &mut Host, chat: &mut ChatRequest, prompt: &str) -> Answer {
        chat.messages.push(ChatMessage::user(prompt));
        for _ in 0..MAX_ROUNDS {
            let sent = host.request(chat, &self.endpoint.origin);
            let answer = self.respond(&sent);
            host.learn(&sent, &answer.report);
            let content = host.keep(&answer.report.entry.answer);
            let results: Vec<ChatMessage> = content.iter().filter_map(result_of).collect();
            chat.messages.push(ChatMessage { role: Role::Assistant, content });
            if results.is_empty() {
                return answer;
            }
            chat.messages.extend(results);
        }
        panic!("the model goes on calling tools");
    }

    /// Asks a question whose answer ends after this many events. The host has lost the last `lost` pieces of its text.
    pub fn ask_and_stop(
        &mut self,
        host: &mut Host,
        chat: &mut ChatRequest,
        prompt: &str,
        stop: (usize, Stop),
        lost: usize,
    ) -> Answer {
        chat.messages.push(ChatMessage::user(prompt));
        let sent = host.request(chat, &self.endpoint.origin);
        let before = self.given.len();
        let answer = self.respond_until(&sent, Some(stop));
        host.learn(&sent, &answer.report);
        let mut content = host.keep(&answer.report.entry.answer);
        if matches!(host, Host::VsCode { .. }) && answer.report.outcome.status != Status::Completed {
            let texts: Vec<String> = answer.parts.iter().filter_map(said).collect();
            let kept = texts[..texts.len().saturating_sub(lost)].concat();
            // An answer isn't recognized by a word or two.
            let is_enough = kept.split_whitespace().map(str::len).sum::<usize>() > 16;
            let kept = if is_enough { kept } else { texts.concat() };
            for part in &mut content {
                if let ChatPart::Text { value } = part {
                    kept.trim().clone_into(value);
                }
            }
        }
        // VS Code has nothing to keep of an answer without text.
        let text: String = content.iter().filter_map(text_of).collect();
        keep_given(&mut self.given, before, &text);
        if !text.trim().is_empty() {
            chat.messages.push(ChatMessage { role: Role::Assistant, content });
        }
        answer
    }
}

/// Why an answer ends early.
#[derive(Clone, Copy, Debug)]
pub enum Stop {
    Cancelled,
    Broken,
}

/// The program between a model and a chat, which keeps the conversation.
pub enum Host {
    /// Keeps everything, as the command line does.
    Keeps,
    /// Joins the texts of an answer, moves its calls behind them, rewrites their arguments, and drops what thinking
    /// parts carry when a turn is over.
    VsCode { vault: Vault, now_ms: u64 },
    /// Keeps one string for each answer, and rewrites arguments, as the core agent host does.
    Agent,
}

impl Host {
    pub fn vscode() -> Self {
        Self::VsCode { vault: Vault::default(), now_ms: NOW * 1000 }
    }

    fn request(&mut self, chat: &ChatRequest, origin: &str) -> ChatRequest {
        let mut sent = chat.clone();
        if let Self::VsCode { vault, now_ms } = self {
            let turn = sent.messages.iter().rposition(is_question).unwrap_or(0);
            for message in &mut sent.messages[..turn] {
                message.content.retain(|part| !matches!(part, ChatPart::Thinking { .. }));
            }
            *now_ms += 1000;
            vault.restore(&mut sent, origin, *now_ms);
        }
        sent
    }

    fn learn(&mut self, sent: &ChatRequest, report: &Report) {
        if let Self::VsCode { vault, now_ms } = self {
            vault.remember(&report.entry, question_id(sent), *now_ms);
            if report.reasoning_refused {
                vault.reject(sent, *now_ms);
            }
        }
    }

    fn keep(&self, answer: &[ChatPart]) -> Vec<ChatPart> {
        let written_anew = |part: &ChatPart| match part {
            ChatPart::ToolCall { call_id, name, input_json } => {
                let input: Value = serde_json::from_str(input_json).unwrap();
                let (call_id, name) = (call_id.clone(), name.clone());
                Some(ChatPart::ToolCall { call_id, name, input_json: input.to_string() })
            }
            _ => None,
        };
        let thinking = answer.iter().filter(|part| matches!(part, ChatPart::Thinking { .. })).cloned();
        match self {
            Self::Keeps => answer.to_vec(),
            Self::VsCode { .. } => {
                let value: String = answer.iter().filter_map(text_of).collect();
                let text = ChatPart::Text { value: value.trim().to_owned() };
                thinking.chain([text]).chain(answer.iter().filter_map(written_anew)).collect()
            }
            Self::Agent => {
                let as_string = |part: ChatPart| match part {
                    ChatPart::Thinking { replay: Some(replay) } => {
                        let text = serde_json::to_string(&replay).unwrap();
                        serde_json::from_value(json!({"type": "thinking", "replay": text})).unwrap()
                    }
                    part => part,
                };
                let others = answer.iter().filter(|part| !matches!(part, ChatPart::Thinking { .. }));
                thinking
                    .map(as_string)
                    .chain(others.map(|part| written_anew(part).unwrap_or_else(|| part.clone())))
                    .collect()
            }
        }
    }

    /// VS Code is closed and opened again.
    pub fn reload(&mut self) {
        if let Self::VsCode { vault, now_ms } = self {
            let file = vault.to_bytes();
            *vault = Vault::default();
            vault.merge(Vault::read(&file), *now_ms);
        }
    }
}

pub fn is_question(message: &ChatMessage) -> bool {
    message.role == Role::User && message.content.iter().any(|part| matches!(part, ChatPart::Text { .. }))
}

impl Answer {
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(said).collect()
    }

    /// Returns the notes that are shown to the user.
    pub fn told(&self) -> String {
        self.notes.iter().filter(|note| !note.text.is_empty()).map(|note| format!("{}\n", note.detail)).collect()
    }

    pub fn thinking(&self) -> String {
        let thinking = |part: &Part| match part {
            Part::Thinking { value, .. } => Some(value.clone()),
            _ => None,
        };
        self.parts.iter().filter_map(thinking).collect()
    }
}

pub fn chat(model: &str) -> ChatRequest {
    let schema = json!({ "type": "object", "properties": { "level": { "type": "integer" } }, "required": ["level"] });
    let name = "open_gate".to_owned();
    let tool = ToolDefinition { name, description: "Opens a gate.".to_owned(), input_schema: Some(schema) };
    ChatRequest { model: model.to_owned(), tools: vec![tool], ..ChatRequest::default() }
}

fn result_of(part: &ChatPart) -> Option<ChatMessage> {
    let ChatPart::ToolCall { call_id, .. } = part else { return None };
    let content = vec![ChatPart::Text { value: "open".to_owned() }];
    let result = ChatPart::ToolResult { call_id: call_id.clone(), content, is_error: false };
    Some(ChatMessage { role: Role::User, content: vec![result] })
}

fn said(part: &Part) -> Option<String> {
    match part {
        Part::Text { value } => Some(value.clone()),
        _ => None,
    }
}

fn text_of(part: &ChatPart) -> Option<String> {
    match part {
        ChatPart::Text { value } => Some(value.clone()),
        _ => None,
    }
}

/// Shortens the items since `before` to those that a text still shows. Reasoning counts if something follows it.
fn keep_given(given: &mut Vec<(String, Value)>, before: usize, text: &str) {
    let (mut rest, mut is_first) = (text.trim(), true);
    for (_, item) in given[before..].iter_mut().filter(|(_, item)| item["type"] == "message") {
        if !std::mem::take(&mut is_first) {
            rest = rest.strip_prefix("\n\n").unwrap_or(rest);
        }
        let said = item["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        let kept = if rest.starts_with(&said) { said } else { rest.to_owned() };
        rest = &rest[kept.len()..];
        item["content"] = json!([{ "type": "output_text", "text": kept }]);
    }
    given.retain(|(_, item)| item["type"] != "message" || item["content"][0]["text"] != "");
    while given.len() > before && given.last().is_some_and(|(_, item)| item["type"] == "reasoning") {
        given.pop();
    }
}

/// Returns the items of an answer, read independently of the core: those of the final output, or what was streamed.
fn items_of(body: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(body);
    let events: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    if let Some(terminal) = events.iter().rfind(|event| event["type"] == "response.completed") {
        return terminal["response"]["output"].as_array().cloned().unwrap_or_default();
    }
    let mut items: BTreeMap<u64, Value> = BTreeMap::new();
    for event in &events {
        let Some(index) = event["output_index"].as_u64() else { continue };
        match event["type"].as_str().unwrap_or_default() {
            "response.output_item.added" | "response.output_item.done" => {
                drop(items.insert(index, event["item"].clone()));
            }
            "response.output_text.delta" => {
                let Some(item) = items.get_mut(&index) else { continue };
                let said = item["content"][0]["text"].as_str().unwrap_or_default().to_owned();
                let text = said + event["delta"].as_str().unwrap_or_default();
                item["content"] = json!([{ "type": "output_text", "text": text }]);
            }
            _ => {}
        }
    }
    items.into_values().collect()
}

/// Describes what must come back to a model: reasoning, messages with their phase, and calls.
pub fn describe(item: &Value) -> Option<String> {
    match item["type"].as_str()? {
        "reasoning" => Some(format!(
            "reasoning {} {} {} {} {}",
            item["id"], item["summary"], item["content"], item["encrypted_content"], item["signature"]
        )),
        "message" if item["role"] == "assistant" && item["phase"].is_string() => {
            Some(format!("message {} {}", item["phase"], item["content"][0]["text"]))
        }
        "function_call" => Some(format!("call {}", item["call_id"])),
        _ => None,
    }
}

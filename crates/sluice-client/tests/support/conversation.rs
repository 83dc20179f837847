//! A conversation with the simulator's models, without sockets: requests from the core, answers to the core.

#![allow(dead_code, reason = "every test uses another part of it")]

use serde_json::{Value, json};
use sluice_core::{
    Action, ChatMessage, ChatPart, ChatRequest, Endpoint, Exchange, ExchangeOptions, Output, Part, Report, Role,
    StreamOptions, ToolDefinition, build_request,
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
}

/// One answer.
pub struct Answer {
    pub report: Report,
    pub parts: Vec<Part>,
    pub description: String,
}

impl Server {
    pub fn new(number: u64) -> Self {
        let responder = Responder::new(Options { seed: number, ..Options::default() });
        let endpoint = Endpoint::parse(&format!("https://server{number}.example/v1")).unwrap();
        Self { responder, endpoint, requests: Vec::new() }
    }

    /// Sends a chat and reads the answer, as a shell does.
    pub fn respond(&mut self, chat: &ChatRequest) -> Answer {
        let built = build_request(chat, &self.endpoint);
        let mut exchange = Exchange::new(ExchangeOptions {
            origin: self.endpoint.origin.clone(),
            stream: StreamOptions { tool_names: built.tool_names.clone(), ..StreamOptions::default() },
            optional: built.optional.clone(),
            ..ExchangeOptions::default()
        });
        let (mut parts, mut body) = (Vec::new(), Vec::new());
        loop {
            match exchange.poll(0) {
                Action::Output(Output::Part(part)) => parts.push(part),
                Action::Output(Output::Note(_)) => {}
                Action::Send { without, .. } => {
                    let request = built.request.without(&without);
                    let sent = serde_json::from_str(&request.body).unwrap();
                    let (method, path) = (request.method.clone(), "/v1/responses".to_owned());
                    let request = Request { method, path, headers: request.headers, body: request.body.into_bytes() };
                    let reply = self.responder.respond(&request, NOW * 1000);
                    self.requests.push((sent, reply.status));
                    body = reply.body();
                    exchange.handle_head(reply.status, reply.headers, NOW);
                }
                Action::Read { .. } if body.is_empty() => exchange.handle_end(),
                Action::Read { .. } => exchange.handle_bytes(&std::mem::take(&mut body)),
                Action::Wait { .. } => exchange.handle_timeout(),
                Action::End(report) => return Answer { report: *report, parts, description: built.description },
            }
        }
    }

    /// Asks a question and runs every tool that the model calls. Returns the last answer.
    pub fn ask(&mut self, chat: &mut ChatRequest, prompt: &str) -> Answer {
        chat.messages.push(ChatMessage::user(prompt));
        for _ in 0..MAX_ROUNDS {
            let answer = self.respond(chat);
            let content = answer.report.entry.answer.clone();
            let results: Vec<ChatMessage> = content.iter().filter_map(result_of).collect();
            chat.messages.push(ChatMessage { role: Role::Assistant, content });
            if results.is_empty() {
                return answer;
            }
            chat.messages.extend(results);
        }
        panic!("the model goes on calling tools");
    }
}

impl Answer {
    pub fn text(&self) -> String {
        let text = |part: &Part| match part {
            Part::Text { value } => Some(value.clone()),
            _ => None,
        };
        self.parts.iter().filter_map(text).collect()
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

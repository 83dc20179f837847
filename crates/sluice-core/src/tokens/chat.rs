//! Counts a chat in VS Code's terms, as a whole or one piece at a time.

use std::collections::BTreeMap;

use super::family::{Family, Thinking};
use super::known::Thoughts;
use super::request::Tally;
use super::{Counter, Known, Piece, images};
use crate::boundary::{ChatMessage, ChatPart, ChatRequest, Role, TokenBreakdown, ToolDefinition};
use crate::send::{Endpoint, build_request, textual};

/// The number of tokens assumed for a tool's name. A result doesn't say which tool it came from.
const USUAL_NAME: u32 = 3;

/// Everything outside a message that its cost depends on.
#[derive(Default)]
struct Context {
    /// The number of tokens in each call's tool name, by call id.
    names: BTreeMap<String, u32>,
    /// The number of tools that the request offers.
    offered: usize,
    /// The costs of encrypted reasoning that a server has already reported.
    thoughts: Thoughts,
}

impl Counter {
    /// Counts a whole chat by building the request that would be sent.
    pub fn chat(self, chat: &ChatRequest) -> TokenBreakdown {
        // The address doesn't affect the count.
        let endpoint = Endpoint { origin: String::new(), base_url: String::new() };
        let body = build_request(chat, &endpoint).request.body;
        self.request_body(body.as_bytes()).unwrap_or_default()
    }

    /// Counts one message, including its overhead in a request.
    pub fn message(self, model: &str, message: &ChatMessage) -> u32 {
        self.message_among(model, message, &Context { offered: 2, ..Context::default() })
    }

    fn message_among(self, model: &str, message: &ChatMessage, context: &Context) -> u32 {
        let family = Family::of(model);
        let mut calls = 0;
        let mut said: Option<u32> = None;
        let mut rest = context.thoughts(family, message);
        for part in &message.content {
            match part {
                ChatPart::Text { value } if value.is_empty() => {}
                ChatPart::Text { value } => *said.get_or_insert(0) += self.text_of(family, value),
                ChatPart::Data { mime_type, base64 } if mime_type.starts_with("image/") => {
                    *said.get_or_insert(0) += images::tokens(model, images::size_in_base64(base64), "auto");
                }
                // VS Code's own markers are not sent, and reasoning is already counted in `rest`.
                ChatPart::Data { .. } | ChatPart::Thinking { .. } => {}
                ChatPart::ToolCall { name, input_json, .. } => {
                    calls += 1;
                    rest += self.text_of(family, name) + self.text_of(family, input_json) + family.call.div_ceil(2);
                }
                ChatPart::ToolResult { call_id, content, .. } => {
                    let name = context.names.get(call_id).copied().unwrap_or(USUAL_NAME);
                    rest += name + family.call / 2 + self.result(model, family, content);
                }
            }
        }
        if calls == 1 && context.offered > 1 {
            rest += family.lone_call;
        }
        let channel = if message.role == Role::Assistant { family.assistant } else { 0 };
        rest + said.map_or(0, |said| said + family.message + channel)
    }

    fn result(self, model: &str, family: &Family, content: &[ChatPart]) -> u32 {
        let part = |part: &ChatPart| match part {
            ChatPart::Text { value } => self.text_of(family, value),
            ChatPart::Data { mime_type, base64 } => match textual(mime_type, base64) {
                Some(text) => self.text_of(family, &text),
                None if mime_type.starts_with("image/") => {
                    images::tokens(model, images::size_in_base64(base64), "auto")
                }
                None => 0,
            },
            ChatPart::Thinking { .. } | ChatPart::ToolCall { .. } | ChatPart::ToolResult { .. } => 0,
        };
        content.iter().map(part).sum()
    }

    /// Counts one tool, without the overhead that all tools share.
    pub fn tool(self, model: &str, tool: &ToolDefinition) -> u32 {
        Tally::new(self, model).function(&tool.name, &tool.description, tool.input_schema.as_ref())
    }

    /// Returns a function that counts the pieces of this chat, as [`Known`] needs it. Reasoning from before the last
    /// question costs nothing if the server discards it.
    pub fn pieces_of(self, chat: &ChatRequest, known: &Known) -> impl Fn(Piece<'_>) -> u32 + use<> {
        let is_question = |message: &ChatMessage| {
            message.role == Role::User && message.content.iter().any(|part| matches!(part, ChatPart::Text { .. }))
        };
        let last_question = chat.messages.iter().rposition(is_question).unwrap_or(0);
        let model = chat.model.clone();
        let family = Family::of(&model);
        let calls = chat.messages.iter().flat_map(|message| &message.content).filter_map(|part| match part {
            ChatPart::ToolCall { call_id, name, .. } => Some((call_id.clone(), self.text_of(family, name))),
            _ => None,
        });
        let context =
            Context { names: calls.collect(), offered: chat.tools.len(), thoughts: known.thoughts_of(&chat.messages) };
        move |piece| match piece {
            Piece::Frame { has_tools: false } => family.request,
            Piece::Frame { has_tools: true } => family.request + Tally::new(self, &model).around_tools(),
            Piece::Tool(tool) => self.tool(&model, tool),
            Piece::Message { index, message } => {
                let whole = self.message_among(&model, message, &context);
                let is_forgotten = family.thinking == Thinking::SinceLastQuestion && index < last_question;
                if is_forgotten { whole - context.thoughts(family, message) } else { whole }
            }
        }
    }
}

impl Context {
    fn thoughts(&self, family: &Family, message: &ChatMessage) -> u32 {
        let cost = |encrypted: &str| self.thoughts.cost(encrypted).unwrap_or_else(|| family.thought(encrypted.len()));
        message.thoughts().map(cost).sum()
    }
}

//! The same counts for a chat as VS Code has it: as a whole, or one piece at a time.

use super::family::Family;
use super::request::Tally;
use super::{Counter, images};
use crate::boundary::{ChatMessage, ChatPart, ChatRequest, Role, TokenBreakdown, ToolDefinition};
use crate::send::{Endpoint, build_request, textual};

/// A result does not say which tool it came from; names are about this long.
const USUAL_NAME: u32 = 3;

/// What a request costs around its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    pub has_tools: bool,
}

impl Counter {
    /// A whole chat, by the request that would be sent.
    pub fn chat(self, chat: &ChatRequest) -> TokenBreakdown {
        // Where it would go costs nothing.
        let endpoint = Endpoint { origin: String::new(), base_url: String::new() };
        let body = build_request(chat, &endpoint).request.body;
        self.request_body(body.as_bytes()).unwrap_or_default()
    }

    /// One message, with what stands around it in a request.
    pub fn message(self, model: &str, message: &ChatMessage) -> u32 {
        let family = Family::of(model);
        let mut said: Option<u32> = None;
        let mut rest = 0;
        for part in &message.content {
            match part {
                ChatPart::Text { value } if value.is_empty() => {}
                ChatPart::Text { value } => *said.get_or_insert(0) += self.text_of(family, value),
                ChatPart::Data { mime_type, base64 } if mime_type.starts_with("image/") => {
                    *said.get_or_insert(0) += images::tokens(model, images::size_in_base64(base64), "auto");
                }
                // VS Code's own markers are not sent.
                ChatPart::Data { .. } | ChatPart::Thinking { replay: None } => {}
                ChatPart::Thinking { replay: Some(replay) } => {
                    rest += replay.items.iter().map(|item| family.thought(item.encrypted_content.len())).sum::<u32>();
                }
                ChatPart::ToolCall { name, input_json, .. } => {
                    rest += self.text_of(family, name) + self.text_of(family, input_json) + family.call.div_ceil(2);
                }
                ChatPart::ToolResult { content, .. } => {
                    rest += USUAL_NAME + family.call / 2 + self.result(model, family, content);
                }
            }
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

    /// One tool among others.
    pub fn tool(self, model: &str, tool: &ToolDefinition) -> u32 {
        Tally::new(self, model).function(&tool.name, &tool.description, tool.input_schema.as_ref())
    }

    /// What a request costs before anything is in it.
    pub fn framing(self, model: &str, framing: Framing) -> u32 {
        let tally = Tally::new(self, model);
        Family::of(model).request + if framing.has_tools { tally.around_tools() } else { 0 }
    }
}

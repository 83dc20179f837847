//! Converts chat messages to input items, in order.
//!
//! Instructions are collected separately, ahead of the items. A message with calls or results becomes several items.
//! What VS Code keeps in messages for its own use (markers, usage, reasoning that isn't sent back) is left out and
//! noted.

use std::collections::BTreeSet;

use super::images::{data_url, file, textual};
use super::tools::ToolNames;
use crate::boundary::{ChatMessage, ChatPart, Note, NoteKind, ReasoningItem, ReplayItem, Role, SEPARATOR};
use crate::wire::{Content, InputItem, ItemOutput};

/// Messages in the protocol's terms, before `pairs` matches calls with their results.
#[derive(Debug)]
pub(super) struct ConvertedMessages<'a> {
    /// Where the messages go: reasoning of other models and other origins is left out.
    model: &'a str,
    origin: Option<&'a str>,
    pub instructions: Vec<String>,
    pub items: Vec<InputItem>,
    pub notes: Vec<Note>,
}

impl<'a> ConvertedMessages<'a> {
    pub(super) fn new(model: &'a str, origin: Option<&'a str>) -> Self {
        Self { model, origin, instructions: Vec::new(), items: Vec::new(), notes: Vec::new() }
    }

    pub(super) fn push(&mut self, message: &ChatMessage, names: &mut ToolNames) {
        match message.role {
            Role::System => self.push_instructions(&message.content),
            Role::Assistant => self.push_assistant(&message.content, names),
            Role::User => self.push_user(&message.content),
        }
    }

    pub(super) fn push_instructions(&mut self, content: &[ChatPart]) {
        let text: String = content.iter().filter_map(text_of).collect();
        if !text.trim().is_empty() {
            self.instructions.push(text);
        }
    }

    fn push_user(&mut self, content: &[ChatPart]) {
        let mut said = Vec::new();
        for part in content {
            match part {
                ChatPart::Text { value } => push_text(&mut said, value),
                ChatPart::Data { mime_type, base64 } => {
                    if let Some(file) = file(mime_type, base64) {
                        said.push(file);
                    } else {
                        self.push_data(mime_type, base64, &mut said);
                    }
                }
                ChatPart::ToolResult { call_id, content, is_error } => {
                    self.push_message("user", &mut said, None);
                    let output = self.output_of(content, *is_error);
                    self.items.push(InputItem::FunctionCallOutput { call_id: call_id.clone(), output });
                }
                ChatPart::ToolCall { .. } | ChatPart::Thinking { .. } => self.leave_out("user"),
            }
        }
        self.push_message("user", &mut said, None);
    }

    fn push_assistant(&mut self, content: &[ChatPart], names: &mut ToolNames) {
        let start = self.items.len();
        let text: String = content.iter().filter_map(text_of).collect();
        let mut said = Vec::new();
        let mut phase = None;
        // VS Code returns the parts of an answer in an order of its own. A replay has the server's order.
        let (mut taken, mut called) = (0, BTreeSet::new());
        for part in content {
            let ChatPart::Thinking { replay: Some(replay) } = part else { continue };
            let is_own = replay.is_for(self.model, self.origin);
            if !is_own {
                self.leave_out("reasoning");
            }
            for item in &replay.items {
                match item {
                    ReplayItem::Reasoning(item) if is_own && item.is_useful() => self.items.push(reasoning(item)),
                    ReplayItem::Reasoning(_) => {}
                    ReplayItem::Message(message) => {
                        let rest = text.get(taken..).unwrap_or_default();
                        let skipped = if taken > 0 && rest.starts_with(SEPARATOR) { SEPARATOR.len() } else { 0 };
                        let rest = rest.get(skipped..).unwrap_or_default();
                        // If the host has changed the text, for example by adding sources, all of it is sent.
                        let value = message.find_in(rest).unwrap_or(rest);
                        taken += skipped + value.len();
                        if !value.is_empty() {
                            phase = message.phase.clone().filter(|_| is_own);
                            said.push(Content::OutputText { text: value.to_owned() });
                            self.push_message("assistant", &mut said, phase.clone());
                        }
                    }
                    ReplayItem::Call(id) => {
                        let is_it = |(at, part): &(usize, &ChatPart)| {
                            matches!(part, ChatPart::ToolCall { call_id, .. } if call_id == id) && !called.contains(at)
                        };
                        if let Some((at, part)) = content.iter().enumerate().find(is_it) {
                            called.insert(at);
                            self.push_call(part, names);
                        }
                    }
                }
            }
        }
        for (at, part) in content.iter().enumerate() {
            match part {
                ChatPart::Text { value } => {
                    let unsaid = value.get(taken.min(value.len())..).unwrap_or_default();
                    taken = taken.saturating_sub(value.len());
                    if !unsaid.is_empty() {
                        said.push(Content::OutputText { text: unsaid.to_owned() });
                    }
                }
                ChatPart::ToolCall { .. } if called.contains(&at) => {}
                ChatPart::ToolCall { .. } => {
                    self.push_message("assistant", &mut said, phase.clone());
                    self.push_call(part, names);
                }
                ChatPart::ToolResult { call_id, content, is_error } => {
                    self.push_message("assistant", &mut said, phase.clone());
                    let output = self.output_of(content, *is_error);
                    self.items.push(InputItem::FunctionCallOutput { call_id: call_id.clone(), output });
                }
                ChatPart::Data { mime_type, .. } => self.leave_out(mime_type),
                ChatPart::Thinking { .. } => {}
            }
        }
        self.push_message("assistant", &mut said, phase);
        // Servers refuse reasoning without an item after it.
        while self.items.len() > start && matches!(self.items.last(), Some(InputItem::Reasoning { .. })) {
            self.items.pop();
        }
    }

    fn push_call(&mut self, part: &ChatPart, names: &mut ToolNames) {
        let ChatPart::ToolCall { call_id, name, input_json } = part else { return };
        let arguments = if input_json.trim().is_empty() { "{}" } else { input_json.trim() };
        self.items.push(InputItem::FunctionCall {
            call_id: call_id.clone(),
            name: names.name_for_server(name),
            arguments: arguments.to_owned(),
        });
    }

    fn output_of(&mut self, content: &[ChatPart], is_error: bool) -> ItemOutput {
        let mut parts = Vec::new();
        if is_error {
            parts.push(Content::InputText { text: "The tool failed:".to_owned() });
        }
        for part in content {
            match part {
                ChatPart::Text { value } => push_text(&mut parts, value),
                ChatPart::Data { mime_type, base64 } => self.push_data(mime_type, base64, &mut parts),
                ChatPart::Thinking { .. } | ChatPart::ToolCall { .. } | ChatPart::ToolResult { .. } => {
                    self.leave_out("tool result");
                }
            }
        }
        let texts: Option<Vec<&str>> = parts.iter().map(input_text).collect();
        match texts {
            Some(texts) if texts.is_empty() => ItemOutput::Text("(no output)".to_owned()),
            Some(texts) => ItemOutput::Text(texts.join("\n")),
            None => ItemOutput::Parts(parts),
        }
    }

    /// Adds an image, or data that is text.
    fn push_data(&mut self, mime_type: &str, base64: &str, parts: &mut Vec<Content>) {
        if let Some(image_url) = data_url(mime_type, base64) {
            parts.push(Content::InputImage { image_url, detail: "auto" });
        } else if let Some(text) = textual(mime_type, base64) {
            push_text(parts, &text);
        } else {
            self.leave_out(mime_type);
        }
    }

    /// Adds a message unless it is blank, because half of the providers refuse blank messages.
    fn push_message(&mut self, role: &'static str, content: &mut Vec<Content>, phase: Option<String>) {
        let blank = |part: &Content| match part {
            Content::InputText { text } | Content::OutputText { text } => text.trim().is_empty(),
            _ => false,
        };
        let content = std::mem::take(content);
        if !content.iter().all(blank) {
            self.items.push(InputItem::Message { role, content, phase });
        }
    }

    fn leave_out(&mut self, what: &str) {
        self.notes.push(Note::new(NoteKind::LeftOut, what));
    }
}

fn text_of(part: &ChatPart) -> Option<&str> {
    match part {
        ChatPart::Text { value } => Some(value),
        _ => None,
    }
}

fn push_text(parts: &mut Vec<Content>, text: &str) {
    if !text.is_empty() {
        parts.push(Content::InputText { text: text.to_owned() });
    }
}

fn input_text(part: &Content) -> Option<&str> {
    match part {
        Content::InputText { text } => Some(text),
        _ => None,
    }
}

/// Returns a reasoning item as the server sent it.
fn reasoning(item: &ReasoningItem) -> InputItem {
    InputItem::Reasoning {
        id: item.id.clone(),
        summary: item.summary.iter().map(|text| Content::SummaryText { text: text.clone() }).collect(),
        content: item.content.iter().map(|text| Content::ReasoningText { text: text.clone() }).collect(),
        encrypted_content: item.encrypted_content.clone(),
        signature: item.signature.clone(),
    }
}

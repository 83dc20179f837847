//! Step 1: converts chat messages to input items, in order.
//!
//! Instructions are collected separately, ahead of the items. A message with calls or results becomes several items.
//! What VS Code keeps in messages for its own use (markers, usage, reasoning that isn't sent back) is left out and
//! noted.

use super::images::data_url;
use super::tools::ToolNames;
use crate::boundary::{ChatMessage, ChatPart, Note, NoteKind, Role, ThinkingReplay};
use crate::wire::{Content, InputItem, ItemOutput};

/// Messages in the protocol's terms, before `pairs` matches calls with their results.
#[derive(Debug, Default)]
pub(super) struct ConvertedMessages {
    pub instructions: Vec<String>,
    pub items: Vec<InputItem>,
    pub notes: Vec<Note>,
}

impl ConvertedMessages {
    pub(super) fn push(&mut self, message: &ChatMessage, model: &str, names: &mut ToolNames) {
        match message.role {
            Role::System => self.push_instructions(&message.content),
            Role::Assistant => self.push_assistant(&message.content, model, names),
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
                ChatPart::Data { mime_type, base64 } => match data_url(mime_type, base64) {
                    Some(image_url) => said.push(Content::InputImage { image_url }),
                    None => self.leave_out(mime_type),
                },
                ChatPart::ToolResult { call_id, content, is_error } => {
                    self.push_message("user", &mut said);
                    let output = self.output_of(content, *is_error);
                    self.items.push(InputItem::FunctionCallOutput { call_id: call_id.clone(), output });
                }
                ChatPart::ToolCall { .. } | ChatPart::Thinking { .. } => self.leave_out("user"),
            }
        }
        self.push_message("user", &mut said);
    }

    fn push_assistant(&mut self, content: &[ChatPart], model: &str, names: &mut ToolNames) {
        // The server expects reasoning before the items that followed from it, but VS Code returns it in one part at
        // any position.
        for part in content {
            if let ChatPart::Thinking { replay: Some(replay) } = part {
                self.push_replay(replay, model);
            }
        }
        let mut said = Vec::new();
        for part in content {
            match part {
                ChatPart::Text { value } if !value.is_empty() => {
                    said.push(Content::OutputText { text: value.clone() });
                }
                ChatPart::ToolCall { call_id, name, input_json } => {
                    self.push_message("assistant", &mut said);
                    let arguments = if input_json.trim().is_empty() { "{}" } else { input_json.trim() };
                    self.items.push(InputItem::FunctionCall {
                        call_id: call_id.clone(),
                        name: names.name_for_server(name),
                        arguments: arguments.to_owned(),
                    });
                }
                ChatPart::ToolResult { call_id, content, is_error } => {
                    self.push_message("assistant", &mut said);
                    let output = self.output_of(content, *is_error);
                    self.items.push(InputItem::FunctionCallOutput { call_id: call_id.clone(), output });
                }
                ChatPart::Data { mime_type, .. } => self.leave_out(mime_type),
                ChatPart::Text { .. } | ChatPart::Thinking { .. } => {}
            }
        }
        self.push_message("assistant", &mut said);
    }

    /// Adds the reasoning that the same model produced. Other models can't use encrypted content, and most servers
    /// refuse it.
    fn push_replay(&mut self, replay: &ThinkingReplay, model: &str) {
        if replay.model.as_deref().is_some_and(|made_by| !same_model(made_by, model)) {
            self.leave_out("reasoning");
            return;
        }
        for item in replay.items.iter().filter(|item| !item.encrypted_content.is_empty()) {
            self.items.push(InputItem::Reasoning {
                id: item.id.clone(),
                summary: [],
                encrypted_content: item.encrypted_content.clone(),
            });
        }
    }

    fn output_of(&mut self, content: &[ChatPart], is_error: bool) -> ItemOutput {
        let mut parts = Vec::new();
        if is_error {
            parts.push(Content::InputText { text: "The tool failed:".to_owned() });
        }
        for part in content {
            match part {
                ChatPart::Text { value } => push_text(&mut parts, value),
                ChatPart::Data { mime_type, base64 } => {
                    if let Some(image_url) = data_url(mime_type, base64) {
                        parts.push(Content::InputImage { image_url });
                    } else if let Some(text) = super::images::textual(mime_type, base64) {
                        push_text(&mut parts, &text);
                    } else {
                        self.leave_out(mime_type);
                    }
                }
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

    /// Adds a message unless it is blank, because half of the providers refuse blank messages.
    fn push_message(&mut self, role: &'static str, content: &mut Vec<Content>) {
        let blank = |part: &Content| match part {
            Content::InputText { text } | Content::OutputText { text } => text.trim().is_empty(),
            Content::InputImage { .. } => false,
        };
        let content = std::mem::take(content);
        if !content.iter().all(blank) {
            self.items.push(InputItem::Message { role, content });
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
        Content::OutputText { .. } | Content::InputImage { .. } => None,
    }
}

/// Returns whether `made_by`, the name in a server's response, is the model that was asked for. Servers often leave out
/// the creator in `creator/model` and append a date.
fn same_model(made_by: &str, asked: &str) -> bool {
    let bare = |model: &str| model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let (made_by, asked) = (bare(made_by), bare(asked));
    made_by == asked || made_by.strip_prefix(&asked).is_some_and(|rest| rest.starts_with('-'))
}

//! Everything that a model sees of a chat: instructions, tools and items.
//!
//! This is the only place that decides what the model sees. `http_request.rs` sends a prompt, `tokens/fingerprint.rs`
//! hashes it, and `tokens/pieces.rs` counts it.

use super::messages::ConvertedMessages;
use super::pairs::pair;
use super::stable::with_volatile_lines_last;
use super::tools::{ToolNames, function_tools};
use crate::boundary::{ChatMessage, ChatRequest, Note, Role, ToolMode};
use crate::wire::{Content, FunctionTool, InputItem};

/// What a model sees of a chat, as the request body has it.
#[derive(Debug, PartialEq)]
pub struct Prompt {
    pub(crate) model: String,
    /// The origin of the server, if it is known. Servers count the same model in different ways.
    pub(crate) origin: String,
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<FunctionTool>,
    pub(crate) items: Vec<InputItem>,
    /// Whether the model must call a tool.
    pub(crate) must_call: bool,
    /// Whether the model is asked to think.
    pub(crate) thinks: bool,
}

impl Prompt {
    /// Returns what the model sees of a whole request.
    pub fn of(chat: &ChatRequest) -> Self {
        Self::with_names(chat, None).0
    }

    /// Returns what the model sees of one message. A result is kept without its call.
    pub fn of_message(model: &str, message: &ChatMessage) -> Self {
        let mut converted = ConvertedMessages::new(model, None);
        converted.push(message, &mut ToolNames::default());
        Self::new(model, Vec::new(), &converted.instructions, converted.items)
    }

    /// Returns the same prompt, sent to the server with this origin.
    #[must_use]
    pub fn at(mut self, origin: &str) -> Self {
        origin.clone_into(&mut self.origin);
        self
    }

    /// Also returns the names under which the tools are sent, and notes about everything that was left out or
    /// repaired. Reasoning from another origin is left out.
    pub(super) fn with_names(chat: &ChatRequest, origin: Option<&str>) -> (Self, ToolNames, Vec<Note>) {
        let mut names = ToolNames::default();
        // Tools come first: a call in the history must not get the name of one of them.
        let tools = function_tools(&chat.tools, &mut names);
        let mut converted = ConvertedMessages::new(&chat.model, origin);
        let first_user = chat.messages.iter().position(|message| message.role == Role::User).unwrap_or(0);
        for (index, message) in chat.messages.iter().enumerate() {
            // Older hosts have no system role and put the prompt into assistant messages before the first question.
            if message.role == Role::Assistant && index < first_user {
                converted.push_instructions(&message.content);
            } else {
                converted.push(message, &mut names);
            }
        }
        let ConvertedMessages { mut instructions, items, mut notes, .. } = converted;
        if chat.options.stable_instructions {
            instructions = vec![with_volatile_lines_last(&instructions.join("\n\n"))];
            instructions.retain(|text| !text.is_empty());
        }
        let mut items = pair(items, &mut notes);
        if !items.iter().any(InputItem::is_question) {
            let content = vec![Content::InputText { text: "Continue.".to_owned() }];
            items.push(InputItem::Message { role: "user", content, phase: None });
        }
        let effort = chat.options.effort();
        let prompt = Self {
            must_call: chat.tool_mode == ToolMode::Required && !tools.is_empty(),
            thinks: effort.is_some_and(|effort| !matches!(effort.as_str(), "none" | "minimal")),
            ..Self::new(&chat.model, tools, &instructions, items)
        };
        (prompt, names, notes)
    }

    fn new(model: &str, tools: Vec<FunctionTool>, instructions: &[String], items: Vec<InputItem>) -> Self {
        let instructions = (!instructions.is_empty()).then(|| instructions.join("\n\n"));
        let (model, origin) = (model.to_owned(), String::new());
        Self { model, origin, instructions, tools, items, must_call: false, thinks: false }
    }
}

impl InputItem {
    /// Returns whether this is a message from the user.
    pub(crate) fn is_question(&self) -> bool {
        matches!(self, Self::Message { role: "user", .. })
    }

    /// Returns whether the model wrote this.
    pub(super) fn is_answer(&self) -> bool {
        match self {
            Self::Message { role, .. } => *role == "assistant",
            Self::FunctionCall { .. } | Self::Reasoning { .. } => true,
            Self::FunctionCallOutput { .. } => false,
        }
    }
}

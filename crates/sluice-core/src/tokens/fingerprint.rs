//! Hashes of what is sent. The same content has the same hash, wherever it is in the conversation.
//!
//! The hashes leave out everything that never reaches the model: VS Code's markers, reasoning that isn't sent back, and
//! call ids, which servers keep out of the prompt. They also ignore differences in form: whether text is in one part or
//! several, and the order of JSON keys and of tools. A host that rewrites its history must not invalidate the counts we
//! have.

use std::hash::Hasher;

use serde_json::Value;
use siphasher::sip128::{Hasher128, SipHasher24};

use super::known::Piece;
use crate::boundary::{ChatMessage, ChatPart, ChatRequest, Role, ToolDefinition};
use crate::send::same_model;

/// The version of the hashes below. Raise it whenever they change, because counts with other hashes are useless.
pub(crate) const SCHEME: u32 = 1;

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Fingerprints {
    key: [u8; 16],
}

/// Doesn't print the key, which is a secret of the installation.
impl std::fmt::Debug for Fingerprints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fingerprints(…)")
    }
}

/// The pieces of a request with their hashes.
pub(super) struct Prints<'a> {
    pub pieces: Vec<(u128, Piece<'a>)>,
    /// For each piece, the hash of the conversation up to and including it.
    pub chain: Vec<u128>,
}

impl Fingerprints {
    pub(super) fn new(key: [u8; 16]) -> Self {
        Self { key }
    }

    pub(super) fn of<'a>(&self, chat: &'a ChatRequest) -> Prints<'a> {
        let has_tools = !chat.tools.is_empty();
        let mut tools: Vec<(u128, Piece<'_>)> =
            chat.tools.iter().map(|tool| (self.tool(&chat.model, tool), Piece::Tool(tool))).collect();
        tools.sort_by_key(|(print, _)| *print);
        let mut frame = self.start(b'f', &chat.model);
        frame.tag(u8::from(has_tools));
        let mut pieces = vec![(frame.finish(), Piece::Frame { has_tools })];
        pieces.append(&mut tools);
        pieces.extend(
            chat.messages
                .iter()
                .enumerate()
                .map(|(index, message)| (self.message(&chat.model, message), Piece::Message { index, message })),
        );

        let mut chain = Vec::with_capacity(pieces.len());
        let mut before = 0;
        for (print, _) in &pieces {
            let mut link = self.start(b'c', "");
            link.bytes(&u128::to_le_bytes(before));
            link.bytes(&print.to_le_bytes());
            before = link.finish();
            chain.push(before);
        }
        Prints { pieces, chain }
    }

    pub(super) fn message(&self, model: &str, message: &ChatMessage) -> u128 {
        let mut print = self.start(b'm', model);
        print.tag(match message.role {
            Role::User => b'u',
            Role::Assistant => b'a',
            Role::System => b's',
        });
        print.parts(&message.content, message.role, model);
        print.finish()
    }

    /// Hashes encrypted reasoning. The model isn't part of the hash: only the model that produced it gets it back.
    pub(super) fn thought(&self, encrypted: &str) -> u128 {
        let mut print = self.start(b'r', "");
        print.text(encrypted);
        print.finish()
    }

    fn tool(&self, model: &str, tool: &ToolDefinition) -> u128 {
        let mut print = self.start(b't', model);
        print.text(&tool.name);
        print.text(&tool.description);
        print.text(&tool.input_schema.as_ref().map(Value::to_string).unwrap_or_default());
        print.finish()
    }

    fn start(&self, kind: u8, model: &str) -> Print {
        let mut print = Print(SipHasher24::new_with_key(&self.key));
        print.tag(kind);
        print.text(model);
        print
    }
}

struct Print(SipHasher24);

/// Ends a text. The byte 0xFF never occurs in UTF-8.
const END: u8 = 0xFF;

impl Print {
    fn tag(&mut self, tag: u8) {
        self.0.write(&[tag]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn text(&mut self, text: &str) {
        self.0.write(text.as_bytes());
        self.tag(END);
    }

    fn parts(&mut self, parts: &[ChatPart], role: Role, model: &str) {
        // Adjacent texts are hashed as one.
        let mut in_text = false;
        for part in parts {
            if let ChatPart::Text { value } = part {
                if !value.is_empty() && !std::mem::replace(&mut in_text, true) {
                    self.tag(b't');
                }
                self.bytes(value.as_bytes());
                continue;
            }
            if !is_sent(part, role, model) {
                continue;
            }
            if std::mem::take(&mut in_text) {
                self.tag(END);
            }
            match part {
                ChatPart::Text { .. } => {}
                ChatPart::Thinking { replay } => {
                    self.tag(b'r');
                    for item in replay.iter().flat_map(|replay| &replay.items) {
                        self.text(&item.encrypted_content);
                    }
                }
                ChatPart::ToolCall { name, input_json, .. } => {
                    self.tag(b'c');
                    self.text(name);
                    // The text that the model wrote and the text that JavaScript makes of it must have the same hash.
                    match serde_json::from_str::<Value>(input_json) {
                        Ok(input) => self.text(&input.to_string()),
                        Err(_) if input_json.trim().is_empty() => self.text("{}"),
                        Err(_) => self.text(input_json.trim()),
                    }
                }
                ChatPart::ToolResult { content, is_error, .. } => {
                    self.tag(if *is_error { b'e' } else { b'o' });
                    self.parts(content, Role::User, model);
                    self.tag(END);
                }
                ChatPart::Data { mime_type, base64 } => {
                    self.tag(b'd');
                    self.text(mime_type);
                    self.text(base64.trim_end_matches('='));
                }
            }
        }
        if in_text {
            self.tag(END);
        }
    }

    fn finish(&self) -> u128 {
        self.0.finish128().as_u128()
    }
}

/// Returns whether any of the part reaches the model. The rules are those of `send/messages.rs`, without decoding data.
fn is_sent(part: &ChatPart, role: Role, model: &str) -> bool {
    match part {
        ChatPart::Text { .. } => true,
        ChatPart::ToolCall { .. } => role == Role::Assistant,
        ChatPart::ToolResult { .. } => role != Role::System,
        // VS Code's own markers have a type without a slash.
        ChatPart::Data { mime_type, .. } => role == Role::User && mime_type.contains('/'),
        ChatPart::Thinking { replay } => {
            role == Role::Assistant
                && replay.as_ref().is_some_and(|replay| {
                    replay.items.iter().any(|item| !item.encrypted_content.is_empty())
                        && replay.model.as_deref().is_none_or(|made_by| same_model(made_by, model))
                })
        }
    }
}

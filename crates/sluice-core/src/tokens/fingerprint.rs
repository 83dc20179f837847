//! Hashes of what the model sees. The same content has the same hash, wherever it is in the conversation.
//!
//! The hashes leave out ids, which servers keep out of the prompt. They also ignore differences in form: whether text
//! is in one part or several, and the order of JSON keys and of tools. A host that rewrites its history must not
//! invalidate the counts we have.

use std::hash::Hasher;

use serde_json::Value;
use siphasher::sip128::{Hasher128, SipHasher24};

use super::pieces::{Piece, PieceContent};
use crate::send::Prompt;
use crate::wire::{Content, InputItem, ItemOutput};

/// The version of the hashes below. Raise it whenever they change, because counts with other hashes are useless.
pub(crate) const SCHEME: u32 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
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

    pub(super) fn of<'a>(&self, prompt: &'a Prompt) -> Prints<'a> {
        let mut pieces: Vec<(u128, Piece<'_>)> =
            prompt.pieces().into_iter().map(|piece| (self.piece(piece), piece)).collect();
        // The order of tools doesn't matter to the model.
        if let Some(tools) = pieces.get_mut(1..=prompt.tools.len()) {
            tools.sort_by_key(|(print, _)| *print);
        }
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

    pub(super) fn of_message<'a>(&self, prompt: &'a Prompt) -> Vec<(u128, Piece<'a>)> {
        prompt.pieces_of_message().into_iter().map(|piece| (self.piece(piece), piece)).collect()
    }

    /// Returns the hash of a piece's content, whichever model and server it is sent to.
    pub(super) fn content(&self, piece: Piece<'_>) -> u128 {
        self.piece(Piece { model: "", origin: "", ..piece })
    }

    /// Returns the hash of some texts.
    pub(super) fn texts(&self, texts: &[&str]) -> u128 {
        let mut print = self.start(b'l', "");
        for text in texts {
            print.text(text);
        }
        print.finish()
    }

    pub(super) fn piece(&self, piece: Piece<'_>) -> u128 {
        let kind = match piece.content {
            PieceContent::Frame(_) => b'f',
            PieceContent::Tool(_) => b't',
            PieceContent::Instructions(_) => b's',
            PieceContent::Item { item, .. } => match item {
                InputItem::Message { .. } => b'm',
                InputItem::FunctionCall { .. } => b'k',
                InputItem::FunctionCallOutput { .. } => b'o',
                InputItem::Reasoning { .. } => b'r',
            },
        };
        // Only the model that produced reasoning gets it back.
        let (origin, model) = if piece.reasoning().is_some() { ("", "") } else { (piece.origin, piece.model) };
        let mut print = self.start(kind, model);
        print.text(origin);
        match piece.content {
            PieceContent::Frame(frame) => {
                for flag in [frame.has_tools, frame.has_instructions, frame.must_call, frame.thinks] {
                    print.tag(u8::from(flag));
                }
            }
            PieceContent::Tool(tool) => {
                print.text(&tool.name);
                print.text(&tool.description);
                print.text(&tool.parameters.to_string());
            }
            PieceContent::Instructions(text) => print.text(text),
            PieceContent::Item { item, .. } => print.item(item),
        }
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

    fn item(&mut self, item: &InputItem) {
        match item {
            InputItem::Message { role, content, phase } => {
                self.text(role);
                if let Some(phase) = phase {
                    self.tag(b'p');
                    self.text(phase);
                }
                self.content(content);
            }
            InputItem::FunctionCall { name, arguments, .. } => {
                self.text(name);
                // The text that the model wrote and the text that JavaScript makes of it must have the same hash.
                match serde_json::from_str::<Value>(arguments) {
                    Ok(arguments) => self.text(&arguments.to_string()),
                    Err(_) => self.text(arguments),
                }
            }
            InputItem::FunctionCallOutput { output: ItemOutput::Text(text), .. } => self.joined_texts(&[text]),
            InputItem::FunctionCallOutput { output: ItemOutput::Parts(content), .. } => self.content(content),
            InputItem::Reasoning { summary, content, encrypted_content, signature, .. } => {
                if let Some(sealed) = encrypted_content.as_ref().or(signature.as_ref()) {
                    self.text(sealed);
                } else {
                    self.content(summary);
                    self.content(content);
                }
            }
        }
    }

    fn content(&mut self, content: &[Content]) {
        let mut texts = Vec::new();
        for part in content {
            match part {
                Content::InputText { text }
                | Content::OutputText { text }
                | Content::SummaryText { text }
                | Content::ReasoningText { text } => texts.push(text.as_str()),
                Content::InputFile { file_data, .. } => {
                    self.joined_texts(&std::mem::take(&mut texts));
                    self.tag(b'f');
                    self.text(file_data.trim_end_matches('='));
                }
                Content::InputImage { image_url, .. } => {
                    self.joined_texts(&std::mem::take(&mut texts));
                    self.tag(b'i');
                    self.text(image_url.trim_end_matches('='));
                }
            }
        }
        self.joined_texts(&texts);
    }

    /// Adjacent texts are hashed as one.
    fn joined_texts(&mut self, texts: &[&str]) {
        if texts.iter().any(|text| !text.is_empty()) {
            self.tag(b't');
            for text in texts {
                self.bytes(text.as_bytes());
            }
            self.tag(END);
        }
    }

    fn finish(&self) -> u128 {
        self.0.finish128().as_u128()
    }
}

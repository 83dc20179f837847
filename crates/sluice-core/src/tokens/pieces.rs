//! Splits a prompt into the pieces that cost tokens, and counts each piece on its own.
//!
//! Together, the pieces of a prompt cost exactly as much as its request body (see `tokens/request.rs`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::Counter;
use super::request::{Around, Frame, Tally};
use super::tokenizer::Family;
use crate::boundary::ChatMessage;
use crate::send::Prompt;
use crate::wire::{Content, FunctionTool, InputItem};

/// A part of a prompt that costs tokens: the frame that every request has, a tool, the instructions, or an item.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    pub(super) model: &'a str,
    pub(super) origin: &'a str,
    pub(super) content: PieceContent<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PieceContent<'a> {
    Frame(Frame<'a>),
    Tool(&'a FunctionTool),
    Instructions(&'a str),
    Item { item: &'a InputItem, called: Option<&'a str>, is_lone_call: bool, is_first_call: bool, lacks_thought: bool },
}

impl Piece<'_> {
    /// Returns the JSON of this piece in the request body. The frame isn't in the body: the server adds it.
    pub fn to_json(self) -> Option<Value> {
        match self.content {
            PieceContent::Frame(_) => None,
            PieceContent::Tool(tool) => serde_json::to_value(tool).ok(),
            PieceContent::Instructions(text) => Some(Value::from(text)),
            PieceContent::Item { item, .. } => serde_json::to_value(item).ok(),
        }
    }

    pub(super) fn is_frame(self) -> bool {
        matches!(self.content, PieceContent::Frame(_))
    }

    pub(super) fn is_instructions(self) -> bool {
        matches!(self.content, PieceContent::Instructions(_))
    }

    /// Returns the length of the encrypted or plain reasoning if this piece is a reasoning item.
    pub(super) fn reasoning(&self) -> Option<usize> {
        let PieceContent::Item { item: InputItem::Reasoning { content, encrypted_content, .. }, .. } = self.content
        else {
            return None;
        };
        let plain = content.iter().map(|part| match part {
            Content::ReasoningText { text } => text.len(),
            _ => 0,
        });
        Some(encrypted_content.as_deref().map_or_else(|| plain.sum(), str::len))
    }
}

impl Prompt {
    /// Returns the pieces of a whole request. Reasoning that the server discards isn't one of them.
    pub fn pieces(&self) -> Vec<Piece<'_>> {
        let family = Family::of(&self.model);
        let last_question = self.items.iter().rposition(InputItem::is_question);
        let is_seen = |index: usize, piece: &Piece<'_>| {
            piece.reasoning().is_none() || family.sees_reasoning(index, last_question)
        };
        let only_tool = match self.tools.as_slice() {
            [tool] => Some(tool.name.as_str()),
            _ => None,
        };
        let frame = PieceContent::Frame(Frame {
            has_tools: !self.tools.is_empty(),
            has_instructions: self.instructions.is_some(),
            must_call: self.must_call,
            only_tool,
            thinks: self.thinks,
            is_sequential: false,
        });
        let before = std::iter::once(frame)
            .chain(self.tools.iter().map(PieceContent::Tool))
            .chain(self.instructions.as_deref().map(PieceContent::Instructions));
        let items = self.items(self.tools.len(), last_question).enumerate();
        let items = items.filter(|(index, piece)| is_seen(*index, piece)).map(|(_, piece)| piece);
        before.map(|content| Piece { model: &self.model, origin: &self.origin, content }).chain(items).collect()
    }

    /// Returns the pieces of one message, as in a request that offers several tools.
    pub(super) fn pieces_of_message(&self) -> Vec<Piece<'_>> {
        let instructions = self.instructions.as_deref().map(PieceContent::Instructions);
        let instructions = instructions.map(|content| Piece { model: &self.model, origin: &self.origin, content });
        instructions.into_iter().chain(self.items(2, None)).collect()
    }

    fn items(&self, offered_tools: usize, last_question: Option<usize>) -> impl Iterator<Item = Piece<'_>> {
        let mut names = BTreeMap::new();
        self.items.iter().enumerate().map(move |(index, item)| {
            let is_call = |index: Option<usize>| {
                let item = index.and_then(|index| self.items.get(index));
                matches!(item, Some(InputItem::FunctionCall { .. }))
            };
            if let InputItem::FunctionCall { call_id, name, .. } = item {
                names.insert(call_id.as_str(), name.as_str());
            }
            let called = match item {
                InputItem::FunctionCallOutput { call_id, .. } => names.get(call_id.as_str()).copied(),
                _ => None,
            };
            let before = index.checked_sub(1);
            let is_lone = is_call(Some(index)) && !is_call(before) && !is_call(Some(index + 1));
            let has_thought =
                matches!(before.and_then(|before| self.items.get(before)), Some(InputItem::Reasoning { .. }));
            let content = PieceContent::Item {
                item,
                called,
                is_lone_call: is_lone && offered_tools > 1,
                is_first_call: is_call(Some(index)) && !is_call(before),
                lacks_thought: last_question.is_some_and(|last| index > last) && !is_call(before) && !has_thought,
            };
            Piece { model: &self.model, origin: &self.origin, content }
        })
    }
}

impl Counter {
    /// Counts one piece.
    pub fn piece(self, piece: Piece<'_>) -> u32 {
        let counter = if piece.origin.is_empty() { self } else { self.for_server(piece.origin) };
        let mut tally = Tally::new(counter, piece.model);
        match piece.content {
            PieceContent::Frame(frame) => tally.frame(frame),
            PieceContent::Tool(tool) => tally.function_tool(tool),
            PieceContent::Instructions(text) => tally.instructions(text),
            PieceContent::Item { item, called, is_lone_call, is_first_call, lacks_thought } => {
                let item = serde_json::to_value(item).unwrap_or_default();
                let around = Around { called, is_lone_call, is_first_call, lacks_thought, sees_reasoning: true };
                tally.item(&item, &around);
            }
        }
        tally.finish().input_tokens
    }

    /// Counts one message, including its overhead in a request.
    pub fn message(self, model: &str, message: &ChatMessage) -> u32 {
        let prompt = Prompt::of_message(model, message);
        prompt.pieces_of_message().into_iter().map(|piece| self.piece(piece)).fold(0, u32::saturating_add)
    }
}

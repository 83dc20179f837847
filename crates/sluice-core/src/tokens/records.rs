//! Describes the pieces of a prompt for the record of a request: names, sizes and fingerprints, no text.

use super::known::KnownCounts;
use super::pieces::{Piece, PieceContent};
use super::rounding::shares;
use crate::boundary::{PieceGroup, PieceKind, PieceRecord};
use crate::send::Prompt;
use crate::wire::{Content, InputItem, ItemOutput};

/// The maximum number of lines of the instructions that are recorded.
const MAX_LINES: usize = 2_000;

impl KnownCounts {
    /// Describes the pieces of a prompt in the order in which they are sent. Their tokens add up to `total`.
    pub(crate) fn records(
        &self,
        prompt: &Prompt,
        total: u64,
        factor: f64,
        raw: &dyn Fn(Piece<'_>) -> u32,
    ) -> Vec<PieceRecord> {
        // Reasoning, calls and messages that the model wrote.
        let is_answer = |piece: &Piece<'_>| match piece.content {
            PieceContent::Item { item: InputItem::Message { role, .. }, .. } => *role == "assistant",
            PieceContent::Item { item, .. } => !matches!(item, InputItem::FunctionCallOutput { .. }),
            _ => false,
        };
        let pieces = prompt.pieces();
        let last_answer = pieces.iter().rposition(is_answer);
        let mut records: Vec<PieceRecord> = pieces
            .iter()
            .enumerate()
            .map(|(index, piece)| {
                let (kind, name) = describe(piece.content);
                let group = match kind {
                    PieceKind::Frame | PieceKind::System => PieceGroup::System,
                    PieceKind::Tool => PieceGroup::Tools,
                    _ if last_answer.is_some_and(|last| index <= last) => PieceGroup::History,
                    _ => PieceGroup::New,
                };
                let images = images(piece.content);
                PieceRecord {
                    kind,
                    group,
                    name: name.map(str::to_owned),
                    fingerprint: short(self.fingerprints.content(*piece)),
                    images: (!images.is_empty()).then(|| short(self.fingerprints.texts(&images))),
                    lines: match piece.content {
                        PieceContent::Instructions(text) => {
                            text.lines().take(MAX_LINES).map(|line| self.line_print(line)).collect()
                        }
                        _ => Vec::new(),
                    },
                    tokens: self.piece_tokens(*piece, factor, raw),
                }
            })
            .collect();
        scale(&mut records, total);
        records
    }

    /// Returns the fingerprint of a text, or `None` if it is empty.
    pub(crate) fn text_print(&self, text: &str) -> Option<String> {
        (!text.is_empty()).then(|| short(self.fingerprints.texts(&[text])))
    }

    /// Returns the fingerprint of a line of the instructions.
    #[expect(clippy::cast_possible_truncation, reason = "a part of a hash is a hash")]
    pub(crate) fn line_print(&self, line: &str) -> u32 {
        self.fingerprints.texts(&[line]) as u32
    }
}

/// Changes the tokens of pieces so that they add up to a total.
pub(crate) fn scale(records: &mut [PieceRecord], total: u64) {
    let sum: u64 = records.iter().map(|record| u64::from(record.tokens)).sum();
    if sum == 0 || sum == total {
        return;
    }
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let factor = total as f64 / sum as f64;
    let scaled = shares(records.iter().map(|record| (0, f64::from(record.tokens) * factor)));
    for (record, (_, tokens)) in records.iter_mut().zip(scaled) {
        record.tokens = tokens;
    }
}

fn describe(content: PieceContent<'_>) -> (PieceKind, Option<&str>) {
    match content {
        PieceContent::Frame(_) => (PieceKind::Frame, None),
        PieceContent::Tool(tool) => (PieceKind::Tool, Some(&tool.name)),
        PieceContent::Instructions(_) => (PieceKind::System, None),
        PieceContent::Item { item, called, .. } => match item {
            InputItem::Message { role, .. } => (PieceKind::Message, Some(role)),
            InputItem::FunctionCall { name, .. } => (PieceKind::Call, Some(name)),
            InputItem::FunctionCallOutput { .. } => (PieceKind::Result, called),
            InputItem::Reasoning { .. } => (PieceKind::Reasoning, None),
        },
    }
}

/// Returns the images and files of a piece.
fn images(content: PieceContent<'_>) -> Vec<&str> {
    let PieceContent::Item { item, .. } = content else { return Vec::new() };
    let parts = match item {
        InputItem::Message { content, .. }
        | InputItem::FunctionCallOutput { output: ItemOutput::Parts(content), .. } => content.as_slice(),
        _ => &[],
    };
    let data = parts.iter().filter_map(|part| match part {
        Content::InputImage { image_url, .. } => Some(image_url.as_str()),
        Content::InputFile { file_data, .. } => Some(file_data.as_str()),
        _ => None,
    });
    data.collect()
}

fn short(print: u128) -> String {
    format!("{:016x}", print >> 64)
}

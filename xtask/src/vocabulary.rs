//! `cargo xtask vocabulary FILE`: builds `crates/sluice-core/data/gemma.vocabulary` from Gemma's `tokenizer.json`. The form
//! is described in `crates/sluice-core/src/tokens/gemma.rs`, and where to get the file in the README beside the vocabulary.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Done;

const VOCABULARY: &str = "crates/sluice-core/data/gemma.vocabulary";
/// Tokens that mark something and never come from text.
const MARKERS: [&str; 10] = [
    "<pad>",
    "<eos>",
    "<bos>",
    "<unk>",
    "<mask>",
    "[multimodal]",
    "<start_of_turn>",
    "<end_of_turn>",
    "<start_of_image>",
    "<end_of_image>",
];
/// Ranks below this one keep almost all of their precision.
const LINEAR: f64 = 200.0;
/// The number of different ranks in the file.
const RANKS: f64 = 1024.0;

pub fn build(tokenizer: &Path) -> Done {
    let cannot = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", tokenizer.display());
    let text = fs::read_to_string(tokenizer).map_err(|error| cannot(&error))?;
    let json: Value = serde_json::from_str(&text).map_err(|error| cannot(&error))?;
    let ids = json["model"]["vocab"].as_object().ok_or_else(|| cannot(&"it has no model.vocab"))?;
    let is_text = |piece: &str| {
        let is_bytes_or_unused = piece.ends_with('>') && (piece.starts_with("<unused") || piece.starts_with("<0x"));
        !MARKERS.contains(&piece) && !is_bytes_or_unused
    };
    // A piece with a lower id was merged earlier.
    let mut by_id: Vec<(u64, &str)> = ids
        .iter()
        .filter(|(piece, _)| is_text(piece))
        .map(|(piece, id)| (id.as_u64().unwrap_or(u64::MAX), piece.as_str()))
        .collect();
    by_id.sort_unstable();
    let pieces: BTreeMap<&[u8], u16> =
        by_id.iter().enumerate().map(|(at, (_, piece))| (piece.as_bytes(), rank(at, by_id.len()))).collect();
    let bytes = file(&pieces).ok_or_else(|| cannot(&"a piece is longer than 255 bytes"))?;
    fs::write(VOCABULARY, &bytes).map_err(|error| format!("cannot write {VOCABULARY}: {error}"))?;
    println!("{VOCABULARY}: {} pieces, {} bytes", pieces.len(), bytes.len());
    Ok(())
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers"
)]
fn rank(at: usize, count: usize) -> u16 {
    (RANKS * (at as f64 / LINEAR).ln_1p() / (count as f64 / LINEAR).ln_1p()) as u16
}

/// Writes the columns. Pieces are sorted by their bytes.
fn file(pieces: &BTreeMap<&[u8], u16>) -> Option<Vec<u8>> {
    let (mut shared, mut added, mut suffixes) = (Vec::new(), Vec::new(), Vec::new());
    let mut before: &[u8] = &[];
    for piece in pieces.keys() {
        let common = piece.iter().zip(before).take_while(|(one, other)| one == other).count();
        shared.push(u8::try_from(common).ok()?);
        added.push(u8::try_from(piece.len() - common).ok()?);
        suffixes.extend_from_slice(&piece[common..]);
        before = piece;
    }
    let ranks: Vec<u16> = pieces.values().copied().collect();
    let high = ranks.iter().map(|rank| (rank >> 2).to_le_bytes()[0]);
    let pack = |four: &[u16]| four.iter().rev().fold(0, |bits, rank| bits << 2 | (rank & 3).to_le_bytes()[0]);
    let low = ranks.chunks(4).map(pack);
    let count = u32::try_from(pieces.len()).ok()?;
    let mut bytes = b"sluiceG1".to_vec();
    bytes.extend(count.to_le_bytes());
    bytes.extend(shared);
    bytes.extend(added);
    bytes.extend(high);
    bytes.extend(low);
    bytes.extend(suffixes);
    Some(bytes)
}

//! Counts images: reads the size from the file's header and applies the model's rule.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::tokenizer::Family;
use crate::image_type::image_type;

/// How much base64 is decoded to find the size. Only in JPEG can the size come late, after embedded thumbnails and
/// profiles.
const HEAD: usize = 512 << 10;
/// The size assumed for an image whose size is unknown.
const UNSEEN: Size = Size { width: 1024, height: 1024 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub width: u32,
    pub height: u32,
}

/// Returns the size of an image in base64, if its header has one.
pub(super) fn size_in_base64(base64: &str) -> Option<Size> {
    let head = base64.get(..base64.len().min(HEAD)).unwrap_or(base64).trim_end_matches('=');
    // A cut text is decoded up to the last whole group of four characters.
    let whole = head.get(..head.len() / 4 * 4).unwrap_or_default();
    let whole = if head.len() == base64.trim_end_matches('=').len() { head } else { whole };
    size(&STANDARD_NO_PAD.decode(whole).ok()?)
}

/// Returns whether a file's header says how large the image is.
pub(crate) fn has_image_size(file: &[u8]) -> bool {
    size(file).is_some()
}

pub(super) fn size(file: &[u8]) -> Option<Size> {
    let be = |at: usize, bytes: usize| number(file, at, bytes, true);
    let le = |at: usize, bytes: usize| number(file, at, bytes, false);
    let (width, height) = match image_type(file) {
        Some("image/png") => (be(16, 4)?, be(20, 4)?),
        Some("image/gif") => (le(6, 2)?, le(8, 2)?),
        Some("image/jpeg") => jpeg(file)?,
        Some("image/webp") => match file.get(12..16)? {
            b"VP8X" => (le(24, 3)? + 1, le(27, 3)? + 1),
            b"VP8L" => {
                let bits = le(21, 4)?;
                ((bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1)
            }
            b"VP8 " => (le(26, 2)? & 0x3FFF, le(28, 2)? & 0x3FFF),
            _ => return None,
        },
        _ => return None,
    };
    (width > 0 && height > 0).then_some(Size { width, height })
}

/// Reads the size from the segment that starts a frame. JPEG is a chain of segments.
fn jpeg(file: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [marker, code] = [*file.get(at)?, *file.get(at + 1)?];
        match (marker, code) {
            // A marker may be preceded by any number of fill bytes.
            (0xFF, 0xFF) => at += 1,
            (0xFF, 0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF) => {
                return Some((number(file, at + 7, 2, true)?, number(file, at + 5, 2, true)?));
            }
            (0xFF, 0x01 | 0xD0..=0xD8) => at += 2,
            (0xFF, _) => at += 2 + number(file, at + 2, 2, true)? as usize,
            _ => return None,
        }
    }
}

fn number(file: &[u8], at: usize, bytes: usize, big_endian: bool) -> Option<u32> {
    let bytes = file.get(at..at.checked_add(bytes)?)?;
    let add = |sum: u32, byte: &u8| (sum << 8) | u32::from(*byte);
    Some(if big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
}

/// Counts the tokens of one image. `detail` is `low`, `high`, `auto` or empty, as in the protocol.
pub(super) fn tokens(model: &str, size: Option<Size>, detail: &str) -> u32 {
    let Size { width, height } = size.unwrap_or(UNSEEN);
    // No format and no server supports larger images.
    let (width, height) = (f64::from(width.min(65_535)), f64::from(height.min(65_535)));
    match rule(model) {
        Rule::Tiles { base, .. } if detail == "low" => base,
        Rule::Tiles { base, tile } => {
            // The image is scaled to fit into a square of 2048, then until its shorter side is 768, and is cut into
            // tiles of 512.
            let fit = (2048.0 / width.max(height)).min(1.0);
            let (width, height) = (width * fit, height * fit);
            let shrink = (768.0 / width.min(height)).min(1.0);
            base + tile * tiles(width * shrink, 512.0) * tiles(height * shrink, 512.0)
        }
        Rule::Patches { percent, most } => {
            let patches = |scale: f64| tiles(width * scale, 32.0) * tiles(height * scale, 32.0);
            let most = if detail == "low" { 256 } else { most };
            let mut count = patches(1.0);
            if count > most {
                // The image is scaled down to the budget, then a little more until one side is a whole number of
                // patches.
                let scale = (f64::from(most) * 1024.0 / (width * height)).sqrt();
                let trim = |side: f64| (side * scale / 32.0).floor().max(1.0) / (side * scale / 32.0);
                count = patches(scale * trim(width).min(trim(height)) * 0.999_999).min(most);
            }
            // Each image has an overhead of one token.
            (count * percent).div_ceil(100) + 1
        }
        Rule::Pixels { longest, per_token, most } => {
            let fit = (longest / width.max(height)).min(1.0);
            whole(width * fit * height * fit / per_token).min(most) + 4
        }
        Rule::Crops => {
            if width.max(height) <= 384.0 {
                return 258;
            }
            let crop = (width.min(height) / 1.5).clamp(256.0, 768.0);
            // The whole image is shown in addition to the crops.
            258 * (tiles(width, crop) * tiles(height, crop) + 1)
        }
        Rule::Flat(tokens) => tokens,
        Rule::Grid { side } => {
            let cells = |length: f64| whole((length / side).round().max(1.0));
            (cells(width) * cells(height)).min(16_384) + 2
        }
        Rule::Rows { side, longest } => {
            let fit = (longest / width.max(height)).min(1.0);
            (tiles(width * fit, side) + 1) * tiles(height * fit, side)
        }
        Rule::Squares { side, tokens, most } => {
            let squares = (tiles(width, side) * tiles(height, side)).min(most);
            // The whole image is shown in addition to the squares.
            tokens * if squares > 1 { squares + 1 } else { 1 }
        }
    }
}

enum Rule {
    Tiles {
        base: u32,
        tile: u32,
    },
    Patches {
        percent: u32,
        most: u32,
    },
    Pixels {
        longest: f64,
        per_token: f64,
        most: u32,
    },
    Crops,
    /// The same for every image.
    Flat(u32),
    /// A token for each cell of a grid to which the image is fitted.
    Grid {
        side: f64,
    },
    /// A token for each square that the image is cut into, and one for each row.
    Rows {
        side: f64,
        longest: f64,
    },
    /// The image is cut into squares of the same cost, up to a maximum number.
    Squares {
        side: f64,
        tokens: u32,
        most: u32,
    },
}

/// Returns the rule that the provider has published. The percentage for gpt-5.4 and later, and the rules for Gemini,
/// Qwen, Llama and Nova, were derived from recordings.
fn rule(model: &str) -> Rule {
    let is = |part: &str| model.to_ascii_lowercase().contains(part);
    match Family::of(model).name {
        "gpt-4o" if is("4.1-mini") => Rule::Patches { percent: 162, most: 1536 },
        "gpt-4o" if is("4.1-nano") => Rule::Patches { percent: 246, most: 1536 },
        "gpt-4o" if is("4o-mini") => Rule::Tiles { base: 2833, tile: 5667 },
        "gpt-4o" | "gpt-4" => Rule::Tiles { base: 85, tile: 170 },
        "o-series" if is("o4-mini") || is("codex") => Rule::Patches { percent: 172, most: 1536 },
        "o-series" => Rule::Tiles { base: 75, tile: 150 },
        "gpt-5" | "gpt-5.4" | "gpt-5.6" if is("mini") => Rule::Patches { percent: 162, most: 1536 },
        "gpt-5" | "gpt-5.4" | "gpt-5.6" if is("nano") => Rule::Patches { percent: 246, most: 1536 },
        "gpt-5" => Rule::Tiles { base: 70, tile: 140 },
        "gpt-5.4" | "gpt-5.6" => Rule::Patches { percent: 120, most: 2500 },
        // Since Opus 4.7, images may have up to 2576 pixels on the longer side.
        "claude-4.7" | "claude-4.8" | "claude-5" | "claude-opus-5" => {
            Rule::Pixels { longest: 2576.0, per_token: 750.0, most: 4784 }
        }
        name if name.starts_with("claude") => Rule::Pixels { longest: 1568.0, per_token: 750.0, most: 1600 },
        "gemini-3" => Rule::Flat(1085),
        "gemini-2.5" | "gemini-2.5-preview" | "gemma" => Rule::Flat(258),
        "gemini" => Rule::Crops,
        "qwen-2" | "qwen-2-vision" => Rule::Grid { side: 28.0 },
        name if name.starts_with("qwen") => Rule::Grid { side: 32.0 },
        // As in Mistral's published code.
        name if name.contains("stral") && is("pixtral") => Rule::Rows { side: 16.0, longest: 1024.0 },
        name if name.contains("stral") => Rule::Rows { side: 28.0, longest: 1540.0 },
        "llama-4" | "llama-guard" => Rule::Squares { side: 336.0, tokens: 144, most: 15 },
        "nova" => Rule::Flat(1808),
        // Newer ones count fewer tokens for small images, and nothing is published about them.
        name if name.starts_with("grok") && name != "grok-4.3" => Rule::Squares { side: 448.0, tokens: 256, most: 6 },
        _ => Rule::Pixels { longest: 2048.0, per_token: 784.0, most: 4096 },
    }
}

fn tiles(length: f64, side: f64) -> u32 {
    whole((length / side).ceil().max(1.0))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are positive and casts saturate")]
fn whole(number: f64) -> u32 {
    number.ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_headers() {
        let found = |file: &[u8]| size(file).map(|size| (size.width, size.height));
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x76\0\0\0\x8a\x08\x06";
        assert_eq!(found(png), Some((630, 138)));
        assert_eq!(found(b"GIF89a\x0a\x00\x14\x00"), Some((10, 20)));
        // A thumbnail's segment and a fill byte come before the frame.
        let jpeg = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc2\x00\x11\x08\x01\x00\x02\x00\x03";
        assert_eq!(found(jpeg), Some((512, 256)));
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0";
        assert_eq!(found(extended), Some((640, 480)));
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x40\x01\xf0\x00";
        assert_eq!(found(lossy), Some((320, 240)));
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x3f\xc1\x3b\x00";
        assert_eq!(found(lossless), Some((320, 240)));
        for broken in [b"\xff\xd8\xff".as_slice(), b"\x89PNG", b"GIF8", b"RIFF\0\0\0\0WEBPVP8X", b"", b"hello"] {
            assert_eq!(found(broken), None);
        }
    }

    #[test]
    fn tokens_follow_the_published_rules() {
        let cost = |model: &str, width, height| tokens(model, Some(Size { width, height }), "auto");
        // The examples in the providers' documentation.
        assert_eq!(cost("gpt-4o", 1024, 1024), 765);
        assert_eq!(cost("gpt-4o", 2048, 4096), 1105);
        assert_eq!(tokens("gpt-4o", Some(Size { width: 4096, height: 8192 }), "low"), 85);
        assert_eq!(cost("gpt-4.1-mini", 1024, 1024), 1659 + 1);
        assert_eq!(cost("gpt-4.1-mini", 1800, 2400), (1452 * 162_u32).div_ceil(100) + 1);
        assert_eq!(cost("claude-sonnet-4.5", 1000, 1000), 1334 + 4);
        assert_eq!(cost("gemini-2.0-flash", 384, 384), 258);
        // In recordings, the server lists the tokens of images separately.
        assert_eq!(cost("gemini-2.0-flash", 540, 360), 1806);
        assert_eq!(cost("gemini-2.0-flash", 3008, 2000), 3354);
        assert_eq!(cost("gemini-2.5-flash", 603, 427), 258);
        assert_eq!(cost("gemini-3.5-flash", 330, 291), 1085);
        assert_eq!(cost("qwen3.5-35b-a3b", 330, 291), 92);
        assert_eq!(cost("mistral-large-2512", 330, 291), 13 * 11);
        assert_eq!(cost("mistral-medium-latest", 128, 128), 6 * 5);
        assert_eq!(cost("pixtral-12b", 597, 566), 39 * 36);
        assert_eq!(cost("llama-4-maverick", 597, 566), 5 * 144);
        assert_eq!(cost("llama-4-maverick", 400, 301), 3 * 144);
        assert_eq!(cost("grok-4-1-fast-non-reasoning", 128, 128), 256);
        assert_eq!(cost("grok-4", 1024, 1024), 1792);
        // What is left of recorded counts without the text.
        assert_eq!(cost("gpt-5.6-luna", 330, 291), 133);
        assert_eq!(cost("gpt-4.1-nano", 540, 360), 503);
        // No size causes an overflow or a panic.
        for model in ["gpt-4o", "gpt-5.5", "claude-opus-4.7", "gemini-3-pro", "other"] {
            for side in [1, 31, 100_000, u32::MAX] {
                assert!(cost(model, side, 1) < 400_000_000, "{model} {side}");
            }
        }
    }
}

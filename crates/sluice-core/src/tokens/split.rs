//! Splits text into words before pairs are merged, as the patterns of OpenAI's vocabularies do. Words follow each other
//! without gaps.
//!
//! The patterns are regular expressions with backtracking. Each function here finds the end of one word; the comments
//! name the alternatives of the pattern in the order in which they are tried.

use super::layout::class::{CASELESS, LOWER, MARK, NEWLINE, NUMBER, OTHER, SPACE, UPPER};

const LETTER: u8 = UPPER | LOWER | CASELESS;
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
const BIG: u8 = UPPER | CASELESS | MARK;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
const SMALL: u8 = LOWER | CASELESS | MARK;
/// `[^\r\n\p{L}\p{N}]`
const LEAD: u8 = MARK | SPACE | OTHER;
/// `[^\s\p{L}\p{N}]`
const SIGN: u8 = MARK | OTHER;

/// Classes of the characters of one byte. The first bytes of others have none.
static ASCII: &[u8; 256] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.ascii"));
/// Which block of 256 classes the high bits of a character select.
static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.blocks"));
static CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes"));

/// Returns the end of the word that starts at `at`, for the pattern of `o200k_base`.
#[inline]
pub(super) fn o200k(text: &[u8], at: usize) -> usize {
    // `[^\r\n\p{L}\p{N}]?BIG*SMALL+('s|…)?`, then the same with `BIG+SMALL*`. In ASCII, no letter is in both classes, so
    // the two end at the same place.
    let class = text.get(at).map_or(0, |byte| ascii_class(*byte));
    if class & (LETTER | LEAD) != 0 {
        let start = at + usize::from(class & LETTER == 0);
        let end = ascii_run(text, ascii_run(text, start, UPPER), LOWER);
        match text.get(end) {
            Some(next) if !next.is_ascii() => return any_o200k(text, at),
            Some(b'\'') if end > start => return end + contraction(text, end),
            _ if end > start => return end,
            _ => {}
        }
    } else if class == 0 {
        return any_o200k(text, at);
    }
    rest(text, at, class, true)
}

/// Like [`o200k`], for any characters.
fn any_o200k(text: &[u8], at: usize) -> usize {
    let (class, length) = class_at(text, at);
    if class & (LETTER | LEAD) != 0 {
        let (small, big) = letters(text, if class & LETTER == 0 { at + length } else { at });
        let end = match small {
            Some(end) => Some(end),
            // A mark is in both classes, so the first alternative matches without the optional character before it.
            None if class & MARK != 0 => letters(text, at).0,
            None => big,
        };
        if let Some(end) = end {
            return end + contraction(text, end);
        }
    }
    rest(text, at, class, true)
}

/// Returns the end of the word that starts at `at`, for the pattern of `cl100k_base`.
#[inline]
pub(super) fn cl100k(text: &[u8], at: usize) -> usize {
    // `'s|…`
    let contraction = contraction(text, at);
    if contraction > 0 {
        return at + contraction;
    }
    // `[^\r\n\p{L}\p{N}]?\p{L}+`
    let (class, length) = class_at(text, at);
    let start = if class & LEAD == 0 { at } else { at + length };
    let end = run(text, start, LETTER);
    if end > start { end } else { rest(text, at, class, false) }
}

/// The alternatives that both patterns share. Slashes after newlines belong to a word only for `o200k_base`.
#[inline]
fn rest(text: &[u8], at: usize, class: u8, takes_slashes: bool) -> usize {
    // `\p{N}{1,3}`
    if class & NUMBER != 0 {
        let mut end = at;
        for _ in 0..3 {
            let (class, length) = class_at(text, end);
            if class & NUMBER == 0 {
                break;
            }
            end += length;
        }
        return end;
    }
    // ` ?[^\s\p{L}\p{N}]+[\r\n/]*`
    let start = if text.get(at) == Some(&b' ') { at + 1 } else { at };
    let mut end = run(text, start, SIGN);
    if end > start {
        while text.get(end).is_some_and(|byte| matches!(byte, b'\r' | b'\n') || *byte == b'/' && takes_slashes) {
            end += 1;
        }
        return end;
    }
    whitespace(text, at)
}

/// `\s*[\r\n]+`, then `\s+(?!\S)`, then `\s+`.
fn whitespace(text: &[u8], at: usize) -> usize {
    let (mut end, mut last, mut newline) = (at, at, None);
    loop {
        let (class, length) = class_at(text, end);
        if class & (SPACE | NEWLINE) == 0 {
            break;
        }
        last = end;
        end += length;
        if class == NEWLINE {
            newline = Some(end);
        }
    }
    match newline {
        Some(newline) => newline,
        // The last space belongs to the word after it.
        None if end < text.len() && last > at => last,
        None => end,
    }
}

/// Returns the end of `BIG*SMALL+`, then the one of `BIG+SMALL*`, which is only meant for the case that the first one
/// doesn't match.
fn letters(text: &[u8], start: usize) -> (Option<usize>, Option<usize>) {
    let mut end = start;
    // If no small letter follows, the last character that is in both classes is the end.
    let mut both = None;
    loop {
        let (class, length) = class_at(text, end);
        if class & BIG == 0 {
            break;
        }
        end += length;
        if class & SMALL != 0 {
            both = Some(end);
        }
    }
    let small = run(text, end, SMALL);
    (if small > end { Some(small) } else { both }, (end > start).then_some(end))
}

/// Returns the length of `(?i:'s|'t|'re|'ve|'m|'ll|'d)`, or zero.
#[inline]
fn contraction(text: &[u8], at: usize) -> usize {
    if text.get(at) != Some(&b'\'') {
        return 0;
    }
    let letter = |index: usize| text.get(at + index).map_or(0, u8::to_ascii_lowercase);
    match (letter(1), letter(2)) {
        (b's' | b't' | b'm' | b'd', _) => 2,
        // The last one is a long s, which is an s if case is ignored.
        (b'l', b'l') | (b'r' | b'v', b'e') | (0xC5, 0xBF) => 3,
        _ => 0,
    }
}

/// Returns the end of the characters of some classes.
#[inline]
fn run(text: &[u8], start: usize, classes: u8) -> usize {
    let mut at = start;
    loop {
        at = ascii_run(text, at, classes);
        let (class, length) = class_at(text, at);
        if class & classes == 0 {
            return at;
        }
        at += length;
    }
}

/// Returns the end of the ASCII characters of some classes.
#[inline]
fn ascii_run(text: &[u8], start: usize, classes: u8) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    start + rest.iter().position(|byte| ascii_class(*byte) & classes == 0).unwrap_or(rest.len())
}

#[inline]
fn ascii_class(byte: u8) -> u8 {
    ASCII.get(usize::from(byte)).copied().unwrap_or(0)
}

/// Returns the class and the length of a character. The end of the text has no class.
#[inline]
fn class_at(text: &[u8], at: usize) -> (u8, usize) {
    match text.get(at) {
        Some(byte) if byte.is_ascii() => (ascii_class(*byte), 1),
        Some(byte) => class_of_wide(text, at, *byte),
        None => (0, 0),
    }
}

#[inline(never)]
fn class_of_wide(text: &[u8], at: usize, first: u8) -> (u8, usize) {
    let bits = |index: usize| text.get(at + index).map_or(0, |byte| usize::from(byte & 0x3F));
    let (code, length) = match first {
        ..0xE0 => (usize::from(first & 0x1F) << 6 | bits(1), 2),
        0xE0..0xF0 => (usize::from(first & 0x0F) << 12 | bits(1) << 6 | bits(2), 3),
        _ => (usize::from(first & 0x07) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3), 4),
    };
    let block = BLOCKS.get(code >> 8).map_or(0, |block| usize::from(*block));
    (CLASSES.get(block << 8 | code & 0xFF).copied().unwrap_or(OTHER), length)
}

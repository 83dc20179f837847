//! Finds known values in text, however they are spelled. Each spelling is searched for in one pass
//! (Knuth-Morris-Pratt), so that no text can make the search slow.

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::SHORTEST;
use crate::receive::is_hidden;

/// How often text may be quoted inside text: a provider's error inside a gateway's error, for example.
const MAX_LEVELS: usize = 2;

/// How much of a text is searched at once.
const WINDOW: usize = 256 << 10;

/// One spelling of a secret.
#[derive(Clone)]
pub(super) struct Needle {
    bytes: Vec<u8>,
    /// For every prefix, the length of the longest other prefix that it ends with.
    borders: Vec<usize>,
    spelling: Spelling,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Plain,
    Hex,
    Base64,
}

impl Needle {
    /// The secret itself, in hexadecimal, and in base64 at each of the three offsets.
    pub(super) fn all_of(secret: &str) -> impl Iterator<Item = Self> {
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        let base64 = (0..3).filter_map(|before| {
            let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(secret.bytes()).collect();
            // Characters that also depend on the bytes before or after the secret are not part of the needle.
            let whole = bytes.len() * 8 / 6;
            let encoded = STANDARD_NO_PAD.encode(bytes);
            encoded.as_bytes().get((before * 8).div_ceil(6)..whole).map(<[u8]>::to_vec)
        });
        let plain = Self::new(&secret.as_bytes().to_ascii_lowercase(), Spelling::Plain);
        let others = base64.map(|bytes| Self::new(&bytes, Spelling::Base64)).collect::<Vec<_>>();
        [plain, Self::new(hex.as_bytes(), Spelling::Hex)].into_iter().chain(others)
    }

    fn new(bytes: &[u8], spelling: Spelling) -> Self {
        let mut needle = Self { borders: Vec::with_capacity(bytes.len()), bytes: Vec::new(), spelling };
        for (at, byte) in bytes.iter().enumerate() {
            let border = if at == 0 { 0 } else { needle.step(needle.borders.last().copied().unwrap_or(0), *byte) };
            needle.borders.push(border);
            needle.bytes.push(*byte);
        }
        needle
    }

    /// Returns how much of the needle the text ends with, after one more byte.
    fn step(&self, mut matched: usize, byte: u8) -> usize {
        loop {
            if self.bytes.get(matched) == Some(&byte) {
                return matched + 1;
            }
            if matched == 0 {
                return 0;
            }
            matched = self.borders.get(matched - 1).copied().unwrap_or(0);
        }
    }

    /// Returns how many bytes at the end of a text are the beginning of the plain value, but not all of it.
    pub(super) fn begun_at_end(&self, text: &[u8]) -> usize {
        if self.spelling != Spelling::Plain {
            return 0;
        }
        let end = text.get((text.len() + 1).saturating_sub(self.bytes.len())..).unwrap_or_default();
        end.iter().fold(0, |matched, byte| self.step(matched, byte.to_ascii_lowercase()))
    }

    fn find(&self, text: &[Unit], found: &mut Vec<Range<usize>>) {
        let mut matched = 0;
        for (at, unit) in text.iter().enumerate() {
            let byte = match unit.byte {
                byte if self.spelling != Spelling::Base64 => byte.to_ascii_lowercase(),
                // The alphabet for URLs.
                b'-' => b'+',
                b'_' => b'/',
                byte => byte,
            };
            matched = self.step(matched, byte);
            let is_whole = matched == self.bytes.len();
            if !is_whole && (matched < SHORTEST || !is_cut_off(text, at + 1)) {
                continue;
            }
            let mut first = at + 1 - matched;
            let mut last = at;
            if self.spelling == Spelling::Base64 {
                // The characters around it contain parts of the secret's first and last bytes.
                let is_inside = |at: usize| text.get(at).is_some_and(|unit| is_base64(unit.byte));
                first = first
                    .saturating_sub((1..=2).take_while(|back| first.checked_sub(*back).is_some_and(is_inside)).count());
                last += (1..=2).take_while(|on| is_inside(last + on)).count();
            }
            if let (Some(first), Some(last)) = (text.get(first), text.get(last)) {
                found.push(first.start..last.end);
            }
        }
    }
}

/// Returns whether the text was cut off at this place.
fn is_cut_off(text: &[Unit], at: usize) -> bool {
    match text.get(at..) {
        None | Some([]) => true,
        Some([next, ..]) if next.byte == b'*' || next.is_ellipsis => true,
        Some(rest) => rest.get(..3).is_some_and(|dots| dots.iter().all(|unit| unit.byte == b'.')),
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte)
}

/// A decoded byte, and where it is in the text.
#[derive(Clone, Copy)]
struct Unit {
    byte: u8,
    is_ellipsis: bool,
    start: usize,
    end: usize,
}

/// Adds the positions of all needles. The text is searched window by window, because the search takes a multiple of the
/// window's memory. Windows overlap, so that no secret is split.
pub(super) fn spellings(text: &str, needles: &[Needle], found: &mut Vec<Range<usize>>) {
    if needles.is_empty() {
        return;
    }
    let longest = needles.iter().map(|needle| needle.bytes.len()).max().unwrap_or(0);
    // An escape takes six characters for a byte, and more if the escapes are escaped.
    let overlap = longest.saturating_mul(16);
    let mut start = 0;
    loop {
        let end = text.floor_char_boundary(start + WINDOW + 2 * overlap);
        let window = text.get(start..end).unwrap_or_default();
        let before = found.len();
        spellings_in(window, needles, found);
        for range in found.iter_mut().skip(before) {
            *range = range.start + start..range.end + start;
        }
        if end == text.len() {
            return;
        }
        start = text.floor_char_boundary(end - overlap);
    }
}

fn spellings_in(text: &str, needles: &[Needle], found: &mut Vec<Range<usize>>) {
    let visible = text.char_indices().filter(|(_, c)| !is_hidden(*c));
    let mut units: Vec<Unit> = Vec::with_capacity(text.len());
    for (start, c) in visible {
        let end = start + c.len_utf8();
        let unit = |byte: u8| Unit { byte, is_ellipsis: c == '…', start, end };
        units.extend(c.encode_utf8(&mut [0; 4]).bytes().map(unit));
    }
    for needle in needles {
        needle.find(&units, found);
    }
    // Each kind of escape is also decoded alone, because the other may be part of the secret.
    for escapes in [b"%" as &[u8], b"\\", b"%\\", b"&"] {
        if !escapes.iter().all(|escape| text.as_bytes().contains(escape)) {
            continue;
        }
        let mut units = units.clone();
        for _ in 0..MAX_LEVELS {
            let before = units.len();
            units = unescaped(&units, escapes);
            if units.len() == before {
                break;
            }
            for needle in needles {
                needle.find(&units, found);
            }
        }
    }
}

/// Decodes one level of `%2D`, `\u002d`, `\x2d`, `&#45;`, `\/`, Markdown's `\-` and the like. An escape that was cut off is
/// dropped.
fn unescaped(text: &[Unit], escapes: &[u8]) -> Vec<Unit> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let mut buffer = [0; 4];
        let (length, bytes): (usize, &[u8]) = match (first.byte, after) {
            (other, _) if !escapes.contains(&other) => (1, &[first.byte]),
            _ if is_cut_off(rest, cut_escape(rest)) => (cut_escape(rest), &[]),
            (b'%', [high, low, ..]) => match hex_byte(*high, *low) {
                Some(byte) => (3, &[byte]),
                None => (1, b"%"),
            },
            (b'\\', [x, high, low, ..]) if x.byte == b'x' => match hex_byte(*high, *low) {
                Some(byte) => (4, &[byte]),
                None => (1, b"\\"),
            },
            (b'\\', [u, digits @ ..]) if u.byte == b'u' => {
                match digits.get(..4).and_then(hex_value).and_then(char::from_u32) {
                    Some(c) if is_hidden(c) => (6, &[]),
                    Some(c) => (6, c.encode_utf8(&mut buffer).as_bytes()),
                    None => (1, b"\\"),
                }
            }
            (b'\\', [escaped, ..]) if escaped.byte.is_ascii_punctuation() => (2, &[escaped.byte]),
            (b'&', [hash, digits @ ..]) if hash.byte == b'#' => match entity(digits) {
                Some((length, c)) => (2 + length, c.encode_utf8(&mut buffer).as_bytes()),
                None => (1, b"&"),
            },
            _ => (1, &[first.byte]),
        };
        let (taken, left) = rest.split_at(length.min(rest.len()));
        let end = taken.last().map_or(first.end, |last| last.end);
        plain.extend(bytes.iter().map(|byte| Unit { byte: *byte, end, ..*first }));
        rest = left;
    }
    plain
}

/// Returns the length of the incomplete escape that the text begins with. It was cut off if the text was cut off there.
fn cut_escape(text: &[Unit]) -> usize {
    let complete = match text {
        [_, x, ..] if x.byte == b'x' => b"\\x2d".len(),
        [_, u, ..] if u.byte == b'u' => b"\\u002d".len(),
        [_, hash, ..] if hash.byte == b'#' => b"&#x2d;".len(),
        _ => b"%2D".len(),
    };
    let is_part = |unit: &&Unit| unit.byte.is_ascii_hexdigit() || b"ux#".contains(&unit.byte);
    1 + text.iter().skip(1).take(complete - 2).take_while(is_part).count()
}

/// Reads what follows `&#`: the number of a character, and a semicolon. Returns the length, too.
fn entity(text: &[Unit]) -> Option<(usize, char)> {
    let end = text.iter().take(8).position(|unit| unit.byte == b';')?;
    let number = match text.get(..end)? {
        [x, digits @ ..] if x.byte.eq_ignore_ascii_case(&b'x') => hex_value(digits),
        digits => digits.iter().try_fold(0, |value, digit| Some(value * 10 + char::from(digit.byte).to_digit(10)?)),
    };
    Some((end + 1, char::from_u32(number?)?))
}

fn hex_byte(high: Unit, low: Unit) -> Option<u8> {
    u8::try_from(hex_value(&[high, low])?).ok()
}

fn hex_value(digits: &[Unit]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(digit.byte).to_digit(16)?))
}

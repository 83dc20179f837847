//! Long runs of base64 that were taken out of an event's JSON before it is read.
//!
//! A generated image is a string of many megabytes. It is collected while it arrives and never walked over again: the
//! JSON has a placeholder in its place, which is replaced by the string when the field is read.

use std::borrow::Cow;
use std::cell::RefCell;
use std::mem;

/// Starts a placeholder. This is a noncharacter, which Unicode reserves for internal use: no honest text contains it. The
/// character after it says which run is meant: [`FIRST_INDEX`] plus the run's index.
const MARK: char = '\u{FDD0}';
const FIRST_INDEX: u32 = 0xE000;
/// The number of indexes, which is the number of private characters.
const MAX_RUNS: u32 = 0x1900;

/// The runs of one event, in the order of their placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LongRuns(RefCell<Vec<String>>);

impl LongRuns {
    /// Returns the placeholder for the run with this index.
    pub(crate) fn placeholder(index: usize) -> Option<String> {
        let index = u32::try_from(index).ok().filter(|index| *index < MAX_RUNS)?;
        Some([MARK, char::from_u32(FIRST_INDEX + index)?].iter().collect())
    }

    pub(crate) fn new(runs: Vec<String>) -> Self {
        Self(RefCell::new(runs))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns how many bytes [`put_back`](Self::put_back) would add.
    pub(super) fn bytes_in(&self, text: &str) -> usize {
        let runs = self.0.borrow();
        // Nearly always there are none, and the text may be long.
        if runs.is_empty() {
            return 0;
        }
        placeholders(text).filter_map(|(index, _)| runs.get(index).map(String::len)).sum()
    }

    /// Returns the text with its runs put back.
    pub(crate) fn put_back<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let runs = self.0.borrow();
        if runs.is_empty() {
            return Cow::Borrowed(text);
        }
        let bytes: usize = placeholders(text).filter_map(|(index, _)| runs.get(index).map(String::len)).sum();
        let mut whole = String::with_capacity(text.len() + bytes);
        let mut rest = text;
        while let Some((index, at)) = placeholders(rest).next() {
            let (before, placeholder) = rest.split_at(at);
            let (placeholder, after) = placeholder.split_at(PLACEHOLDER_BYTES);
            whole.push_str(before);
            whole.push_str(runs.get(index).map_or(placeholder, String::as_str));
            rest = after;
        }
        Cow::Owned(whole + rest)
    }

    /// Returns the run if it is the whole text except for its padding, without copying it. It is gone afterwards.
    pub(crate) fn take(&self, text: &str) -> Option<String> {
        let (index, 0) = placeholders(text).next()? else { return None };
        let padding = text.get(PLACEHOLDER_BYTES..).filter(|padding| matches!(*padding, "" | "=" | "=="))?;
        let mut run = mem::take(self.0.borrow_mut().get_mut(index)?);
        run.push_str(padding);
        Some(run)
    }
}

const PLACEHOLDER_BYTES: usize = 6;

/// Returns the indexes of the placeholders in a text, each with its position.
fn placeholders(text: &str) -> impl Iterator<Item = (usize, usize)> {
    text.match_indices(MARK).filter_map(|(at, mark)| {
        let index = text.get(at + mark.len()..)?.chars().next()?;
        let index = u32::from(index).checked_sub(FIRST_INDEX).filter(|index| *index < MAX_RUNS)?;
        Some((usize::try_from(index).ok()?, at))
    })
}

/// Returns whether all bytes are characters of base64; padding doesn't count. The loop has no branches, so that many
/// bytes are checked in one step.
pub(crate) fn is_base64(bytes: &[u8]) -> bool {
    let is_other = |byte: u8| {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let is_digit = byte.wrapping_sub(b'0') < 10;
        u8::from(!is_letter) & u8::from(!is_digit) & u8::from(byte != b'+') & u8::from(byte != b'/')
    };
    bytes.iter().fold(0, |other, byte| other | is_other(*byte)) == 0
}

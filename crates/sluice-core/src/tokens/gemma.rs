//! Gemini's vocabulary, which is the one of Gemma 3: pairs of pieces are merged, the pair of the best rank first.
//!
//! The file has no code points or ranks of its own but five columns over all pieces in byte order, so that it compresses
//! well: how many bytes a piece shares with the one before it, how many follow, these bytes, and ten bits of the
//! logarithm of its rank. Pieces of almost the same rank may be merged in another order than the original does, so that
//! a text may be counted a token too high or too low. `crates/sluice-core/data/README.md` says where the pieces come from.

use std::collections::BinaryHeap;

/// The first bytes of the file, with its version.
const MAGIC: &[u8; 8] = b"sluiceG1";
/// Runs of spaces, tabs and newlines are pieces of their own up to this length.
const LONGEST_RUN: usize = 31;
const SPACE: &str = "\u{2581}";

pub(super) struct Gemma {
    /// The bytes of all pieces, one after the other.
    bytes: Vec<u8>,
    /// Where each piece ends.
    ends: Vec<u32>,
    ranks: Vec<u16>,
    /// A hash table: the index of a piece plus one, or zero.
    slots: Vec<u32>,
}

impl Gemma {
    /// Reads the file. Returns `None` if it isn't one.
    pub(super) fn read(file: &[u8]) -> Option<Self> {
        let rest = file.strip_prefix(MAGIC)?;
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (shared, rest) = rest.split_at_checked(count)?;
        let (added, rest) = rest.split_at_checked(count)?;
        let (high, rest) = rest.split_at_checked(count)?;
        let (low, suffixes) = rest.split_at_checked(count.div_ceil(4))?;
        let mut gemma = Self {
            bytes: Vec::with_capacity(suffixes.len() * 4),
            ends: Vec::with_capacity(count),
            ranks: Vec::with_capacity(count),
            slots: vec![0; (count * 2).next_power_of_two()],
        };
        let mut suffixes = suffixes;
        let mut start = 0;
        for (index, ((shared, added), high)) in shared.iter().zip(added).zip(high).enumerate() {
            let (suffix, others) = suffixes.split_at_checked(usize::from(*added))?;
            suffixes = others;
            let before = start..start + usize::from(*shared);
            start = gemma.bytes.len();
            if before.end > start {
                return None;
            }
            gemma.bytes.extend_from_within(before);
            gemma.bytes.extend_from_slice(suffix);
            gemma.ends.push(u32::try_from(gemma.bytes.len()).ok()?);
            let low = low.get(index / 4)? >> (index % 4 * 2) & 3;
            gemma.ranks.push(u16::from(*high) << 2 | u16::from(low));
            let mut slot = gemma.slot_of(gemma.bytes.get(start..)?);
            while *gemma.slots.get(slot)? != 0 {
                slot = (slot + 1) % gemma.slots.len();
            }
            *gemma.slots.get_mut(slot)? = u32::try_from(index + 1).ok()?;
        }
        Some(gemma)
    }

    pub(super) fn count(&self, text: &str) -> usize {
        let mut count = 0;
        let mut word = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let run = |c: char| rest.find(|other| other != c).unwrap_or(rest.len());
            let length = match first {
                '\n' | '\t' => run(first),
                ' ' if run(' ') > 1 => run(' '),
                _ => {
                    // A single space belongs to the word that follows it.
                    word.clear();
                    let bare = rest.strip_prefix(' ').unwrap_or(rest);
                    if bare.len() < rest.len() {
                        word.push_str(SPACE);
                    }
                    let end = bare.find([' ', '\n', '\t']).unwrap_or(bare.len());
                    word.push_str(bare.get(..end).unwrap_or_default());
                    count += self.word(&word);
                    rest = bare.get(end..).unwrap_or_default();
                    continue;
                }
            };
            count += length.div_ceil(LONGEST_RUN);
            rest = rest.get(length..).unwrap_or_default();
        }
        count
    }

    /// Counts a text without spaces.
    fn word(&self, word: &str) -> usize {
        if self.rank(word.as_bytes()).is_some() {
            return 1;
        }
        // Each character begins a piece; `next` links the pieces that are left.
        let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
        let mut next: Vec<usize> = (1..starts.len()).collect();
        let mut before: Vec<usize> = (0..starts.len()).map(|index| index.wrapping_sub(1)).collect();
        let rank = |from: usize, to: usize| {
            let piece = starts.get(from).zip(starts.get(to)).and_then(|(from, to)| word.as_bytes().get(*from..*to));
            piece.and_then(|piece| self.rank(piece))
        };
        let mut pairs = BinaryHeap::new();
        let pair = |next: &[usize], from: usize| {
            let middle = *next.get(from)?;
            let to = *next.get(middle)?;
            Some(Pair { rank: rank(from, to)?, from, middle, to })
        };
        for from in 0..next.len() {
            pairs.extend(pair(&next, from));
        }
        while let Some(Pair { from, middle, to, .. }) = pairs.pop() {
            // A pair is outdated if one of its pieces has been merged with another one.
            if next.get(from) != Some(&middle) || next.get(middle) != Some(&to) {
                continue;
            }
            if let Some(after) = next.get_mut(from) {
                *after = to;
            }
            // No pair begins with a piece that is gone.
            if let Some(gone) = next.get_mut(middle) {
                *gone = usize::MAX;
            }
            if let Some(previous) = before.get_mut(to) {
                *previous = from;
            }
            pairs.extend(pair(&next, from));
            let previous = before.get(from).copied().filter(|previous| *previous != usize::MAX);
            pairs.extend(previous.and_then(|previous| pair(&next, previous)));
        }
        let mut count = 0;
        let mut from = 0;
        while let Some(to) = next.get(from).copied() {
            // A character without a piece is spelled in bytes.
            let length = starts.get(to).zip(starts.get(from)).map_or(1, |(to, from)| to - from);
            count += if rank(from, to).is_some() { 1 } else { length };
            from = to;
        }
        count
    }

    fn rank(&self, piece: &[u8]) -> Option<u16> {
        let mut slot = self.slot_of(piece);
        loop {
            let index = (*self.slots.get(slot)? as usize).checked_sub(1)?;
            let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
            if self.bytes.get(start..*self.ends.get(index)? as usize)? == piece {
                return self.ranks.get(index).copied();
            }
            slot = (slot + 1) % self.slots.len();
        }
    }

    /// Returns the slot at which the search for a piece starts. There are always empty slots, so the search ends.
    fn slot_of(&self, piece: &[u8]) -> usize {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        let hash = piece.iter().fold(0xCBF2_9CE4_8422_2325, step);
        #[expect(clippy::cast_possible_truncation, reason = "a hash may lose bits")]
        let folded = (hash ^ (hash >> 32)) as usize;
        folded % self.slots.len().max(1)
    }
}

/// Two adjacent pieces that can be merged.
#[derive(PartialEq, Eq)]
struct Pair {
    rank: u16,
    from: usize,
    middle: usize,
    to: usize,
}

impl Ord for Pair {
    /// The greatest is the one to merge first: the lowest rank, then the leftmost.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (other.rank, other.from, other.to).cmp(&(self.rank, self.from, self.to))
    }
}

impl PartialOrd for Pair {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static FILE: &[u8] = include_bytes!("../../data/gemma.vocabulary");

    fn count(text: &str) -> Option<usize> {
        use std::sync::OnceLock;
        static GEMMA: OnceLock<Option<Gemma>> = OnceLock::new();
        Some(GEMMA.get_or_init(|| Gemma::read(FILE)).as_ref()?.count(text))
    }

    #[test]
    fn texts_are_counted_like_the_original_does() {
        // Counts of the original tokenizer, without its first token.
        let cases = [
            ("", 0),
            ("Hello, world!", 4),
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("12345", 5),
            ("a\n\n\nb", 3),
            ("  two  spaces", 4),
            (" ", 1),
            ("\t\tfn main() {}\n", 6),
        ];
        for (text, expected) in cases {
            assert_eq!(count(text), Some(expected), "{text:?}");
        }
        assert_eq!(count(&" ".repeat(100)), Some(4));
    }

    #[test]
    fn hostile_text_is_counted() {
        for text in [&"a".repeat(100_000), &"日本".repeat(50_000)] {
            assert!(count(text) > Some(1_000));
        }
        for text in ["\u{10FFFF}", "\0", "\u{2581}", "e\u{301}\u{301}", "\u{E000}"] {
            assert!(count(text) > Some(0), "{text:?}");
        }
    }

    #[test]
    fn damaged_files_are_refused() {
        for length in [0, 7, 11, 1_000, FILE.len() / 2] {
            assert!(FILE.get(..length).and_then(Gemma::read).is_none(), "{length} bytes");
        }
        assert!(FILE.get(1..).and_then(Gemma::read).is_none());
        let mut huge = MAGIC.to_vec();
        huge.extend(u32::MAX.to_le_bytes());
        assert!(Gemma::read(&huge).is_none());
        let mut forward = MAGIC.to_vec();
        forward.extend([1, 0, 0, 0, 9, 1, 0, 0, b'a']);
        assert!(Gemma::read(&forward).is_none(), "a piece can't share more than the one before it has");
    }
}

//! OpenAI's vocabularies. Text is split into words (`split.rs`); a word that isn't a piece of the vocabulary starts as
//! bytes, and adjacent parts are merged as long as they form a piece, the piece of the lowest rank first.
//!
//! The tables are made when the crate is built and used as they lie in memory (`layout.rs`), so there is nothing to load.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::layout::{NO_RANK, SLOT, hash};
use super::split;

/// In words up to this length, the lowest rank is searched without a heap.
const SHORT: usize = 32;

const CACHED: usize = 4096;

thread_local! {
    /// Counts of words that aren't pieces, because the same words occur again and again.
    static CACHE: RefCell<Vec<Cached>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone, Copy)]
struct Cached {
    word: [u8; Self::LONGEST],
    /// Zero if there is no word.
    length: u8,
    is_o200k: bool,
    count: u8,
}

impl Cached {
    const LONGEST: usize = 29;
}

/// The tables of one vocabulary.
pub(super) struct Vocabulary {
    /// Whether words are split like `o200k_base` does it, otherwise like `cl100k_base`.
    is_o200k: bool,
    /// For each length, the number of shorter pieces, and where the pieces of this length start.
    groups: &'static [[[u8; 4]; 2]],
    pieces: &'static [u8],
    ranks: &'static [[u8; 4]],
    slots: &'static [[u8; SLOT]],
    /// The ranks of pieces of two bytes.
    pairs: &'static [[u8; 4]],
}

macro_rules! vocabulary {
    ($name:literal) => {
        Vocabulary {
            is_o200k: matches!($name.as_bytes(), b"o200k"),
            groups: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".groups")).as_chunks().0.as_chunks().0,
            pieces: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".pieces")),
            ranks: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".ranks")).as_chunks().0,
            slots: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".slots")).as_chunks().0,
            pairs: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".pairs")).as_chunks().0,
        }
    };
}

pub(super) static O200K: Vocabulary = vocabulary!("o200k");
pub(super) static CL100K: Vocabulary = vocabulary!("cl100k");

impl Vocabulary {
    pub(super) fn count(&self, text: &str) -> usize {
        if self.is_o200k { self.count_words(text, split::o200k) } else { self.count_words(text, split::cl100k) }
    }

    fn count_words(&self, text: &str, end_of_word: impl Fn(&[u8], usize) -> usize) -> usize {
        let text = text.as_bytes();
        let mut count = 0;
        let mut at = 0;
        while at < text.len() {
            // A word always has an end after its start; this only makes it obvious that the loop ends.
            let end = end_of_word(text, at).max(at + 1);
            let word = text.get(at..end).unwrap_or_default();
            count += match word {
                [_] => 1,
                [first, second] => 1 + usize::from(self.pair(*first, *second) == NO_RANK),
                _ if self.index(word).is_some() => 1,
                _ if word.len() <= Cached::LONGEST => self.merge_cached(word),
                _ => self.merge_long(word),
            };
            at = end;
        }
        count
    }

    /// Returns the index of a piece of at least three bytes among the pieces of its length.
    #[inline]
    fn index(&self, piece: &[u8]) -> Option<usize> {
        // The group of the longest pieces has one after it, where all end.
        let pieces = self.pieces.get(self.group(piece.len())?.1..self.group(piece.len() + 1)?.1)?;
        let mask = self.slots.len() - 1;
        let (mut slot, tag) = hash(piece, mask);
        loop {
            let [found, low, high] = *self.slots.get(slot)?;
            let index = usize::from(u16::from_le_bytes([low, high])).checked_sub(1)?;
            // The slot of a piece of another length may lead to any piece of this length. That is no problem, because
            // the bytes are compared.
            if found == tag {
                let at = index * piece.len();
                if pieces.get(at..at + piece.len()).is_some_and(|known| is_same(known, piece)) {
                    return Some(index);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Returns the number of pieces that are shorter than a length, and where the pieces of this length start.
    #[inline]
    fn group(&self, length: usize) -> Option<(usize, usize)> {
        let [shorter, start] = *self.groups.get(length)?;
        Some((u32::from_le_bytes(shorter) as usize, u32::from_le_bytes(start) as usize))
    }

    /// Returns the rank of a piece of at least three bytes.
    #[inline]
    fn rank(&self, piece: &[u8]) -> u32 {
        let rank = |index| self.ranks.get(self.group(piece.len())?.0 + index);
        self.index(piece).and_then(rank).map_or(NO_RANK, |rank| u32::from_le_bytes(*rank))
    }

    #[inline]
    fn pair(&self, first: u8, second: u8) -> u32 {
        let pair = self.pairs.get(usize::from(first) << 8 | usize::from(second));
        pair.map_or(NO_RANK, |rank| u32::from_le_bytes(*rank))
    }

    fn merge_cached(&self, word: &[u8]) -> usize {
        CACHE.with_borrow_mut(|cache| {
            if cache.is_empty() {
                let empty = Cached { word: [0; Cached::LONGEST], length: 0, is_o200k: false, count: 0 };
                cache.resize(CACHED, empty);
            }
            let Some(cached) = cache.get_mut(hash(word, CACHED - 1).0) else { return self.merge_short(word) };
            let known = cached.word.get(..usize::from(cached.length)).unwrap_or_default();
            if known.len() == word.len() && cached.is_o200k == self.is_o200k && is_same(known, word) {
                return usize::from(cached.count);
            }
            let count = self.merge_short(word);
            if let (Some(into), Ok(length)) = (cached.word.get_mut(..word.len()), u8::try_from(word.len())) {
                into.copy_from_slice(word);
                (cached.length, cached.is_o200k) = (length, self.is_o200k);
                // There are at most as many parts as bytes.
                cached.count = u8::try_from(count).unwrap_or(length);
            }
            count
        })
    }

    /// Counts the parts of a short word.
    fn merge_short(&self, word: &[u8]) -> usize {
        // A part is known by its first byte. `next` and `before` link the parts; `keys` has the rank of each part and
        // the one after it, with the position in the low bits, so that the least key is the leftmost of the lowest rank.
        let mut next = linked(1);
        let mut before = linked(u8::MAX);
        let mut keys = [NO_RANK; SHORT];
        let key = |rank: u32, at: u8| if rank == NO_RANK { NO_RANK } else { rank << 5 | u32::from(at) };
        for ((key_of, pair), at) in keys.iter_mut().zip(word.windows(2)).zip(0..) {
            if let [first, second] = *pair {
                *key_of = key(self.pair(first, second), at);
            }
        }
        let mut count = word.len();
        let rank =
            |from: u8, to: u8| word.get(usize::from(from)..usize::from(to)).map_or(NO_RANK, |part| self.rank(part));
        let link = |links: &[u8; SHORT + 2], at: u8| links.get(usize::from(at)).copied().unwrap_or(u8::MAX);
        let set = |links: &mut [u8; SHORT + 2], at: u8, to: u8| {
            if let Some(link) = links.get_mut(usize::from(at)) {
                *link = to;
            }
        };
        let keys_used = word.len().next_multiple_of(8).min(SHORT);
        loop {
            let least = keys.get(..keys_used).unwrap_or_default().iter().fold(NO_RANK, |least, key| least.min(*key));
            if least == NO_RANK {
                return count;
            }
            count -= 1;
            let at = (least & 31) as u8;
            let gone = link(&next, at);
            let after = link(&next, gone);
            set(&mut next, at, after);
            set(&mut before, after, at);
            let mut put = |at: u8, key: u32| {
                if let Some(slot) = keys.get_mut(usize::from(at)) {
                    *slot = key;
                }
            };
            put(gone, NO_RANK);
            let is_last = usize::from(after) >= word.len();
            put(at, if is_last { NO_RANK } else { key(rank(at, link(&next, after)), at) });
            let previous = link(&before, at);
            if previous != u8::MAX {
                put(previous, key(rank(previous, after), previous));
            }
        }
    }

    /// Counts the parts of a word of any length. The time is almost linear, whatever the word is.
    fn merge_long(&self, word: &[u8]) -> usize {
        let end = word.len();
        let mut next: Vec<usize> = (1..=end + 1).collect();
        let mut before: Vec<usize> = (0..=end).map(|at| at.wrapping_sub(1)).collect();
        let mut heap = BinaryHeap::with_capacity(end);
        let pairs = word.windows(2).enumerate().filter_map(|(at, pair)| match pair {
            [first, second] => Some((self.pair(*first, *second), at, at + 2)),
            _ => None,
        });
        heap.extend(pairs.filter(|(rank, ..)| *rank != NO_RANK).map(Reverse));
        let mut count = end;
        while let Some(Reverse((_, at, to))) = heap.pop() {
            // A candidate is outdated if one of its two parts is gone or has grown.
            let Some(&gone) = next.get(at).filter(|gone| **gone < end) else { continue };
            let Some(&after) = next.get(gone).filter(|after| **after == to) else { continue };
            count -= 1;
            if let Some(next) = next.get_mut(at) {
                *next = after;
            }
            // No candidate starts at a part that is gone.
            if let Some(next) = next.get_mut(gone) {
                *next = usize::MAX;
            }
            if let Some(before) = before.get_mut(after) {
                *before = at;
            }
            let previous = before.get(at).copied().filter(|previous| *previous < end);
            let following = next.get(after).copied().filter(|_| after < end);
            let candidates = [previous.map(|previous| (previous, after)), following.map(|following| (at, following))];
            for (from, to) in candidates.into_iter().flatten() {
                let rank = word.get(from..to).map_or(NO_RANK, |part| self.rank(part));
                if rank != NO_RANK {
                    heap.push(Reverse((rank, from, to)));
                }
            }
        }
        count
    }
}

/// Returns links from each position to the one that is some steps later, modulo 256.
#[expect(clippy::cast_possible_truncation, reason = "there are few positions")]
fn linked(steps: u8) -> [u8; SHORT + 2] {
    std::array::from_fn(|position| (position as u8).wrapping_add(steps))
}

/// Compares two pieces of the same length. Calling `memcmp` takes longer than this for most of them.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() > 16 {
        one == other
    } else if one.len() >= 8 {
        one.first_chunk::<8>() == other.first_chunk::<8>() && one.last_chunk::<8>() == other.last_chunk::<8>()
    } else if one.len() >= 4 {
        one.first_chunk::<4>() == other.first_chunk::<4>() && one.last_chunk::<4>() == other.last_chunk::<4>()
    } else {
        one.iter().eq(other)
    }
}

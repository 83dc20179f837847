//! The token counts that servers have reported.
//!
//! With its answer, a server reports `input_tokens` for exactly that prompt. A prompt is a list of pieces (the frame
//! that every request has, tools, instructions, items), and two kinds of counts are kept:
//!
//! - *totals*: a prompt is identified by a chain of hashes over its pieces, from the first to the last; its total is the
//!   number that the server reported;
//! - *costs*: the difference between two totals is the cost of the pieces between them, divided in proportion to their
//!   raw counts.
//!
//! The next count is the total of the longest known prefix, plus the known cost of every later piece, plus the
//! corrected raw count of the pieces that have no known cost. After an edit, only the edited message is estimated.
//!
//! Some servers now and then report too few tokens. A count that is much lower than expected is therefore only kept as
//! doubtful, and changes nothing until the next count of the same conversation confirms it. A count that is much higher is
//! believed, because the opposite mistake ends a conversation, but only until the next count contradicts it.
//!
//! All hashes use a key of this installation, so that prompts can't be recovered from the file by guessing.

use std::collections::BTreeMap;
use std::fmt;

use super::fingerprint::{Fingerprints, Prints};
use super::pieces::Piece;
use super::rounding::{ceil, median, shares, tokens, whole};
use super::tokenizer::Family;
pub use crate::boundary::Estimate;
use crate::boundary::Usage;
use crate::send::Prompt;

/// The maximum number of entries. When it is exceeded, the oldest are removed until four fifths are left.
const MAX_ENTRIES: usize = 50_000;
/// The largest plausible ratio between a piece's measured cost and its raw count. Beyond it the measurement is ignored,
/// because the server must have added or dropped something else.
const PLAUSIBLE: f64 = 4.0;
/// The largest ratio between an answer's output tokens and its expected cost as input.
const MAX_SCALE: f64 = 2.0;
/// The minimum raw count of a measurement. Smaller ones say more about the overhead than about the tokenizer.
const MIN_MEASURED: u32 = 200;

/// How far below the expectation a count must be to be doubtful, as a multiple of the family's usual error, at least and
/// at most.
const DOUBT: f64 = 3.0;
const MIN_DOUBT: f64 = 0.15;
const MAX_DOUBT: f64 = 0.4;
/// The least error of a family in per cent, for the same reason.
const MIN_SPREAD: u32 = 5;
/// The number of tokens by which any count may be off.
const SLACK: f64 = 30.0;
/// By which factor the growth of a conversation may differ from our own count of it, if a count is to confirm a doubtful
/// one.
const GROWTH: f64 = 2.0;
/// The maximum number of doubtful counts. They are not saved.
const MAX_DOUBTFUL: usize = 64;

/// How many first requests are kept to correct the cost of frames, and how many it takes.
const MAX_STARTS: usize = 64;
const MIN_STARTS: usize = 4;

/// The random key of an installation, which the shell creates once. It keys the hashes of everything that is
/// remembered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct InstallKey(pub [u8; 16]);

impl fmt::Debug for InstallKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InstallKey(…)")
    }
}

/// A raw count and the count that the server reported for the same pieces. The correction factor is learned from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// What we counted.
    pub raw: u32,
    /// What the server counted.
    pub actual: u32,
    /// The number of requests that agree on it.
    pub requests: u32,
}

/// The counts that servers have reported, keyed by hashes of the content.
#[derive(Clone, Debug)]
pub struct KnownCounts {
    pub(super) fingerprints: Fingerprints,
    pub(crate) entries: BTreeMap<u128, Entry>,
    /// Totals that are too low to be believed, the oldest first.
    doubtful: Vec<(u128, u32)>,
    /// The latest first requests whose frame was already known, the oldest first. They are not saved.
    starts: Vec<Start>,
    /// What servers counted for instructions, relative to our own count, by the hash of the request's frame. Instructions that
    /// have changed a little are counted like those before them. They are not saved.
    instructions: BTreeMap<u128, f64>,
}

/// The pieces of a first request that had no known cost.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// The hash of the request's frame.
    frame: u128,
    raw: f64,
    /// The server's count without the pieces whose cost was known.
    actual: f64,
}

/// A stored count. If there are two for the same piece, the greater one is kept: the better measured, then the newer,
/// then the larger, because a count that is too low delays compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub quality: Quality,
    /// The day on which it was last used.
    pub day: u32,
    pub count: u32,
}

/// How well a cost was measured: the fewer pieces share a measured difference, the better. The worst quality sorts
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quality(pub u16);

impl Quality {
    /// The output tokens of an answer, until a server has reported its cost as input.
    const PROVISIONAL: Self = Self(0);

    fn shared_by(pieces: usize) -> Self {
        Self(u16::MAX - u16::try_from(pieces.saturating_sub(1)).unwrap_or(u16::MAX - 1).min(u16::MAX - 1))
    }
}

/// Compares what is saved.
impl PartialEq for KnownCounts {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprints == other.fingerprints && self.entries == other.entries
    }
}

impl KnownCounts {
    /// Returns an empty collection whose hashes use `key`.
    pub fn new(key: InstallKey) -> Self {
        Self {
            fingerprints: Fingerprints::new(key.0),
            entries: BTreeMap::new(),
            doubtful: Vec::new(),
            starts: Vec::new(),
            instructions: BTreeMap::new(),
        }
    }

    /// Returns how many prompts have a known count.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether nothing is known yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Estimates the cost of a request. `raw` counts a piece without any correction; `factor` corrects the pieces that
    /// no server has counted, see [`Calibration`](super::Calibration).
    pub fn estimate(&self, prompt: &Prompt, factor: f64, raw: &dyn Fn(Piece<'_>) -> u32) -> Estimate {
        let prints = self.fingerprints.of(prompt);
        let (start, total) = self.longest_prefix_of(&prints.chain);
        let pieces = prints.pieces.get(start..).unwrap_or_default();
        self.estimate_pieces(total, pieces, (factor, self.instructions_factor(&prints, factor)), raw)
    }

    /// Like [`estimate`](Self::estimate), for one message ([`Prompt::of_message`]).
    pub fn estimate_message(&self, prompt: &Prompt, factor: f64, raw: &dyn Fn(Piece<'_>) -> u32) -> Estimate {
        self.estimate_pieces(0, &self.fingerprints.of_message(prompt), (factor, factor), raw)
    }

    fn estimate_pieces(
        &self,
        before: u32,
        pieces: &[(u128, Piece<'_>)],
        (factor, of_instructions): (f64, f64),
        raw: &dyn Fn(Piece<'_>) -> u32,
    ) -> Estimate {
        let mut known = u64::from(before);
        let mut estimated = 0.0;
        for (print, piece) in pieces {
            match self.entries.get(print) {
                Some(entry) => known += u64::from(entry.count),
                None if piece.is_instructions() => estimated += f64::from(raw(*piece)) * of_instructions,
                None => estimated += f64::from(raw(*piece)) * factor,
            }
        }
        Estimate { tokens: known + ceil(estimated), known }
    }

    fn instructions_factor(&self, prints: &Prints<'_>, factor: f64) -> f64 {
        let frame = prints.pieces.first().map(|(print, _)| print);
        frame.and_then(|frame| self.instructions.get(frame)).copied().unwrap_or(factor)
    }

    /// Returns the tokens of one piece: the server's count if there is one, otherwise our own, corrected.
    pub(super) fn piece_tokens(&self, piece: Piece<'_>, factor: f64, raw: &dyn Fn(Piece<'_>) -> u32) -> u32 {
        let known = self.entries.get(&self.fingerprints.piece(piece));
        known.map_or_else(|| whole(f64::from(raw(piece)) * factor), |entry| entry.count)
    }

    /// Returns a hash for every prefix of a prompt, shortest first. Prompts that start alike share them.
    pub(crate) fn chain(&self, prompt: &Prompt) -> Vec<u128> {
        self.fingerprints.of(prompt).chain
    }

    /// Learns from the server's count for a request. Returns the raw and actual count of the pieces that were new, if
    /// they could be measured.
    pub fn learn(
        &mut self,
        prompt: &Prompt,
        usage: &Usage,
        factor: f64,
        raw: &dyn Fn(Piece<'_>) -> u32,
        today: u32,
    ) -> Option<Measured> {
        // Servers that don't count report zero.
        let total = count(usage.input_tokens).filter(|total| *total > 0)?;
        let prints = self.fingerprints.of(prompt);
        if self.is_doubtful(&prints, prompt, total, factor, raw) {
            return None;
        }
        // What the family's usual error can't explain is a prompt of the server's own and belongs to the frame.
        let most = 1.0 + f64::from(Family::of(&prompt.model).error.0.max(MIN_SPREAD)) / 100.0;
        let measured = self.learn_total(&prints, total, (factor, most), raw, today);
        self.evict();
        measured
    }

    /// Learns what an answer's reasoning will cost when it is sent back. The server reports how many reasoning tokens
    /// there were; encrypted content can't be counted otherwise. `answer` is the message by which the next request will
    /// repeat the answer.
    pub fn learn_reasoning(&mut self, answer: &Prompt, usage: &Usage, today: u32) {
        let reasoning = count(usage.reasoning_tokens()).unwrap_or(0);
        let pieces = self.fingerprints.of_message(answer);
        let items: Vec<(u128, u64)> =
            pieces.iter().filter_map(|(print, piece)| Some((*print, piece.reasoning()? as u64))).collect();
        let characters: u64 = items.iter().map(|(_, characters)| characters).sum();
        // An encrypted token takes about six characters. If there are far fewer, most of the reasoning isn't sent back.
        if reasoning == 0 || characters < u64::from(reasoning) * 2 {
            return;
        }
        let quality = Quality::shared_by(items.len());
        let overhead = Family::of(&answer.model).reasoning_overhead;
        let (mut before, mut given) = (0, 0);
        for (print, length) in items {
            before += length;
            let until = u32::try_from(u64::from(reasoning) * before / characters).unwrap_or(reasoning);
            let count = until - given + overhead;
            given = until;
            self.keep(print, Entry { count, quality, day: today });
        }
        self.evict();
    }

    /// Learns the cost of an answer, apart from its reasoning, as input of the next request.
    pub fn learn_answer(
        &mut self,
        answer: &Prompt,
        usage: &Usage,
        factor: f64,
        raw: &dyn Fn(Piece<'_>) -> u32,
        today: u32,
    ) {
        let Some(output) = count(usage.output_tokens) else { return };
        let visible = output.saturating_sub(count(usage.reasoning_tokens()).unwrap_or(0));
        let pieces = self.fingerprints.of_message(answer);
        let pieces = pieces.iter().filter(|(_, piece)| piece.reasoning().is_none());
        let weights: Vec<(u128, f64)> =
            pieces.map(|(print, piece)| (*print, f64::from(raw(*piece)) * factor)).collect();
        let expected: f64 = weights.iter().map(|(_, weight)| weight).sum();
        // Hidden output (filtered, rewritten, from hosted tools) isn't part of the next request.
        if f64::from(visible) > expected * MAX_SCALE || f64::from(visible) * MAX_SCALE < expected {
            return;
        }
        let scale = f64::from(visible) / expected.max(1.0);
        for (print, count) in shares(weights.into_iter().map(|(print, weight)| (print, weight * scale))) {
            self.keep(print, Entry { count, quality: Quality::PROVISIONAL, day: today });
        }
        self.evict();
    }

    /// Merges `other` into this one. For each key, the better count is kept.
    pub fn merge(&mut self, mut other: Self) {
        if self.entries.len() < other.entries.len() {
            std::mem::swap(&mut self.entries, &mut other.entries);
        }
        for (key, entry) in other.entries {
            self.keep(key, entry);
        }
        self.evict();
    }

    /// Returns whether a total is too low to be believed, and remembers it. A total that continues a doubtful one is
    /// believed. If a total is far too high, the expected one is remembered as if it had been reported and doubted, so
    /// that the next total decides between the two.
    fn is_doubtful(
        &mut self,
        prints: &Prints<'_>,
        prompt: &Prompt,
        total: u32,
        factor: f64,
        raw: &dyn Fn(Piece<'_>) -> u32,
    ) -> bool {
        let (start, before) = self.longest_prefix_of(&prints.chain);
        let factors = (factor, self.instructions_factor(prints, factor));
        let cost = |from: usize| {
            let pieces = prints.pieces.get(from..).unwrap_or_default();
            tokens(self.estimate_pieces(0, pieces, factors, raw).tokens)
        };
        let family = Family::of(&prompt.model);
        let error = if prompt.tools.is_empty() { family.error.0 } else { family.error.1 };
        let doubt = (f64::from(error) / 100.0 * DOUBT).clamp(MIN_DOUBT, MAX_DOUBT);
        let (before, added) = (f64::from(before), cost(start));
        let least = before * (1.0 - MIN_DOUBT / 5.0) + added * (1.0 - doubt) - SLACK;
        let most = before * (1.0 + MIN_DOUBT / 5.0) + added * (1.0 + doubt) + SLACK;
        let Some(name) = prints.chain.last().copied() else { return true };
        if f64::from(total) >= least {
            if f64::from(total) > most && start > 0 {
                self.doubt(name, whole(before + added));
            }
            return false;
        }
        let confirms = |(known, low): &(u128, u32)| {
            let Some(at) = prints.chain.iter().position(|link| link == known) else { return false };
            let (grown, expected) = (f64::from(total) - f64::from(*low), cost(at + 1));
            grown >= expected / GROWTH - SLACK && grown <= expected * GROWTH + SLACK
        };
        if self.doubtful.iter().any(confirms) {
            self.doubtful.retain(|(known, _)| !prints.chain.contains(known));
            return false;
        }
        self.doubt(name, total);
        true
    }

    fn doubt(&mut self, name: u128, total: u32) {
        if self.doubtful.len() >= MAX_DOUBTFUL {
            self.doubtful.remove(0);
        }
        self.doubtful.push((name, total));
    }

    fn learn_total(
        &mut self,
        prints: &Prints<'_>,
        total: u32,
        (factor, most): (f64, f64),
        raw: &dyn Fn(Piece<'_>) -> u32,
        today: u32,
    ) -> Option<Measured> {
        let name = *prints.chain.last()?;
        let last = prints.chain.len() - 1;
        let (start, before) = self.longest_prefix_of(prints.chain.get(..last).unwrap_or_default());
        self.entries.insert(name, Entry { count: total, quality: Quality::shared_by(1), day: today });

        let of_instructions = self.instructions_factor(prints, factor);
        let mut left = f64::from(total) - f64::from(before);
        let mut uncounted = Vec::new();
        for (print, piece) in prints.pieces.iter().skip(start) {
            match self.entries.get_mut(print) {
                Some(entry) if entry.quality > Quality::PROVISIONAL => {
                    entry.day = today;
                    left -= f64::from(entry.count);
                }
                provisional => {
                    let raw = raw(*piece);
                    let is_instructions = piece.is_instructions();
                    let factor = if is_instructions { of_instructions } else { factor };
                    let weight = provisional.map_or(f64::from(raw) * factor, |entry| f64::from(entry.count));
                    let is_frame = piece.is_frame();
                    uncounted.push(Uncounted { print: *print, raw, weight, is_frame, is_instructions });
                }
            }
        }
        let weight: f64 = uncounted.iter().map(|piece| piece.weight).sum();
        let has_frame = uncounted.iter().any(|piece| piece.is_frame);
        if left < 1.0 || weight < 1.0 || left * PLAUSIBLE < weight || (left > weight * PLAUSIBLE && !has_frame) {
            return None;
        }
        let scale = if has_frame { (left / weight).min(most) } else { left / weight };
        let hidden = left - weight * scale;
        let instructions = uncounted.iter().find(|piece| piece.is_instructions && piece.raw >= MIN_MEASURED);
        if let (Some(piece), Some((frame, _))) = (instructions, prints.pieces.first()) {
            if self.instructions.len() >= MAX_STARTS {
                self.instructions.clear();
            }
            self.instructions.insert(*frame, piece.weight * scale / f64::from(piece.raw));
        }
        let quality = Quality::shared_by(uncounted.len());
        let costs = uncounted
            .iter()
            .map(|piece| (piece.print, piece.weight * scale + if piece.is_frame { hidden } else { 0.0 }));
        for (print, count) in shares(costs) {
            self.keep(print, Entry { count, quality, day: today });
        }
        let raw = uncounted.iter().fold(0_u32, |sum, piece| sum.saturating_add(piece.raw));
        // A first request says as much about the server's own prompt as about the tokenizer.
        let (actual, requests) = match prints.pieces.first() {
            Some(_) if start > 0 => (left, 1),
            Some((frame, _)) if !has_frame => {
                let slope = self.correct_frame(Start { frame: *frame, raw: f64::from(raw), actual: left })?;
                (f64::from(raw) * slope, MIN_STARTS)
            }
            _ => return None,
        };
        let requests = u32::try_from(requests).unwrap_or(1);
        (raw >= MIN_MEASURED).then(|| Measured { raw, actual: whole(actual), requests })
    }

    /// Corrects the cost of a frame. The first request with it can't tell a prompt of the server's own from a tokenizer
    /// that counts more; several requests of different lengths can. Medians keep single counts from mattering. Returns the
    /// ratio between the server's counts and ours, if it could be measured.
    fn correct_frame(&mut self, start: Start) -> Option<f64> {
        if self.starts.len() >= MAX_STARTS {
            self.starts.remove(0);
        }
        self.starts.push(start);
        let alike: Vec<Start> = self.starts.iter().copied().filter(|other| other.frame == start.frame).collect();
        if alike.len() < MIN_STARTS {
            return None;
        }
        let pairs =
            alike.iter().enumerate().flat_map(|(index, one)| alike.iter().skip(index + 1).map(move |two| (one, two)));
        // The more two requests differ, the more exact is the ratio.
        let slopes = pairs.filter_map(|(one, two)| {
            let distance = (one.raw - two.raw).abs();
            let slope = (one.actual - two.actual) / (one.raw - two.raw);
            (distance >= f64::from(MIN_MEASURED)).then_some((slope, distance))
        });
        let slope = median(slopes.collect()).filter(|slope| (0.4..2.5).contains(slope))?;
        let rest = median(alike.iter().map(|one| (one.actual - one.raw * slope, 1.0)).collect())?;
        let entry = self.entries.get_mut(&start.frame)?;
        let corrected = whole(f64::from(entry.count) + rest);
        let moved = f64::from(corrected) - f64::from(entry.count);
        entry.count = corrected;
        // If the frame costs more, everything else costs less.
        for other in self.starts.iter_mut().filter(|other| other.frame == start.frame) {
            other.actual -= moved;
        }
        Some(slope)
    }

    /// Returns the number of pieces in the longest known prefix, and their total.
    fn longest_prefix_of(&self, chain: &[u128]) -> (usize, u32) {
        let known = |(index, name)| self.entries.get(name).map(|entry: &Entry| (index + 1, entry.count));
        chain.iter().enumerate().rev().find_map(known).unwrap_or((0, 0))
    }

    fn keep(&mut self, key: u128, entry: Entry) {
        let kept = self.entries.entry(key).or_insert(entry);
        *kept = (*kept).max(entry);
    }

    fn evict(&mut self) {
        if self.entries.len() > MAX_ENTRIES {
            let mut by_age: Vec<(u32, u128)> = self.entries.iter().map(|(key, entry)| (entry.day, *key)).collect();
            by_age.sort_unstable();
            for (_, key) in by_age.iter().take(self.entries.len() - MAX_ENTRIES / 5 * 4) {
                self.entries.remove(key);
            }
        }
    }
}

/// A piece whose cost isn't known yet.
struct Uncounted {
    print: u128,
    raw: u32,
    weight: f64,
    is_frame: bool,
    is_instructions: bool,
}

fn count(tokens: Option<u64>) -> Option<u32> {
    tokens.and_then(|tokens| u32::try_from(tokens).ok())
}

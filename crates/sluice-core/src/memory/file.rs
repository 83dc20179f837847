//! The format of the file. All numbers are little-endian.
//!
//! | | |
//! |---|---|
//! | magic | `SLUICE`, 0x1A, 0x0A |
//! | version | u32 |
//! | version of the hashes | u32; if it isn't ours, the counts are dropped and the rest is read |
//! | number of counts, families, rows | 3 × u32 |
//! | counts | hash u128, tokens u32, day u32, quality u16 |
//! | families | name (u8 length, UTF-8), measurements u32, day u32, factor f64 |
//! | rows of the history | day u32, model (u8 length, UTF-8), 12 × u64 in the order of `Totals` |
//! | checksum | SipHash-2-4-128 of everything before it; both halves of the key are the magic |
//!
//! Magic, version and checksum stay in place in all future versions, so that a newer file can be told from a damaged
//! one.

use std::hash::Hasher;

use siphasher::sip128::{Hasher128, SipHasher24};

use crate::boundary::{Dollars, FileState, Totals};
use crate::tokens::{Calibration, Entry, Factor, InstallKey, KnownCounts, Quality, SCHEME};
use crate::usage::History;

/// The maximum size of the file in bytes. A larger file isn't ours.
pub const MAX_FILE: usize = 2 << 20;
const MAGIC: &[u8; 8] = b"SLUICE\x1A\n";
const VERSION: u32 = 1;

type Contents = (KnownCounts, Calibration, History);

pub(super) fn read(key: InstallKey, bytes: Option<&[u8]>) -> (Option<Contents>, FileState) {
    let Some(bytes) = bytes else { return (None, FileState::Missing) };
    let body = bytes.split_last_chunk::<16>().filter(|(body, sum)| bytes.len() <= MAX_FILE && checksum(body) == **sum);
    let Some(body) = body.and_then(|(body, _)| body.strip_prefix(MAGIC)) else {
        return (None, FileState::Damaged);
    };
    let mut reader = Reader(body);
    match reader.u32() {
        Some(VERSION) => match reader.contents(key) {
            Some(contents) if reader.0.is_empty() => (Some(contents), FileState::Good),
            _ => (None, FileState::Damaged),
        },
        Some(VERSION..) => (None, FileState::Newer),
        _ => (None, FileState::Damaged),
    }
}

pub(super) fn write(known: &KnownCounts, calibration: &Calibration, history: &History) -> Vec<u8> {
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = Vec::with_capacity(known.entries.len() * 26 + 4096);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(SCHEME.to_le_bytes());
    bytes.extend(count(known.entries.len()));
    bytes.extend(count(calibration.factors.len()));
    bytes.extend(count(history.rows().count()));
    for (hash, entry) in &known.entries {
        bytes.extend_from_slice(&hash.to_le_bytes());
        bytes.extend_from_slice(&entry.count.to_le_bytes());
        bytes.extend_from_slice(&entry.day.to_le_bytes());
        bytes.extend_from_slice(&entry.quality.0.to_le_bytes());
    }
    for (name, factor) in &calibration.factors {
        write_name(&mut bytes, name);
        bytes.extend(factor.measurements.to_le_bytes());
        bytes.extend(factor.day.to_le_bytes());
        bytes.extend(factor.value.to_le_bytes());
    }
    for (day, model, totals) in history.rows() {
        bytes.extend(day.to_le_bytes());
        write_name(&mut bytes, model);
        for number in numbers(totals) {
            bytes.extend(number.to_le_bytes());
        }
    }
    let sum = checksum(&bytes);
    bytes.extend(sum);
    bytes
}

/// Names are already cut to far less than 255 bytes when they are added.
fn write_name(bytes: &mut Vec<u8>, name: &str) {
    let name = name.get(..name.floor_char_boundary(255)).unwrap_or_default();
    bytes.push(u8::try_from(name.len()).unwrap_or_default());
    bytes.extend(name.as_bytes());
}

fn numbers(totals: &Totals) -> [u64; 12] {
    [
        totals.requests,
        totals.uncounted,
        totals.unpriced,
        totals.input_tokens,
        totals.cached_tokens,
        totals.output_tokens,
        totals.reasoning_tokens,
        totals.cost.0,
        totals.first_parts,
        totals.first_part_ms,
        totals.streamed_tokens,
        totals.streaming_ms,
    ]
}

fn checksum(bytes: &[u8]) -> [u8; 16] {
    let word = u64::from_le_bytes(*MAGIC);
    let mut hasher = SipHasher24::new_with_keys(word, word);
    hasher.write(bytes);
    hasher.finish128().as_u128().to_le_bytes()
}

/// A cursor over the input. Every read returns `None` on truncated or invalid data.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn contents(&mut self, key: InstallKey) -> Option<Contents> {
        let is_our_scheme = self.u32()? == SCHEME;
        let [counts, families, rows] = [self.u32()?, self.u32()?, self.u32()?];
        let mut entries = Vec::new();
        for _ in 0..counts {
            let hash = u128::from_le_bytes(self.take()?);
            let (count, day) = (self.u32()?, self.u32()?);
            let quality = Quality(u16::from_le_bytes(self.take()?));
            entries.push((hash, Entry { quality, day, count }));
        }
        let mut known = KnownCounts::new(key);
        if is_our_scheme {
            // Tens of thousands of sorted entries are collected faster than they are inserted one by one.
            known.entries = entries.into_iter().collect();
        }
        let mut calibration = Calibration::default();
        for _ in 0..families {
            let name = self.name()?;
            let (measurements, day) = (self.u32()?, self.u32()?);
            let value = f64::from_le_bytes(self.take()?);
            calibration.keep(&name, Factor { measurements, day, value })?;
        }
        let mut history = History::default();
        for _ in 0..rows {
            let (day, model) = (self.u32()?, self.name()?);
            history.add_totals(day, &model, &self.totals()?);
        }
        Some((known, calibration, history))
    }

    fn totals(&mut self) -> Option<Totals> {
        Some(Totals {
            requests: self.u64()?,
            uncounted: self.u64()?,
            unpriced: self.u64()?,
            input_tokens: self.u64()?,
            cached_tokens: self.u64()?,
            output_tokens: self.u64()?,
            reasoning_tokens: self.u64()?,
            cost: Dollars(self.u64()?),
            first_parts: self.u64()?,
            first_part_ms: self.u64()?,
            streamed_tokens: self.u64()?,
            streaming_ms: self.u64()?,
        })
    }

    fn name(&mut self) -> Option<String> {
        let [length] = self.take()?;
        let (name, rest) = self.0.split_at_checked(usize::from(length))?;
        self.0 = rest;
        String::from_utf8(name.to_vec()).ok()
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }
}

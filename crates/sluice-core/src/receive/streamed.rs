//! Text that arrives as deltas and then again as a whole. This finds out which part of the whole text is new.

use super::sorted::SortedMap;
use crate::wire::Channel;

/// One content part of an item. Without an index, it is the newest of its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PartKey {
    pub channel: Channel,
    pub index: Option<u64>,
}

/// The text of one item that has been shown so far, part by part.
#[derive(Clone, Debug, Default)]
pub(super) struct Streamed {
    parts: Vec<Shown>,
    /// The position of each part; without an index, of the newest of its channel.
    by_key: SortedMap<PartKey, usize>,
}

#[derive(Clone, Debug)]
struct Shown {
    key: PartKey,
    text: String,
    /// Whether the `done` event of this part has arrived.
    settled: bool,
}

/// How many parts of the same length a whole text is compared with, if its index doesn't identify it.
const PARTS_TO_COMPARE: usize = 16;

/// The item has more parts than any real answer.
#[derive(Debug)]
pub(super) struct TooManyParts;

/// What a whole text adds to the deltas.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Settled<'a> {
    /// Show these as well, in this order.
    Missing(Vec<(PartKey, &'a str)>),
    /// The text doesn't continue what was shown. That can't be retracted, so nothing is added.
    Contradiction,
}

impl Streamed {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.text.is_empty())
    }

    /// Returns the texts of the parts, in order of first appearance.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|part| part.text.as_str())
    }

    /// Returns the texts of one channel that aren't empty, in order of first appearance.
    pub(super) fn texts_of(&self, channel: Channel) -> impl Iterator<Item = &str> {
        let parts = self.parts.iter().filter(move |part| part.key.channel == channel);
        parts.map(|part| part.text.as_str()).filter(|text| !text.is_empty())
    }

    /// Returns the part's position in order of first appearance.
    pub(super) fn ordinal(&self, key: PartKey) -> Option<usize> {
        // Deltas nearly always continue the newest part.
        match self.parts.last() {
            Some(newest)
                if newest.key.channel == key.channel && (key.index.is_none() || newest.key.index == key.index) =>
            {
                Some(self.parts.len() - 1)
            }
            _ => self.by_key.get(&key).copied(),
        }
    }

    pub(super) fn has_channel(&self, channel: Channel) -> bool {
        self.parts.iter().any(|part| part.key.channel == channel && !part.text.is_empty())
    }

    /// Returns how many bytes of memory this took.
    pub(super) fn append(&mut self, key: PartKey, delta: &str, max_parts: usize) -> Result<usize, TooManyParts> {
        const OVERHEAD: usize = 192;
        if let Some(part) = self.ordinal(key).and_then(|found| self.parts.get_mut(found)) {
            part.text.push_str(delta);
            Ok(delta.len())
        } else if self.parts.len() < max_parts {
            let key = PartKey { index: Some(key.index.unwrap_or(0)), ..key };
            self.by_key.insert(key, self.parts.len());
            self.by_key.insert(PartKey { index: None, ..key }, self.parts.len());
            self.parts.push(Shown { key, text: delta.to_owned(), settled: false });
            Ok(OVERHEAD + delta.len())
        } else {
            Err(TooManyParts)
        }
    }

    /// A whole part has arrived. Returns what is missing; the caller shows and appends it.
    pub(super) fn settle_part<'a>(&mut self, key: PartKey, whole: &'a str) -> Settled<'a> {
        if whole.is_empty() {
            return Settled::Missing(Vec::new());
        }
        // The same text at another index is the same part, if that part is still waiting for its `done` event.
        let may_be = |part: &Shown| !part.settled && part.key.channel == key.channel && part.text.len() == whole.len();
        let candidates = self.parts.iter().enumerate().filter(|(_, part)| may_be(part)).take(PARTS_TO_COMPARE);
        let same_text = || candidates.into_iter().find(|(_, part)| part.text == whole).map(|(found, _)| found);
        let shown = self.ordinal(key).or_else(same_text);
        let Some(part) = shown.and_then(|found| self.parts.get_mut(found)) else {
            return Settled::Missing(vec![(key, whole)]);
        };
        part.settled = true;
        match whole.strip_prefix(part.text.as_str()) {
            Some("") => Settled::Missing(Vec::new()),
            Some(rest) => Settled::Missing(vec![(part.key, rest)]),
            None => Settled::Contradiction,
        }
    }

    /// The whole item has arrived. Its parts are compared index by index, or as one text if the indexes have shifted.
    pub(super) fn settle<'a>(&self, whole: &[(PartKey, &'a str)]) -> Settled<'a> {
        // Nearly always, the item has one part, and all of it was shown.
        match (self.parts.as_slice(), whole) {
            (_, []) => Settled::Missing(Vec::new()),
            ([shown], [(key, text)]) if shown.key == *key && shown.text == *text => Settled::Missing(Vec::new()),
            _ => self.settle_parts(whole),
        }
    }

    #[inline(never)]
    fn settle_parts<'a>(&self, whole: &[(PartKey, &'a str)]) -> Settled<'a> {
        if whole.iter().all(|(_, text)| text.is_empty()) {
            return Settled::Missing(Vec::new());
        }
        let mut whole_by_key = SortedMap::default();
        for (key, text) in whole {
            whole_by_key.insert(*key, *text);
        }
        let by_part = self
            .parts
            .iter()
            .filter(|shown| !shown.text.is_empty())
            .all(|shown| whole_by_key.get(&shown.key).is_some_and(|text| text.starts_with(&shown.text)));
        if by_part {
            let rest = |(key, text): &(PartKey, &'a str)| {
                let shown = self.by_key.get(key).and_then(|found| self.parts.get(*found));
                let rest = text.strip_prefix(shown.map_or("", |shown| shown.text.as_str()))?;
                (!rest.is_empty()).then_some((*key, rest))
            };
            return Settled::Missing(whole.iter().filter_map(rest).collect());
        }

        // The comparison stops at the length of the whole text, because what was shown may be far longer.
        let mut shown = self.texts();
        let mut to_skip = "";
        let mut missing = Vec::new();
        for (key, text) in whole {
            let mut rest = *text;
            while !rest.is_empty() {
                if to_skip.is_empty() {
                    let Some(next) = shown.next() else { break };
                    to_skip = next;
                } else if let Some(still_to_skip) = to_skip.strip_prefix(rest) {
                    to_skip = still_to_skip;
                    rest = "";
                } else if let Some(after) = rest.strip_prefix(to_skip) {
                    rest = after;
                    to_skip = "";
                } else {
                    return Settled::Contradiction;
                }
            }
            if !rest.is_empty() {
                missing.push((*key, rest));
            }
        }
        if to_skip.is_empty() && shown.all(str::is_empty) { Settled::Missing(missing) } else { Settled::Contradiction }
    }
}

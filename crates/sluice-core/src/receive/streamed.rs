//! Text that arrives as deltas and then again as a whole: what of the whole has not been shown yet?

use crate::wire::Channel;

/// One content part of an item. Without an index it is the newest of its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartKey {
    pub channel: Channel,
    pub index: Option<u64>,
}

/// The text of one item as far as it was shown, part by part.
#[derive(Clone, Debug, Default)]
pub(super) struct Streamed {
    parts: Vec<Shown>,
}

#[derive(Clone, Debug)]
struct Shown {
    key: PartKey,
    text: String,
    /// A `done` for this very part has come.
    settled: bool,
}

/// More parts in one item than any answer has.
#[derive(Debug)]
pub(super) struct TooManyParts;

/// What a whole text adds to the deltas.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Settled<'a> {
    /// Show these as well, in this order.
    Missing(Vec<(PartKey, &'a str)>),
    /// It does not continue what was shown. That cannot be taken back, so nothing is added.
    Contradiction,
}

impl Streamed {
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.text.is_empty())
    }

    pub fn joined(&self) -> String {
        self.parts.iter().map(|part| part.text.as_str()).collect()
    }

    pub fn contains(&self, needle: &str) -> bool {
        self.parts.iter().any(|part| part.text.contains(needle))
    }

    /// Where the part stands in order of first appearance.
    pub fn ordinal(&self, key: PartKey) -> Option<usize> {
        // Deltas nearly always continue the newest part.
        let is_meant = |part: &Shown| match key.index {
            Some(_) => part.key == key,
            None => part.key.channel == key.channel,
        };
        self.parts.iter().rposition(is_meant)
    }

    pub fn has_channel(&self, channel: Channel) -> bool {
        self.parts.iter().any(|part| part.key.channel == channel && !part.text.is_empty())
    }

    pub fn append(&mut self, key: PartKey, delta: &str, max_parts: usize) -> Result<(), TooManyParts> {
        if let Some(part) = self.ordinal(key).and_then(|found| self.parts.get_mut(found)) {
            part.text.push_str(delta);
        } else if self.parts.len() < max_parts {
            let key = PartKey { index: Some(key.index.unwrap_or(0)), ..key };
            self.parts.push(Shown { key, text: delta.to_owned(), settled: false });
        } else {
            return Err(TooManyParts);
        }
        Ok(())
    }

    /// One part came whole. Says what is missing; the caller shows it and appends it.
    pub fn settle_part<'a>(&mut self, key: PartKey, whole: &'a str) -> Settled<'a> {
        if whole.is_empty() {
            return Settled::Missing(Vec::new());
        }
        // The same text under another index is the same part, if that one still waits for its own `done`.
        let same_text = |part: &Shown| !part.settled && part.key.channel == key.channel && part.text == whole;
        let shown = self.ordinal(key).or_else(|| self.parts.iter().position(same_text));
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

    /// The whole item came. Its parts are compared index by index; if indexes slipped, as one text.
    pub fn settle<'a>(&self, whole: &[(PartKey, &'a str)]) -> Settled<'a> {
        if whole.iter().all(|(_, text)| text.is_empty()) {
            return Settled::Missing(Vec::new());
        }
        let counterpart = |shown: &Shown| whole.iter().find(|(key, _)| *key == shown.key).map(|(_, text)| *text);
        let by_part = self
            .parts
            .iter()
            .filter(|shown| !shown.text.is_empty())
            .all(|shown| counterpart(shown).is_some_and(|text| text.starts_with(&shown.text)));
        if by_part {
            let rest = |(key, text): &(PartKey, &'a str)| {
                let shown = self.parts.iter().find(|shown| shown.key == *key).map_or("", |shown| shown.text.as_str());
                text.strip_prefix(shown).filter(|rest| !rest.is_empty()).map(|rest| (*key, rest))
            };
            return Settled::Missing(whole.iter().filter_map(rest).collect());
        }

        let shown = self.joined();
        let mut to_skip = shown.as_str();
        let mut missing = Vec::new();
        for (key, text) in whole {
            if let Some(rest) = to_skip.strip_prefix(text) {
                to_skip = rest;
            } else if let Some(rest) = text.strip_prefix(to_skip) {
                to_skip = "";
                missing.push((*key, rest));
            } else {
                return Settled::Contradiction;
            }
        }
        if to_skip.is_empty() { Settled::Missing(missing) } else { Settled::Contradiction }
    }
}

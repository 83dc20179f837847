//! Which output item an event means.
//!
//! Servers disagree on what identifies an item: GitHub Copilot sends a new id with every event and only the index is
//! stable; llama.cpp sends no index; others send the same index, or the same id, for every item. The rule that is
//! right for all of them: the index, unless the id belongs exactly to another item; then the id; then the only item
//! of this kind that is still open.

use std::collections::{BTreeMap, BTreeSet};

use crate::wire::Address;

/// The items of one kind, in the order they were first heard of.
#[derive(Clone, Debug)]
pub(super) struct Items<T> {
    entries: Vec<Entry<T>>,
    by_index: BTreeMap<u64, usize>,
    by_id: BTreeMap<String, usize>,
    open: BTreeSet<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    /// The first id the server used for it.
    pub id: Option<String>,
    pub output_index: Option<u64>,
    /// Its counterpart in the final output was found.
    pub confirmed: bool,
    pub value: T,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), by_index: BTreeMap::new(), by_id: BTreeMap::new(), open: BTreeSet::new() }
    }
}

impl<T: Default> Items<T> {
    pub fn find(&self, at: &Address<'_>) -> Option<usize> {
        self.find_named(at).or_else(|| self.only_open(at))
    }

    /// The item that the index or the id names, without guessing.
    pub fn find_named(&self, at: &Address<'_>) -> Option<usize> {
        let by_index = at.output_index.and_then(|index| self.by_index.get(&index)).copied();
        let Some(id) = at.item_id.as_deref() else { return by_index };
        if let Some(slot) = by_index
            && self.get(slot).is_some_and(|entry| entry.id.as_deref() == Some(id))
        {
            return by_index;
        }
        self.by_id.get(id).copied().or(by_index)
    }

    /// The item to which a piece of text belongs. Text always has a place to go: when several items are open and
    /// none is named, the newest; when none is known, a new one.
    pub fn find_for_text(&mut self, at: &Address<'_>) -> usize {
        let unnamed = at.output_index.is_none();
        let newest = if unnamed { self.open.last().copied() } else { None };
        self.find(at).or(newest).unwrap_or_else(|| self.open(at))
    }

    /// A new item, which from now on owns its index and its id.
    pub fn open(&mut self, at: &Address<'_>) -> usize {
        let slot = self.entries.len();
        let id = at.item_id.as_deref().map(str::to_owned);
        self.by_index.extend(at.output_index.map(|index| (index, slot)));
        self.by_id.extend(id.clone().map(|id| (id, slot)));
        self.open.insert(slot);
        self.entries.push(Entry { id, output_index: at.output_index, confirmed: false, value: T::default() });
        slot
    }

    /// An index that names no item of ours means an item we have not met, not the one that happens to be open.
    fn only_open(&self, at: &Address<'_>) -> Option<usize> {
        if at.output_index.is_some() || self.open.len() != 1 { None } else { self.open.first().copied() }
    }

    pub fn first_open(&self) -> Option<usize> {
        self.open.first().copied()
    }

    pub fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub fn close(&mut self, slot: usize) {
        self.open.remove(&slot);
    }

    pub fn get(&self, slot: usize) -> Option<&Entry<T>> {
        self.entries.get(slot)
    }

    pub fn get_mut(&mut self, slot: usize) -> Option<&mut Entry<T>> {
        self.entries.get_mut(slot)
    }

    pub fn at_index(&self, index: u64) -> Option<usize> {
        self.by_index.get(&index).copied()
    }

    pub fn with_id(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The items that the final output has not mentioned yet.
    pub fn unconfirmed(&self) -> impl Iterator<Item = usize> + '_ {
        self.entries.iter().enumerate().filter(|(_, entry)| !entry.confirmed).map(|(slot, _)| slot)
    }

    pub fn confirm(&mut self, slot: usize) {
        if let Some(entry) = self.get_mut(slot) {
            entry.confirmed = true;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry<T>> {
        self.entries.iter()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

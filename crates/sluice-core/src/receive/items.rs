//! Which output item an event means.
//!
//! Servers disagree on what identifies an item: GitHub Copilot sends a new id with every event and only the index is
//! stable; llama.cpp sends no index; others send the same index, or the same id, for every item. The rule that is
//! right for all of them: the index, unless the id belongs exactly to another item; then the id; then the only item
//! of this kind that is still open and is not known by an index itself.

use std::borrow::Borrow;

use crate::wire::{Address, Item};

/// The items of one kind, in the order they were first heard of.
#[derive(Clone, Debug)]
pub(super) struct Items<T> {
    entries: Vec<Entry<T>>,
    by_index: Sorted<u64>,
    by_id: Sorted<String>,
    /// In ascending order.
    open: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    /// The first id the server used for it.
    pub id: Option<String>,
    pub output_index: Option<u64>,
    /// Its counterpart in the final output was found.
    paired: bool,
    pub value: T,
}

/// What an item of the final output is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairing {
    Streamed(usize),
    New,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), by_index: Sorted::default(), by_id: Sorted::default(), open: Vec::new() }
    }
}

impl<T: Default> Items<T> {
    /// The item that is meant, if that is certain.
    pub fn find(&self, at: &Address<'_>) -> Option<usize> {
        self.find_named(at).or_else(|| {
            let mut candidates = self.candidates(at);
            candidates.next().filter(|_| candidates.next().is_none())
        })
    }

    /// The item that the index or the id names, without guessing.
    pub fn find_named(&self, at: &Address<'_>) -> Option<usize> {
        let by_index = at.output_index.and_then(|index| self.by_index.get(&index));
        let Some(id) = at.item_id.as_deref() else { return by_index };
        if let Some(slot) = by_index
            && self.get(slot).is_some_and(|entry| entry.id.as_deref() == Some(id))
        {
            return by_index;
        }
        self.by_id.get(id).or(by_index)
    }

    /// The item to which a piece of text belongs. Text always has a place to go: when several items may be meant,
    /// the newest; when none, a new one.
    pub fn find_for_text(&mut self, at: &Address<'_>) -> usize {
        let found = self.find_named(at).or_else(|| self.candidates(at).next_back());
        found.unwrap_or_else(|| self.open(at))
    }

    /// The open items that an event without an index may mean. An event that has an id, though an unknown one, does
    /// not mean an item that the server knows by its index.
    pub fn candidates(&self, at: &Address<'_>) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let (has_index, has_id) = (at.output_index.is_some(), at.item_id.is_some());
        let fits = move |slot: &usize| {
            !has_index && (!has_id || self.get(*slot).is_some_and(|entry| entry.output_index.is_none()))
        };
        self.open.iter().copied().filter(fits)
    }

    /// The server says that there is an item; it may have said so before.
    pub fn announce(&mut self, at: &Address<'_>) {
        if self.find_named(at).is_none() {
            self.open(at);
        }
    }

    /// A new item, which from now on owns its index and its id.
    pub fn open(&mut self, at: &Address<'_>) -> usize {
        let slot = self.entries.len();
        let id = at.item_id.as_deref().map(str::to_owned);
        if let Some(index) = at.output_index {
            self.by_index.insert(index, slot);
        }
        if let Some(id) = id.clone() {
            self.by_id.insert(id, slot);
        }
        self.open.push(slot);
        self.entries.push(Entry { id, output_index: at.output_index, paired: false, value: T::default() });
        slot
    }

    pub fn first_open(&self) -> Option<usize> {
        self.open.first().copied()
    }

    pub fn open_slots(&self) -> Vec<usize> {
        self.open.clone()
    }

    pub fn close(&mut self, slot: usize) {
        if let Ok(at) = self.open.binary_search(&slot) {
            self.open.remove(at);
        }
    }

    pub fn get(&self, slot: usize) -> Option<&Entry<T>> {
        self.entries.get(slot)
    }

    pub fn get_mut(&mut self, slot: usize) -> Option<&mut Entry<T>> {
        self.entries.get_mut(slot)
    }

    /// Pairs the items of the final output with those that were streamed. `find` looks for the counterpart of an
    /// item (and its place in the output) by one kind of evidence; the strongest kind comes first, and an item is
    /// paired at most once.
    pub fn pair_with_final<E: Copy>(
        &mut self,
        output: &[Item<'_>],
        kind: &str,
        evidence: &[E],
        find: impl Fn(&Self, E, &Item<'_>, u64) -> Option<usize>,
    ) -> Vec<Pairing> {
        let mut pairs = vec![Pairing::New; output.len()];
        for evidence in evidence {
            for ((item, pair), place) in output.iter().zip(&mut pairs).zip(0..) {
                if item.kind() != kind || *pair != Pairing::New {
                    continue;
                }
                if let Some(slot) = find(self, *evidence, item, place) {
                    *pair = Pairing::Streamed(slot);
                    if let Some(entry) = self.get_mut(slot) {
                        entry.paired = true;
                    }
                }
            }
        }
        pairs
    }

    /// What a final item is to us: the one it was paired with, or a new one.
    pub fn paired(&mut self, pair: Pairing) -> usize {
        match pair {
            Pairing::Streamed(slot) => slot,
            Pairing::New => self.open(&Address::default()),
        }
    }

    pub fn unpaired_with_id(&self, id: Option<&str>) -> Option<usize> {
        self.by_id.get(id?).filter(|slot| self.is_unpaired(*slot))
    }

    pub fn unpaired_at(&self, place: u64) -> Option<usize> {
        self.by_index.get(&place).filter(|slot| self.is_unpaired(*slot))
    }

    pub fn is_unpaired(&self, slot: usize) -> bool {
        self.get(slot).is_some_and(|entry| !entry.paired)
    }

    pub fn unpaired(&self) -> impl Iterator<Item = usize> + '_ {
        self.entries.iter().enumerate().filter(|(_, entry)| !entry.paired).map(|(slot, _)| slot)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry<T>> {
        self.entries.iter()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

/// Slots by what they are known by. An answer has few items and usually names them in order: a list does, and is a tenth
/// of the code of a tree.
#[derive(Clone, Debug)]
struct Sorted<K>(Vec<(K, usize)>);

impl<K> Default for Sorted<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord> Sorted<K> {
    fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let found = self.0.binary_search_by(|(known, _)| known.borrow().cmp(key)).ok()?;
        self.0.get(found).map(|(_, slot)| *slot)
    }

    fn insert(&mut self, key: K, slot: usize) {
        match self.0.binary_search_by(|(known, _)| known.cmp(&key)) {
            Ok(found) => {
                if let Some(entry) = self.0.get_mut(found) {
                    entry.1 = slot;
                }
            }
            Err(place) => self.0.insert(place, (key, slot)),
        }
    }
}

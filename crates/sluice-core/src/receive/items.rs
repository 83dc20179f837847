//! Determines which output item an event belongs to.
//!
//! Servers disagree on what identifies an item: GitHub Copilot sends a new id with every event, and only the index is
//! stable; llama.cpp sends no index; others send the same index, or the same id, for every item. One rule works for all
//! of them: the index counts, unless the id belongs exactly to another item; then the id; then the only item of this
//! kind that is still open and has no index of its own.
//!
//! Every lookup uses a sorted list and never walks over all items, because a server can cause one with every event.

use super::sorted::{SortedMap, SortedSet};
use crate::wire::{Address, Item, ItemKind};

/// The items of one kind, in the order in which they were first mentioned.
#[derive(Clone, Debug)]
pub(super) struct Items<T> {
    entries: Vec<Entry<T>>,
    by_index: SortedMap<u64, usize>,
    by_id: SortedMap<String, usize>,
    /// The items whose `done` event hasn't arrived.
    open: SortedSet<usize>,
    /// Those of them that have no index.
    open_without_index: SortedSet<usize>,
    /// The memory that the ids take.
    id_bytes: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    /// The first id that the server used for the item.
    pub id: Option<String>,
    pub output_index: Option<u64>,
    pub value: T,
}

/// How an item of the final output relates to what was streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairing {
    Streamed(usize),
    New,
}

/// The items without a counterpart in the final output so far.
pub(super) struct Unpaired<'a, T> {
    pub items: &'a Items<T>,
    slots: SortedSet<usize>,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            by_index: SortedMap::default(),
            by_id: SortedMap::default(),
            open: SortedSet::default(),
            open_without_index: SortedSet::default(),
            id_bytes: 0,
        }
    }
}

impl<T: Default> Items<T> {
    /// Returns the item that an event belongs to, if that is certain.
    pub(super) fn find(&self, at: &Address<'_>) -> Option<usize> {
        self.find_named(at).or_else(|| {
            let mut candidates = self.candidates(at);
            candidates.next().filter(|_| candidates.next().is_none())
        })
    }

    /// Returns the item with this index or id, without guessing.
    pub(super) fn find_named(&self, at: &Address<'_>) -> Option<usize> {
        let by_index = at.output_index.and_then(|index| self.by_index.get(&index).copied());
        let Some(id) = at.item_id.as_deref() else { return by_index };
        if let Some(slot) = by_index
            && self.get(slot).is_some_and(|entry| entry.id.as_deref() == Some(id))
        {
            return by_index;
        }
        self.by_id.get(id).copied().or(by_index)
    }

    /// Returns the item that a text belongs to. There always is one: if several are possible, the newest; if none, a
    /// new one.
    pub(super) fn find_for_text(&mut self, at: &Address<'_>) -> usize {
        let found = self.find_named(at).or_else(|| self.candidates(at).next_back());
        found.unwrap_or_else(|| self.open(at))
    }

    /// Returns the open items that an event without an index may belong to. If it has an id, even an unknown one, it
    /// doesn't belong to an item with an index.
    pub(super) fn candidates(&self, at: &Address<'_>) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let among = match (at.output_index, &at.item_id) {
            (Some(_), _) => None,
            (None, Some(_)) => Some(&self.open_without_index),
            (None, None) => Some(&self.open),
        };
        among.into_iter().flat_map(SortedSet::keys).copied()
    }

    /// The server announces an item, perhaps not for the first time.
    pub(super) fn announce(&mut self, at: &Address<'_>) {
        if self.find_named(at).is_none() {
            self.open(at);
        }
    }

    /// Adds a new item, which owns its index and id from now on.
    pub(super) fn open(&mut self, at: &Address<'_>) -> usize {
        let slot = self.entries.len();
        let id = at.item_id.as_deref().map(str::to_owned);
        if let Some(index) = at.output_index {
            self.by_index.insert(index, slot);
        } else {
            self.open_without_index.insert(slot, ());
        }
        if let Some(id) = id.clone() {
            self.id_bytes += 2 * id.len();
            self.by_id.insert(id, slot);
        }
        self.open.insert(slot, ());
        self.entries.push(Entry { id, output_index: at.output_index, value: T::default() });
        slot
    }

    pub(super) fn first_open(&self) -> Option<usize> {
        self.open.keys().next().copied()
    }

    /// Returns whether the item was open.
    pub(super) fn close(&mut self, slot: usize) -> bool {
        self.open_without_index.remove(&slot);
        self.open.remove(&slot)
    }

    pub(super) fn get(&self, slot: usize) -> Option<&Entry<T>> {
        self.entries.get(slot)
    }

    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut Entry<T>> {
        self.entries.get_mut(slot)
    }

    /// Pairs the items of one kind in the final output with those that were streamed. `find` gets an item and its index
    /// in the output, and searches for its counterpart by one kind of evidence. The strongest kind comes first, and an
    /// item is paired at most once.
    pub(super) fn pair_with_final<E: Copy>(
        &self,
        output: &[Item<'_>],
        pairings: &mut [Pairing],
        kind: ItemKind<'_>,
        evidence: &[E],
        mut find: impl FnMut(&Unpaired<'_, T>, E, &Item<'_>, u64) -> Option<usize>,
    ) {
        let mut unpaired = Unpaired { items: self, slots: SortedSet::default() };
        for slot in 0..self.entries.len() {
            unpaired.slots.insert(slot, ());
        }
        for evidence in evidence {
            for ((item, pairing), output_index) in output.iter().zip(&mut *pairings).zip(0..) {
                if item.kind() != kind || *pairing != Pairing::New {
                    continue;
                }
                if let Some(slot) = find(&unpaired, *evidence, item, output_index) {
                    *pairing = Pairing::Streamed(slot);
                    unpaired.slots.remove(&slot);
                }
            }
        }
    }

    /// Returns the item that a final item was paired with, or a new one.
    pub(super) fn paired(&mut self, pair: Pairing) -> usize {
        match pair {
            Pairing::Streamed(slot) => slot,
            Pairing::New => self.open(&Address::default()),
        }
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry<T>> {
        self.entries.iter_mut()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the memory that the items take, without their contents.
    pub(super) fn bytes(&self) -> usize {
        const OVERHEAD: usize = 384;
        self.entries.len() * OVERHEAD + self.id_bytes
    }
}

impl<T> Unpaired<'_, T> {
    pub(super) fn with_id(&self, id: Option<&str>) -> Option<usize> {
        self.items.by_id.get(id?).copied().filter(|slot| self.contains(*slot))
    }

    pub(super) fn at(&self, output_index: u64) -> Option<usize> {
        self.items.by_index.get(&output_index).copied().filter(|slot| self.contains(*slot))
    }

    pub(super) fn contains(&self, slot: usize) -> bool {
        self.slots.contains(&slot)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.slots.keys().copied()
    }
}

//! Which output item an event means.
//!
//! Servers disagree on what identifies an item: GitHub Copilot sends a new id with every event and only the index is
//! stable; llama.cpp sends no index; others send the same index, or the same id, for every item. The rule that is
//! right for all of them: the index, unless the id belongs exactly to another item; then the id; then the only item
//! of this kind that is still open and is not known by an index itself.
//!
//! Every question here is answered by a look into a tree, never by a walk over all items: a server can ask it with every
//! event.

use std::collections::{BTreeMap, BTreeSet};

use crate::wire::{Address, Item, ItemKind};

/// The items of one kind, in the order they were first heard of.
#[derive(Clone, Debug)]
pub(super) struct Items<T> {
    entries: Vec<Entry<T>>,
    by_index: BTreeMap<u64, usize>,
    by_id: BTreeMap<String, usize>,
    /// Those whose `done` has not come.
    open: BTreeSet<usize>,
    /// Those of them that the server does not know by an index.
    open_without_index: BTreeSet<usize>,
    /// How much memory the ids take.
    id_bytes: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    /// The first id the server used for it.
    pub id: Option<String>,
    pub output_index: Option<u64>,
    pub value: T,
}

/// What an item of the final output is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairing {
    Streamed(usize),
    New,
}

/// The items whose counterpart in the final output was not found yet.
pub(super) struct Unpaired<'a, T> {
    pub items: &'a Items<T>,
    slots: BTreeSet<usize>,
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            by_index: BTreeMap::new(),
            by_id: BTreeMap::new(),
            open: BTreeSet::new(),
            open_without_index: BTreeSet::new(),
            id_bytes: 0,
        }
    }
}

impl<T: Default> Items<T> {
    /// The item that is meant, if that is certain.
    pub(super) fn find(&self, at: &Address<'_>) -> Option<usize> {
        self.find_named(at).or_else(|| {
            let mut candidates = self.candidates(at);
            candidates.next().filter(|_| candidates.next().is_none())
        })
    }

    /// The item that the index or the id names, without guessing.
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

    /// The item to which a piece of text belongs. Text always has a place to go: when several items may be meant,
    /// the newest; when none, a new one.
    pub(super) fn find_for_text(&mut self, at: &Address<'_>) -> usize {
        let found = self.find_named(at).or_else(|| self.candidates(at).next_back());
        found.unwrap_or_else(|| self.open(at))
    }

    /// The open items that an event without an index may mean. An event that has an id, though an unknown one, does
    /// not mean an item that the server knows by its index.
    pub(super) fn candidates(&self, at: &Address<'_>) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let among = match (at.output_index, &at.item_id) {
            (Some(_), _) => None,
            (None, Some(_)) => Some(&self.open_without_index),
            (None, None) => Some(&self.open),
        };
        among.into_iter().flatten().copied()
    }

    /// The server says that there is an item; it may have said so before.
    pub(super) fn announce(&mut self, at: &Address<'_>) {
        if self.find_named(at).is_none() {
            self.open(at);
        }
    }

    /// A new item, which from now on owns its index and its id.
    pub(super) fn open(&mut self, at: &Address<'_>) -> usize {
        let slot = self.entries.len();
        let id = at.item_id.as_deref().map(str::to_owned);
        if let Some(index) = at.output_index {
            self.by_index.insert(index, slot);
        } else {
            self.open_without_index.insert(slot);
        }
        if let Some(id) = id.clone() {
            self.id_bytes += 2 * id.len();
            self.by_id.insert(id, slot);
        }
        self.open.insert(slot);
        self.entries.push(Entry { id, output_index: at.output_index, value: T::default() });
        slot
    }

    pub(super) fn first_open(&self) -> Option<usize> {
        self.open.first().copied()
    }

    /// Whether the item was open.
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

    /// Pairs the items of one kind in the final output with those that were streamed. `find` gets an item and its index in
    /// the output and looks for its counterpart by one kind of evidence; the strongest kind comes first, and an item is
    /// paired at most once.
    pub(super) fn pair_with_final<E: Copy>(
        &self,
        output: &[Item<'_>],
        pairings: &mut [Pairing],
        kind: ItemKind<'_>,
        evidence: &[E],
        mut find: impl FnMut(&Unpaired<'_, T>, E, &Item<'_>, u64) -> Option<usize>,
    ) {
        let mut unpaired = Unpaired { items: self, slots: (0..self.entries.len()).collect() };
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

    /// What a final item is to us: the one it was paired with, or a new one.
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

    /// Bytes of memory that the items take, apart from what they hold.
    pub(super) fn bytes(&self) -> usize {
        const OVERHEAD: usize = 384;
        self.entries.len() * OVERHEAD + self.id_bytes
    }
}

impl<T> Unpaired<'_, T> {
    pub(super) fn with_id(&self, id: Option<&str>) -> Option<usize> {
        self.items.by_id.get(id?).copied().filter(|slot| self.contains(*slot))
    }

    pub(super) fn at(&self, place: u64) -> Option<usize> {
        self.items.by_index.get(&place).copied().filter(|slot| self.contains(*slot))
    }

    pub(super) fn contains(&self, slot: usize) -> bool {
        self.slots.contains(&slot)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.slots.iter().copied()
    }
}

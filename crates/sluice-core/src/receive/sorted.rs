//! A map and a set for a few entries.
//!
//! An answer has a handful of items. For each type of key, a `BTreeMap` adds about 5 KB of WebAssembly to insert, to remove
//! and to drop, which an engine compiles while the first answer is waiting. A list is smaller. An entry that isn't inserted
//! at its end moves those after it, so the number of entries must be limited: with 4,096 items of 40 bytes, the worst order
//! moves 0.3 GB in total.

use std::borrow::Borrow;

/// A map that keeps its entries in one list, sorted by key.
#[derive(Clone, Debug)]
pub(super) struct SortedMap<K, V> {
    entries: Vec<(K, V)>,
}

/// A set that keeps its elements in one list, in order.
pub(super) type SortedSet<T> = SortedMap<T, ()>;

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// Returns the position of the key, or the position at which it belongs.
    fn position<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.entries.binary_search_by(|(other, _)| other.borrow().cmp(key))
    }

    pub(super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let position = self.position(key).ok()?;
        self.entries.get(position).map(|(_, value)| value)
    }

    /// Adds an entry. It replaces one with the same key.
    pub(super) fn insert(&mut self, key: K, value: V) {
        match self.position(&key) {
            Ok(position) => {
                if let Some(entry) = self.entries.get_mut(position) {
                    entry.1 = value;
                }
            }
            Err(position) => self.entries.insert(position, (key, value)),
        }
    }

    /// Removes an entry, and returns whether there was one.
    pub(super) fn remove(&mut self, key: &K) -> bool {
        let position = self.position(key);
        if let Ok(position) = position {
            self.entries.remove(position);
        }
        position.is_ok()
    }

    pub(super) fn contains(&self, key: &K) -> bool {
        self.position(key).is_ok()
    }

    /// Returns the keys in order.
    pub(super) fn keys(&self) -> impl DoubleEndedIterator<Item = &K> {
        self.entries.iter().map(|(key, _)| key)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::SortedMap;

    proptest! {
        #[test]
        fn it_behaves_like_the_map_of_the_standard_library(
            steps in prop::collection::vec((any::<bool>(), 0_u8..20, any::<u8>()), 0..100),
        ) {
            let mut sorted = SortedMap::default();
            let mut tree = BTreeMap::new();
            for (inserts, key, value) in steps {
                if inserts {
                    sorted.insert(key, value);
                    tree.insert(key, value);
                } else {
                    prop_assert_eq!(sorted.remove(&key), tree.remove(&key).is_some());
                }
                prop_assert_eq!(sorted.get(&key), tree.get(&key));
                prop_assert_eq!(sorted.contains(&key), tree.contains_key(&key));
                prop_assert!(sorted.keys().eq(tree.keys()));
            }
        }
    }
}

//! Bounded memory of recent things: the oldest entry goes when a new one
//! exceeds the limit.

use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::ops::Deref;

/// Entries that are scanned rather than hashed.
const SCANNED: usize = 8;

/// The last `LIMIT` keys of a kind.
pub(crate) type RecentSet<K, const LIMIT: usize> = RecentMap<K, (), LIMIT>;

/// The last `LIMIT` entries, in order of insertion. Inserting a key again makes
/// it the newest.
///
/// A few entries are scanned, newest first; more are indexed. Every operation
/// but `retain` takes constant time, amortized.
#[derive(Clone, Debug)]
pub(crate) struct RecentMap<K, V, const LIMIT: usize> {
    /// `None` marks an indexed entry that was removed.
    slots: VecDeque<Option<(K, V)>>,
    /// Number of the first slot in `index`.
    first: usize,
    len: usize,
    /// Slot numbers by key; empty while the entries are scanned.
    index: HashMap<K, usize>,
}

impl<K, V, const LIMIT: usize> Default for RecentMap<K, V, LIMIT> {
    fn default() -> Self {
        Self {
            slots: VecDeque::new(),
            first: 0,
            len: 0,
            index: HashMap::new(),
        }
    }
}

impl<K: PartialEq, V: PartialEq, const LIMIT: usize> PartialEq for RecentMap<K, V, LIMIT> {
    fn eq(&self, other: &Self) -> bool {
        self.slots.iter().flatten().eq(other.slots.iter().flatten())
    }
}

impl<K: Eq + Hash + Clone, V, const LIMIT: usize> RecentMap<K, V, LIMIT> {
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        self.position(key).is_some()
    }

    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let slot = self.slots.get(self.position(key)?)?;
        slot.as_ref().map(|(_, value)| value)
    }

    pub(crate) fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let position = self.position(key)?;
        let slot = self.slots.get_mut(position)?;
        slot.as_mut().map(|(_, value)| value)
    }

    /// Values, oldest first.
    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.slots.iter().flatten().map(|(_, value)| value)
    }

    /// Values, oldest first.
    pub(crate) fn values_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut V> {
        self.slots.iter_mut().flatten().map(|(_, value)| value)
    }

    /// Adds an entry as the newest one and drops the oldest beyond the limit.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if self.is_indexed() {
            let number = self.first + self.slots.len();
            if let Some(old) = self.index.insert(key.clone(), number) {
                self.vacate(old - self.first);
            }
        } else if let Some(position) = self.position(&key) {
            self.slots.remove(position);
            self.len -= 1;
        }
        self.slots.push_back(Some((key, value)));
        self.len += 1;
        if self.len > LIMIT {
            self.evict();
        }
        if !self.is_indexed() && self.len > SCANNED || self.slots.len() > 2 * self.len + SCANNED {
            self.renumber();
        }
    }

    /// Returns the value of `key`, inserted as the newest entry if it is new.
    pub(crate) fn get_or_insert<Q>(&mut self, key: &Q) -> &mut V
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        V: Default,
    {
        let position = self.position(key).unwrap_or_else(|| {
            self.insert(key.to_owned(), V::default());
            self.slots.len() - 1
        });
        let slot = &mut self.slots[position];
        &mut slot.get_or_insert_with(|| (key.to_owned(), V::default())).1
    }

    pub(crate) fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if self.is_indexed() {
            let number = self.index.remove(key)?;
            return self.vacate(number - self.first);
        }
        let position = self.position(key)?;
        self.len -= 1;
        self.slots
            .remove(position)
            .flatten()
            .map(|(_, value)| value)
    }

    /// Drops the entries that `keep` rejects.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        let before = self.len;
        for slot in &mut self.slots {
            if let Some((key, value)) = slot
                && !keep(key, value)
            {
                self.index.remove(key);
                self.len -= 1;
                *slot = None;
            }
        }
        if self.len < before {
            self.renumber();
        }
    }

    fn is_indexed(&self) -> bool {
        !self.index.is_empty()
    }

    /// Index in `slots` of the entry with this key.
    fn position<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let is_it = |slot: &Option<(K, V)>| slot.as_ref().is_some_and(|(k, _)| k.borrow() == key);
        if !self.is_indexed() {
            return self.slots.iter().rposition(is_it);
        }
        // Streams ask for their newest entry again and again.
        if self.slots.back().is_some_and(is_it) {
            return Some(self.slots.len() - 1);
        }
        self.index.get(key).map(|number| number - self.first)
    }

    /// Empties a slot whose key is no longer indexed under it.
    fn vacate(&mut self, position: usize) -> Option<V> {
        let entry = self.slots.get_mut(position).and_then(Option::take)?;
        self.len -= 1;
        self.trim();
        Some(entry.1)
    }

    fn evict(&mut self) {
        if let Some((key, _)) = self.slots.pop_front().flatten() {
            self.first += 1;
            self.len -= 1;
            self.index.remove(&key);
            self.trim();
        }
    }

    /// Drops empty slots at the front.
    fn trim(&mut self) {
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.first += 1;
        }
    }

    /// Drops empty slots and builds the index anew, or leaves it out for a few
    /// entries.
    fn renumber(&mut self) {
        self.slots.retain(Option::is_some);
        self.first = 0;
        self.index.clear();
        if self.len > SCANNED {
            let keys = self.slots.iter().flatten().map(|(key, _)| key.clone());
            self.index.extend(keys.zip(0..));
        }
    }
}

impl<K: Eq + Hash + Clone, const LIMIT: usize> RecentSet<K, LIMIT> {
    /// Adds a key; returns false if it was there already.
    pub(crate) fn add<Q>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        let is_new = !self.contains(key);
        if is_new {
            self.insert(key.to_owned(), ());
        }
        is_new
    }
}

/// The last `LIMIT` values, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecentQueue<T, const LIMIT: usize>(VecDeque<T>);

impl<T, const LIMIT: usize> Default for RecentQueue<T, LIMIT> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T, const LIMIT: usize> Deref for RecentQueue<T, LIMIT> {
    type Target = VecDeque<T>;

    fn deref(&self) -> &VecDeque<T> {
        &self.0
    }
}

impl<T, const LIMIT: usize> RecentQueue<T, LIMIT> {
    /// Appends a value; returns the oldest one beyond the limit.
    pub(crate) fn push(&mut self, value: T) -> Option<T> {
        self.0.push_back(value);
        (self.0.len() > LIMIT).then(|| self.0.pop_front()).flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        self.0.iter_mut()
    }

    /// Removes the oldest value that matches.
    pub(crate) fn take(&mut self, is_it: impl FnMut(&T) -> bool) -> Option<T> {
        let index = self.0.iter().position(is_it)?;
        self.0.remove(index)
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.0.retain(keep);
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.0.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys<const LIMIT: usize>(map: &RecentMap<u32, u32, LIMIT>) -> Vec<u32> {
        map.values().copied().collect()
    }

    #[test]
    fn the_oldest_entry_goes_first() {
        let mut map = RecentMap::<u32, u32, 3>::default();
        for number in 0..5 {
            map.insert(number, number);
        }
        assert_eq!(keys(&map), [2, 3, 4]);
        map.insert(2, 2);
        map.insert(5, 5);
        assert_eq!(keys(&map), [4, 2, 5]);
        assert_eq!(map.get(&3), None);
    }

    /// Compares the map with a plain list, through both ways of finding a key.
    #[test]
    fn scanned_and_indexed_entries_behave_like_a_list() {
        const LIMIT: usize = 24;
        let mut map = RecentMap::<u32, u32, LIMIT>::default();
        let mut list: Vec<(u32, u32)> = Vec::new();
        let mut random = 7_u32;
        for step in 0..50_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let key = (random >> 16) % 40;
            let known = list.iter().position(|(known, _)| *known == key);
            assert_eq!(map.get(&key), known.map(|index| &list[index].1));
            // Phases of growth and of decline.
            if random >> 28 < if step / 500 % 2 == 0 { 12 } else { 5 } {
                known.map(|index| list.remove(index));
                list.push((key, step));
                if list.len() > LIMIT {
                    list.remove(0);
                }
                map.insert(key, step);
            } else if (random >> 20).is_multiple_of(32) {
                list.retain(|(key, _)| key % 3 > 0);
                map.retain(|key, _| key % 3 > 0);
            } else {
                let removed = known.map(|index| list.remove(index).1);
                assert_eq!(map.remove(&key), removed);
            }
            assert_eq!(map.len(), list.len());
            assert!(map.values().eq(list.iter().map(|(_, value)| value)));
            assert!(map.slots.len() <= 2 * map.len() + 2 * SCANNED + LIMIT);
        }
    }

    #[test]
    fn a_key_is_new_once() {
        let mut set = RecentSet::<u32, 2>::default();
        assert!(set.add(&1));
        assert!(!set.add(&1));
        assert!(set.add(&2) && set.add(&3) && set.add(&1));
    }

    #[test]
    fn a_queue_hands_out_what_it_drops() {
        let mut queue = RecentQueue::<u32, 2>::default();
        assert_eq!(
            [queue.push(1), queue.push(2), queue.push(3)],
            [None, None, Some(1)]
        );
        assert_eq!(queue.take(|value| *value == 3), Some(3));
        assert_eq!(queue.drain().collect::<Vec<_>>(), [2]);
    }
}

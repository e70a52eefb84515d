//! The visits of one host in the order of their due times. An entry takes twelve bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::time::{Seconds, UrlHash};

/// A page and its due time. The identity is stored as two halves: with a whole u64, an entry would take sixteen bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry([u32; 3]);

/// Pages by due time, the earliest first.
///
/// # Complexity
///
/// O(log n) to push and to pop, O(n) to replace all.
#[derive(Clone, Debug, Default)]
pub struct Queue(BinaryHeap<Reverse<Entry>>);

impl Queue {
    /// The earliest entry.
    pub fn peek(&self) -> Option<(Seconds, UrlHash)> {
        self.0.peek().map(|Reverse(entry)| entry.parts())
    }

    /// Takes the earliest entry out.
    pub fn pop(&mut self) -> Option<(Seconds, UrlHash)> {
        self.0.pop().map(|Reverse(entry)| entry.parts())
    }

    /// Adds an entry.
    pub fn push(&mut self, due: Seconds, page: UrlHash) {
        if self.0.len() == self.0.capacity() {
            self.0.reserve_exact(more(self.0.len()));
        }
        self.0.push(Reverse(Entry::new(due, page)));
    }

    /// Replaces all entries by these.
    pub fn replace(&mut self, entries: Entries) {
        self.0 = BinaryHeap::from(entries.0);
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes that are allocated.
    pub fn allocated(&self) -> usize {
        self.0.capacity() * size_of::<Reverse<Entry>>()
    }
}

/// Pages and their due times, in any order. A queue is made of them.
#[derive(Clone, Debug)]
pub struct Entries(Vec<Reverse<Entry>>);

impl Entries {
    /// No entries, with room for this many.
    pub fn with_capacity(pages: usize) -> Self {
        Self(Vec::with_capacity(pages))
    }

    /// Adds an entry.
    pub fn push(&mut self, due: Seconds, page: UrlHash) {
        if self.0.len() == self.0.capacity() {
            self.0.reserve_exact(more(self.0.len()));
        }
        self.0.push(Reverse(Entry::new(due, page)));
    }
}

/// Entries by which a full queue of this length grows: a sixteenth. If it doubled, up to half of it would be unused.
fn more(length: usize) -> usize {
    length / 16 + 4
}

impl Entry {
    fn new(due: Seconds, page: UrlHash) -> Self {
        Self([due, (page >> 32) as u32, page as u32])
    }

    fn parts(self) -> (Seconds, UrlHash) {
        let Entry([due, high, low]) = self;
        (due, u64::from(high) << 32 | u64::from(low))
    }
}

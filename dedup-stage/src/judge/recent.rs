//! A bounded memory of accepted pages. It has the pages that were accepted or looked at last.

use super::entry::Entry;

/// Pages by fingerprint, one in each slot. A new page replaces the page that is in its slot.
#[derive(Debug)]
pub(super) struct Recent {
    /// The slots. Their number is a power of two, or zero.
    slots: Vec<Option<(u64, Entry)>>,
    taken: usize,
    /// The number of slots never exceeds this.
    most: usize,
}

impl Recent {
    /// A memory for at most this many pages, of 128 bytes each. The number must be a power of two.
    pub(super) fn new(most: usize) -> Self {
        Self { slots: Vec::new(), taken: 0, most }
    }

    /// The page with this fingerprint, if it is remembered.
    pub(super) fn get(&self, fingerprint: u64) -> Option<Entry> {
        let (other, entry) = self.slots.get(self.slot(fingerprint))?.as_ref()?;
        (*other == fingerprint).then_some(*entry)
    }

    /// Remembers a page, perhaps in place of another one.
    pub(super) fn put(&mut self, fingerprint: u64, entry: Entry) {
        if 2 * self.taken >= self.slots.len() && self.slots.len() < self.most {
            let slots = (2 * self.slots.len()).clamp(1, self.most);
            let pages = std::mem::replace(&mut self.slots, vec![None; slots]);
            self.taken = 0;
            pages.into_iter().flatten().for_each(|(fingerprint, entry)| self.place(fingerprint, entry));
        }
        self.place(fingerprint, entry);
    }

    /// Forgets the page with this fingerprint.
    pub(super) fn forget(&mut self, fingerprint: u64) {
        if self.get(fingerprint).is_some() {
            let slot = self.slot(fingerprint);
            self.slots[slot] = None;
            self.taken -= 1;
        }
    }

    fn place(&mut self, fingerprint: u64, entry: Entry) {
        let slot = self.slot(fingerprint);
        self.taken += usize::from(self.slots[slot].replace((fingerprint, entry)).is_none());
    }

    /// The slot of a fingerprint. The fingerprints of pages crowd, so they are multiplied first, which spreads all
    /// their bits.
    fn slot(&self, fingerprint: u64) -> usize {
        let spread = fingerprint.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((u128::from(spread) * self.slots.len() as u128) >> 64) as usize
    }

    /// Number of slots.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }
}

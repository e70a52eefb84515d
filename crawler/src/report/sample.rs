//! A uniform sample of bounded size from a stream of unknown length. It has the items with the smallest hashes (a
//! bottom-k sample), so the same stream gives the same sample.

use std::collections::BinaryHeap;

use xxhash_rust::xxh3::xxh3_64;

/// Keeps at most `most` items.
#[derive(Clone, Debug)]
pub struct Reservoir {
    most: usize,
    /// Pairs of hash and item. The largest hash is removed first.
    kept: BinaryHeap<(u64, u64)>,
    seen: u64,
}

impl Reservoir {
    /// An empty sample, which keeps at most `most` items.
    pub fn new(most: usize) -> Self {
        Self { most, kept: BinaryHeap::new(), seen: 0 }
    }

    /// Shows the sample an item (an offset in a file). No item may come twice.
    pub fn push(&mut self, item: u64) {
        self.seen += 1;
        let hash = xxh3_64(&item.to_le_bytes());
        if self.kept.len() < self.most {
            self.kept.push((hash, item));
        } else if let Some(mut largest) = self.kept.peek_mut()
            && hash < largest.0
        {
            *largest = (hash, item);
        }
    }

    /// The items of the sample, ascending.
    pub fn items(&self) -> Vec<u64> {
        let mut items: Vec<_> = self.kept.iter().map(|(_, item)| *item).collect();
        items.sort_unstable();
        items
    }

    /// Whether the sample has all items.
    pub fn is_everything(&self) -> bool {
        self.seen <= self.most as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_stream_is_kept_and_a_large_one_sampled_evenly() {
        let mut sample = Reservoir::new(1_000);
        (0..1_000).for_each(|item| sample.push(item));
        assert!(sample.is_everything() && sample.items() == (0..1_000).collect::<Vec<_>>());
        (1_000..100_000).for_each(|item| sample.push(item));
        assert!(!sample.is_everything() && sample.items().len() == 1_000);
        let first_half = sample.items().iter().filter(|item| **item < 50_000).count();
        assert!((400..600).contains(&first_half), "{first_half}");
    }
}

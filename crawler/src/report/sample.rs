//! A uniform sample of bounded size from a stream of unknown length, the same for the same stream: of all items, those
//! with the smallest hashes (a bottom-k sample).

use std::collections::BinaryHeap;

use xxhash_rust::xxh3::xxh3_64;

/// Keeps at most `most` items.
#[derive(Clone, Debug)]
pub struct Sample {
    most: usize,
    /// (hash, item), largest hash first out.
    kept: BinaryHeap<(u64, u64)>,
    seen: u64,
}

impl Sample {
    /// An empty sample of at most `most` items.
    pub fn new(most: usize) -> Self {
        Self { most, kept: BinaryHeap::new(), seen: 0 }
    }

    /// One more item (an offset in a file); items differ.
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

    /// The sample, in order.
    pub fn items(&self) -> Vec<u64> {
        let mut items: Vec<_> = self.kept.iter().map(|(_, item)| *item).collect();
        items.sort_unstable();
        items
    }

    /// Whether nothing was left out.
    pub fn is_everything(&self) -> bool {
        self.seen <= self.most as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_stream_is_kept_and_a_large_one_sampled_evenly() {
        let mut sample = Sample::new(1_000);
        (0..1_000).for_each(|item| sample.push(item));
        assert!(sample.is_everything() && sample.items() == (0..1_000).collect::<Vec<_>>());
        (1_000..100_000).for_each(|item| sample.push(item));
        assert!(!sample.is_everything() && sample.items().len() == 1_000);
        let first_half = sample.items().iter().filter(|item| **item < 50_000).count();
        assert!((400..600).contains(&first_half), "{first_half}");
    }
}

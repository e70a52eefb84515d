//! The Hamming distance problem (Manku, Jain, Das Sarma 2007, section 3): is any stored 64-bit fingerprint within
//! distance k of this one?

/// A set of 64-bit fingerprints that answers, exactly, which of them lie within `k` of a query; grows in place.
#[derive(Debug)]
pub struct Index {
    k: u32,
    fingerprints: Vec<u64>,
}

impl Index {
    /// An empty index for distances up to `k`.
    pub fn new(k: u32) -> Self {
        Self { k, fingerprints: Vec::new() }
    }

    /// The distance this index answers for.
    pub fn distance(&self) -> u32 {
        self.k
    }

    /// Number of distinct fingerprints.
    pub fn len(&self) -> usize {
        self.fingerprints.len()
    }

    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    /// Appends every distinct stored fingerprint within `k` of `query`, with its distance, to `out`; in no order.
    pub fn within(&self, query: u64, out: &mut Vec<(u64, u32)>) {
        out.extend(
            self.fingerprints
                .iter()
                .map(|f| (*f, (f ^ query).count_ones()))
                .filter(|(_, distance)| *distance <= self.k),
        );
    }

    /// Adds a fingerprint; false if it was there already.
    pub fn insert(&mut self, fingerprint: u64) -> bool {
        let new = !self.fingerprints.contains(&fingerprint);
        if new {
            self.fingerprints.push(fingerprint);
        }
        new
    }
}

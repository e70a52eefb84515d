//! Sets of shingles, and the share that two sets have in common.
//!
//! Broder, "On the Resemblance and Containment of Documents" (1997); Broder, "Identifying and Filtering Near-Duplicate
//! Documents" (CPM 2000), section 2; Schleimer, Wilkerson, Aiken, "Winnowing" (SIGMOD 2003).

use crate::words::{WordHash, fold_multiply};

/// A sorted set of hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set(Vec<u64>);

impl FromIterator<u64> for Set {
    fn from_iter<I: IntoIterator<Item = u64>>(hashes: I) -> Self {
        let mut hashes: Vec<u64> = hashes.into_iter().collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes)
    }
}

impl Set {
    /// The hashes, ascending.
    pub fn hashes(&self) -> &[u64] {
        &self.0
    }

    /// Number of hashes in both sets.
    pub fn common(&self, other: &Set) -> usize {
        let (mut a, mut b, mut common) = (self.0.iter().peekable(), other.0.iter().peekable(), 0);
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.cmp(y) {
                std::cmp::Ordering::Less => drop(a.next()),
                std::cmp::Ordering::Greater => drop(b.next()),
                std::cmp::Ordering::Equal => {
                    common += 1;
                    a.next();
                    b.next();
                }
            }
        }
        common
    }

    /// The size of the intersection divided by the size of the union. It is 0 for two empty sets.
    pub fn resemblance(&self, other: &Set) -> f64 {
        let common = self.common(other);
        ratio(common, self.0.len() + other.0.len() - common)
    }

    /// The size of the intersection divided by the size of the smaller set.
    pub fn containment(&self, other: &Set) -> f64 {
        ratio(self.common(other), self.0.len().min(other.0.len()))
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The hashes of all runs of `width` features, in order. If the text is shorter, the hash of all its features.
pub fn shingles(features: &[WordHash], width: usize) -> Vec<u64> {
    let hash = |run: &[u64]| run.iter().fold(0, |hash, feature| fold_multiply(hash ^ feature, 0x9FB2_1C65_1E98_DF25));
    match features.len() {
        0 => Vec::new(),
        short if short < width => vec![hash(features)],
        _ => features.windows(width).map(hash).collect(),
    }
}

/// The hashes of all runs of `width` characters. White space counts as one space, and a capital as its small letter.
pub fn character_shingles(text: &str, width: usize) -> Vec<u64> {
    let mut characters: Vec<u64> = Vec::with_capacity(text.len());
    for word in text.split_whitespace() {
        characters.extend(word.chars().flat_map(char::to_lowercase).map(u64::from));
        characters.push(u64::from(' '));
    }
    characters.pop();
    shingles(&characters, width)
}

/// The shingles that are 0 modulo `p` (Broder 1997, section 3): a sample whose size grows with the text.
pub fn modulo(shingles: &[u64], p: u64) -> Set {
    shingles.iter().copied().filter(|shingle| (shingle >> 7).is_multiple_of(p)).collect()
}

/// The least shingle of every window of `window` shingles; of equal ones, the rightmost. So at least one shingle of
/// every run of `window` is kept.
pub fn winnow(shingles: &[u64], window: usize) -> Set {
    let mut kept = Vec::new();
    let mut last = usize::MAX;
    for start in 0..shingles.len().saturating_sub(window - 1).max(usize::from(!shingles.is_empty())) {
        let run = &shingles[start..(start + window).min(shingles.len())];
        let least =
            run.iter().enumerate().min_by_key(|(i, hash)| (**hash, usize::MAX - i)).map_or(0, |(i, _)| start + i);
        if least != last {
            kept.push(shingles[least]);
            last = least;
        }
    }
    kept.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rose_is_a_rose() {
        // The example of Broder 1997: eight words, three distinct 4-shingles.
        let words = [1, 2, 3, 1, 2, 3, 1, 2].map(|word| fold_multiply(word, 0x9E37_79B9_7F4A_7C15));
        let set: Set = shingles(&words, 4).into_iter().collect();
        assert_eq!(set.hashes().len(), 3);
        assert_eq!(shingles(&words[..2], 4).len(), 1);
        assert_eq!(shingles(&[], 4).len(), 0);
    }

    #[test]
    fn sets_are_compared() {
        let set = |range: std::ops::Range<u64>| range.collect::<Set>();
        assert_eq!(set(0..10).resemblance(&set(5..15)), 5.0 / 15.0);
        assert_eq!(set(0..10).containment(&set(5..8)), 1.0);
        assert_eq!(set(0..0).resemblance(&set(0..0)), 0.0);
    }

    #[test]
    fn samples_keep_what_they_promise() {
        let hashes: Vec<u64> = (1..2000u64).map(|i| fold_multiply(i, 0x9E37_79B9_7F4A_7C15)).collect();
        let winnowed = winnow(&hashes, 10);
        for window in hashes.windows(10) {
            assert!(window.iter().any(|hash| winnowed.hashes().binary_search(hash).is_ok()));
        }
        let sampled = modulo(&hashes, 8);
        assert!((200..300).contains(&sampled.hashes().len()), "{}", sampled.hashes().len());
        assert_eq!(winnow(&hashes[..3], 10).hashes().len(), 1);
    }

    #[test]
    fn characters_are_folded() {
        assert_eq!(character_shingles("A  b\nC", 3), character_shingles("a b c", 3));
        assert_eq!(character_shingles("abcd", 4).len(), 1);
    }
}

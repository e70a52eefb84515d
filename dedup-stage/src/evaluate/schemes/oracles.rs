//! Measures of likeness that look at all of both texts. They are slow. Fast signatures are compared with them.

use std::collections::HashMap;

use crate::words::WordHash;

/// The cosine of the angle between two texts as vectors of word counts, 0..1.
pub fn cosine(a: &[WordHash], b: &[WordHash]) -> f64 {
    let (a, b) = (counts(a), counts(b));
    let norm = |counts: &HashMap<u64, f64>| counts.values().map(|count| count * count).sum::<f64>().sqrt();
    let product: f64 = a.iter().map(|(word, count)| count * b.get(word).copied().unwrap_or(0.0)).sum();
    product / (norm(&a) * norm(&b)).max(f64::MIN_POSITIVE)
}

fn counts(words: &[WordHash]) -> HashMap<u64, f64> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(*word).or_insert(0.0) += 1.0;
    }
    counts
}

/// One minus the quotient of the edit distance in words (Levenshtein 1966) and the length of the longer text. Only the
/// first `LONGEST` words of a text count.
pub fn edit_similarity(a: &[WordHash], b: &[WordHash]) -> f64 {
    const LONGEST: usize = 2_000;
    let [a, b] = [a, b].map(|words| words[..words.len().min(LONGEST)].to_vec());
    match a.len().max(b.len()) {
        0 => 0.0,
        longer => 1.0 - strsim::generic_levenshtein(&a, &b) as f64 / longer as f64,
    }
}

/// Deals the words to `buckets` buckets by their hashes, in the order of the text, and returns the checksum of each
/// bucket (Pugh, Henzinger, US patent 6,658,423, 2003). An edit changes only the buckets of its words.
pub fn bucket_checksums(words: &[WordHash], buckets: usize) -> Vec<u64> {
    let mut sums = vec![0u64; buckets];
    for word in words {
        let sum = &mut sums[(word >> 8) as usize % buckets];
        *sum = (sum.rotate_left(7) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_of_small_texts() {
        assert!((cosine(&[1, 1, 2], &[1, 1, 2]) - 1.0).abs() < 1e-12);
        assert_eq!(cosine(&[1], &[2]), 0.0);
        assert_eq!(cosine(&[], &[]), 0.0);
        assert_eq!(edit_similarity(&[1, 2, 3, 4], &[1, 3, 4]), 0.75);
        assert_eq!(edit_similarity(&[1, 2, 3, 4], &[1, 9, 3, 4]), 0.75);
        assert_eq!(edit_similarity(&[], &[]), 0.0);
    }

    #[test]
    fn an_edit_changes_one_bucket() {
        let words: Vec<u64> = (0..100u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let mut edited = words.clone();
        edited.remove(50);
        let (a, b) = (bucket_checksums(&words, 10), bucket_checksums(&edited, 10));
        assert_eq!(a.iter().zip(&b).filter(|(a, b)| a != b).count(), 1);
    }
}

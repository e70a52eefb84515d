//! Features: hashes of groups of minima, such that near-duplicates share two of six features. The filter polynomial
//! says how sharply features tell near-duplicates from other documents (Broder, "Identifying and Filtering
//! Near-Duplicate Documents", CPM 2000, sections 3 and 4).

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::minhash::Minima;

/// Features of a document: one hash for each group of minima.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features(Vec<u64>);

impl Features {
    /// Groups in the paper.
    pub const GROUPS: usize = 6;
    /// Minima of a group in the paper.
    pub const EACH: usize = 14;
    /// In the paper, two documents are near-duplicates if they have this many features in common.
    pub const EQUAL: usize = 2;

    /// The features of a set of shingles: `groups` groups of `each` minima.
    pub fn new(shingles: &[u64], groups: usize, each: usize) -> Self {
        let minima = Minima::new(shingles, groups * each);
        let group = |(i, values): (usize, &[u64])| {
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            xxh3_64_with_seed(&bytes, i as u64)
        };
        Self(minima.values().chunks(each).enumerate().map(group).collect())
    }

    /// Number of equal features.
    pub fn equal(&self, other: &Features) -> usize {
        self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count()
    }

    /// The features.
    pub fn values(&self) -> &[u64] {
        &self.0
    }

    /// One hash (a super-feature) for every choice of two features. Two documents share at least two features if and
    /// only if they share a super-feature (section 4). So sorting finds them.
    pub fn pairs(&self) -> Vec<u64> {
        let mut pairs = Vec::new();
        for (i, a) in self.0.iter().enumerate() {
            for (j, b) in self.0.iter().enumerate().skip(i + 1) {
                pairs.push(xxh3_64_with_seed(&[a.to_le_bytes(), b.to_le_bytes()].concat(), (i * 64 + j) as u64));
            }
        }
        pairs
    }
}

/// The probability that two documents with this resemblance share at least `equal` of `groups` features of `each`
/// minima: the polynomial P(k, s, r) of section 3 with k = `each`, s = `groups`, and `equal` = 2 in the paper.
pub fn filter(each: usize, groups: usize, equal: usize, resemblance: f64) -> f64 {
    let p = resemblance.powi(each as i32);
    (equal..=groups).map(|i| binomial(groups, i) * p.powi(i as i32) * (1.0 - p).powi((groups - i) as i32)).sum()
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}

/// Groups documents that share at least two features, in time m log m for m documents: the super-features are sorted,
/// and documents with equal ones are joined (Broder, CPM 2000, section 1; union-find). Returns for each document the
/// number of its group, which is the number of the first member.
pub fn cluster(documents: &[Features]) -> Vec<usize> {
    let mut keys: Vec<(u64, usize)> = documents
        .iter()
        .enumerate()
        .flat_map(|(i, features)| features.pairs().into_iter().map(move |p| (p, i)))
        .collect();
    keys.sort_unstable();
    let mut parent: Vec<usize> = (0..documents.len()).collect();
    for run in keys.chunk_by(|a, b| a.0 == b.0) {
        for (_, document) in &run[1..] {
            let (a, b) = (root(&mut parent, run[0].1), root(&mut parent, *document));
            parent[a.max(b)] = a.min(b);
        }
    }
    (0..documents.len()).map(|document| root(&mut parent, document)).collect()
}

fn root(parent: &mut [usize], mut document: usize) -> usize {
    while parent[document] != document {
        parent[document] = parent[parent[document]];
        document = parent[document];
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::fold_multiply;

    fn set(range: std::ops::Range<u64>) -> Vec<u64> {
        range.map(|i| fold_multiply(i ^ 0xABCD, 0x9E37_79B9_7F4A_7C15)).collect()
    }

    #[test]
    fn filter_has_the_values_of_the_paper() {
        // Section 4: above 97.5 % missed with probability 0.01, above 99 % < 0.00022, below 77 % accepted < 0.01,
        // below 50 % < 0.6e-7.
        let accepted = |resemblance| filter(14, 6, 2, resemblance);
        assert!(1.0 - accepted(0.975) < 0.0108 && 1.0 - accepted(0.99) < 0.00022);
        assert!(accepted(0.77) < 0.01 && accepted(0.5) < 0.6e-7);
    }

    #[test]
    fn filter_predicts_what_happens() {
        let (mut accepted, rounds) = (0, 400);
        for round in 0..rounds {
            let base = round * 10_000;
            let a = Features::new(&set(base..base + 95), 6, 14);
            let b = Features::new(&set(base..base + 100), 6, 14);
            accepted += u32::from(a.equal(&b) >= 2);
        }
        let expected = filter(14, 6, 2, 0.95);
        assert!((f64::from(accepted) / rounds as f64 - expected).abs() < 0.08, "{accepted} {expected}");
    }

    #[test]
    fn clusters_are_those_of_all_pairs() {
        let documents: Vec<Features> =
            (0..60u64).map(|i| Features::new(&set(i % 7 * 1000..i % 7 * 1000 + 300 + i / 7), 6, 4)).collect();
        let clusters = cluster(&documents);
        let mut naive: Vec<usize> = (0..documents.len()).collect();
        for _ in 0..documents.len() {
            for a in 0..documents.len() {
                for b in 0..documents.len() {
                    if documents[a].equal(&documents[b]) >= 2 {
                        naive[a] = naive[a].min(naive[b]);
                    }
                }
            }
        }
        assert_eq!(clusters, naive);
    }
}

//! The sizes that a sorted table would have with other coders. The benchmark compares them with our size.

/// Bits for a fingerprint, by coder. All but the bound leave out the directory without which no probe is possible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// The least possible size: log₂ of the number of sets of that size, divided by the size.
    pub bound: f64,
    /// The coder of the paper: XOR with the predecessor, Huffman code of the position of its leading one, then the bits
    /// below. Blocks have 1,024 bytes and begin with a whole fingerprint.
    pub huffman: f64,
    /// Elias–Fano: the low bits as they are, the high bits in unary.
    pub elias_fano: f64,
    /// Rice's code of the gaps, with the best parameter.
    pub rice: f64,
}

/// Measures a list of at least two fingerprints, which are distinct and sorted.
///
/// # References
///
/// Manku, Jain, Das Sarma (WWW 2007), section 3.2; Huffman (1952); Elias (1974) and Fano (1971); Rice (1979).
pub fn sizes(sorted: &[u64]) -> Sizes {
    let n = sorted.len() as f64;
    let gaps = || sorted.windows(2).map(|pair| pair[1] - pair[0]);
    let low = (64.0 - n.log2()).floor().max(0.0);
    let rice = |b: u32| gaps().map(|gap| ((gap - 1) >> b) as f64 + 1.0 + f64::from(b)).sum::<f64>() / n;
    let about = low as u32;
    Sizes {
        bound: 64.0 - n.log2() + std::f64::consts::LOG2_E,
        huffman: huffman(sorted),
        elias_fano: low + 1.0 + (sorted[sorted.len() - 1] as f64 / 2f64.powf(low)) / n,
        rice: (about.saturating_sub(2)..=(about + 1).min(63)).map(rice).fold(f64::MAX, f64::min),
    }
}

fn huffman(sorted: &[u64]) -> f64 {
    const BLOCK: u64 = 8 * 1024;
    let position = |pair: &[u64]| 63 - (pair[0] ^ pair[1]).leading_zeros() as usize;
    let mut counts = [0u64; 64];
    sorted.windows(2).for_each(|pair| counts[position(pair)] += 1);
    let lengths = code_lengths(&counts);
    let (mut blocks, mut used) = (1u64, 64);
    for pair in sorted.windows(2) {
        let leading = position(pair);
        let bits = lengths[leading] + leading as u64;
        if used + bits > BLOCK {
            (blocks, used) = (blocks + 1, 64);
        } else {
            used += bits;
        }
    }
    ((blocks - 1) * BLOCK + used) as f64 / sorted.len() as f64
}

/// The lengths of the words of an optimal prefix code.
fn code_lengths(counts: &[u64; 64]) -> [u64; 64] {
    let mut lengths = [0; 64];
    let mut trees: Vec<(u64, Vec<usize>)> =
        counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(symbol, n)| (*n, vec![symbol])).collect();
    while trees.len() > 1 {
        trees.sort_unstable_by_key(|(n, _)| std::cmp::Reverse(*n));
        let (Some((a, mut left)), Some((b, right))) = (trees.pop(), trees.pop()) else { break };
        left.extend(right);
        left.iter().for_each(|symbol| lengths[*symbol] += 1);
        trees.push((a + b, left));
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huffman_codes_are_complete() {
        let mut counts = [0; 64];
        (0..20).for_each(|i| counts[3 * i] = 1 << i);
        let lengths = code_lengths(&counts);
        let kraft: f64 = (0..64).filter(|i| counts[*i] > 0).map(|i| 0.5f64.powi(lengths[i] as i32)).sum();
        assert!((kraft - 1.0).abs() < 1e-9);
        assert!((0..19).all(|i| lengths[3 * i] >= lengths[3 * i + 3]));
    }

    #[test]
    fn no_coder_beats_the_bound_by_more_than_chance() {
        let mut sorted: Vec<u64> = (0..100_000u64).map(|i| xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes())).collect();
        sorted.sort_unstable();
        let sizes = sizes(&sorted);
        for size in [sizes.huffman, sizes.elias_fano, sizes.rice] {
            assert!((sizes.bound - 0.05..sizes.bound + 3.0).contains(&size), "{sizes:?}");
        }
        assert!(sizes.rice < sizes.elias_fano && sizes.elias_fano < sizes.huffman);
    }
}

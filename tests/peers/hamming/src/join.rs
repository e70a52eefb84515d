//! All pairs: ours, and the crate all-pairs-hamming.

use dedup_stage::hamming::pairs;

use crate::bench::cpu_time;
use crate::data::ByRow;

/// All pairs within 3 of `n` random fingerprints, on one thread.
pub fn run(n: usize) {
    let stored: Vec<u64> = ByRow(n as u64).all().collect();
    let start = cpu_time();
    let near = pairs::near(&stored, 3, 1, &|_| {});
    println!(
        "ours, pairs of values, 1 thread: {} and {} repeated in {:?}",
        near.pairs.len(),
        near.repeated.len(),
        cpu_time() - start
    );
    let rows = pairs::rows(&stored, &near, pairs::Listed::All);
    println!("ours, all pairs of rows: {} in {:?}", rows.len(), cpu_time() - start);
    let start = cpu_time();
    let mut joiner = all_pairs_hamming::ChunkedJoiner::new(2);
    stored.iter().for_each(|f| joiner.add([(*f & 0xffff_ffff) as u32, (*f >> 32) as u32]).expect("two chunks"));
    // It takes the distance as a fraction of the bits.
    let theirs = joiner.similar_pairs(3.0 / 64.0);
    println!("all-pairs-hamming, 2 chunks: {} in {:?}", theirs.len(), cpu_time() - start);
    let mut theirs: Vec<(u64, u64)> = theirs.iter().map(|(a, b, _)| (*a.min(b) as u64, *a.max(b) as u64)).collect();
    theirs.sort_unstable();
    theirs.dedup();
    let same = theirs.len() == rows.len() && theirs.iter().zip(&rows).all(|(a, b)| *a == (b.first, b.second));
    println!("the same pairs: {same}");
}

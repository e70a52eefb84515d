//! Finds a value among sorted ones that lie on disk, with few reads.

/// Number of values that lie on one page of memory, or nearly.
const PAGE: usize = 512;

/// The position of the first of `length` ascending values that is not below `value`; `length` if all are below.
/// `at` reads the value at a position.
///
/// # Complexity
///
/// Among values that are spread evenly, a few pages are read, however many values there are. If the
/// values are spread less evenly, the guesses are worse. But never more than about 4 log2(length) values are read.
///
/// # References
///
/// Perl, Itai, Avni, "Interpolation search: a log log n search" (CACM 1978); Bentley, Yao, "An almost optimal algorithm
/// for unbounded searching" (IPL 1976).
pub fn lower_bound(length: usize, value: u64, mut at: impl FnMut(usize) -> u64) -> usize {
    // The position is in `from..=until`. The values before `from` are below, and those from `until` on are not.
    let (mut from, mut until) = (0, length);
    let (mut low, mut high) = (0, u64::MAX);
    let mut is_below = true;
    for _ in 0..3 {
        if until - from <= PAGE {
            break;
        }
        let share = u128::from(value - low) * (until - from) as u128 / (u128::from(high - low) + 1);
        let guess = from + share as usize;
        let found = at(guess);
        is_below = found < value;
        if is_below { (from, low) = (guess + 1, found) } else { (until, high) = (guess, found) }
    }
    // The last guess is near. Growing steps lead from there to the other side of the position.
    let mut step = PAGE;
    while until - from > step {
        let next = if is_below { from + step } else { until - step };
        let next_is_below = at(next) < value;
        if next_is_below {
            from = next + 1
        } else {
            until = next
        }
        if next_is_below != is_below {
            break;
        }
        step *= 2;
    }
    while from < until {
        let middle = from + (until - from) / 2;
        if at(middle) < value { from = middle + 1 } else { until = middle }
    }
    from
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_first_that_is_not_below(
            seed: u64, length in 0usize..6_000, skew in 0u32..60, asked in prop::collection::vec(any::<u64>(), 0..20),
        ) {
            let mut random = fastrand::Rng::with_seed(seed);
            // The higher the skew, the more values are small, and equal to others.
            let mut values: Vec<u64> = (0..length).map(|_| random.u64(..) >> random.u32(..=skew)).collect();
            values.sort_unstable();
            let there: Vec<u64> = (0..20).filter_map(|_| random.choice(&values).copied()).collect();
            let around = there.iter().flat_map(|value| [*value, value.saturating_add(1), value.saturating_sub(1)]);
            for value in asked.into_iter().chain(around).chain([0, u64::MAX]) {
                let mut reads = 0;
                let found = lower_bound(length, value, |i| {
                    reads += 1;
                    values[i]
                });
                prop_assert_eq!(found, values.partition_point(|other| *other < value));
                prop_assert!(reads <= 3 + 4 * (length.max(1).ilog2() + 1), "{} reads of {}", reads, length);
            }
        }
    }

    #[test]
    fn few_pages_are_read_among_values_that_are_spread_evenly() {
        const LENGTH: usize = 1 << 22;
        let mut random = fastrand::Rng::with_seed(9);
        let mut values: Vec<u64> = (0..LENGTH).map(|_| random.u64(..)).collect();
        values.sort_unstable();
        let mut pages = 0;
        for _ in 0..1_000 {
            let value = values[random.usize(..LENGTH)];
            let mut read = BTreeSet::new();
            lower_bound(LENGTH, value, |i| {
                read.insert(i / PAGE);
                values[i]
            });
            pages += read.len();
        }
        // A search by halves reads 13 pages or more.
        assert!(pages < 5_000, "{} pages a search", f64::from(pages as u32) / 1e3);
    }
}

//! Counts the links to URLs, in a count-min sketch (Cormode, Muthukrishnan, "An improved data stream summary: the
//! count-min sketch and its applications", 2005) with conservative update. It takes a megabyte, and lasts for one run
//! of the program.

/// Counts links. A count is never less than the truth (up to [`InLinks::MOST`]). It is seldom more while there are
/// fewer URLs than counters in a row.
#[derive(Debug)]
pub struct InLinks {
    rows: [Vec<u8>; 2],
}

impl Default for InLinks {
    fn default() -> Self {
        Self { rows: [(); 2].map(|()| vec![0; Self::COUNTERS]) }
    }
}

impl InLinks {
    /// The largest count. Further links are not counted.
    pub const MOST: u8 = 16;
    /// The number of counters in a row; a power of two.
    const COUNTERS: usize = 1 << 19;

    /// Counts one more link to the URL with this hash. Returns the number of links so far, including this one.
    pub fn count(&mut self, hash: u64) -> u8 {
        let places = [hash as usize, (hash >> 32) as usize].map(|place| place & (Self::COUNTERS - 1));
        let [first, second] = &mut self.rows;
        let (first, second) = (&mut first[places[0]], &mut second[places[1]]);
        let seen = (*first).min(*second).saturating_add(1).min(Self::MOST);
        *first = seen.max(*first);
        *second = seen.max(*second);
        seen
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    #[test]
    fn counts_are_never_too_low_and_seldom_too_high() {
        let (mut sketch, mut truth) = (InLinks::default(), HashMap::<u64, u32>::new());
        let mut high = 0;
        for n in 0..200_000u64 {
            // Some URLs have many links, and most have one.
            let url = xxh3_64(&(n % 150_000 % (1 + n % 97 * 2_000)).to_le_bytes());
            let exact = truth.entry(url).or_default();
            *exact += 1;
            let seen = u32::from(sketch.count(url));
            let capped = (*exact).min(u32::from(InLinks::MOST));
            assert!(seen >= capped);
            high += u32::from(seen > capped);
        }
        assert!(high < 12_000, "{high}");
    }
}

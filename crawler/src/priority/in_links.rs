//! How many links to a URL were seen: a count-min sketch (Cormode, Muthukrishnan, "An improved data stream summary: the
//! count-min sketch and its applications", 2005) with conservative update, in a fixed megabyte, for this run of the program
//! alone.

/// Counts links. An estimate is never less than the truth (up to [`InLinks::MOST`]), and seldom more while the URLs met are
/// fewer than the counters of a row.
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
    /// Beyond it links are not counted.
    pub const MOST: u8 = 16;
    /// Counters of a row; a power of two.
    const COUNTERS: usize = 1 << 19;

    /// One more link to the URL with this hash; links seen so far, this one included.
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
            // Some URLs have many links, most have one.
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

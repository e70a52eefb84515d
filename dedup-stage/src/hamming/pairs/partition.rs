//! Partitioning and sorting by a few bits.

use crate::hamming::memory::zeros;

/// Fingerprints of a cache line.
const LINE: usize = 8;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u64; LINE]);

/// Partitions by a number below `PARTS` into `space`; returns the partitioned, where its parts start, and the end.
///
/// A cache line for each part is filled before it is written out: a few thousand lines stay in the caches, where the ends
/// of as many partitions all over memory would not stay in the page tables' cache.
pub fn scatter<'a, const PARTS: usize>(
    from: &[u64],
    part: impl Fn(u64) -> usize,
    space: &'a mut Vec<u64>,
) -> (&'a mut [u64], Vec<usize>) {
    let mut starts = vec![0usize; PARTS + 1];
    for &fingerprint in from {
        starts[1..][part(fingerprint) % PARTS] += 1;
    }
    for i in 0..PARTS {
        starts[i + 1] += starts[i];
    }
    if space.len() < from.len() + LINE {
        *space = zeros(from.len() + LINE);
    }
    // From the first cache line's beginning.
    let start = space.as_ptr().align_offset(align_of::<Line>()).min(LINE);
    let to = &mut space[start..start + from.len()];
    let mut places = starts.clone();
    let mut lines = vec![Line([0; LINE]); PARTS];
    for &fingerprint in from {
        let part = part(fingerprint) % PARTS;
        let place = places[part];
        // The first line of a part begins where the part does.
        lines[part].0[place % LINE] = fingerprint;
        places[part] = place + 1;
        if place % LINE == LINE - 1 {
            let first = place - place % LINE;
            match to[first..].first_chunk_mut() {
                Some(line) if first >= starts[part] => *line = lines[part].0,
                _ => to[starts[part]..=place].copy_from_slice(&lines[part].0[starts[part] % LINE..]),
            }
        }
    }
    for part in 0..PARTS {
        let end = places[part];
        let left = (end - end % LINE).max(starts[part])..end;
        to[left.clone()].copy_from_slice(&lines[part].0[left.start % LINE..][..left.len()]);
    }
    (to, starts)
}

/// Sorts by a number below `BINS` what fits into the cache; returns where the bins end, and the size of the largest.
pub fn counting_sort<const BINS: usize>(
    run: &[u64],
    bin: impl Fn(u64) -> usize,
    sorted: &mut Vec<u64>,
) -> ([u32; BINS], usize) {
    let mut places = [0u32; BINS];
    for &fingerprint in run {
        places[bin(fingerprint) % BINS] += 1;
    }
    let (mut sum, mut largest) = (0, 0);
    for place in &mut places {
        largest = largest.max(*place);
        sum += std::mem::replace(place, sum);
    }
    if sorted.len() < run.len() {
        sorted.resize(run.len(), 0);
    }
    let sorted = &mut sorted[..run.len()];
    for &fingerprint in run {
        let place = &mut places[bin(fingerprint) % BINS];
        sorted[*place as usize] = fingerprint;
        *place += 1;
    }
    (places, largest as usize)
}

//! Partitions and sorts fingerprints by a few bits.

use crate::hamming::memory::zeros;

/// Fingerprints in a cache line.
const LINE: usize = 8;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line([u64; LINE]);

/// Partitions fingerprints into `space` by a number below `PARTS`. Returns the partitioned fingerprints, the positions
/// at which the parts start, and the end.
///
/// A cache line of each part is filled before it is written out. A few thousand such lines stay in the caches. If each
/// part were written directly, the ends of the parts would lie all over memory, in more pages than the TLB can hold.
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
    // Begin at the beginning of the first whole cache line.
    let start = space.as_ptr().align_offset(align_of::<Line>()).min(LINE);
    let to = &mut space[start..start + from.len()];
    let mut places = starts.clone();
    let mut lines = vec![Line([0; LINE]); PARTS];
    for &fingerprint in from {
        let part = part(fingerprint) % PARTS;
        let place = places[part];
        // The first line of a part begins where the part begins, which may be within a cache line.
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

/// Sorts fingerprints by a number below `BINS`. They must fit into the cache. Returns the positions at which the bins
/// end, and the size of the largest bin.
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

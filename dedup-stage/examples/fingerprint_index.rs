//! An index of fingerprints that grows, and what lies near one of them: `cargo run -p dedup-stage --example
//! fingerprint_index`

use dedup_stage::hamming::Index;

fn main() {
    let mut index = Index::new(3);
    // Any 64-bit values; these are well spread.
    let fingerprint =
        |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    for i in 0..100_000 {
        index.insert(fingerprint(i));
    }
    let query = fingerprint(4711) ^ 0b101 ^ 1 << 63;
    let mut near = Vec::new();
    index.within(query, &mut near);
    println!("of {} fingerprints, within 3 bits of {query:016x}:", index.len());
    for (found, distance) in near {
        println!("{found:016x} at distance {distance}");
    }
}

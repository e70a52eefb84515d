//! Other crates' simhash on the same texts as `cargo bench -p dedup-stage --bench signature -- FILE`: MB/s of CPU time
//! of one thread, texts of 4 KB; words as each crate's documentation splits them.
//!
//! `cargo run --release -- FILE`

use std::hint::black_box;

use gaoya::simhash::{SimHash, SimSipHasher64};
use txtfp::{Canonicalizer, Fingerprinter, SimHashFingerprinter, WordTokenizer};

const EACH: usize = 4096;

fn main() {
    let file = std::env::args().nth(1).expect("a text file");
    let text = std::fs::read(file).expect("readable");
    let text = String::from_utf8_lossy(&text);
    let mut texts = Vec::new();
    let mut rest: &str = &text;
    while rest.len() > EACH && texts.len() < 2_000 {
        let end = (0..=EACH).rev().find(|at| rest.is_char_boundary(*at)).expect("a boundary");
        texts.push(&rest[..end]);
        rest = &rest[end..];
    }
    let gaoya = SimHash::<SimSipHasher64, u64, 64>::new(SimSipHasher64::new(1, 2));
    measure("gaoya, split at white space", &texts, |text| gaoya.create_signature(text.split_whitespace()));
    measure("simhash, split at white space", &texts, simhash::simhash);
    let txtfp = SimHashFingerprinter::new(Canonicalizer::default(), WordTokenizer);
    measure("txtfp, words", &texts, |text| txtfp.fingerprint(text).map_or(0, |hash| hash.0));
}

fn measure(name: &str, texts: &[&str], fingerprint: impl Fn(&str) -> u64) {
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let best = (0..5)
        .map(|_| {
            let start = cpu_seconds();
            texts.iter().for_each(|text| {
                black_box(fingerprint(text));
            });
            cpu_seconds() - start
        })
        .fold(f64::MAX, f64::min);
    println!("{name}: {:.0} MB/s", bytes as f64 / best / 1e6);
}

/// CPU time of this thread.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of our own.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

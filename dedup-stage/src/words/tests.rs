//! Compares words with their definition, and tests the bits of their hashes.

use std::collections::HashSet;

use proptest::prelude::*;

use xxhash_rust::xxh3::xxh3_64;

use super::*;
use crate::words::letters::{Letter, letter};

/// The definition, character by character.
fn naive(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut dense = String::new();
    for c in text.chars().chain(" ".chars()) {
        let letter = letter(c);
        if !matches!(letter, Letter::Dense) && !dense.is_empty() {
            let characters: Vec<char> = std::mem::take(&mut dense).chars().collect();
            match characters.as_slice() {
                [single] => words.push(format!("{single}\0")),
                many => words.extend(many.windows(2).map(|pair| pair.iter().collect())),
            }
        }
        match letter {
            Letter::Folded(_) | Letter::Special => word.extend(c.to_lowercase()),
            Letter::Ignored => {}
            Letter::Other | Letter::Dense => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
        }
        if matches!(letter, Letter::Dense) {
            dense.push(c);
        }
    }
    words
}

pub fn hashes(text: &str) -> Vec<WordHash> {
    let mut out = Vec::new();
    Words::default().hashes(text, &mut out);
    out
}

/// Equal words have equal hashes, and different words of this text have different hashes, whatever stands around them.
fn agrees(text: &str) {
    let words = naive(text);
    let hashes = hashes(text);
    assert_eq!(words.len(), hashes.len(), "{text:?} {words:?}");
    let pairs: HashSet<(&str, u64)> = words.iter().map(String::as_str).zip(hashes.iter().copied()).collect();
    assert_eq!(pairs.len(), words.iter().collect::<HashSet<_>>().len());
    assert_eq!(pairs.len(), hashes.iter().collect::<HashSet<_>>().len());
    for (word, hash) in pairs {
        assert_eq!(is_number(hash), word.bytes().all(|b| b.is_ascii_digit()), "{word:?}");
        if !word.ends_with('\0') {
            assert_eq!(
                super::tests::hashes(&word.to_uppercase().to_lowercase()).len(),
                super::tests::hashes(word).len()
            );
        }
    }
}

proptest! {
    #[test]
    fn any_text(text in "\\PC{0,200}") {
        agrees(&text);
    }

    #[test]
    fn latin_text(text in "[a-cA-C0-2_ .,éÉ’漢字ไท\u{ad}-]{0,300}") {
        agrees(&text);
    }
}

/// The hashes by the code that every processor can run.
fn plain_hashes(text: &str) -> Vec<WordHash> {
    let mut out = Vec::new();
    Words::default().read(text, Parts::new(&[], &mut Vec::new()), &mut out, Words::strip);
    out
}

proptest! {
    #[test]
    fn words_reach_across_strips(
        pieces in prop::collection::vec(("[a-zA-Z0-9é字]{1,40}", "[ .,-]{1,3}"), 1..40),
        before in 0..Words::STRIP + 80,
    ) {
        let text: String = pieces.iter().flat_map(|(word, between)| [word.as_str(), between.as_str()]).collect();
        let moved = format!("{}{text}", "-".repeat(before));
        prop_assert_eq!(&hashes(&moved), &hashes(&text));
        prop_assert_eq!(plain_hashes(&moved), hashes(&text));
    }

    #[test]
    fn fast_code_agrees_with_plain(text in "\\PC{0,100}[a-z ]{0,4000}\\PC{0,300}[A-Za-z0-9_ ]{4000}\\PC{0,100}") {
        prop_assert_eq!(plain_hashes(&text), hashes(&text));
    }
}

proptest! {
    #[test]
    fn parts_have_the_words_that_they_have_alone(
        parts in prop::collection::vec("[a-zA-Z0-9é字 .,]{0,300}", 0..40),
        other in any::<u64>(),
    ) {
        let (mut text, mut starts) = (String::new(), Vec::new());
        for part in &parts {
            starts.push(text.len());
            text.push_str(part);
            text.push('\n');
        }
        // Words that are in the output already belong to no part.
        let (mut out, mut spans) = (vec![other], Vec::new());
        Words::default().hashes_of_parts(&text, &starts, &mut out, &mut spans);
        prop_assert_eq!(spans.len(), parts.len());
        let mut end = 1;
        for (part, span) in parts.iter().zip(spans) {
            prop_assert_eq!(span.start, end);
            end = span.end;
            prop_assert_eq!(&out[span], &hashes(part)[..]);
        }
        prop_assert_eq!(end, out.len());
    }
}

#[test]
fn words_may_be_longer_than_strips() {
    for length in [Words::STRIP - 1, Words::STRIP, Words::STRIP + 1, 3 * Words::STRIP] {
        let word = "x".repeat(length);
        assert_eq!(hashes(&word), hashes(&format!(" {word} ")), "{length}");
        assert_eq!(hashes(&format!("{word} next")).len(), 2);
    }
}

#[test]
fn words_fold() {
    assert_eq!(hashes("Straße CAFÉ Don’t x_1 007"), hashes("straße café don t X_1 007"));
    assert_eq!(hashes("soft\u{ad}ware"), hashes("software"));
    assert_eq!(hashes("漢字語").len(), 2);
    assert_eq!(hashes("字").len(), 1);
    assert_eq!(hashes("漢字a字").len(), 3);
    assert_eq!(hashes(&"long".repeat(40)), hashes(&"LONG".repeat(40)));
}

#[test]
fn every_bit_of_a_hash_is_fair() {
    let words: Vec<String> = (0..20_000).map(|i| format!("{}{}", ["a", "the", "page", "word"][i % 4], i)).collect();
    let mut ones = [0u32; 64];
    for hash in words.iter().flat_map(|word| hashes(word)) {
        (0..64).for_each(|bit| ones[bit] += (hash >> bit & 1) as u32);
    }
    // In 20,000 throws of a fair coin, six standard deviations are 424.
    assert!(ones.iter().all(|count| count.abs_diff(10_000) < 424), "{ones:?}");
}

/// For each pair of an input bit and an output bit, there is a share of words whose output bit flips with the input
/// bit. Returns the largest distance of these shares from one half.
fn worst_avalanche(hash: impl Fn(&[u8]) -> u64) -> f64 {
    let words: Vec<Vec<u8>> =
        (0..4096u32).map(|i| format!("word{:08x}", i.wrapping_mul(0x9E37_79B1)).into_bytes()).collect();
    let mut worst = 0.0f64;
    for input in 0..96 {
        let mut flips = [0u32; 48];
        for word in &words {
            let mut other = word.clone();
            other[input / 8] ^= 1 << (input % 8);
            let changed = hash(word) ^ hash(&other);
            (0..48).for_each(|bit| flips[bit] += (changed >> bit & 1) as u32);
        }
        worst = flips.iter().map(|count| (f64::from(*count) / 4096.0 - 0.5).abs()).fold(worst, f64::max);
    }
    worst
}

#[test]
fn hash_is_as_good_as_xxh3() {
    let ours = worst_avalanche(|word| {
        let mut padded = [0; 16];
        padded[..word.len()].copy_from_slice(word);
        let bits = u128::from_le_bytes(padded);
        short_hash(bits as u64, (bits >> 64) as u64, word.len())
    });
    let xxh3 = worst_avalanche(xxh3_64);
    println!("worst avalanche: ours {ours:.4}, xxh3 {xxh3:.4}");
    // In 4,096 throws of a fair coin, the largest of 4,608 deviations is about 0.03.
    assert!(ours < 0.04 && xxh3 < 0.04);
}

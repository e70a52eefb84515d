//! Hashes of words: a multiply hash of 16 bytes for words of at most sixteen bytes, and xxh3 for longer words. Numbers
//! have a tag.

use xxhash_rust::xxh3::xxh3_64;

use super::{NUMBER, WordHash};

/// The hash of a number: its tag, its length up to 15, and what remains of the hash of its digits.
#[inline]
fn number(hash: u64, length: usize) -> WordHash {
    NUMBER | (length.min(15) as u64) << 44 | hash >> 20
}

pub const K: [u64; 4] = [0x2D35_8DCC_AA6C_78A5, 0x8BB8_4B93_962E_ACC9, 0x4B33_A62E_D433_D4A3, 0x4D5A_2DA5_1DE1_AA47];

/// The product of two numbers, with its two halves folded (the mixing step of wyhash).
#[inline]
pub fn fold_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

#[inline]
pub fn not_number(hash: u64) -> u64 {
    if hash >= NUMBER { hash ^ 1 << 63 } else { hash }
}

/// The hash of an ASCII word of at most sixteen bytes, in lower case.
#[inline]
pub fn short_hash(low: u64, high: u64, length: usize) -> WordHash {
    let hash = fold_multiply(fold_multiply(low ^ K[0], high ^ K[1] ^ length as u64) ^ K[2], K[3]);
    // Digits are 0x30..=0x39, so the first byte tells most words from numbers.
    if (low as u8) < b'a'
        && (low as u8) != b'_'
        && are_digits(low, length.min(8))
        && are_digits(high, length.max(8) - 8)
    {
        return number(hash, length);
    }
    not_number(hash)
}

#[inline]
fn are_digits(bytes: u64, length: usize) -> bool {
    bytes.to_le_bytes()[..length].iter().all(u8::is_ascii_digit)
}

#[inline]
pub fn long_hash(word: &[u8]) -> WordHash {
    let hash = xxh3_64(word);
    if word.iter().all(u8::is_ascii_digit) { number(hash, word.len()) } else { not_number(hash) }
}

#[inline]
pub fn pair_hash(first: char, second: char) -> WordHash {
    not_number(fold_multiply(fold_multiply(first as u64 ^ K[0], second as u64 ^ K[1]) ^ K[2], K[3]))
}

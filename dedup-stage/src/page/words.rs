//! Words of a text, as hashes: maximal runs of letters, digits, marks and underscores (`\w+` of UTS #18), folded to lower
//! case; scripts that are written without spaces give the bigrams of their characters.
//!
//! Sixty-four bytes at a time become a mask of word bytes, so that the loop runs over words, not bytes; runs with other
//! than ASCII characters are then looked at one by one.

use xxhash_rust::xxh3::xxh3_64;

use super::letters::{Letter, letter};

/// The hash of a word. Words of ASCII digits are told from others by [`is_number`].
pub type WordHash = u64;

/// The topmost bits of a number's hash, all set; in other hashes one of them is clear.
const NUMBER: u64 = 0xFFFF << 48;

/// Whether this is the hash of a word that consists of digits.
#[inline]
pub fn is_number(hash: WordHash) -> bool {
    hash >= NUMBER
}

/// Whether this is the hash of a number of four digits or more: a year, a counter, an identifier.
#[inline]
pub fn is_long_number(hash: WordHash) -> bool {
    is_number(hash) && hash >> 44 & 0xF >= 4
}

/// The hash of a number: its tag, its length up to 15, and what remains of the hash of its digits.
#[inline]
fn number(hash: u64, length: usize) -> WordHash {
    NUMBER | (length.min(15) as u64) << 44 | hash >> 20
}

/// Segments text; keeps only scratch memory.
#[derive(Debug, Default)]
pub struct Words {
    /// The text with ASCII capitals folded, and [`Words::PAD`] bytes behind it.
    lower: Vec<u8>,
}

impl Words {
    /// Bytes behind the text, so that a word can be loaded as sixteen.
    const PAD: usize = 64 + 16;

    /// Appends the hashes of the words of `text` to `out`.
    pub fn hashes(&mut self, text: &str, out: &mut Vec<WordHash>) {
        let bytes = text.as_bytes();
        if self.lower.len() < bytes.len() + Self::PAD {
            self.lower.resize(bytes.len() + Self::PAD, 0);
        }
        let mut start = 0;
        let mut inside = 0u64;
        let mut at = 0;
        while at < bytes.len() {
            let mut block = [0u8; 64];
            let rest = &bytes[at..];
            if let Some(whole) = rest.first_chunk::<64>() {
                block = *whole;
            } else {
                block[..rest.len()].copy_from_slice(rest);
            }
            let mask = fold(&mut block);
            self.lower[at..at + 64].copy_from_slice(&block);
            // Bits where a word begins or ends, in turn.
            let mut turns = mask ^ (mask << 1 | inside);
            if inside == 1 && turns != 0 {
                self.word(text, start, at + turns.trailing_zeros() as usize, out);
                turns &= turns - 1;
            } else if inside == 1 {
                at += 64;
                continue;
            }
            inside = 0;
            while turns != 0 {
                start = at + turns.trailing_zeros() as usize;
                turns &= turns - 1;
                if turns == 0 {
                    inside = 1;
                    break;
                }
                let end = at + turns.trailing_zeros() as usize;
                turns &= turns - 1;
                self.word(text, start, end, out);
            }
            at += 64;
        }
        if inside == 1 {
            self.word(text, start, bytes.len(), out);
        }
    }

    /// The run of word bytes `start..end`.
    #[inline]
    fn word(&self, text: &str, start: usize, end: usize, out: &mut Vec<WordHash>) {
        const HIGH: u64 = 0x8080_8080_8080_8080;
        let length = end - start;
        if length > 16 {
            return self.long_word(text, start, end, out);
        }
        let (low, high) = self.load(start, length);
        if (low | high) & HIGH != 0 {
            unicode(&text[start..end], out);
        } else {
            out.push(short_hash(low, high, length));
        }
    }

    /// Up to sixteen folded bytes, zero beyond the word.
    #[inline]
    fn load(&self, start: usize, length: usize) -> (u64, u64) {
        let bytes = self.lower[start..].first_chunk::<16>().expect("padded");
        let word = u128::from_le_bytes(*bytes);
        let word = word & (u128::MAX >> (128 - 8 * length));
        (word as u64, (word >> 64) as u64)
    }

    #[cold]
    fn long_word(&self, text: &str, start: usize, end: usize, out: &mut Vec<WordHash>) {
        let word = &self.lower[start..end];
        if word.is_ascii() {
            out.push(long_hash(word));
        } else {
            unicode(&text[start..end], out);
        }
    }
}

/// Folds ASCII capitals, and marks the bytes that a word may hold: ASCII letters, digits, underscore, and everything
/// beyond ASCII, to be looked at.
#[inline]
fn fold(block: &mut [u8; 64]) -> u64 {
    let mut is_word = [0u8; 64];
    for (byte, is_word) in block.iter_mut().zip(&mut is_word) {
        let capital = byte.wrapping_sub(b'A') < 26;
        *byte |= u8::from(capital) << 5;
        let lower = byte.wrapping_sub(b'a') < 26;
        let digit = byte.wrapping_sub(b'0') < 10;
        *is_word = u8::from(lower | digit | (*byte == b'_') | (*byte >= 0x80));
    }
    let mut mask = 0;
    for (i, eight) in is_word.chunks_exact(8).enumerate() {
        let eight = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
        // The product gathers the lowest bits of eight bytes in its highest byte.
        mask |= (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    mask
}

/// The words of a run of word bytes that has other than ASCII characters.
fn unicode(run: &str, out: &mut Vec<WordHash>) {
    let mut word = Open::default();
    let mut dense = Dense::default();
    for (at, c) in run.char_indices() {
        let letter = letter(c);
        if let Letter::Dense = letter {
            word.close(run, at, out);
            dense.push(c, out);
            continue;
        }
        dense.close(out);
        match letter {
            Letter::Folded(folded) => word.push(at, folded),
            Letter::Special => c.to_lowercase().for_each(|folded| word.push(at, folded as u32)),
            Letter::Ignored | Letter::Dense => {}
            Letter::Other => word.close(run, at, out),
        }
    }
    dense.close(out);
    word.close(run, run.len(), out);
}

/// A word being read, character by character.
#[derive(Default)]
struct Open {
    start: usize,
    hash: u64,
    length: u32,
    beyond_ascii: bool,
}

impl Open {
    #[inline]
    fn push(&mut self, at: usize, folded: u32) {
        if self.length == 0 {
            self.start = at;
        }
        self.hash = (self.hash.rotate_left(23) ^ u64::from(folded)).wrapping_mul(K[0] | 1);
        self.length += 1;
        self.beyond_ascii |= folded >= 0x80;
    }

    fn close(&mut self, run: &str, end: usize, out: &mut Vec<WordHash>) {
        if self.length == 0 {
            return;
        }
        out.push(if self.beyond_ascii {
            not_number(fold_multiply(self.hash ^ K[2], K[3] ^ u64::from(self.length)))
        } else {
            folded_ascii_hash(&run[self.start..end])
        });
        *self = Self::default();
    }
}

/// A run of characters of a script without spaces: its bigrams, or its one character.
#[derive(Default)]
struct Dense {
    previous: Option<char>,
    paired: bool,
}

impl Dense {
    #[inline]
    fn push(&mut self, c: char, out: &mut Vec<WordHash>) {
        if let Some(previous) = self.previous {
            out.push(pair_hash(previous, c));
            self.paired = true;
        }
        self.previous = Some(c);
    }

    #[inline]
    fn close(&mut self, out: &mut Vec<WordHash>) {
        if let Some(single) = self.previous.take() {
            if !self.paired {
                out.push(pair_hash(single, '\0'));
            }
            self.paired = false;
        }
    }
}

const K: [u64; 4] = [0x2D35_8DCC_AA6C_78A5, 0x8BB8_4B93_962E_ACC9, 0x4B33_A62E_D433_D4A3, 0x4D5A_2DA5_1DE1_AA47];

/// Both halves of a product, folded (the mixing step of wyhash).
#[inline]
pub fn fold_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

#[inline]
fn not_number(hash: u64) -> u64 {
    if hash >= NUMBER { hash ^ 1 << 63 } else { hash }
}

/// The hash of an ASCII word of at most sixteen bytes, in lower case.
#[inline]
fn short_hash(low: u64, high: u64, length: usize) -> WordHash {
    let hash = fold_multiply(fold_multiply(low ^ K[0], high ^ K[1] ^ length as u64) ^ K[2], K[3]);
    // Digits are 0x30..=0x39, so most words are told by their first byte.
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
fn long_hash(word: &[u8]) -> WordHash {
    let hash = xxh3_64(word);
    if word.iter().all(u8::is_ascii_digit) { number(hash, word.len()) } else { not_number(hash) }
}

/// The hash of a word whose characters, once folded, are ASCII.
fn folded_ascii_hash(word: &str) -> WordHash {
    let folded = |c| match letter(c) {
        Letter::Folded(folded) => u8::try_from(folded).ok(),
        _ => None,
    };
    let word: Vec<u8> = word.chars().filter_map(folded).collect();
    if word.len() > 16 {
        return long_hash(&word);
    }
    let mut padded = [0; 16];
    padded[..word.len()].copy_from_slice(&word);
    let bits = u128::from_le_bytes(padded);
    short_hash(bits as u64, (bits >> 64) as u64, word.len())
}

#[inline]
fn pair_hash(first: char, second: char) -> WordHash {
    not_number(fold_multiply(fold_multiply(first as u64 ^ K[0], second as u64 ^ K[1]) ^ K[2], K[3]))
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

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

    /// Equal words have equal hashes, different ones (here) different, whatever stands around them.
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
        // Six standard deviations of a fair coin thrown 20,000 times are 424.
        assert!(ones.iter().all(|count| count.abs_diff(10_000) < 424), "{ones:?}");
    }

    /// How far, at most over all pairs of an input bit and an output bit, the share of words whose output bit flips with
    /// the input bit lies from one half.
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
        // The largest of 4,608 deviations of a fair coin thrown 4,096 times is about 0.03.
        assert!(ours < 0.04 && xxh3 < 0.04);
    }
}

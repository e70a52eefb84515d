//! Reads runs that have characters beyond ASCII, one character at a time.

use super::WordHash;
use super::hash::{K, fold_multiply, long_hash, not_number, pair_hash, short_hash};
use super::letters::{Letter, letter};

/// Appends the hashes of the words of a run that has characters beyond ASCII.
pub fn unicode(run: &str, out: &mut Vec<WordHash>) {
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

/// The word that is being read.
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

/// A run of characters of a script without spaces. It gives its bigrams, or its only character.
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

/// The hash of a word whose characters are ASCII once they are folded.
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

//! Numbers of a fixed width in bits, packed without gaps.

use crate::hamming::memory::in_huge_pages;

/// Appends numbers of `width` bits. The width is at most 63.
#[derive(Clone, Debug)]
pub struct BitWriter {
    words: Vec<u64>,
    bits: usize,
}

impl BitWriter {
    /// An empty list with room for this many numbers.
    pub fn new(numbers: usize, width: u32) -> Self {
        Self { words: in_huge_pages((numbers * width as usize).div_ceil(64) + 1), bits: 0 }
    }

    /// Appends the low `width` bits of a number.
    pub fn push(&mut self, number: u64, width: u32) {
        if width == 0 {
            return;
        }
        let shift = self.bits % 64;
        if shift == 0 {
            self.words.push(number);
        } else {
            *self.words.last_mut().expect("bits were written") |= number << shift;
            if shift + width as usize > 64 {
                self.words.push(number >> (64 - shift));
            }
        }
        self.bits += width as usize;
    }

    /// The words. One more word is added, so that [`get`] may always read two.
    pub fn finish(mut self) -> Vec<u64> {
        self.words.push(0);
        self.words
    }
}

/// Number `i` of a list whose numbers have `width` bits.
#[inline(always)]
pub fn get(words: &[u64], i: usize, width: u32) -> u64 {
    if width == 0 {
        return 0;
    }
    let bit = i * width as usize;
    let both = u128::from(words[bit / 64]) | u128::from(words[bit / 64 + 1]) << 64;
    (both >> (bit % 64)) as u64 & (u64::MAX >> (64 - width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_back_what_was_put_in(numbers: Vec<u64>, width in 0u32..=63) {
            let mask = if width == 0 { 0 } else { u64::MAX >> (64 - width) };
            let mut writer = BitWriter::new(0, width);
            numbers.iter().for_each(|number| writer.push(number & mask, width));
            let words = writer.finish();
            for (i, number) in numbers.iter().enumerate() {
                prop_assert_eq!(get(&words, i, width), number & mask);
            }
        }
    }
}

//! Linear maps of 32-bit words over GF(2).

/// A bijective linear map of 32-bit words, `f(a ^ b) = f(a) ^ f(b)`, as four tables of 256 words.
#[derive(Clone, Debug)]
pub struct Linear([[u32; 256]; 4]);

impl Linear {
    /// The map with `f(1 << i) = columns[i]`.
    pub fn from_columns(columns: &[u32; 32]) -> Self {
        let mut tables = [[0; 256]; 4];
        for (table, columns) in tables.iter_mut().zip(columns.chunks_exact(8)) {
            for byte in 1..256usize {
                let low = byte.trailing_zeros() as usize;
                table[byte] = table[byte & (byte - 1)] ^ columns[low];
            }
        }
        Self(tables)
    }

    /// The image of a word.
    #[inline(always)]
    pub fn apply(&self, word: u32) -> u32 {
        let [a, b, c, d] = word.to_le_bytes();
        self.0[0][a as usize] ^ self.0[1][b as usize] ^ self.0[2][c as usize] ^ self.0[3][d as usize]
    }

    /// The inverse of the map with these columns. `None` if the columns are dependent. (Gauss–Jordan elimination.)
    pub fn inverse(columns: &[u32; 32]) -> Option<Self> {
        let mut left = *columns;
        let mut right: [u32; 32] = std::array::from_fn(|i| 1 << i);
        for bit in 0..32 {
            let pivot = (bit..32).find(|&i| left[i] >> bit & 1 == 1)?;
            left.swap(bit, pivot);
            right.swap(bit, pivot);
            for i in 0..32 {
                if i != bit && left[i] >> bit & 1 == 1 {
                    left[i] ^= left[bit];
                    right[i] ^= right[bit];
                }
            }
        }
        Some(Self::from_columns(&right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn inverse_undoes(columns: [u32; 32], word: u32) {
            if let Some(inverse) = Linear::inverse(&columns) {
                prop_assert_eq!(inverse.apply(Linear::from_columns(&columns).apply(word)), word);
            }
        }

        #[test]
        fn maps_are_linear(columns: [u32; 32], a: u32, b: u32) {
            let map = Linear::from_columns(&columns);
            prop_assert_eq!(map.apply(a ^ b), map.apply(a) ^ map.apply(b));
        }
    }

    #[test]
    fn dependent_columns_have_no_inverse() {
        assert!(Linear::inverse(&[1; 32]).is_none());
    }
}

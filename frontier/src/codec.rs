//! Small records as bytes: variable-length numbers (LEB128) and the little else that the frontier's values need.

use dedup_stage::store::{Error, Result};

/// Appends a number, seven bits a byte, low bits first.
pub fn write(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads records back; whatever is not as it was written is [`Error::Damaged`].
pub struct Reader<'a> {
    bytes: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// Reads `bytes`; `what` names the record in errors.
    pub fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, what }
    }

    /// A number written by [`write`].
    pub fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.array::<1>()?[0];
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.damaged())
    }

    /// A number that must fit a smaller type.
    pub fn small<T: TryFrom<u64>>(&mut self) -> Result<T> {
        T::try_from(self.number()?).map_err(|_| self.damaged())
    }

    /// So many bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (array, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(*array)
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Everything that is left, as text.
    pub fn text(self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes).map_err(|_| self.damaged())
    }

    /// The error of a record that cannot be read.
    pub fn damaged(&self) -> Error {
        Error::Damaged(format!("an entry of the frontier ({}) cannot be read", self.what))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_survive(numbers in proptest::collection::vec(any::<u64>(), 0..20), text in ".*") {
            let mut bytes = Vec::new();
            for &number in &numbers {
                write(&mut bytes, number);
            }
            bytes.extend(text.as_bytes());
            let mut reader = Reader::new(&bytes, "test");
            for &number in &numbers {
                prop_assert_eq!(reader.number().unwrap(), number);
            }
            prop_assert_eq!(reader.text().unwrap(), text);
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut reader = Reader::new(&bytes, "test");
            while let Ok(_number) = reader.number() {}
            let _ = reader.array::<8>();
            let _ = reader.text();
        }
    }
}

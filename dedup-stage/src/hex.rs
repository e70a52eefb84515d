//! Bytes as lower-case hex digits, as all outputs write digests.

/// Two hex digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| digits(*byte));
    digits.map(char::from).collect()
}

/// Appends two hex digits for each byte.
pub fn extend(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(bytes.iter().flat_map(|byte| digits(*byte)));
}

fn digits(byte: u8) -> [u8; 2] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)])
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_digits_a_byte() {
        let mut out = b"x".to_vec();
        super::extend(&mut out, &[0, 0x1f, 0xa0]);
        assert_eq!((super::hex(&[0, 0x1f, 0xa0]).as_str(), out.as_slice()), ("001fa0", b"x001fa0".as_slice()));
    }
}

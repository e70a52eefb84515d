//! SHA-256 (FIPS 180-4), the only digest by which bytes are compared.
//!
//! The implementation is that of ring. The digest was the most expensive part of reading a page. On processors without
//! instructions for SHA, ring's assembly takes little more than half the time of portable code.

use ring::digest::{Context, SHA256};

/// The digest of no bytes.
pub const OF_NOTHING: [u8; 32] = [
    0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41,
    0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
];

/// The digest of some bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha256_of([bytes])
}

/// The digest of several parts, one after the other.
pub fn sha256_of<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    parts.into_iter().for_each(|part| context.update(part));
    context.finish().as_ref().try_into().expect("256 bits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::hex;

    #[test]
    fn digests_are_those_of_the_standard() {
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(&sha256(b"abc")), of_abc);
        assert_eq!(hex(&sha256_of([&b"a"[..], b"", b"bc"])), of_abc);
        assert_eq!(sha256(b""), OF_NOTHING);
    }
}

//! SHA-256 (FIPS 180-4), the only digest that bytes are compared by.
//!
//! From ring: a page's digest was the most expensive part of reading it. Where a processor has no instructions for SHA,
//! ring's assembly takes little more than half the time of portable code.

use ring::digest::{Context, SHA256};

/// The digest of some bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha256_of([bytes])
}

/// The digest of bytes that lie in several places.
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
        assert_eq!(hex(&sha256(b"")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}

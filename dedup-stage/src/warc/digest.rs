//! Labelled digests, as in `WARC-Payload-Digest`.

use std::fmt;

use crate::digest;
use crate::hex::hex;

/// A SHA-256, written `sha256:` and 64 lower-case hex digits: `warcio check` and `fastwarc check` both verify that
/// spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

/// The digest of some bytes.
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest(digest::sha256(bytes))
}

/// The digest of several parts, one after the other.
pub(super) fn sha256_of(parts: &[&[u8]]) -> Digest {
    Digest(digest::sha256_of(parts.iter().copied()))
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex(&self.0))
    }
}

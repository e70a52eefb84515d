//! The bytes in messages, and their compression. There are many small messages, and what zstd works with takes a
//! megabyte. So each thread makes it once, and not for each message.

use std::borrow::Cow;
use std::cell::RefCell;
use std::{fmt, io};

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zstd::bulk::{Compressor, Decompressor};

/// The level of compression.
const LEVEL: i32 = 1;
/// The most bytes that are unpacked at once. A message that claims more is unpacked in pieces.
const MOST: usize = 16 << 20;

thread_local! {
    static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static UNPACKER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses bytes.
pub fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| {
        let packer = match packer {
            Some(packer) => packer,
            None => packer.insert(Compressor::new(LEVEL)?),
        };
        packer.compress(bytes)
    })
}

/// Gives back bytes that were compressed.
pub fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    if zstd::decompressed_size(packed).is_none_or(|size| size > MOST as u64) {
        return zstd::decode_all(packed);
    }
    UNPACKER.with_borrow_mut(|unpacker| {
        let unpacker = match unpacker {
            Some(unpacker) => unpacker,
            None => unpacker.insert(Decompressor::new()?),
        };
        unpacker.decompress(packed, MOST)
    })
}

/// Bytes in a message. Serde takes other rows of bytes for rows of numbers, and handles each of them. The stored form
/// is the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Bytes<'a>(Cow<'a, [u8]>);

impl<'a> From<&'a [u8]> for Bytes<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Bytes<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Cow::Owned(bytes))
    }
}

impl From<Bytes<'_>> for Vec<u8> {
    fn from(bytes: Bytes<'_>) -> Self {
        bytes.0.into_owned()
    }
}

impl AsRef<[u8]> for Bytes<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes<'_> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Owned;

        impl Visitor<'_> for Owned {
            type Value = Vec<u8>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
        }

        from.deserialize_byte_buf(Owned).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_damage_is_an_error() {
        let mut random = fastrand::Rng::with_seed(1);
        for length in [0, 1, 100, 70_000, 2_000_000, MOST + 1] {
            let bytes: Vec<u8> = (0..length).map(|_| random.u8(..4)).collect();
            let mut packed = pack(&bytes).unwrap();
            assert!(unpack(&packed).unwrap() == bytes, "{length} bytes");
            packed.truncate(packed.len() - 1);
            assert!(unpack(&packed).is_err(), "{length} bytes, cut");
        }
        assert!(unpack(b"no message").is_err());
    }
}

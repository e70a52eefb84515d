//! Compression of messages. There are many small messages, and a compressor of zstd takes a megabyte. So each thread
//! makes one compressor, and uses it for all messages.

use std::cell::RefCell;
use std::io;

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

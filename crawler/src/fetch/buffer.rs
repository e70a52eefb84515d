//! The bytes of one body: in a vector while they are few, and in a memory mapping of their own when they are many.
//!
//! A vector that grows is copied, and the allocator keeps the old memory for a while: a few sitemaps of 50 MB held
//! several times their size. A mapping is made as long as the body may become. It takes memory only for the bytes that
//! have arrived, is never copied, and goes back to the system at once.

use bytes::Bytes;
use memmap2::MmapMut;

/// The number of bytes above which they are in a mapping.
const FEW: usize = 1 << 20;
/// The smallest capacity of a vector.
const LEAST: usize = 4 << 10;
/// The step in which a mapping is charged, in bytes.
const STEP: usize = 256 << 10;

/// A buffer for bytes that arrive piece by piece.
pub(super) enum Buffer {
    Few(Vec<u8>),
    Many(Mapped),
}

/// The bytes at the front of a mapping.
pub(super) struct Mapped {
    map: MmapMut,
    len: usize,
    /// The number of bytes that are charged for it.
    held: usize,
}

impl Buffer {
    /// Makes an empty buffer.
    pub(super) const fn new() -> Self {
        Self::Few(Vec::new())
    }

    /// The most bytes of memory that it holds.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Few(bytes) => bytes.capacity(),
            Self::Many(mapped) => mapped.held,
        }
    }

    /// The number of bytes in it.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Few(bytes) => bytes.len(),
            Self::Many(mapped) => mapped.len,
        }
    }

    /// The bytes so far.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Few(bytes) => bytes,
            Self::Many(mapped) => mapped.as_ref(),
        }
    }

    /// The size that the buffer should have to take `needed` bytes, if it never takes more than `cap`.
    pub(super) fn wanted(&self, needed: usize, cap: usize) -> usize {
        let most = cap.max(LEAST);
        let wanted = match self {
            Self::Few(bytes) if needed <= FEW => (2 * bytes.capacity()).clamp(LEAST, most),
            _ => needed.next_multiple_of(STEP).min(most),
        };
        wanted.max(needed)
    }

    /// Makes the buffer hold `size` bytes. This is no less than now. `cap` is the most that it will ever hold.
    pub(super) fn hold(&mut self, size: usize, cap: usize) {
        match self {
            Self::Few(bytes) => {
                let map = (size > FEW).then(|| MmapMut::map_anon(cap.max(size)).ok()).flatten();
                let Some(mut map) = map else {
                    // Either there are few bytes, or the system gives no more address space. Then a vector may still
                    // find room.
                    bytes.reserve_exact(size - bytes.len());
                    return;
                };
                map[..bytes.len()].copy_from_slice(bytes);
                *self = Self::Many(Mapped { map, len: bytes.len(), held: size });
            }
            Self::Many(mapped) => mapped.held = size,
        }
    }

    /// Appends a piece. The buffer must hold enough for it.
    pub(super) fn append(&mut self, piece: &[u8]) {
        match self {
            Self::Few(bytes) => bytes.extend_from_slice(piece),
            Self::Many(Mapped { map, len, .. }) => {
                map[*len..*len + piece.len()].copy_from_slice(piece);
                *len += piece.len();
            }
        }
    }

    /// The bytes, without a copy.
    pub(super) fn into_bytes(self) -> Bytes {
        match self {
            Self::Few(bytes) => bytes.into(),
            Self::Many(mapped) => Bytes::from_owner(mapped),
        }
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.map[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_same_however_many_they_are() {
        let mut rng = fastrand::Rng::with_seed(1);
        for cap in [100, FEW, FEW + 1, 5 << 20] {
            let (mut buffer, mut expected) = (Buffer::new(), Vec::new());
            while expected.len() < cap {
                let mut piece = vec![0; rng.usize(1..100_000).min(cap - expected.len())];
                rng.fill(&mut piece);
                let needed = buffer.len() + piece.len();
                if needed > buffer.held() {
                    let wanted = buffer.wanted(needed, cap);
                    assert!(wanted >= needed && wanted <= cap.max(LEAST) && wanted <= (2 * needed).max(needed + STEP));
                    buffer.hold(wanted, cap);
                }
                buffer.append(&piece);
                expected.extend(piece);
                assert!(buffer.len() == expected.len() && buffer.held() >= buffer.len());
            }
            assert_eq!(matches!(buffer, Buffer::Many(_)), cap > FEW);
            assert_eq!(buffer.into_bytes(), expected);
        }
    }
}

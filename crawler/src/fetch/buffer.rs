//! The bytes of one body: in a vector while they are few, in a memory mapping of their own when they are many.
//!
//! A vector that grows is copied, and the allocator keeps for a while what it leaves behind: a few sitemaps of 50 MB held
//! several times their size. A mapping that is as long as the body may become takes memory only for what has arrived, is never
//! copied, and goes back to the system at once.

use bytes::Bytes;
use memmap2::MmapMut;

/// More bytes than this lie in a mapping.
const FEW: usize = 1 << 20;
/// Smallest capacity of a vector.
const LEAST: usize = 4 << 10;
/// A mapping is charged in steps of so many bytes.
const STEP: usize = 256 << 10;

/// Bytes that arrive piece by piece.
pub(super) enum Buffer {
    Few(Vec<u8>),
    Many(Mapped),
}

/// Bytes at the front of a mapping.
pub(super) struct Mapped {
    map: MmapMut,
    len: usize,
    /// Bytes that are charged for it.
    held: usize,
}

impl Buffer {
    /// An empty one.
    pub(super) const fn new() -> Self {
        Self::Few(Vec::new())
    }

    /// Bytes of memory that it holds at most.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Few(bytes) => bytes.capacity(),
            Self::Many(mapped) => mapped.held,
        }
    }

    /// Bytes that are in it.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Few(bytes) => bytes.len(),
            Self::Many(mapped) => mapped.len,
        }
    }

    /// What it would like to hold if it had to take `needed` bytes and may never take more than `cap`.
    pub(super) fn wanted(&self, needed: usize, cap: usize) -> usize {
        let most = cap.max(LEAST);
        let wanted = match self {
            Self::Few(bytes) if needed <= FEW => (2 * bytes.capacity()).clamp(LEAST, most),
            _ => needed.next_multiple_of(STEP).min(most),
        };
        wanted.max(needed)
    }

    /// Holds `size` bytes from now on, which is no less than now; `cap` is the most that it will ever hold.
    pub(super) fn hold(&mut self, size: usize, cap: usize) {
        match self {
            Self::Few(bytes) => {
                let map = (size > FEW).then(|| MmapMut::map_anon(cap.max(size)).ok()).flatten();
                let Some(mut map) = map else {
                    // Few bytes; or a system that gives no more address space, where a vector may still find room.
                    bytes.reserve_exact(size - bytes.len());
                    return;
                };
                map[..bytes.len()].copy_from_slice(bytes);
                *self = Self::Many(Mapped { map, len: bytes.len(), held: size });
            }
            Self::Many(mapped) => mapped.held = size,
        }
    }

    /// Appends a piece for which it holds enough.
    pub(super) fn append(&mut self, piece: &[u8]) {
        match self {
            Self::Few(bytes) => bytes.extend_from_slice(piece),
            Self::Many(Mapped { map, len, .. }) => {
                map[*len..*len + piece.len()].copy_from_slice(piece);
                *len += piece.len();
            }
        }
    }

    /// The bytes, where they are.
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

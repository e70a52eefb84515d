//! Covering designs: fewer tables for the same key bits. They are for k = 3; the online index does not use them by
//! default.

/// A covering design: blocks of bits, and for each table the set of blocks in its key (bit i stands for block i).
///
/// A design finds every pair within k if and only if, for any k blocks, some key has none of them. In other words, the
/// complements of the keys *cover* all sets of k blocks. The keys of the paper are *all* sets of blocks of one size. A
/// covering design needs fewer keys.
///
/// # References
///
/// Pagh, "CoveringLSH: Locality-Sensitive Hashing without False Negatives" (TALG 2018), for the idea; Gordon,
/// Kuperberg, Patashnik, "New Constructions for Covering Designs" (1995), for the designs.
#[derive(Clone, Copy, Debug)]
pub struct Cover {
    /// Number of blocks.
    pub blocks: u32,
    /// Keys as sets of blocks.
    pub keys: &'static [u16],
}

/// Covers for distance 3.
pub static COVERS: [Cover; 3] = [
    // The 14 planes of the affine space AG(3,2) over the eight bytes. The complements of these planes are the same
    // planes.
    Cover { blocks: 8, keys: &[0x0f, 0x33, 0x3c, 0x55, 0x5a, 0x66, 0x69, 0x96, 0x99, 0xa5, 0xaa, 0xc3, 0xcc, 0xf0] },
    // The translates of the quadratic residues {1, 3, 4, 5, 9} modulo 11, which are the biplane of order 3.
    Cover { blocks: 11, keys: &[0x23a, 0x474, 0x0e9, 0x1d2, 0x3a4, 0x748, 0x691, 0x523, 0x247, 0x48e, 0x11d] },
    // Two disjoint tetrahedra, each given by its four faces. One of the two halves of the bytes has at most one error.
    Cover { blocks: 8, keys: &[0x07, 0x0b, 0x0d, 0x0e, 0x70, 0xb0, 0xd0, 0xe0] },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constructions_are_what_they_are_called() {
        let planes: Vec<u16> = (0..256u32)
            .map(|set| set as u16)
            // A plane is the set of points 0..8 at which a non-constant affine function is 1.
            .filter(|set| {
                (1..8u32).any(|normal| {
                    (0..2).any(|offset| {
                        (0..8u32)
                            .all(|point| u32::from(set >> point & 1) == ((normal & point).count_ones() + offset) % 2)
                    })
                })
            })
            .collect();
        assert_eq!(COVERS[0].keys, planes);
        for (shift, key) in COVERS[1].keys.iter().enumerate() {
            let translate = [1, 3, 4, 5, 9].iter().fold(0u16, |set, r| set | 1 << ((r + shift) % 11));
            assert_eq!(*key, translate);
        }
    }
}

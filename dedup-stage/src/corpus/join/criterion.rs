//! What makes two documents near-duplicates, and what is compared of them.

use crate::signature::{DISTANCE, Sketch};

/// What makes two documents near-duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearCriterion {
    /// The largest Hamming distance of candidates.
    pub distance: u32,
    /// Whether a candidate must also pass the second look ([`Sketch::compare`]), as a page in the crawl must.
    pub look: bool,
    /// Whether documents with a near piece of their sketches ([`Sketch::has_near_piece`]) are candidates, too, at
    /// whatever distance. They must pass the second look.
    pub pieces: bool,
}

impl NearCriterion {
    /// The criterion for a distance that a user may have asked for, and for whether candidates get a second look.
    ///
    /// If no distance was asked for, near pieces make candidates, too: fingerprints within the default distance miss up
    /// to three of a hundred pairs with a resemblance from 0.8.
    pub fn new(distance: Option<u32>, look: bool) -> Self {
        Self { distance: distance.unwrap_or(DISTANCE), look, pieces: distance.is_none() && look }
    }

    /// A document with fewer words is short: most bins of its sketch take the bits of a few others, so that the
    /// sketches of unlike documents may be alike.
    const SHORT: u32 = 64;
    /// Near pieces make short documents candidates only within this distance. Of a thousand million pairs of unlike
    /// documents, a few thousand are so near, and few of these have sketches that are alike.
    const DISTANCE_OF_SHORT: u32 = 14;

    /// Whether two documents are candidates.
    pub fn is_candidate(&self, distance: u32, a: &Sketch, b: &Sketch) -> bool {
        distance <= self.distance || self.pieces && a.has_near_piece(b) && Self::may_be_far(distance, a, b)
    }

    /// Whether two documents are near-duplicates: candidates that pass the second look.
    pub fn is_near(&self, a: &Signature, b: &Signature) -> bool {
        let distance = (a.fingerprint ^ b.fingerprint).count_ones();
        let [one, other] = [a, b].map(|signature| Sketch::from_bytes(signature.sketch));
        self.is_candidate(distance, &one, &other)
            && (!self.look || !one.rules_out(&other.glance()) && one.compare(&other).is_duplicate_document())
    }

    /// Whether near pieces may make two documents at this distance candidates.
    pub(super) fn may_be_far(distance: u32, a: &Sketch, b: &Sketch) -> bool {
        distance <= Self::DISTANCE_OF_SHORT || a.words().min(b.words()) >= Self::SHORT
    }
}

/// What is compared of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Its fingerprint.
    pub fingerprint: u64,
    /// Its sketch, in the stored form. Without a second look, no sketch is compared, and this is zero.
    pub sketch: [u8; Sketch::BYTES],
}

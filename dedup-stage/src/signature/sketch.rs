//! The second look: a few dozen bytes beside the fingerprint, which tell near-duplicates from pages that merely use the
//! same words, and copies from pages of one list.

use ::url::Url;

use crate::page::words::{WordHash, fold_multiply};

/// Words of a shingle.
const SHINGLE: usize = 3;
/// Bins of the sketch of the text.
const TEXT: usize = 320;
/// Bins of the sketch of the links.
const LINKS: usize = 64;

/// A sketch of the text's shingles, its length, and a sketch of its relative out-links: 56 bytes.
///
/// The sketches are min-wise (Broder, CPM 2000) by one permutation (Li, Owen, Zhang, "One Permutation Hashing", NIPS
/// 2012) with empty bins filled from others (Shrivastava, "Optimal Densification", ICML 2017), of which one bit a bin is
/// kept (Li, König, "b-Bit Minwise Hashing", WWW 2010).
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
    /// Resemblance from which two texts are duplicates.
    const RESEMBLANCE: f32 = 0.7;
    /// Share of common links below which equal texts are different pages.
    const COMMON_LINKS: f32 = 0.5;

    /// The stored form.
    pub fn to_bytes(&self) -> [u8; Sketch::BYTES] {
        self.0
    }

    /// From the stored form; any bytes give some sketch.
    pub fn from_bytes(bytes: [u8; Sketch::BYTES]) -> Self {
        Self(bytes)
    }

    /// Compares two pages whose simhashes are near.
    pub fn compare(&self, other: &Sketch) -> SecondLook {
        let resemblance = common(&self.0[..TEXT / 8], &other.0[..TEXT / 8]);
        let links = match (self.links(), other.links()) {
            (0, 0) => 1.0,
            (0, _) | (_, 0) => 0.0,
            _ => common(&self.0[TEXT / 8..TEXT / 8 + LINKS / 8], &other.0[TEXT / 8..TEXT / 8 + LINKS / 8]),
        };
        let contradict = self.links().max(other.links()) > 1
            && links < Self::COMMON_LINKS
            && self.words().max(other.words()) < 30 * u32::from(self.links().min(other.links()));
        SecondLook { resemblance, duplicate: resemblance >= Self::RESEMBLANCE && !contradict, links }
    }

    /// Words of content.
    fn words(&self) -> u32 {
        u32::from_le_bytes(self.0[48..52].try_into().expect("four bytes"))
    }

    /// Distinct links outside chrome.
    fn links(&self) -> u16 {
        u16::from_le_bytes(self.0[52..54].try_into().expect("two bytes"))
    }
}

/// The resemblance of two sets by the bits of their sketches: bits of unlike minima agree by chance half of the time.
fn common(a: &[u8], b: &[u8]) -> f32 {
    let differing: u32 = a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum();
    (1.0 - 2.0 * differing as f32 / (a.len() * 8) as f32).max(0.0)
}

/// Makes sketches.
#[derive(Debug)]
pub struct Maker {
    text: Bins<TEXT>,
    links: Bins<LINKS>,
    words: u32,
    link_count: u16,
}

impl Default for Maker {
    fn default() -> Self {
        Self { text: Bins::default(), links: Bins::default(), words: 0, link_count: 0 }
    }
}

impl Maker {
    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds a run of words.
    pub fn add(&mut self, words: &[WordHash]) {
        self.words = self.words.saturating_add(words.len() as u32);
        if words.len() < SHINGLE {
            let all = words.iter().fold(0, |all, word| fold_multiply(all ^ word, 0x9FB2_1C65_1E98_DF25));
            self.text.add(all);
        }
        for shingle in words.windows(SHINGLE) {
            let all = shingle[0] ^ shingle[1].rotate_left(21) ^ shingle[2].rotate_left(42);
            self.text.add(fold_multiply(all, 0x9FB2_1C65_1E98_DF25));
        }
    }

    /// Adds a link of the page at `page`.
    pub fn link(&mut self, page: &Url, link: &Url) {
        self.link_count = self.link_count.saturating_add(1);
        let _ = page;
        let path = link.path();
        let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let hash = xxhash_rust::xxh3::xxh3_64_with_seed(
            last.as_bytes(),
            xxhash_rust::xxh3::xxh3_64(link.query().unwrap_or_default().as_bytes()),
        );
        self.links.add(hash);
    }

    /// The sketch.
    pub fn finish(&mut self) -> Sketch {
        let mut bytes = [0; Sketch::BYTES];
        self.text.bits(&mut bytes[..TEXT / 8]);
        self.links.bits(&mut bytes[TEXT / 8..TEXT / 8 + LINKS / 8]);
        bytes[48..52].copy_from_slice(&self.words.to_le_bytes());
        bytes[52..54].copy_from_slice(&self.link_count.to_le_bytes());
        Sketch(bytes)
    }
}

/// Least hash of each of `N` bins.
#[derive(Debug)]
struct Bins<const N: usize>([u32; N]);

impl<const N: usize> Default for Bins<N> {
    fn default() -> Self {
        Self([u32::MAX; N])
    }
}

impl<const N: usize> Bins<N> {
    #[inline]
    fn add(&mut self, hash: u64) {
        let bin = ((hash >> 32) * N as u64 >> 32) as usize;
        self.0[bin] = self.0[bin].min(hash as u32 & (u32::MAX - 1));
    }

    /// One bit of each bin; an empty bin takes the bit of the first filled one in an order of its own.
    fn bits(&self, bytes: &mut [u8]) {
        if self.0.iter().all(|least| *least == u32::MAX) {
            return;
        }
        for bin in 0..N {
            let mut from = bin;
            let mut attempt = 0u64;
            while self.0[from] == u32::MAX {
                attempt += 1;
                let next = fold_multiply((bin as u64) << 32 ^ attempt ^ 0xE703_7ED1_A0B4_28DB, 0x8EBC_6AF0_9C88_C6E3);
                from = ((next >> 32) * N as u64 >> 32) as usize;
            }
            let bit = (self.0[from].wrapping_mul(0x9E37_79B1) >> 31) as u8;
            bytes[bin / 8] |= bit << (bin % 8);
        }
    }
}

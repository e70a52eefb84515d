//! The statement of a page that has too little text for a fingerprint: a digest of all that the page says. Two such
//! pages are duplicates only if their statements are equal and no link of one is new to the other.
//!
//! Words in chrome count as well. Two short pages may differ only in a word of a navigation path.

use crate::digest::sha256;
use crate::words::WordHash;

/// The digest of a page's title, its words in order, and its media, which are sorted. `None` for a page without words
/// and media, which says nothing.
pub fn digest(title: &str, words: &[WordHash], media: &[u64]) -> Option<[u8; 32]> {
    if words.is_empty() && media.is_empty() {
        return None;
    }
    // Each part begins with its length, so that two different pages never write the same bytes. The first bytes keep
    // statements apart from the digests of bodies.
    let mut said = b"statement of a page\0".to_vec();
    said.extend((title.len() as u64).to_le_bytes());
    said.extend(title.as_bytes());
    for part in [words, media] {
        said.extend((part.len() as u64).to_le_bytes());
        said.extend(part.iter().flat_map(|value| value.to_le_bytes()));
    }
    Some(sha256(&said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_counts() {
        let page = digest("title", &[1, 2, 3], &[7]);
        assert!(page.is_some());
        assert_eq!(page, digest("title", &[1, 2, 3], &[7]));
        for other in [
            digest("titel", &[1, 2, 3], &[7]),
            digest("title", &[1, 3, 2], &[7]),
            digest("title", &[1, 2], &[3, 7]),
            digest("title", &[1, 2, 3], &[]),
        ] {
            assert_ne!(page, other);
        }
        assert_eq!(digest("title", &[], &[]), None, "a title alone says nothing");
    }
}

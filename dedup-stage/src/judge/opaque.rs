//! Opaque words: parts of URLs that look as if they were drawn at random, such as `3f9a21c8`. Some of them name
//! sessions, and some name pages.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use super::OutLink;
use crate::url::SiteId;

/// A row of letters and digits that is shorter than this is never opaque: it is a word, a year or a version.
const LEAST: usize = 8;

/// The 32-bit hash of a link of a page on the host `site`, without its opaque words. `None` if it has no opaque words.
pub(super) fn name(site: SiteId, link: &OutLink) -> Option<u32> {
    let target = &link.url[::url::Position::BeforePath..::url::Position::AfterQuery];
    let Cow::Owned(masked) = mask(target) else { return None };
    let host = if link.id.site == site { "" } else { link.url.host_str().unwrap_or_default() };
    Some(xxh3_64(format!("{host}{masked}").as_bytes()) as u32)
}

/// A path and query with `*` in place of each opaque word.
fn mask(target: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let (mut kept, mut start, mut digits) = (0, 0, 0);
    let bytes = target.as_bytes();
    for end in 0..=bytes.len() {
        match bytes.get(end) {
            Some(b'0'..=b'9') => digits += 1,
            Some(b'a'..=b'z' | b'A'..=b'Z') => {}
            // The word from `start` to here ends.
            _ => {
                // Nearly every word is too short, or has no digits: this is tested first.
                if digits > 0 && end - start >= LEAST && is_opaque(&bytes[start..end], digits) {
                    masked.push_str(&target[kept..start]);
                    masked.push('*');
                    kept = end;
                }
                (start, digits) = (end + 1, 0);
            }
        }
    }
    if kept == 0 {
        return Cow::Borrowed(target);
    }
    masked.push_str(&target[kept..]);
    Cow::Owned(masked)
}

/// Whether a row of letters and digits looks drawn at random: hexadecimal digits of both kinds, or many changes between
/// letters and digits. `digits` is the number of its decimal digits.
fn is_opaque(word: &[u8], digits: usize) -> bool {
    if digits == 0 || digits == word.len() {
        return false;
    }
    let changes = word.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    word.iter().all(u8::is_ascii_hexdigit) || changes >= 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_looks_drawn_at_random_is_masked() {
        for (target, masked) in [
            ("/dercam-409baf3b4b2/ranusto-1.html", "/dercam-*/ranusto-1.html"),
            ("/a?session=1f3870be274f&page=2", "/a?session=*&page=2"),
            ("/x/Zq8Yt2Lk9Pw3/y", "/x/*/y"),
            ("/9f86d081884c7d65", "/*"),
            ("/ä-9f86d081884c7d65ö", "/ä-*ö"),
        ] {
            assert_eq!(mask(target), masked);
        }
        for plain in
            ["/2024/11/22/", "/article-20241122.html", "/postgresql17/", "/page/12345678", "/facade/decade", "/", ""]
        {
            assert!(matches!(mask(plain), Cow::Borrowed(_)), "{plain}");
        }
    }
}

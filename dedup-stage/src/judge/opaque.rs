//! Opaque words: parts of URLs that look as if they were drawn at random, such as `3f9a21c8`. Some of them name
//! sessions, and some name pages.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::OutLink;
use crate::url::SiteId;

/// A row of letters and digits that is shorter than this is never opaque: it is a word, a year or a version.
const LEAST: usize = 8;

/// A path and query with `*` in place of each opaque word.
#[derive(Debug, PartialEq)]
struct Masked {
    text: String,
    /// Whether one of the words is a number. Mostly a number names a page, as in `/story?id=48405228`.
    has_number: bool,
}

/// The 32-bit hash of a link of a page on the host `site`, without its opaque words. `None` if it has no opaque words.
pub(super) fn name(site: SiteId, link: &OutLink) -> Option<u32> {
    Masked::of(link).map(|masked| masked.name(site, link))
}

/// The names of all links of a page on the host `site` that have opaque words. If several links differ only in a
/// number, the number names pages, and these links have no name.
pub(super) fn names(site: SiteId, links: &[OutLink]) -> Vec<u32> {
    let (mut names, mut numbered) = (Vec::new(), HashMap::<u32, usize>::new());
    for link in links {
        let Some(masked) = Masked::of(link) else { continue };
        let name = masked.name(site, link);
        match masked.has_number {
            true => *numbered.entry(name).or_default() += 1,
            false => names.push(name),
        }
    }
    names.extend(numbered.into_iter().filter(|(_, links)| *links == 1).map(|(name, _)| name));
    names
}

impl Masked {
    fn of(link: &OutLink) -> Option<Self> {
        mask(&link.url[::url::Position::BeforePath..::url::Position::AfterQuery])
    }

    fn name(&self, site: SiteId, link: &OutLink) -> u32 {
        let host = if link.id.site == site { "" } else { link.url.host_str().unwrap_or_default() };
        xxh3_64(format!("{host}{}", self.text).as_bytes()) as u32
    }
}

/// Masks the opaque words of a path and query. `None` if it has none.
fn mask(target: &str) -> Option<Masked> {
    let (mut text, mut has_number) = (String::new(), false);
    let (mut kept, mut start, mut digits, mut in_query) = (0, 0, 0, false);
    let bytes = target.as_bytes();
    for end in 0..=bytes.len() {
        match bytes.get(end) {
            Some(b'0'..=b'9') => digits += 1,
            Some(b'a'..=b'z' | b'A'..=b'Z') => {}
            // The word from `start` to here ends.
            other => {
                // Nearly every word is too short, or has no digits: this is tested first.
                if digits > 0 && end - start >= LEAST {
                    let is_number = in_query && digits == end - start;
                    if is_number || is_opaque(&bytes[start..end], digits) {
                        text.push_str(&target[kept..start]);
                        text.push('*');
                        kept = end;
                        has_number |= is_number;
                    }
                }
                (start, digits) = (end + 1, 0);
                in_query |= other == Some(&b'?');
            }
        }
    }
    if kept == 0 {
        return None;
    }
    text.push_str(&target[kept..]);
    Some(Masked { text, has_number })
}

/// Whether a row of letters and digits looks drawn at random: decimal digits mixed with the letters a to f, or many
/// changes between
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
        for (target, masked, has_number) in [
            ("/dercam-409baf3b4b2/ranusto-1.html", "/dercam-*/ranusto-1.html", false),
            ("/a?session=1f3870be274f&page=2", "/a?session=*&page=2", false),
            ("/x/Zq8Yt2Lk9Pw3/y", "/x/*/y", false),
            ("/9f86d081884c7d65", "/*", false),
            ("/ä-9f86d081884c7d65ö", "/ä-*ö", false),
            ("/l/3?zx=484052283118&page=2", "/l/3?zx=*&page=2", true),
            ("/page/12345678?_=0.48405228", "/page/12345678?_=0.*", true),
        ] {
            assert_eq!(mask(target), Some(Masked { text: masked.into(), has_number }));
        }
        for plain in [
            "/2024/11/22/",
            "/article-20241122.html",
            "/postgresql17/",
            "/page/12345678",
            "/facade/decade",
            "/story?id=1234567",
            "/",
            "",
        ] {
            assert_eq!(mask(plain), None, "{plain}");
        }
    }

    #[test]
    fn a_number_in_which_links_of_one_page_differ_names_pages() {
        let keys = crate::testing::keys();
        let links = |queries: &[&str]| -> Vec<OutLink> {
            let url = |query: &&str| url::Url::parse("http://a.test/").unwrap().join(query).unwrap();
            queries.iter().map(|query| OutLink::new(url(query), true, &keys)).collect()
        };
        let count = |queries: &[&str]| {
            let links = links(queries);
            names(links[0].id.site, &links).len()
        };
        assert_eq!(count(&["/a?zx=48405228", "/b?zx=58405228", "/c"]), 2);
        assert_eq!(count(&["/story?id=48405228", "/story?id=58405228", "/c?zx=68405228"]), 1);
        assert_eq!(count(&["/a-3f9a21c8", "/a-4f9a21c8"]), 2, "words that are no numbers may name sessions");
    }
}

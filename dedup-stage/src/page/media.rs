//! The media of a page (images, video, audio and embedded files of its own site), as hashes.
//!
//! Of the address of a medium, only the last two segments of the path count. So a mirror under another host or in
//! another folder has the same media, whatever parameters it adds. A picture that is written into the page itself
//! (`data:`) counts by its bytes.

use ::url::{Host, Url};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::Reader;
use super::outline::Outline;
use super::signs::Signs;
use crate::url::registrable;

/// Whether an address contains the file itself.
pub fn is_inline(address: &str) -> bool {
    address.as_bytes().first_chunk::<5>().is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"data:"))
}

/// The hashes of the distinct media of the page's site outside of believed chrome, sorted, at most
/// [`Reader::MAX_MEDIA`]; and the number of media beyond that cap. References are resolved against `base`.
pub fn hashes(page: &Url, base: &Url, outline: &Outline, believed: Signs) -> (Vec<u64>, u32) {
    let mut hashes = Vec::new();
    let mut cut = Vec::new();
    for medium in outline.media.iter().filter(|medium| !medium.signs.meet(believed)) {
        if medium.link.is_some_and(|link| leads_away(page, base, outline.href(&outline.links[link as usize]))) {
            continue;
        }
        let address = &outline.hrefs[medium.address.0 as usize..medium.address.1 as usize];
        let hash = if is_inline(address) { Some(xxh3_64(address.as_bytes())) } else { hash_of(page, base, address) };
        let Some(hash) = hash.filter(|hash| !hashes.contains(hash)) else { continue };
        (if hashes.len() < Reader::MAX_MEDIA { &mut hashes } else { &mut cut }).push(hash);
    }
    hashes.sort_unstable();
    cut.sort_unstable();
    cut.dedup();
    (hashes, cut.len() as u32 + outline.media_cut)
}

/// Whether a link leads to another site. A picture in such a link is an advertisement.
fn leads_away(page: &Url, base: &Url, href: &str) -> bool {
    let url = crate::url::resolve(base, href).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.is_some_and(|url| !is_same_site(page, &url))
}

/// The hash of the file at an address of the page's site; `None` for an address of another site.
fn hash_of(page: &Url, base: &Url, address: &str) -> Option<u64> {
    let mut url = crate::url::resolve(base, address).ok()?;
    if let Some(original) = behind_proxy(&url) {
        url = original;
    }
    if !matches!(url.scheme(), "http" | "https") || !is_same_site(page, &url) {
        return None;
    }
    let mut segments = url.path().rsplit('/').filter(|segment| !segment.is_empty());
    let name = segments.next()?;
    let mut hasher = Xxh3::new();
    hasher.update(segments.next().unwrap_or_default().as_bytes());
    hasher.update(b"/");
    hasher.update(name.as_bytes());
    Some(hasher.digest())
}

/// The image that a server is asked to resize, as in `/_next/image?url=%2Fphotos%2F17.jpg&w=640`.
fn behind_proxy(url: &Url) -> Option<Url> {
    let is_file = url.path().rsplit('/').next().is_some_and(|name| name.contains('.'));
    if is_file || url.query().is_none() {
        return None;
    }
    let (_, original) = url.query_pairs().find(|(name, _)| name == "url" || name == "src")?;
    original.contains(['/', '.']).then(|| url.join(&original).ok())?
}

/// Whether two hosts have one registrable domain.
fn is_same_site(a: &Url, b: &Url) -> bool {
    match (a.host(), b.host()) {
        (Some(Host::Domain(a)), Some(Host::Domain(b))) if a != b => {
            registrable(a).is_some_and(|domain| registrable(b) == Some(domain))
        }
        (a, b) => a == b,
    }
}

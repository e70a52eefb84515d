//! The media of a page (images, video, audio and embedded files), as hashes. `medium` says which parts of an address
//! count.
//!
//! Media of the page's own site and those of other sites (of a CDN) are told apart, because a page may show its logo
//! from here and its photographs from there. A picture that is written into the page itself (`data:`) counts by its
//! bytes.

use ::url::{Host, Url};
use xxhash_rust::xxh3::xxh3_64;

use super::Reader;
use super::medium::Medium;
use super::outline::Outline;
use super::signs::Signs;
use crate::url::registrable;

/// The kind of a medium, as it is told by the lowest bits of its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediumKind {
    /// It lies on the site of the page, or in the page.
    Own,
    /// It lies on another site. The hash is that of its whole path.
    Away,
    /// It lies on another site. The hash is the one that it has on the pages of that site. So a mirror that shows the
    /// files of its original has the same hash.
    AwayThere,
    /// It is no medium, but a running text in chrome ([`super::asides`]).
    Text,
}

impl MediumKind {
    /// The bits of a hash that tell the kind.
    pub const BITS: u32 = 3;

    /// The kind that a hash tells.
    pub fn of(hash: u32) -> Self {
        match hash & Self::BITS {
            0 => Self::Own,
            1 => Self::Away,
            2 => Self::AwayThere,
            _ => Self::Text,
        }
    }

    pub(super) fn mark(self, hash: u64) -> u64 {
        hash & !u64::from(Self::BITS) | self as u64
    }
}

/// The media of a page.
#[derive(Debug, Default)]
pub struct Media {
    own: Vec<u64>,
    away: Vec<(u64, u64)>,
    /// Number of media beyond the cap.
    pub cut: u32,
}

impl Media {
    /// The hashes of all media, sorted. The lowest bits tell the [`MediumKind`].
    pub fn marked(&self) -> Vec<u64> {
        let own = self.own.iter().map(|hash| MediumKind::Own.mark(*hash));
        let away = self.away.iter().map(|(whole, _)| MediumKind::Away.mark(*whole));
        let there = self.away.iter().map(|(_, there)| MediumKind::AwayThere.mark(*there));
        sorted(own.chain(away).chain(there))
    }

    /// The hashes of all media, sorted, whatever their kind.
    pub fn unmarked(&self) -> Vec<u64> {
        sorted(self.own.iter().copied().chain(self.away.iter().map(|(whole, _)| *whole)))
    }
}

fn sorted(hashes: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut hashes: Vec<u64> = hashes.collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// Whether an address contains the file itself.
pub fn is_inline(address: &str) -> bool {
    address.as_bytes().first_chunk::<5>().is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"data:"))
}

/// The distinct media of a page outside of believed chrome, at most [`Reader::MAX_MEDIA`]. References are resolved
/// against `base`.
pub fn read(page: &Url, base: &Url, outline: &Outline, believed: Signs) -> Media {
    let mut media = Media { cut: outline.media_cut, ..Media::default() };
    let mut cut = Vec::new();
    for medium in outline.media.iter().filter(|medium| !medium.signs.meet(believed)) {
        let link = medium.link.map(|link| &outline.links[link as usize]);
        if link.is_some_and(|link| link.sponsored || leads_away(page, base, outline.href(link))) {
            continue;
        }
        let address = &outline.hrefs[medium.address.0 as usize..medium.address.1 as usize];
        let found =
            if is_inline(address) { Some(Medium::Own(xxh3_64(address.as_bytes()))) } else { at(page, base, address) };
        let (hash, is_known) = match found {
            Some(Medium::Own(hash)) => (hash, media.own.contains(&hash)),
            Some(Medium::Away { whole, .. }) => (whole, media.away.iter().any(|(other, _)| *other == whole)),
            None => continue,
        };
        match found {
            _ if is_known => {}
            _ if media.own.len() + media.away.len() >= Reader::MAX_MEDIA => cut.push(hash),
            Some(Medium::Away { whole, there }) => media.away.push((whole, there)),
            _ => media.own.push(hash),
        }
    }
    cut.sort_unstable();
    cut.dedup();
    media.cut += cut.len() as u32;
    media
}

/// Whether a link leads to another site. A picture in such a link is an advertisement, unless the link leads to a
/// picture.
fn leads_away(page: &Url, base: &Url, href: &str) -> bool {
    let url = crate::url::resolve(base, href).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.is_some_and(|url| !is_same_site(page, &url) && !is_picture(&url))
}

/// Whether the path of a URL ends like the name of a picture.
fn is_picture(url: &Url) -> bool {
    const ENDINGS: [&str; 7] = ["avif", "gif", "jpeg", "jpg", "png", "svg", "webp"];
    let ending = url.path().rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

/// The medium at an address.
fn at(page: &Url, base: &Url, address: &str) -> Option<Medium> {
    let mut url = crate::url::resolve(base, address).ok()?;
    if let Some(original) = behind_proxy(&url) {
        url = original;
    }
    // Trackers get the URL of the page.
    if url == *page {
        return None;
    }
    match url.scheme() {
        "http" | "https" if is_same_site(page, &url) => Medium::own(&url),
        "http" | "https" => Medium::away(&url),
        _ => None,
    }
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

//! Resolves the links of a page: one for each distinct URL, in the order of the page.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::outline::{Outline, fold_space, written};
use super::signs::Signs;
use super::{Link, Reader, Rels};
use crate::url::compact;

/// Longest anchor text kept, in bytes.
const ANCHOR: usize = 200;

/// A hasher that takes the key itself as its hash.
#[derive(Debug, Default, Clone, Copy)]
pub struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("only u64 keys are hashed")
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

type LinkNumbers = HashMap<u64, u32, BuildHasherDefault<Identity>>;

/// In place of the number of a link: the target leads to nothing on the web (`NOWHERE`), or the caps cut it (`CUT`).
const NOWHERE: u32 = u32::MAX;
const CUT: u32 = u32::MAX - 1;

/// The base that the page names for its references, if it names one, and if it is on the web.
pub fn base(page: &Url, outline: &Outline) -> Option<Url> {
    outline.base.as_ref().and_then(|href| page.join(href.trim()).ok()).filter(is_web)
}

/// Resolves links. It keeps its memory between pages.
#[derive(Debug, Default)]
pub struct Resolver {
    written: LinkNumbers,
    resolved: LinkNumbers,
    /// The bytes of the links so far.
    bytes: usize,
}

impl Resolver {
    /// The distinct http and https links of the outline, resolved against `base`, and the number of distinct links that
    /// the caps cut. `places` gets a pair for every place of a link outside of believed chrome: the position in the
    /// text, and the number of the link. The pairs are in order.
    pub fn resolve(
        &mut self,
        base: &Url,
        outline: &Outline,
        believed: Signs,
        places: &mut Vec<(u32, u32)>,
    ) -> (Vec<Link>, u32) {
        for seen in [&mut self.written, &mut self.resolved] {
            seen.clear();
        }
        self.bytes = 0;
        places.clear();
        let mut links: Vec<Link> = Vec::new();
        let mut cut = 0;
        for raw in &outline.links {
            let Some((href, hash)) = written(outline.href(raw)) else { continue };
            let place = match self.written.get(&hash).copied() {
                Some(place) => place,
                None => {
                    let place = self.place(base, href, &mut links, &mut cut);
                    self.written.insert(hash, place);
                    place
                }
            };
            let Some(link) = links.get_mut(place as usize) else { continue };
            link.nofollow &= raw.nofollow;
            link.rels |= raw.rels;
            if !raw.signs.meet(believed) {
                places.push((raw.anchor.0, place));
            }
            if link.anchor.is_empty() {
                fold_space(outline.anchor(raw), &mut link.anchor, ANCHOR);
            }
        }
        cut += self.beyond(outline);
        (links, cut)
    }

    /// The number of distinct links among those that the outline has cut. They are sorted, because a page may have
    /// millions of them, and a table of them would take five times as much memory.
    fn beyond(&self, outline: &Outline) -> u32 {
        let mut beyond = outline.links_cut.clone();
        beyond.sort_unstable();
        beyond.dedup();
        beyond.iter().filter(|hash| !self.written.contains_key(*hash)).count() as u32
    }

    /// The place of a target in `links`. A new target is added.
    fn place(&mut self, base: &Url, href: &str, links: &mut Vec<Link>, cut: &mut u32) -> u32 {
        let Some(url) = crate::url::resolve(base, href).ok().filter(is_web) else { return NOWHERE };
        let url = without_fragment(url);
        let place = links.len() as u32;
        let bytes = self.bytes + url.as_str().len();
        let full = links.len() >= Reader::MAX_LINKS || bytes > Reader::MAX_LINK_BYTES;
        match self.resolved.entry(xxh3_64(url.as_str().as_bytes())) {
            std::collections::hash_map::Entry::Occupied(entry) => *entry.get(),
            std::collections::hash_map::Entry::Vacant(entry) if full => {
                *cut += 1;
                *entry.insert(CUT)
            }
            std::collections::hash_map::Entry::Vacant(entry) => {
                self.bytes = bytes;
                let (url, anchor, rels) = (compact(url), String::new(), Rels::NONE);
                links.push(Link { url, nofollow: true, anchor, content: false, rels });
                *entry.insert(place)
            }
        }
    }
}

/// Removes the fragment. References come without one, but an empty reference may keep the fragment of the base.
fn without_fragment(mut url: Url) -> Url {
    if url.fragment().is_some() {
        url.set_fragment(None);
    }
    url
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.has_host()
}

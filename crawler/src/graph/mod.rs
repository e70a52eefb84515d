//! The link graph: all links of all pages, and not only the first link to each URL.
//!
//! `DIR/links.graph` has a record for each answer with links or a redirect: the page, and the identities of the
//! targets. Page workers make the records; a link takes a few bytes. The state has the URLs, each of them once
//! ([`Addresses`]). `crawler links` and `crawler export --what links` read the graph.

mod addresses;
mod read;
mod sink;

use dedup_stage::page::Rels;
use dedup_stage::url::{PageId, SiteId, UrlId};

pub use addresses::{Address, Addresses};
pub use read::{Graph, Records, edges_at};
pub use sink::LinksGraph;

/// A link in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The URL to which it leads.
    pub target: UrlId,
    /// The kind of the link.
    pub kind: Kind,
    /// Whether the crawl may follow it: it is not `nofollow`, for example. (Scope and depth are not considered here.)
    pub may_follow: bool,
}

/// The kind of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A link of the page, with its relations.
    Link(Rels),
    /// A redirect from the page to the target.
    Redirect,
    /// An entry of a feed.
    Entry,
}

impl Kind {
    const REDIRECT: u8 = 64;
    const ENTRY: u8 = 65;
    /// This bit of the byte says that the crawl may follow the link. Records of earlier versions do not have it.
    const MAY_FOLLOW: u8 = 128;

    fn to_byte(self) -> u8 {
        match self {
            Kind::Link(rels) => rels.bits(),
            Kind::Redirect => Self::REDIRECT,
            Kind::Entry => Self::ENTRY,
        }
    }

    fn of_byte(byte: u8) -> Self {
        match byte {
            Self::REDIRECT => Kind::Redirect,
            Self::ENTRY => Kind::Entry,
            bits => Kind::Link(Rels::from_bits(bits)),
        }
    }

    /// The words for the kind in outputs; none for a plain link.
    pub fn names(self) -> Vec<&'static str> {
        match self {
            Kind::Link(rels) => rels.names().collect(),
            Kind::Redirect => vec!["redirect"],
            Kind::Entry => vec!["feed"],
        }
    }
}

/// Makes the record of a page with these links; empty if there are none. All numbers are big-endian: the length of the
/// rest, the URL and visit of the page, and then runs of links to one host. A run is the host, the number of links, and
/// the hash of each, with a byte for its kind and for whether it may be followed.
pub fn encode(page: PageId, links: impl Iterator<Item = Edge>) -> Vec<u8> {
    let mut record = Vec::new();
    let mut run: Option<(SiteId, usize, u32)> = None;
    for Edge { target, kind, may_follow } in links {
        if record.is_empty() {
            record.extend([0; 4]);
            record.extend(page.url.to_bytes());
            record.extend(page.visit.to_be_bytes());
        }
        let at = match &mut run {
            Some((site, at, count)) if *site == target.site => {
                *count += 1;
                record[*at..*at + 4].copy_from_slice(&count.to_be_bytes());
                None
            }
            _ => Some(record.len() + SiteId::BYTES),
        };
        if let Some(at) = at {
            record.extend(target.site.to_bytes());
            record.extend(1u32.to_be_bytes());
            run = Some((target.site, at, 1));
        }
        record.extend(target.url.to_be_bytes());
        record.push(kind.to_byte() | if may_follow { Kind::MAY_FOLLOW } else { 0 });
    }
    if let Some(rest) = record.len().checked_sub(4) {
        record[..4].copy_from_slice(&(rest as u32).to_be_bytes());
    }
    record
}

/// Decodes a record without its length: the page and its links. `None` if it is damaged.
pub fn decode(mut record: &[u8]) -> Option<(PageId, Vec<Edge>)> {
    let mut take = |bytes: usize| {
        let (taken, rest) = record.split_at_checked(bytes)?;
        record = rest;
        Some(taken)
    };
    let url = UrlId::read(take(UrlId::BYTES)?)?;
    let page = PageId { url, visit: u32::from_be_bytes(take(4)?.try_into().ok()?) };
    let mut edges = Vec::new();
    while let Some(site) = take(SiteId::BYTES) {
        let site = SiteId {
            domain: u64::from_be_bytes(site[..8].try_into().ok()?),
            host: u64::from_be_bytes(site[8..].try_into().ok()?),
        };
        for _ in 0..u32::from_be_bytes(take(4)?.try_into().ok()?) {
            let url = u64::from_be_bytes(take(8)?.try_into().ok()?);
            let byte = take(1)?[0];
            let (kind, may_follow) = (Kind::of_byte(byte & !Kind::MAY_FOLLOW), byte & Kind::MAY_FOLLOW != 0);
            edges.push(Edge { target: UrlId { site, url }, kind, may_follow });
        }
    }
    record.is_empty().then_some((page, edges))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(site: u64, url: u64) -> UrlId {
        UrlId { site: SiteId { domain: site / 2, host: site }, url }
    }

    proptest! {
        #[test]
        fn a_record_comes_back_as_it_went_in(links in prop::collection::vec((0u64..4, any::<u64>(), 0u8..66, any::<bool>()), 0..40), visit in 1u32..9) {
            let page = PageId { url: id(7, 8), visit };
            let edges: Vec<Edge> =
                links.iter().map(|&(site, url, kind, may_follow)| Edge { target: id(site, url), kind: Kind::of_byte(kind), may_follow }).collect();
            let record = encode(page, edges.iter().copied());
            if edges.is_empty() {
                prop_assert!(record.is_empty());
            } else {
                prop_assert_eq!(u32::from_be_bytes(record[..4].try_into().unwrap()) as usize, record.len() - 4);
                prop_assert_eq!(decode(&record[4..]), Some((page, edges)));
                prop_assert_eq!(decode(&record[4..record.len() - 1]), None);
            }
        }
    }
}

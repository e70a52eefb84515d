//! Decides whether a page only *rearranges* known pieces: whether it is new as a whole, but its pieces
//! ([`dedup_stage::page::Piece`]) are known. A site can arrange few pieces in ways without end: the same events in each
//! month of a calendar, random headlines, links to random pages, the products of a list for each combination of
//! filters.
//!
//! A piece is known if a page of the same *kind* has shown it: a page of the same area of URLs ([`Area`]), or one
//! whose URL has the same form ([`form`]). It is not enough that some page of the host has shown it. The pages of an
//! archive list articles that the crawl knows already, but each page of the archive lists others; and nobody knows what
//! the last page of the archive lists.
//!
//! The verdict on a page that rearranges stays what it is, and its links are followed. But a trap may have such pages
//! without end. So the page earns nothing back for the budgets of its host and folder, and spends a quarter of a page.
//! (If it has new links that promise something, it spends nothing, and earns back one: [`Forms::promises`].) Learned
//! rules count it to find traps (`barren`), and a lot that has fallen gains nothing by it.
//!
//! To cut a page into pieces and to look them up costs 3 to 5 % of a crawl. So only one page in a few is cut, until one
//! of them rearranges. Then all of the next pages of its host are.
//!
//! All this is in memory only. After a restart, a trap has to show its pieces once more.

mod forms;

use std::collections::HashMap;

use dedup_stage::page::Piece;
use dedup_stage::url::{SiteId, UrlId};

pub(in crate::engine) use forms::{Forms, form};

/// A piece that was shown, with the kind of the page that showed it last: 32 bits of the hash of the piece on its host,
/// then 16 bits each for the form of the URL and its area. 0 if there is none.
type Shown = u64;

/// The pieces that pages have shown.
#[derive(Debug, Default)]
pub(in crate::engine) struct KnownPieces {
    /// In each bucket, the piece that was shown last comes first. Empty until there is a piece.
    buckets: Vec<[Shown; Self::OF_BUCKET]>,
    /// By the hash of the host.
    hosts: HashMap<u64, OfHost>,
}

/// The pages of one host that were handed out.
#[derive(Clone, Copy, Debug, Default)]
struct OfHost {
    /// Their number, up to [`KnownPieces::FIRST`].
    pages: u32,
    /// The number of further pages that are all cut.
    watched: u32,
}

/// The kind of a page.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Kind {
    pub form: u64,
    pub area: u64,
}

/// Who knows what a page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum KnownTo {
    /// A page of the same kind has shown it.
    Kind,
    /// Some page of the host has.
    Host,
    Nobody,
}

impl KnownPieces {
    /// At most this many hosts are remembered. When there are more, all are forgotten.
    const HOSTS: usize = config::bounds::HOSTS_COMPARED;
    /// A bucket is one line of the cache.
    const OF_BUCKET: usize = 8;
    const BUCKETS: usize = config::bounds::PIECES / Self::OF_BUCKET;
    /// The first pages of a host are not judged, and their pieces are not remembered. Most hosts have no more pages,
    /// and a trap has more.
    const FIRST: u32 = 64;
    /// Of the other pages, one in this many is cut …
    const ONE_IN: u64 = 8;
    /// … and so many pages after one that rearranges.
    const WATCHED: u32 = 512;
    /// Fewer words tell nothing.
    const LEAST: u32 = 8;
    /// A page that rearranges has at most this many words in new pieces. A new entry of a list has more, or a link.
    const NEW: u32 = 4;
    /// And these are at most one in this many of its words.
    const NEW_ONE_IN: u32 = 20;

    /// Who knows the pieces of a page. They are remembered.
    pub fn page(&mut self, site: SiteId, kind: Kind, pieces: &[Piece]) -> KnownTo {
        if self.buckets.is_empty() {
            self.buckets = vec![[0; Self::OF_BUCKET]; Self::BUCKETS];
        }
        let (mut all, mut new, mut new_to_host) = (0u32, 0u32, 0u32);
        for piece in pieces {
            let known = self.show(site, kind, piece.hash);
            all = all.saturating_add(piece.words);
            new = new.saturating_add(if known == KnownTo::Kind { 0 } else { piece.words });
            new_to_host = new_to_host.saturating_add(if known == KnownTo::Nobody { piece.words } else { 0 });
        }
        let are_few = |new: u32| new <= Self::NEW && new.saturating_mul(Self::NEW_ONE_IN) <= all;
        match all >= Self::LEAST {
            true if are_few(new) => {
                self.of(site).watched = Self::WATCHED;
                KnownTo::Kind
            }
            true if are_few(new_to_host) => KnownTo::Host,
            _ => KnownTo::Nobody,
        }
    }

    /// Who knows a piece that a page of this kind shows. It is remembered.
    fn show(&mut self, site: SiteId, kind: Kind, piece: u64) -> KnownTo {
        let hash = (piece ^ site.host).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = hash ^ hash >> 32;
        let bucket = &mut self.buckets[(hash >> 16) as usize % Self::BUCKETS];
        let now = hash << 32 | (kind.form & 0xFFFF) << 16 | kind.area & 0xFFFF;
        let is_shown = |shown: &Shown| (shown ^ now) >> 32 == 0;
        let is_of_kind = |shown: &Shown| (shown ^ now) & 0xFFFF == 0 || (shown ^ now) >> 16 & 0xFFFF == 0;
        let at = bucket.iter().position(|shown| is_shown(shown) && is_of_kind(shown));
        let known = match at {
            Some(_) => KnownTo::Kind,
            None if bucket.iter().any(is_shown) => KnownTo::Host,
            None => KnownTo::Nobody,
        };
        bucket[..=at.unwrap_or(Self::OF_BUCKET - 1)].rotate_right(1);
        bucket[0] = now;
        known
    }

    /// Whether a page that is handed out is to be cut into pieces. It is counted.
    pub fn wants(&mut self, id: UrlId) -> bool {
        let host = self.of(id.site);
        if host.pages < Self::FIRST {
            host.pages += 1;
            return false;
        }
        let is_watched = host.watched > 0;
        host.watched = host.watched.saturating_sub(1);
        // The lowest bits of the hash choose other pages (`Frontier::says_little`).
        is_watched || (id.url >> 8).is_multiple_of(Self::ONE_IN)
    }

    fn of(&mut self, site: SiteId) -> &mut OfHost {
        if self.hosts.len() >= Self::HOSTS && !self.hosts.contains_key(&site.host) {
            self.hosts.clear();
        }
        self.hosts.entry(site.host).or_default()
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    const SITE: SiteId = SiteId { domain: 1, host: 2 };

    fn pieces(hashes: impl IntoIterator<Item = u64>) -> Vec<Piece> {
        hashes.into_iter().map(|hash| Piece { hash: xxh3_64(&hash.to_le_bytes()), words: 5 }).collect()
    }

    fn is_known(known: &mut KnownPieces, kind: Kind, pieces: &[Piece]) -> bool {
        known.page(SITE, kind, pieces) == KnownTo::Kind
    }

    fn kind(form: u64, area: u64) -> Kind {
        Kind { form, area }
    }

    #[test]
    fn few_pages_are_cut_until_one_rearranges() {
        let mut known = KnownPieces::default();
        let wanted = |known: &mut KnownPieces, pages: u64| {
            let ids = (0..pages).map(|page| UrlId { site: SITE, url: xxh3_64(&page.to_le_bytes()) });
            ids.filter(|id| known.wants(*id)).count() as u64
        };
        let watched = u64::from(KnownPieces::WATCHED);
        assert_eq!(wanted(&mut known, KnownPieces::FIRST.into()), 0, "the first pages");
        let few = wanted(&mut known, 4_000);
        assert!((400..600).contains(&few), "{few}");
        known.page(SITE, kind(1, 1), &pieces(0..20));
        assert_eq!(wanted(&mut known, 4_000), few, "a page with new pieces");
        known.page(SITE, kind(1, 1), &pieces(0..20));
        assert_eq!(wanted(&mut known, watched), watched, "a page that rearranges");
        assert_eq!(wanted(&mut known, 4_000), few);
    }

    #[test]
    fn what_pages_of_the_same_area_or_form_have_shown_is_known() {
        for other in [kind(1, 2), kind(2, 1), kind(1, 1)] {
            let mut known = KnownPieces::default();
            assert!(!is_known(&mut known, kind(1, 1), &pieces(0..20)));
            assert!(is_known(&mut known, other, &pieces((5..15).rev())));
        }
        let mut known = KnownPieces::default();
        known.page(SITE, kind(1, 1), &pieces(0..20));
        let archive = pieces(5..15);
        assert_eq!(known.page(SITE, kind(2, 2), &archive), KnownTo::Host, "an archive lists what is known elsewhere");
        assert_eq!(known.page(SITE, kind(2, 2), &archive), KnownTo::Kind, "twice");
    }

    #[test]
    fn hosts_do_not_share_pieces() {
        let mut known = KnownPieces::default();
        known.page(SITE, kind(1, 1), &pieces(0..20));
        let other = SiteId { domain: 1, host: 3 };
        let shown = (0..100).filter(|_| known.page(other, kind(1, 1), &pieces(0..20)) == KnownTo::Kind).count();
        assert_eq!(shown, 99);
    }

    #[test]
    fn one_new_piece_is_something_new_and_few_words_tell_nothing() {
        let mut known = KnownPieces::default();
        known.page(SITE, kind(1, 1), &pieces(0..100));
        assert!(!is_known(&mut known, kind(1, 1), &pieces((0..100).chain([200]))), "a new event among a hundred");
        assert!(is_known(&mut known, kind(1, 1), &pieces((0..100).chain([200]))), "the second time");
        assert!(!is_known(&mut known, kind(1, 1), &pieces(0..1)), "five words");
        let title = |words| [pieces(0..18), vec![Piece { hash: 7 + u64::from(words), words }]].concat();
        assert!(is_known(&mut known, kind(1, 1), &title(4)), "a date");
        assert!(!is_known(&mut known, kind(1, 1), &title(5)), "a sentence");
    }

    #[test]
    fn pieces_that_were_shown_lately_are_kept() {
        let mut known = KnownPieces::default();
        for page in 0..200u64 {
            let junk = 1_000 + 5_000 * page..6_000 + 5_000 * page;
            known.page(SITE, kind(1, 1), &pieces(junk));
            assert_eq!(is_known(&mut known, kind(1, 1), &pieces(0..20)), page > 0, "{page}");
        }
    }
}

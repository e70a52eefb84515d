//! Media (such as a logo, or a picture of the author) that several pages of a host show beside equal texts.
//!
//! Two pages of a gallery may have equal texts, one picture that all pages show, and one of their own. Compared with
//! each other they look like a page and its copy with another advertisement, because half of their media are the same.
//! So where a page has some media of its twin and some others, the judge remembers for its host which media it has
//! seen. From then on a medium that two pages have shown is no evidence: neither that a page is a copy, nor that it is
//! new.
//!
//! Advertisements take turns, so they are soon seen again; photographs of a gallery are not. So this holds only while
//! few such pages show nothing but known media ([`Sightings::take_turns`]).
//!
//! Only the media that were seen last are kept. Hosts without such pages have no record.
//!
//! Running texts in chrome are remembered in the same way, apart from the media ([`super::aside`]).

use serde::{Deserialize, Serialize};

use super::Case;
use super::media::Media;
use crate::page::Aside;
use crate::page::media::MediumKind;
use crate::spaces;
use crate::store::{Result, Session, codec};
use crate::url::SiteId;

/// The media that were seen on such pages of one host.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Sightings {
    /// The order of the page that was added last. (The order is the first field of every record of the judge, see
    /// [`crate::stage`].)
    order: u64,
    /// The number of pages that showed a medium that was not seen before.
    fresh: u32,
    /// The number of pages that showed only media that other pages had shown.
    stale: u32,
    /// The media. The one that was seen longest ago comes first.
    seen: Vec<Sighting>,
}

/// A medium that was seen.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sighting {
    medium: u32,
    /// The hash of the URL that showed it first.
    page: u64,
    /// Whether another URL has shown it, too.
    again: bool,
}

/// What is remembered. The number is the last byte of the keys in [`spaces::TEMPLATES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remembered {
    /// Media.
    Media = 2,
    /// Running texts in chrome.
    Texts = 3,
}

impl Sightings {
    /// The most media, and the most texts, that are kept for one host.
    const MOST: usize = 128;
    /// The media of a host take turns if, for this many pages that show a new medium, more than one page shows only
    /// known media.
    const TURN: u32 = 8;

    /// What was seen on pages of a host.
    pub(super) fn read(what: Remembered, site: SiteId, session: &Session) -> Result<Self> {
        let known = session.get(spaces::TEMPLATES, &key(what, site))?;
        Ok(known.map(|value| codec::decode(&value, "the media of a host")).transpose()?.unwrap_or_default())
    }

    /// Writes them to the state.
    pub(super) fn put(&self, what: Remembered, site: SiteId, session: &mut Session) -> Result<()> {
        session.overwrite(spaces::TEMPLATES, key(what, site), Some(codec::encode(self)))
    }

    /// Whether the media of the host take turns, as advertisements do. Then a medium that two pages have
    /// shown counts as common again. It is still no evidence that a page is new.
    pub(super) fn take_turns(&self) -> bool {
        self.stale.saturating_mul(Self::TURN) > self.fresh
    }

    /// Whether two pages have shown a medium. If so, it is no evidence that a page is a copy.
    pub(super) fn is_shared(&self, medium: u32) -> bool {
        !self.take_turns() && self.find(medium).is_some_and(|at| self.seen[at].again)
    }

    /// Whether another page than this one has shown a medium. If so, it is no evidence that this page is new.
    pub(super) fn has(&self, medium: u32, page: u64) -> bool {
        self.find(medium).is_some_and(|at| self.seen[at].again || self.seen[at].page != page)
    }

    fn find(&self, medium: u32) -> Option<usize> {
        self.seen.iter().position(|seen| seen.medium == medium)
    }

    /// Whether another page than this one has shown a running text.
    pub(super) fn has_text(&self, text: &Aside, page: u64) -> bool {
        text.hashes.iter().any(|hash| self.has(*hash, page))
    }

    /// Notes the running texts of a page that its twin lacks. `is_of_host`: the twin is a page of the same host. A
    /// host may show a text on all its pages, and the twin may be a page of another host. Then this text is no
    /// evidence that texts take turns.
    pub(super) fn note_texts(&mut self, case: &Case<'_>, texts: &[Aside], is_of_host: bool) {
        let page = case.id.url.url;
        let again = |hash: &u32| self.find(*hash).is_some_and(|at| self.seen[at].again);
        let counted = texts.iter().filter(|text| is_of_host || !text.hashes.iter().any(again));
        let (counted, new) = counted.fold((0, 0), |(counted, new), text| {
            let is_new = text.hashes.iter().all(|hash| self.find(*hash).is_none());
            (counted + 1, new + u32::from(is_new))
        });
        if new > 0 {
            self.fresh = self.fresh.saturating_add(1);
        } else if counted > 0 && texts.iter().all(|text| self.has_text(text, page)) {
            self.stale = self.stale.saturating_add(1);
        }
        for hash in texts.iter().flat_map(|text| text.hashes) {
            self.note(hash, page, false);
        }
        self.order = case.order;
    }

    /// Notes the media of a page, compared with those of its twin.
    pub(super) fn note_page(&mut self, case: &Case<'_>, media: Media) {
        let page = case.id.url.url;
        // The second hash of a medium of another site is compared with the media of that site only.
        let of_host = |media: Vec<u32>| -> Vec<u32> {
            media.into_iter().filter(|medium| MediumKind::of(*medium) != MediumKind::AwayThere).collect()
        };
        let (common, others) = (of_host(media.common), of_host(media.others));
        self.count(&others, page);
        others.iter().for_each(|medium| self.note(*medium, page, false));
        common.iter().for_each(|medium| self.note(*medium, page, true));
        self.order = case.order;
    }

    /// Counts a page that shows `others`, which its twin lacks.
    fn count(&mut self, others: &[u32], page: u64) {
        if others.iter().any(|medium| self.find(*medium).is_none()) {
            self.fresh = self.fresh.saturating_add(1);
        } else if others.iter().all(|medium| self.has(*medium, page)) {
            self.stale = self.stale.saturating_add(1);
        }
    }

    /// Notes that `page` shows a medium. `by_twin` says that its twin shows it, too.
    fn note(&mut self, medium: u32, page: u64, by_twin: bool) {
        let seen = match self.find(medium) {
            Some(at) => {
                let seen = self.seen.remove(at);
                Sighting { again: seen.again || by_twin || seen.page != page, ..seen }
            }
            None => Sighting { medium, page, again: by_twin },
        };
        // A text has several hashes.
        let most = if MediumKind::of(medium) == MediumKind::Text { Aside::HASHES * Self::MOST } else { Self::MOST };
        if self.seen.len() >= most {
            self.seen.remove(0);
        }
        self.seen.push(seen);
    }
}

fn key(what: Remembered, site: SiteId) -> Vec<u8> {
    [&site.to_bytes()[..], &[what as u8]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_pages_show_is_shared_and_the_oldest_is_forgotten() {
        let mut sightings = Sightings::default();
        sightings.note(1, 10, false);
        assert!(!sightings.is_shared(1) && !sightings.has(1, 10) && sightings.has(1, 11));
        sightings.note(1, 10, false);
        assert!(!sightings.is_shared(1), "one page, twice");
        sightings.note(1, 11, false);
        sightings.note(2, 10, true);
        assert!(sightings.is_shared(1) && sightings.is_shared(2));
        for medium in 3..Sightings::MOST as u32 + 2 {
            sightings.note(medium, 12, false);
        }
        assert!(!sightings.is_shared(1) && sightings.is_shared(2));
    }
}

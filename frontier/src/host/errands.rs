//! Errands. An *errand* is a request for a robots.txt that no page of the host needs now. There are two causes: the
//! robots.txt of another origin redirects there; or rules have expired, and no page is queued that would ask for new
//! ones.
//!
//! Any number of origins may be sent to one URL. It is asked for once, and all of these origins (the *askers*) get the
//! answer. Redirects are counted for each asker, because each came by a chain of its own. The host of the errand did
//! not cause it. So errands are made between the pages of the host, and not before all of them. There may be any
//! number of strangers. So errands for the host's own registrable domain come first, and those for strangers are rare.

use std::collections::VecDeque;

use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};
use url::Url;

/// A robots file that must be asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Errand {
    /// The URL of the file.
    pub url: Url,
    /// The origins that wait for this file.
    pub askers: Vec<Asker>,
}

/// An origin that waits for its rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asker {
    /// The host of the origin.
    pub site: SiteId,
    /// Any URL of the origin.
    pub of: Url,
    /// How often the robots.txt of the origin moved.
    pub moves: u8,
}

/// The errands that wait at one host.
#[derive(Debug, Default)]
pub struct Errands {
    /// The registrable domain of the host.
    domain: u64,
    /// First those of its own domain.
    waiting: VecDeque<Errand>,
    /// Pages of the host that were handed out since the last errand.
    pages: u32,
}

impl Errands {
    /// At most this many files wait at one host. Others count as files that cannot be had now, and are asked for later.
    pub const MOST: usize = config::bounds::ERRANDS;
    /// At most this many askers wait for one file.
    pub const ASKERS: usize = config::bounds::ASKERS;
    /// This many pages of the host come before an errand of its own domain.
    const BETWEEN: u32 = 3;
    /// This many pages of the host come before an errand of strangers.
    const BETWEEN_STRANGERS: u32 = 15;

    /// No errands, at a host of this registrable domain.
    pub fn new(domain: u64) -> Self {
        Self { domain, ..Self::default() }
    }

    /// Adds an errand, and joins it with one for the same file. Returns what there is no room for.
    pub fn add(&mut self, errand: Errand) -> Option<Errand> {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.url == errand.url) {
            return waiting.join(errand);
        }
        if errand.is_of(self.domain) {
            // Its own domain has few origins that it can ask for.
            let own = self.waiting.partition_point(|waiting| waiting.is_of(self.domain));
            if own >= Self::MOST {
                return Some(errand);
            }
            self.waiting.insert(own, errand);
            return None;
        }
        if self.waiting.len() >= Self::MOST {
            return Some(errand);
        }
        self.waiting.push_back(errand);
        None
    }

    /// Puts an errand that was taken back at the head of the line.
    pub fn put_back(&mut self, errand: Errand) {
        self.waiting.push_front(errand);
    }

    /// The errand whose turn it is. `has_pages` tells whether the host has pages of its own to fetch.
    pub fn due(&self, has_pages: bool) -> Option<&Errand> {
        let between = |errand: &Errand| match errand.is_of(self.domain) {
            true => Self::BETWEEN,
            false => Self::BETWEEN_STRANGERS,
        };
        self.waiting.front().filter(|errand| !has_pages || self.pages >= between(errand))
    }

    /// Any errand. (The address of the host is needed if there is one.)
    pub fn any(&self) -> Option<&Errand> {
        self.waiting.front()
    }

    /// Takes the first errand, which is made now.
    pub fn take(&mut self) -> Option<Errand> {
        self.pages = 0;
        self.waiting.pop_front()
    }

    /// A page of the host is fetched now.
    pub fn page(&mut self) {
        self.pages = self.pages.saturating_add(1);
    }

    /// An origin of this host has got its rules. If an errand for its own robots.txt waits, it has become needless.
    pub fn answered(&mut self, asker: &Asker) {
        for errand in &mut self.waiting {
            errand.askers.retain(|waiting| waiting.moves > 0 || !waiting.is(asker));
        }
        self.waiting.retain(|errand| !errand.askers.is_empty());
    }

    /// The host has no address now. Takes away the errands for its own robots.txt, and returns their askers.
    pub fn give_up_own(&mut self) -> Vec<Asker> {
        let mut own = Vec::new();
        for errand in &mut self.waiting {
            own.extend(errand.askers.extract_if(.., |asker| asker.moves == 0));
        }
        self.waiting.retain(|errand| !errand.askers.is_empty());
        own
    }

    /// Whether no errand waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl Errand {
    /// Whether a host of this registrable domain asks.
    fn is_of(&self, domain: u64) -> bool {
        self.askers.iter().any(|asker| asker.site.domain == domain)
    }

    /// The bytes of the copies of one file that wait for a commit.
    const COPIES: usize = config::bounds::UNCOMMITTED;

    /// A file with rules of this many bytes was answered. Each asker gets a copy of its own in the state, and all of
    /// these wait in memory for one commit. Takes away the askers for which there is no room in it: the file is asked
    /// for again on behalf of them. At least one asker stays.
    pub fn split_off(&mut self, bytes: usize) -> Option<Errand> {
        let room = (Self::COPIES / bytes.max(1)).max(1);
        let askers = if self.askers.len() > room { self.askers.split_off(room) } else { return None };
        Some(Errand { url: self.url.clone(), askers })
    }

    /// Adds the askers of `other`, which is an errand for the same file. Returns those for which there is no room.
    fn join(&mut self, other: Errand) -> Option<Errand> {
        let mut left = Vec::new();
        for asker in other.askers {
            if self.askers.iter().any(|known| known.is(&asker)) {
                continue;
            }
            if self.askers.len() < Errands::ASKERS { self.askers.push(asker) } else { left.push(asker) }
        }
        (!left.is_empty()).then_some(Errand { askers: left, url: other.url })
    }
}

impl Asker {
    /// Whether both are one origin.
    fn is(&self, other: &Asker) -> bool {
        self.site == other.site && super::origins::Port::of(&self.of) == super::origins::Port::of(&other.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(host: u64) -> Asker {
        let of = Url::parse(&format!("http://h{host}.test/")).unwrap();
        Asker { site: SiteId { domain: host, host }, of, moves: 1 }
    }

    fn errand(path: u32, askers: &[u64]) -> Errand {
        let url = Url::parse(&format!("http://t.test/{path}")).unwrap();
        Errand { url, askers: askers.iter().map(|host| asker(*host)).collect() }
    }

    #[test]
    fn a_file_is_asked_for_once_whoever_asks_and_the_line_is_bounded() {
        let mut errands = Errands::default();
        assert!(errands.add(errand(0, &[1])).is_none());
        assert!(errands.add(errand(0, &[2, 1])).is_none());
        for path in 1..Errands::MOST as u32 {
            assert!(errands.add(errand(path, &[1])).is_none());
        }
        assert!(errands.add(errand(99, &[1])).is_some(), "no room for another file");
        let many: Vec<u64> = (0..Errands::ASKERS as u64 + 5).collect();
        assert_eq!(errands.add(errand(0, &many)).unwrap().askers.len(), 5, "nor for any number of askers");
        let first = errands.take().unwrap();
        assert_eq!((first.url.path(), first.askers.len()), ("/0", Errands::ASKERS));
    }

    #[test]
    fn pages_of_the_host_come_between_errands() {
        for (of, between) in [(1, Errands::BETWEEN), (2, Errands::BETWEEN_STRANGERS)] {
            let mut errands = Errands::new(1);
            errands.add(errand(0, &[of]));
            assert!(errands.due(false).is_some());
            for _ in 0..between {
                assert!(errands.due(true).is_none());
                errands.page();
            }
            assert!(errands.due(true).is_some());
            errands.take();
            errands.add(errand(1, &[of]));
            assert!(errands.due(true).is_none());
        }
    }

    #[test]
    fn strangers_do_not_keep_back_errands_of_the_own_domain() {
        let mut errands = Errands::new(1);
        for path in 0..2 * Errands::MOST as u32 {
            errands.add(errand(path, &[100 + u64::from(path)]));
        }
        assert!(errands.add(errand(1_000, &[1])).is_none());
        assert!(errands.add(errand(1_001, &[1])).is_none());
        let first =
            [errands.take(), errands.take(), errands.take()].map(|errand| errand.unwrap().url.path().to_owned());
        assert_eq!(first, ["/1000", "/1001", "/0"]);
    }
}

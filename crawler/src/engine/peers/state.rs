//! The state of an engine that crawls together with other processes: the data that it has from them, and the conditions
//! under which it may end.
//!
//! A process that has nothing to do is *quiet*: only links from others can give it work. When all are quiet and no
//! links are on their way, each releases the URLs that it has held back to the end ([`EngineState::drain`]). When all are
//! quiet after that, the crawl is over.

use std::collections::BTreeSet;

use dedup_stage::store::{self, Session, Space};
use frontier::{Asker, Errand, Millis};

use super::allowance::Allowance;
use super::barrier::Barrier;
use crate::engine::error::Result;
use crate::engine::peers::{Peers, Proposed};
use crate::engine::stats::StopReason;
use crate::outbound::Outbound;

/// The time after which another process is asked again for a robots.txt, if no answer has come.
const ASK_AGAIN: Millis = 60_000;

/// The key in [`Space::META`] of the place up to which this process has read the links from others.
pub(in crate::engine) const LINKS_AT: &[u8] = b"links-at";
/// The key of the place up to which it has read the pages of all. The records of the judge follow from the pages up to
/// this place.
pub const PAGES_AT: &[u8] = b"pages-at";

/// The places up to which a process has read what others send: those of the last links and of the last pages that are
/// in its state.
pub fn places(session: &Session) -> store::Result<(u64, u64)> {
    let place = |key| -> store::Result<u64> {
        let bytes = session.get(Space::META, key)?;
        Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes))
    };
    Ok((place(LINKS_AT)?, place(PAGES_AT)?))
}

/// The data of an engine about the other processes.
pub(in crate::engine) struct PeerState {
    pub peers: Box<dyn Peers>,
    pub barrier: Barrier,
    /// The pages that may be fetched here; `None` if there is no limit.
    pub allowance: Option<Allowance>,
    /// The keys in the state of the links for others that came since the last commit.
    pub outgoing: BTreeSet<Vec<u8>>,
    /// If pages are judged without waiting for their place: the pages that the others do not know yet.
    pub stale: Vec<Proposed>,
    /// Links that arrived here although another process has their hosts now. They are sent on before the commit that
    /// says that they arrived.
    pub onward: Vec<Outbound>,
    /// The robots.txt files that others were asked for, with the time. Each is asked for again until its rules have
    /// come.
    errands: Vec<(Errand, Millis)>,
    pub links_at: u64,
    pub pages_at: u64,
    pub round: u64,
    /// Set while there is nothing to do.
    pub quiet: Option<Quiet>,
}

/// The state of a process that has nothing to do until links come.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Quiet {
    pub reason: StopReason,
    /// Whether the URLs held back to the end are released.
    pub drained: bool,
}

impl PeerState {
    pub fn new(peers: Box<dyn Peers>, session: &Session) -> Result<Self> {
        let (links_at, pages_at) = places(session)?;
        let (barrier, outgoing, stale, onward, errands) = Default::default();
        let (allowance, round, quiet) = (peers.pages().map(Allowance::new), 0, None);
        Ok(Self { peers, barrier, allowance, outgoing, stale, onward, errands, links_at, pages_at, round, quiet })
    }

    /// Whether something is awaited from others: while no page may be fetched here (`is_full`), the permission to fetch
    /// more, and otherwise robots.txt files.
    pub fn waits(&self, is_full: bool) -> bool {
        match &self.allowance {
            Some(allowance) if is_full => allowance.is_awaited(),
            _ => !self.errands.is_empty(),
        }
    }

    /// The robots.txt files to ask for now: new ones, and those for which no answer has come for a long time.
    pub fn due_errands(&mut self, new: Vec<Errand>, now: Millis) -> Vec<Outbound> {
        let mut due: Vec<Outbound> = Vec::new();
        for (errand, asked) in self.errands.iter_mut().filter(|(_, asked)| now >= *asked + ASK_AGAIN) {
            *asked = now;
            due.push(Outbound::robots(errand.clone()));
        }
        due.extend(new.iter().cloned().map(Outbound::robots));
        self.errands.extend(new.into_iter().map(|errand| (errand, now)));
        due
    }

    /// Records that rules have come, so that no other process need be asked for them.
    pub fn rules_came(&mut self, of: &Asker) {
        for (errand, _) in &mut self.errands {
            errand.askers.retain(|asker| asker.of != of.of);
        }
        self.errands.retain(|(errand, _)| !errand.askers.is_empty());
    }

    /// Whether there is nothing to do until links come.
    pub fn is_quiet(&self) -> bool {
        self.quiet.is_some()
    }
}

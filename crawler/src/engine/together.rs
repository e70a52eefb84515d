//! An engine that crawls with others: what it hears from them, and when it may end.
//!
//! A process that has nothing to do is *quiet*: only links from others can give it work. When all are quiet and no links
//! are on their way, each releases what it has held back to the end ([`Desk::drain`]); when all are quiet after that, the
//! crawl is over.

use std::collections::BTreeSet;

use dedup_stage::store::{self, Session, Space};
use frontier::{Asker, Errand, Millis};

use super::allowance::Allowance;
use super::barrier::Barrier;
use super::error::Result;
use super::peers::{Peers, Proposed};
use super::stats::StopReason;
use crate::outbound::Outbound;

/// A robots file that others were asked for, and of which nothing is heard, is asked for again after so long.
const ASK_AGAIN: Millis = 60_000;

/// Keys in [`Space::META`]: how far this process has read what the others say.
pub(super) const LINKS_AT: &[u8] = b"links-at";
/// What the judge keeps follows from the pages up to here.
pub const PAGES_AT: &[u8] = b"pages-at";

/// How far a process has read what the others say: the places of the last links and of the last pages that are in its state.
pub fn places(session: &Session) -> store::Result<(u64, u64)> {
    let place = |key| -> store::Result<u64> {
        let bytes = session.get(Space::META, key)?;
        Ok(bytes.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes))
    };
    Ok((place(LINKS_AT)?, place(PAGES_AT)?))
}

/// What an engine keeps of the others.
pub(super) struct Together {
    pub peers: Box<dyn Peers>,
    pub barrier: Barrier,
    /// The pages that may be fetched here; `None` where there is no limit.
    pub allowance: Option<Allowance>,
    /// Where links for others stand in the state that came since the last commit.
    pub outgoing: BTreeSet<Vec<u8>>,
    /// Where pages are judged without waiting for their place: those that the others have not heard of.
    pub stale: Vec<Proposed>,
    /// Links that came here, and whose hosts another process has now. They are sent on before the commit that says that they
    /// came.
    pub onward: Vec<Outbound>,
    /// Robots files that others were asked for, with the time; each is asked for again until the rules have come.
    errands: Vec<(Errand, Millis)>,
    pub links_at: u64,
    pub pages_at: u64,
    pub round: u64,
    /// Set while there is nothing to do, with what that means for the end.
    pub quiet: Option<Quiet>,
}

/// Nothing is to be done until links come.
#[derive(Clone, Copy)]
pub(super) struct Quiet {
    pub reason: StopReason,
    /// What was held back is released.
    pub drained: bool,
}

impl Together {
    pub fn new(peers: Box<dyn Peers>, session: &Session) -> Result<Self> {
        let (links_at, pages_at) = places(session)?;
        let (barrier, outgoing, stale, onward, errands) = Default::default();
        let (allowance, round, quiet) = (peers.pages().map(Allowance::new), 0, None);
        Ok(Self { peers, barrier, allowance, outgoing, stale, onward, errands, links_at, pages_at, round, quiet })
    }

    /// Whether something is awaited from others: while no page may be fetched here (`is_full`) leave to fetch more, and else
    /// robots files.
    pub fn waits(&self, is_full: bool) -> bool {
        match &self.allowance {
            Some(allowance) if is_full => allowance.is_awaited(),
            _ => !self.errands.is_empty(),
        }
    }

    /// The robots files to be asked for now: new ones, and those of which nothing was heard for long.
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

    /// Rules have come: nobody need be asked for them any more.
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

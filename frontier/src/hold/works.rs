//! Work in the background: releases and decisions that concern too many URLs for one commit.
//! [`Frontier::step`](crate::Frontier::step) does the work in small steps, of at most [`Works::STEP`] URLs each. Each
//! piece of work is on record with the key that it has reached, so a crash loses none of it.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::{SiteId, UrlId};
use serde::{Deserialize, Serialize};

use crate::numbers::RuleId;
use crate::spaces;

/// A piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// The task.
    pub task: Task,
    /// Everything before this key is done. Empty at the beginning.
    pub at: Vec<u8>,
}

/// The task of a piece of [`Work`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Task {
    /// This URL was fetched, stopped, held, refused or given up. Decide again about each URL that is held or stopped
    /// for it.
    Ended(UrlId),
    /// Fetch further links of a template as trials, or follow all links of the template.
    Template {
        /// The template, with the host of its links (see `State::anchor`).
        anchor: UrlId,
        /// Whether all its links are followed.
        follow: bool,
    },
    /// Release every URL that is held or stopped for a queued URL, because nothing else is left to fetch.
    ReleaseWaiting,
    /// Release some URLs of a host, or of all hosts.
    Records {
        /// The host; `None` for all hosts.
        of: Option<SiteId>,
        /// The URLs that are released.
        which: Which,
    },
    /// Note which hosts have URLs that are held or stopped for queued URLs of other domains (see
    /// `frontier/overtake.rs`).
    NoteHostsAhead,
    /// This host could not be asked for long. Decide again about each URL that is held or stopped for one of its URLs.
    Away(SiteId),
    /// This URL was visited before, and robots.txt forbids it now. Release each URL that is held or stopped for it.
    Forbidden(UrlId),
}

/// Tells which URLs are released.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Which {
    /// URLs that this rule stopped; if a folder is given (as a hash), only those of the folder.
    Rule(RuleId, Option<u64>),
    /// URLs that are held as news, as far as they may be tried.
    News,
    /// URLs that are held for a counterpart on this host.
    Pair(SiteId),
    /// URLs that robots.txt forbade.
    Robots,
    /// URLs that the scope, a cap or the limit of length refused, and that are allowed now.
    Bounds,
    /// All URLs that are held, except those held as known; all URLs that were stopped for a spent budget; and, if
    /// `stopped` is set, all URLs that rewrites stopped.
    All {
        /// Whether the URLs that rewrites stopped are released, too.
        stopped: bool,
    },
    /// URLs of this set ([`UrlSet`](crate::UrlSet)).
    Set(u64),
    /// URLs that rewrites stopped, in `demote`. They come after all other URLs.
    Late,
    /// URLs of the folder with this hash that are held for a counterpart on this host.
    PairIn(SiteId, u64),
    /// URLs that are held or stopped for queued URLs of this host.
    Overtaking(SiteId),
}

/// All work that is still to be done, in the order in which it was asked for.
#[derive(Debug, Default)]
pub struct Works {
    queue: VecDeque<(u64, Work)>,
    next: u64,
}

/// First byte of the keys in [`spaces::FRONTIER_OWN`].
const TAG: u8 = b'w';

impl Works {
    /// At most this many URLs are decided about in one step.
    pub const STEP: usize = if cfg!(test) { 3 } else { 256 };

    /// The work that the last process left.
    pub fn open(session: &Session) -> Result<Self> {
        let (mut works, mut failure) = (Self::default(), None);
        session.scan(spaces::FRONTIER_OWN, &[TAG], &[TAG + 1], &mut |key, value| {
            let number = key.get(1..).and_then(|number| number.try_into().ok()).map_or(0, u64::from_be_bytes);
            match codec::decode(value, "work in the background") {
                Ok(work) => works.queue.push_back((number, work)),
                Err(error) => failure = Some(error),
            }
            works.next = number + 1;
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(works), Err)
    }

    /// Adds a task, unless the same task waits already.
    pub fn add(&mut self, task: Task, session: &mut Session) {
        // A task `Ended` is added once for each URL. The other tasks are few, and some of them are added again and
        // again.
        let waits = |(_, work): &(u64, Work)| work.task == task && work.at.is_empty();
        if !matches!(task, Task::Ended(_)) && self.queue.iter().any(waits) {
            return;
        }
        let work = Work { task, at: Vec::new() };
        session.put(spaces::FRONTIER_OWN, key(self.next), codec::encode(&work));
        self.queue.push_back((self.next, work));
        self.next += 1;
    }

    /// Goes on with a piece of work of another frontier, whose URLs are now here.
    pub fn adopt(&mut self, work: Work, session: &mut Session) {
        session.put(spaces::FRONTIER_OWN, key(self.next), codec::encode(&work));
        self.queue.push_back((self.next, work));
        self.next += 1;
    }

    /// The piece of work that is to be done now.
    pub fn first(&self) -> Option<&Work> {
        self.queue.front().map(|(_, work)| work)
    }

    /// The first piece of work is done up to this key; `None` if all of it is done.
    pub fn done(&mut self, up_to: Option<Vec<u8>>, session: &mut Session) {
        let Some((number, mut work)) = self.queue.pop_front() else { return };
        match up_to {
            None => session.delete(spaces::FRONTIER_OWN, key(number)),
            Some(at) => {
                work.at = at;
                session.put(spaces::FRONTIER_OWN, key(number), codec::encode(&work));
                self.queue.push_front((number, work));
            }
        }
    }

    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

/// Whether this key of [`spaces::FRONTIER_OWN`] belongs to a piece of work.
pub fn is_work(key: &[u8]) -> bool {
    key.first() == Some(&TAG)
}

fn key(number: u64) -> Vec<u8> {
    [&[TAG][..], &number.to_be_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Double;

    use super::*;

    #[test]
    fn work_survives_a_crash_where_it_stands_and_is_done_once() {
        let disk = Double::default();
        let mut session = Session::new(Box::new(disk.clone()));
        let mut works = Works::open(&session).unwrap();
        let ended = |url| Task::Ended(UrlId { url, ..UrlId::default() });
        works.add(Task::ReleaseWaiting, &mut session);
        works.add(Task::ReleaseWaiting, &mut session);
        works.add(ended(1), &mut session);
        works.done(Some(vec![7]), &mut session);
        session.commit().unwrap();
        works.done(None, &mut session);
        works.add(ended(2), &mut session);

        let mut session = Session::new(Box::new(disk));
        let mut works = Works::open(&session).unwrap();
        assert_eq!(works.first(), Some(&Work { task: Task::ReleaseWaiting, at: vec![7] }));
        works.add(Task::ReleaseWaiting, &mut session);
        for task in [Task::ReleaseWaiting, ended(1), Task::ReleaseWaiting] {
            assert_eq!(works.first().map(|work| &work.task), Some(&task));
            works.done(None, &mut session);
        }
        assert!(works.is_empty());
    }
}

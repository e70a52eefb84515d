//! Work in the background: releases and decisions that concern more URLs than one commit should hold. Each piece of work is on
//! record with the place where it stands, so that a crash loses none of it; [`Frontier::step`](crate::Frontier::step) does
//! at most [`Works::STEP`] URLs at a time.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::{PageId, SiteId, UrlId};
use serde::{Deserialize, Serialize};

use crate::rules::RuleId;
use crate::spaces;

/// A piece of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// What is to be done.
    pub task: Task,
    /// The key before which it is done; none at the beginning.
    pub at: Vec<u8>,
}

/// See [`Work`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Task {
    /// Look at everything that is held for this URL, which was fetched, has moved or has fallen.
    Ended(UrlId),
    /// Fetch further links of a template as trials, or follow all of it.
    Template {
        /// The template, as what is held for it has it.
        anchor: UrlId,
        /// Whether it is acquitted.
        acquitted: bool,
    },
    /// Release what is held for URLs that are still queued: nothing else is left to fetch.
    Waited,
    /// Look at the records of a host, or at all records.
    Records {
        /// Which host.
        of: Option<SiteId>,
        /// Which of them are released.
        which: Which,
    },
}

/// Which URLs are released.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Which {
    /// Those that this rule stopped, in the folder with this hash if any.
    Rule(RuleId, Option<u64>),
    /// Those held as news, as far as they may be tried.
    News,
    /// Those held for a counterpart on this host.
    Pair(SiteId),
    /// Those that robots.txt forbade.
    Robots,
    /// Those that a scope, a cap or a limit of length refused.
    Bounds,
    /// All that is held, and what rules stopped if set.
    All {
        /// Whether what rules stopped is released, too.
        stopped: bool,
    },
    /// Those of this cluster.
    Cluster(u64),
    /// Those found on this page.
    Source(PageId),
}

/// The work that is to be done.
#[derive(Debug, Default)]
pub struct Works {
    queue: VecDeque<(u64, Work)>,
    next: u64,
}

/// First byte of the keys in [`spaces::FRONTIER_OWN`].
const TAG: u8 = b'w';

impl Works {
    /// URLs that are looked at in one step.
    pub const STEP: usize = if cfg!(test) { 3 } else { 256 };

    /// What was not done when the last process ended.
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

    /// Something is to be done.
    pub fn add(&mut self, task: Task, session: &mut Session) {
        // A URL ends once; the other tasks are few, and some are asked for again and again.
        let waits = |(_, work): &(u64, Work)| work.task == task && work.at.is_empty();
        if !matches!(task, Task::Ended(_)) && self.queue.iter().any(waits) {
            return;
        }
        let work = Work { task, at: Vec::new() };
        session.put(spaces::FRONTIER_OWN, key(self.next), codec::encode(&work));
        self.queue.push_back((self.next, work));
        self.next += 1;
    }

    /// What is to be done now.
    pub fn first(&self) -> Option<&Work> {
        self.queue.front().map(|(_, work)| work)
    }

    /// The first piece of work is done up to a key, or all of it.
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

/// Whether a key of [`spaces::FRONTIER_OWN`] is of a piece of work.
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
        works.add(Task::Waited, &mut session);
        works.add(Task::Waited, &mut session);
        works.add(ended(1), &mut session);
        works.done(Some(vec![7]), &mut session);
        session.commit().unwrap();
        works.done(None, &mut session);
        works.add(ended(2), &mut session);

        let mut session = Session::new(Box::new(disk));
        let mut works = Works::open(&session).unwrap();
        assert_eq!(works.first(), Some(&Work { task: Task::Waited, at: vec![7] }));
        works.add(Task::Waited, &mut session);
        for task in [Task::Waited, ended(1), Task::Waited] {
            assert_eq!(works.first().map(|work| &work.task), Some(&task));
            works.done(None, &mut session);
        }
        assert!(works.is_empty());
    }
}

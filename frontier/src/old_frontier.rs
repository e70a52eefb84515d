//! The frontier itself: what every part of it holds, and how a URL passes through them.
//!
//! A URL is met once ([`Seen`]), queued in a lane of its host ([`Queues`]), and handed out when its host's turn comes
//! ([`Schedule`]): after the host's address is known, after its robots.txt was read, not before the host's pace and its
//! address's floor allow it. The report of the job ends all this, or queues the URL again.

use std::collections::{BTreeMap, HashMap};

use config::{OnDuplicate, Politeness, Priority, Settings};
use dedup_stage::store::{Result, Session};

use crate::addresses::Addresses;
use crate::budget::Limits;
use crate::hosts::{Errand, Hosts};
use crate::job::{Job, Millis};
use crate::queue::{Entry, HostId, LaneKey, Queues, Seq};
use crate::rate::Rate;
use crate::rules::Rules;
use crate::schedule::{Phase, Schedule};
use crate::seen::{self, Seen};
use crate::spaces;
use crate::sweep::Sweep;
use crate::waiting::Waiting;

/// The frontier; owned by the engine.
#[derive(Debug)]
pub struct Frontier {
    pub(crate) settings: Politeness,
    pub(crate) max_length: usize,
    /// Whether sitemaps that robots.txt names are read.
    pub(crate) sitemaps: bool,
    /// What duplicates may cost.
    pub(crate) limits: Limits,
    /// Every URL met.
    pub(crate) seen: Seen,
    /// Where each host is, what it allows, what is queued for it.
    pub(crate) hosts: Hosts,
    /// What the lanes of all hosts share.
    pub(crate) queues: Queues,
    /// Rids the store of what is done.
    pub(crate) sweep: Sweep,
    /// What was learned of URLs, where rules are used.
    pub(crate) rules: Option<Rules>,
    /// Whose turn it is.
    pub(crate) schedule: Schedule,
    /// Weights of the parts of a priority.
    pub(crate) priority: Priority,
    /// Whether verdicts lower what is expected of URLs.
    pub(crate) expects: bool,
    /// Whether worse hosts wait for better ones.
    pub(crate) holds_back: bool,
    /// URLs that may be queued again with a better priority.
    pub(crate) waiting: Waiting,
    /// Floors of shared addresses.
    pub(crate) addresses: Addresses,
    /// Caps over all hosts.
    pub(crate) rate: Rate,
    /// Jobs handed out and not reported.
    pub(crate) open: BTreeMap<u64, Open>,
    /// The last job handed out.
    pub(crate) next_job: u64,
    /// When this process took over from an earlier one, if it did.
    pub(crate) restarted: Option<Millis>,
    /// Hosts slowed down or set aside.
    pub(crate) troubled: u64,
}

/// Key in [`spaces::HOSTS`] by which a restart is known.
const STARTED: &[u8] = b"started";

/// A job handed out.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) host: HostId,
    pub(crate) task: Task,
}

/// What a job is about.
#[derive(Debug)]
pub(crate) enum Task {
    /// The address of its host.
    Resolve,
    /// The rules of an origin.
    Robots(Errand),
    /// A queued URL; it still stands in the store.
    Entry(LaneKey, Seq, Entry),
}

impl Frontier {
    /// Above it are the priorities of links of pages that are no duplicates, whatever else they are.
    const DEMOTED: f32 = 0.45;

    /// A frontier with what `session` remembers. After a restart every host waits one full delay from `now`, a host that
    /// the store does not know yet included: it may have been asked just before the crash. (So that a crash right after the
    /// first start is known as one, commit before the first request.)
    pub fn open(settings: &Settings, session: &mut Session, now: Millis) -> Result<Self> {
        let mut queues = Queues::open(session)?;
        let mut frontier = Self {
            settings: settings.politeness.clone(),
            max_length: settings.urls.max_length,
            sitemaps: settings.scope.sitemaps,
            limits: Limits::of(settings.dedup.on_duplicate),
            seen: Seen::open(session)?,
            hosts: Hosts::open(&mut queues, session)?,
            queues,
            sweep: Sweep::open(session)?,
            rules: None,
            schedule: Schedule::default(),
            expects: settings.dedup.on_duplicate != OnDuplicate::Keep,
            holds_back: settings.priority.hold_back > 0.0
                && (settings.focus.is_on() || settings.dedup.on_duplicate == OnDuplicate::Demote),
            waiting: Waiting::new(Self::waits_below(settings)),
            priority: settings.priority.clone(),
            addresses: Addresses::default(),
            rate: Rate::new(&settings.politeness, now),
            open: BTreeMap::new(),
            next_job: 0,
            restarted: None,
            troubled: 0,
        };
        if session.get(spaces::HOSTS, STARTED)?.is_some() {
            frontier.restarted = Some(now);
        } else {
            session.put(spaces::HOSTS, STARTED, []);
        }
        frontier.recall_waiting(session)?;
        for id in 0..frontier.hosts.len() as HostId {
            let host = frontier.hosts.get_mut(id);
            if frontier.expects {
                host.groups.expect(&frontier.priority);
            }
            let rank = host.has_work().then(|| host.rank());
            frontier.schedule.stands(id, &mut host.standing, rank);
            host.pace.ended(now, &frontier.settings);
            if !host.lanes.is_empty() {
                // It is due at once, for its address; the pace keeps requests back.
                frontier.schedule.wait(id, &mut host.phase, now);
            }
        }
        Ok(frontier)
    }

    /// Whether a URL was met before (queued, done or refused).
    pub fn seen(&self, hash: u64) -> bool {
        self.seen.contains(hash)
    }

    /// Says which URLs will be asked about or added next, such as the links of a page: that is faster together.
    pub fn expect(&self, hashes: impl IntoIterator<Item = u64>) {
        self.seen.expect(hashes);
    }

    /// What was learned of a group of a host's URLs: their scores are multiplied by `factor` from now on. False if there
    /// is no such host or group. Groups are numbered as [`Frontier::groups`] gives them.
    pub fn set_factor(&mut self, host: &str, group: u8, factor: f32, session: &mut Session) -> bool {
        let Some(id) = self.hosts.find(host) else { return false };
        let host = self.hosts.get_mut(id);
        let known = host.groups.set_factor(group, factor, id, session);
        if let Phase::Ready(..) = host.phase {
            self.awake(id);
        }
        known
    }

    /// Finds out which queued URLs may be queued again with a better priority. An entry whose URL is done was passed over.
    fn recall_waiting(&mut self, session: &Session) -> Result<()> {
        if !self.waiting.is_on() {
            return Ok(());
        }
        let mut best = HashMap::new();
        for (id, host) in self.hosts.iter().enumerate() {
            for lane in &host.lanes {
                let key = LaneKey { host: id as HostId, group: lane.group, band: lane.band };
                self.queues.look(lane, key, 0, session, &mut |_, entry| {
                    let (band, again) = best.entry(entry.hash).or_insert((lane.band, entry.again));
                    *band = lane.band.min(*band);
                    *again |= entry.again;
                    true
                })?;
            }
        }
        for (hash, (band, again)) in best {
            if again || seen::state(hash, session)?.is_none() {
                self.waiting.queued(hash, band);
            }
        }
        Ok(())
    }

    /// The priority at or below which URLs may be queued again with a better one.
    fn waits_below(settings: &Settings) -> f32 {
        let Settings { dedup, focus, .. } = settings;
        if focus.is_on() {
            1.0
        } else if dedup.on_duplicate == OnDuplicate::Demote {
            Self::DEMOTED
        } else {
            -1.0
        }
    }

    /// A page was judged: duplicates spend the budget of their group and host, others earn it back. What is queued where a
    /// budget is spent is refused as [`SkipReason::Budget`](crate::SkipReason) when its turn comes. How much of the page was
    /// new, 0..1, bears on what is expected of others like it. What is no duplicate and no new page either (an error, say)
    /// is neither (`None`).
    pub fn verdict(&mut self, job: &Job, duplicate: Option<bool>, novelty: f32, session: &mut Session) {
        let Some(id) = job.url.host_str().and_then(|name| self.hosts.find(name)) else { return };
        let host = self.hosts.get_mut(id);
        let Some(origin) = host.origin(&job.url) else { return };
        let weights = self.expects.then_some(&self.priority);
        host.groups.judged(&job.url, origin, (duplicate, novelty), weights, id, session);
        if duplicate.is_some_and(|duplicate| host.budget.page(duplicate)) {
            host.record(id, session);
        }
        if let Some(standing) = host.standing {
            let rank = host.rank();
            if rank != standing {
                self.schedule.stands(id, &mut host.standing, Some(rank));
            }
        }
    }

    /// So many body bytes were received until `at`; counts for the cap on bytes a second.
    pub fn received(&mut self, bytes: u64, at: Millis) {
        self.rate.received(bytes, at);
    }
}

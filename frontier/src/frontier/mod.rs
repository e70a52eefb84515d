//! The frontier itself: the parts that it is made of, and how it is opened.
//!
//! A URL that may be fetched gets an entry in a lane of its host ([`Queues`], [`Hosts`]). Any other URL that is met
//! gets a record ([`Urls`]). A queued URL is handed out when the turn of its host comes ([`Schedule`]): the host's
//! address must be known, its robots.txt must have been read, and the pace of the host and of its address must allow a
//! request. The report of the job ends the visit, or queues the URL again. A URL that is held or stopped waits for
//! another URL. When that one was fetched, work in the background ([`Works`]) decides about the waiting URL.

mod admit;
mod check;
mod copies;
pub mod cut;
mod drain;
mod enqueue;
mod errand;
mod handout;
mod hold;
mod ladder_keys;
mod late;
mod learn;
mod lines;
mod memory;
mod next_step;
mod overtake;
mod report;
mod robots_again;
mod sitemap_places;
mod sitemaps;
mod skipped;
mod step;
mod view;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

use config::{OnDuplicate, Politeness, Priority, Settings};
use dedup_stage::store::{Error, Result, Session, codec};
use dedup_stage::url::{Keys, SiteId, Sites, UrlId};

use late::Late;
use overtake::Overtaking;
use robots_again::RobotsAgain;
use sitemaps::Naming;

use crate::hold::news::News;
use crate::hold::works::{Task, Works};
use crate::hold::{Fallen, HeldBack};
use crate::host::budget::Limits;
use crate::host::entry::Entry;
use crate::host::errands::{Asker, Errand};
use crate::host::lane::{BANDS, LaneKey, Seq, band};
use crate::host::queue::Queues;
use crate::host::rules_kept::RulesKept;
use crate::host::stocks::Stocks;
use crate::host::{EraSweep, Hosts};
use crate::numbers::{HostId, Millis};
use crate::process::{Addresses, Line, Rate, Shares};
use crate::reason::SkipReason;
use crate::rules::Rules;
use crate::schedule::Schedule;
use crate::scope::Scope;
use crate::spaces;
use crate::url::Urls;
pub use sitemaps::NamedBy;
pub use skipped::{Skipped, Walk};
pub use view::{BudgetView, Counts, HostState, HostView, QueuedAs, stored_budgets, stored_notes};

/// The frontier; owned by the engine.
#[derive(Debug)]
pub struct Frontier {
    conduct: Conduct,
    keys: Keys,
    /// The states of all URLs.
    urls: Urls,
    /// The hosts, each with its address, the rules of its robots.txt, and its queue.
    hosts: Hosts,
    /// The rules of robots.txt files that are in memory.
    rules_kept: RulesKept,
    /// The robots.txt files that are asked for again because they forbade URLs.
    robots_again: RobotsAgain,
    /// The part of the queue that the lanes of all hosts share.
    queues: Queues,
    /// Deletes from the store the queue entries that are done.
    sweep: EraSweep,
    /// The hosts whose turn has come or will come.
    schedule: Schedule,
    /// Floors of shared addresses.
    addresses: Addresses,
    /// Caps over all hosts.
    rate: Rate,
    /// Who may hold how many slots.
    shares: Shares,
    /// Work that is to be done in the background.
    works: Works,
    /// Trials of links that duplicates have and their twins do not.
    news: News,
    /// Everything that is held or stopped, for the rescue.
    held_back: HeldBack,
    /// The sets of URLs that have fallen.
    fallen: Fallen,
    /// Learned rules; `None` if rules are switched off.
    rules: Option<Rules>,
    /// What rewrites stopped, in `demote`.
    late: Late,
    /// Hosts that wait for others, in `drop`.
    overtaking: Overtaking,
    /// The sitemaps that hosts have named.
    naming: Naming,
    bounds: Bounds,
    /// Messages for other frontiers.
    afar: Afar,
    jobs: Jobs,
    /// The time at which this process took over the state of an earlier one, if there was one.
    restarted: Option<Millis>,
    /// The latest time that the engine has told.
    now: Millis,
    /// Hosts in memory that are slowed down or set aside.
    troubled: u64,
}

/// The settings of the crawl, as the frontier needs them.
#[derive(Debug)]
struct Conduct {
    politeness: Politeness,
    /// A further attempt after a server error waits no longer than this. If it waited longer than `--patience`, the
    /// crawl would end.
    longest_wait: Millis,
    max_length: usize,
    /// Whether sitemaps that robots.txt names are read.
    sitemaps: bool,
    on_duplicate: OnDuplicate,
    /// How many duplicates a host and a group may cost.
    limits: Limits,
    /// Weights of the parts of a priority.
    priority: Priority,
    /// Whether verdicts on pages change the priority of similar URLs.
    expects: bool,
    /// Whether worse hosts wait for better ones.
    holds_back: bool,
    /// URLs in this band and in worse ones may be queued again with a better priority.
    lifts_from: u8,
    /// Whether the crawl may fetch any number of pages.
    has_room: bool,
}

/// Which URLs may be fetched at all.
#[derive(Default)]
struct Bounds {
    scope: Option<Arc<Scope>>,
    /// Most pages of a host; 0 for any number.
    of_host: u64,
    /// Most pages of a registrable domain; 0 for any number.
    of_domain: u64,
    /// Pages fetched, by registrable domain, if there is a cap for domains.
    by_domain: HashMap<u64, u64>,
    /// The hosts that belong to this frontier; `None` if all do.
    owns: Option<Sites>,
}

/// Messages for other frontiers, if each has some of the hosts.
#[derive(Debug, Default)]
struct Afar {
    /// robots.txt files that are to be asked for at hosts of other frontiers.
    errands: Vec<Errand>,
    /// Rules that were found here for origins of other frontiers.
    answers: Vec<(Asker, crate::robots::RobotsRules)>,
    /// Hosts here that are to be asked on behalf of other frontiers, and some that were.
    asked: BTreeSet<SiteId>,
}

/// The jobs that were handed out.
#[derive(Debug, Default)]
struct Jobs {
    /// Jobs that were not reported yet.
    open: BTreeMap<u64, Open>,
    /// The number of those whose answers may cost much processor time.
    costly: usize,
    /// The sitemaps that have a place, each with the time at which it was handed out. Some of them may be done.
    sitemaps: VecDeque<(Millis, u64)>,
    /// The last job handed out.
    last: u64,
    /// Queued URLs that are targets of redirects. True if a direct link leads to the URL, too: then its hops do not
    /// count.
    chained: HashMap<u64, bool>,
    /// URLs that were queued for another visit and were then refused, with the reasons.
    withdrawn: Vec<(UrlId, SkipReason)>,
}

/// A job that was handed out.
#[derive(Debug)]
struct Open {
    host: HostId,
    task: JobTask,
    /// The shares of the slots that the job uses.
    lines: Box<[Line]>,
    /// Whether its answer may cost much processor time.
    costly: bool,
}

/// The purpose of a job.
#[derive(Debug)]
enum JobTask {
    /// To find the address of its host.
    Resolve,
    /// To fetch a robots.txt.
    Robots(Errand),
    /// To fetch a queued URL. Its entry is still in the store.
    Entry(LaneKey, Seq, Box<Entry>),
}

/// Key in [`spaces::FRONTIER_OWN`] of the format of the state. It is there from the first commit on.
const FORMAT: &[u8] = b"format";
/// The format that this version writes.
const VERSION: u32 = 2;

impl Frontier {
    /// Opens the frontier of `session`. After a restart every host waits one full delay from `now`, even a host that
    /// the store does not know yet, because it may have been asked just before the crash. (Commit before the first
    /// request. Otherwise a crash right after the first start is not recognized.)
    ///
    /// # Errors
    ///
    /// [`Error::Foreign`] if the state was written by a version with another format.
    pub fn open(settings: &Settings, keys: &Keys, session: &mut Session, now: Millis) -> Result<Self> {
        let restarted = is_restart(session)?.then_some(now);
        put_format(session);
        let (mut queues, mut urls) = (Queues::open(session)?, Urls::default());
        let stocks = Stocks::read(session, &mut |url, band| urls.found_queued(url, band))?;
        urls.open(session)?;
        let hosts = Hosts::open(&stocks, &mut queues, session, now)?;
        let mut frontier = Self {
            conduct: Conduct::of(settings),
            keys: keys.clone(),
            urls,
            hosts,
            rules_kept: RulesKept::default(),
            robots_again: RobotsAgain::default(),
            queues,
            sweep: EraSweep::open(session)?,
            schedule: Schedule::default(),
            addresses: Addresses::default(),
            rate: Rate::new(&settings.politeness, now),
            shares: Shares::new(settings.fetch.concurrency.max(1)),
            works: Works::open(session)?,
            news: News::default(),
            held_back: HeldBack::default(),
            fallen: Fallen::open(session)?,
            rules: None,
            late: Late::default(),
            overtaking: Overtaking::default(),
            naming: Naming::default(),
            bounds: Bounds::default(),
            afar: Afar::default(),
            jobs: Jobs::default(),
            restarted,
            now,
            troubled: 0,
        };
        let awake: Vec<HostId> = frontier.hosts.iter().map(|(id, _)| id).collect();
        for id in awake {
            frontier.came(id);
        }
        if frontier.conduct.on_duplicate == OnDuplicate::Drop
            && frontier.urls.counters().held_for + frontier.urls.counters().stopped() > 0
        {
            frontier.works.add(Task::NoteHostsAhead, session);
        }
        Ok(frontier)
    }
}

/// Puts the format of the state on record.
fn put_format(session: &mut Session) {
    session.put(spaces::FRONTIER_OWN, FORMAT, codec::encode(&VERSION));
}

/// Whether an earlier process has left its state in `session`.
fn is_restart(session: &Session) -> Result<bool> {
    let known = session.get(spaces::FRONTIER_OWN, FORMAT)?;
    if let Some(version) = &known
        && codec::decode::<u32>(version, "the format of the frontier")? == VERSION
    {
        return Ok(true);
    }
    let mut empty = true;
    for space in [spaces::URLS, spaces::QUEUE, spaces::HOSTS] {
        session.scan(space, &[], &[], &mut |_, _| {
            empty = false;
            ControlFlow::Break(())
        })?;
    }
    if known.is_none() && empty {
        return Ok(false);
    }
    let what = "its queues and URLs have another format; start anew in an empty directory, or go on with the version that \
                wrote it";
    Err(Error::Foreign(what.into()))
}

impl Conduct {
    /// The links of pages that are no duplicates always have a higher priority than this.
    const DEMOTED: f32 = 0.45;

    fn of(settings: &Settings) -> Self {
        let Settings { dedup, focus, priority, .. } = settings;
        let demotes = dedup.on_duplicate == OnDuplicate::Demote;
        Self {
            politeness: settings.politeness.clone(),
            longest_wait: Millis::try_from(settings.limits.patience.0 / 2).unwrap_or(Millis::MAX / 4),
            max_length: settings.urls.max_length,
            sitemaps: settings.scope.sitemaps,
            on_duplicate: dedup.on_duplicate,
            limits: Limits::of(dedup.on_duplicate),
            priority: priority.clone(),
            expects: dedup.on_duplicate != OnDuplicate::Keep,
            holds_back: priority.hold_back > 0.0 && (focus.is_on() || demotes),
            lifts_from: match (focus.is_on(), demotes) {
                (true, _) => 0,
                (false, true) => band(Self::DEMOTED),
                (false, false) => BANDS,
            },
            has_room: settings.limits.max_pages == 0,
        }
    }
}

impl std::fmt::Debug for Bounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { scope, of_host, of_domain, .. } = self;
        f.debug_struct("Bounds")
            .field("scope", &scope.is_some())
            .field("of_host", of_host)
            .field("of_domain", of_domain)
            .finish_non_exhaustive()
    }
}

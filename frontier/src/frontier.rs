//! The frontier itself, and what its owner may ask of it.

use std::sync::Arc;

use config::Settings;
use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, SiteId, UrlId};
use url::Url;

use crate::evidence::Expected;
use crate::hold::{Cluster, Sample};
use crate::job::{Admission, Found, Hold, Job, Merits, Millis, Next, Outcome, Via};
use crate::keys::Keys;
use crate::reason::{Detail, SkipReason};
use crate::rules::{Lesson, RuleId, Rules, Shows};
use crate::scope::Scope;
use crate::url::State;
use crate::view::{BudgetView, Counts, HostView};

/// The frontier; owned by the engine.
#[derive(Debug)]
pub struct Frontier {}

/// A queued URL, for people to look at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueuedAs {
    /// The priority with which it will be handed out.
    pub priority: f32,
    /// What that was made of.
    pub merits: Merits,
    /// Links from a seed.
    pub depth: u32,
    /// The page that carried it.
    pub source: Option<PageId>,
    /// How it came to be queued.
    pub via: Via,
}

/// A URL that is not fetched, as `skipped.jsonl` has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// As it would be fetched.
    pub url: Box<str>,
    /// Its identity.
    pub id: UrlId,
    /// Why.
    pub reason: SkipReason,
    /// What can be said beside the reason.
    pub detail: Detail,
    /// The rules that stopped it, in the order in which they were applied.
    pub rules: Vec<RuleId>,
    /// The corpus that knows the page that links to it.
    pub known: Option<String>,
    /// The page that carried it.
    pub source: Option<PageId>,
}

/// Where a walk over skipped URLs stands.
#[derive(Clone, Debug, Default)]
pub struct Walk {}

impl Frontier {
    /// A frontier with what `session` remembers. After a restart every host waits one full delay from `now`, a host that
    /// the store does not know yet included: it may have been asked just before the crash. (So that a crash right after the
    /// first start is known as one, commit before the first request.)
    ///
    /// # Errors
    ///
    /// [`Error::Foreign`](dedup_stage::store::Error::Foreign) where the state was written by a version with another format.
    pub fn open(_settings: &Settings, _keys: &Keys, _session: &mut Session, _now: Millis) -> Result<Self> {
        todo!()
    }

    /// From now on, rules are learned and applied; those in `session` are at once.
    pub fn use_rules(&mut self, _session: &Session) -> Result<()> {
        todo!()
    }

    /// From now on, a queued URL that `scope` does not admit is refused when its turn comes; and what was refused for its
    /// scope, depth, length or shape is looked at again by [`Frontier::step`] and queued where `scope` admits it. To be
    /// called at the start of a run; `changed` says whether the scope is another than that of the last run.
    pub fn use_scope(&mut self, _scope: Arc<Scope>, _changed: bool, _session: &mut Session) {
        todo!()
    }

    /// Most pages that are fetched of one host, and of one registrable domain; 0 for no cap.
    pub fn cap_pages(&mut self, _of_host: u64, _of_domain: u64) {
        todo!()
    }

    /// From now on, URLs of other hosts than those that `owns` names are [`Admission::Foreign`].
    pub fn own(&mut self, _owns: Arc<dyn Fn(SiteId) -> bool + Send + Sync>) {
        todo!()
    }

    /// Says which URLs (`id.url`) will be asked about or added next, such as the links of a page: that is faster together.
    pub fn expect(&self, _urls: impl IntoIterator<Item = u64>) {
        todo!()
    }

    /// Whether a URL (`id.url`) was ever met: it stands in some state. Answered from memory.
    pub fn met(&self, _url: u64) -> bool {
        todo!()
    }

    /// The record of a URL; `None` if it was never met.
    pub fn state(&self, _id: UrlId, _session: &Session) -> Result<Option<State>> {
        todo!()
    }

    /// A link asks to be queued. It is where it was never met, where it was held, stopped or refused for a reason that is
    /// gone. One that waits with a lower priority is queued again where such URLs are kept in mind (in `demote`, and in
    /// focused crawls); it counts as seen all the same.
    pub fn add(&mut self, _found: &Found<'_>, _session: &mut Session) -> Result<Admission> {
        todo!()
    }

    /// A link of a duplicate in `drop` mode: held, unless it must be tried, or what it would be held for has fallen.
    pub fn hold(&mut self, _found: &Found<'_>, _hold: Hold<'_>, _session: &mut Session) -> Result<Admission> {
        todo!()
    }

    /// A link that is not to be fetched: outside the scope, too deep, `nofollow` and so on. It is recorded, unless it was met
    /// before.
    pub fn refuse(&mut self, _found: &Found<'_>, _reason: SkipReason, _session: &mut Session) -> Result<Admission> {
        todo!()
    }

    /// A sitemap named by a sitemap index asks to be fetched (those that robots.txt names, the frontier knows itself).
    /// It is fetched before any page of its host, and exempt from robots rules.
    pub fn add_sitemap(&mut self, _url: &Url, _session: &mut Session) -> Result<()> {
        todo!()
    }

    /// The next job that may start at `now`. URLs found forbidden by robots.txt on the way, without budget, or stopped by a
    /// learned rule are recorded as such.
    ///
    /// # Complexity
    ///
    /// O(log hosts + lanes of the host) amortised, whatever is queued.
    pub fn next(&mut self, _now: Millis, _session: &mut Session) -> Result<Next> {
        todo!()
    }

    /// A job ended at `at`. True if its URL was queued again. A job that is not open is ignored.
    pub fn report(&mut self, _job: &Job, _outcome: Outcome, _at: Millis, _session: &mut Session) -> Result<bool> {
        todo!()
    }

    /// A page was judged, and all its links were added, held or refused. Duplicates spend the budget of their group and
    /// host, others earn it back. How much of the page was new, 0..1, bears on what is expected of others like it. What is
    /// no duplicate and no new page either (an error, say) is neither (`None`). For a trial, this is its result.
    pub fn verdict(
        &mut self,
        _job: &Job,
        _duplicate: Option<bool>,
        _novelty: f32,
        _session: &mut Session,
    ) -> Result<()> {
        todo!()
    }

    /// What a judged page teaches rules, and what a trial of one showed. To be called after [`Frontier::verdict`] for every
    /// page that was judged, whether rules are used or not: holds across domains are tried in the same way. What a rule
    /// that is withdrawn by this had stopped is queued again, by [`Frontier::step`].
    pub fn learn(&mut self, _job: &Job, _lesson: &Lesson<'_>, _shows: Shows<'_>, _session: &mut Session) -> Result<()> {
        todo!()
    }

    /// Does a little of what there is to do in the background: releases, trials, sweeps. To be called once in each round of
    /// the engine's loop; at most some 256 URLs change. True if there is more to do.
    pub fn step(&mut self, _session: &mut Session) -> Result<bool> {
        todo!()
    }

    /// Nothing is left to be fetched, or what is left cannot be reached. Releases what is held for URLs that are still queued,
    /// and in `demote` mode what rules stopped. True if something is to be fetched after all: then the crawl goes on.
    pub fn drain(&mut self, _session: &mut Session) -> Result<bool> {
        todo!()
    }

    /// Releases every link of a duplicate that is held, and what rules stopped if `stopped` is set: for a crawl that goes on
    /// in another mode than it began. The work is done by [`Frontier::step`].
    pub fn release_all(&mut self, _stopped: bool, _session: &mut Session) -> Result<()> {
        todo!()
    }

    /// Draws a random sample of everything that is held or stopped: about `wanted` URLs, at most `of_cluster` of each
    /// cluster. Reads all of it, in bounded memory.
    pub fn sample_held(&self, _wanted: usize, _of_cluster: usize, _session: &Session) -> Result<Sample> {
        todo!()
    }

    /// Queues one URL that is held or stopped, as [`Via::Rescue`]. False if it is neither any more.
    pub fn rescue(&mut self, _id: UrlId, _session: &mut Session) -> Result<bool> {
        todo!()
    }

    /// Releases everything of a cluster. The work is done by [`Frontier::step`].
    pub fn release_cluster(&mut self, _cluster: Cluster, _session: &mut Session) -> Result<()> {
        todo!()
    }

    /// Up to `most` further URLs that are not fetched, and why; none at the end of the walk. Also those that stay queued
    /// because their host cannot be asked, if the walk is to have them. Between two calls nothing else may be called.
    pub fn skipped(&self, _walk: &mut Walk, _most: usize, _session: &Session) -> Result<Vec<Skipped>> {
        todo!()
    }

    /// Looks for whatever in the state contradicts itself: a URL in two states, a queue entry without a record, counters that
    /// are wrong, something held for nothing. One sentence for each finding, at most 100.
    pub fn check(&self, _session: &Session) -> Result<Vec<String>> {
        todo!()
    }

    /// Totals.
    pub fn counts(&self) -> Counts {
        todo!()
    }

    /// Calls `visit` for each host in memory.
    pub fn hosts(&self, _visit: &mut dyn FnMut(HostView<'_>)) {
        todo!()
    }

    /// The budgets of which at least half is spent.
    pub fn budgets(&self) -> Vec<BudgetView> {
        todo!()
    }

    /// How a URL stands in the queue, if it does. Reads the lanes of its host.
    pub fn queued_as(&self, _id: UrlId, _session: &Session) -> Result<Option<QueuedAs>> {
        todo!()
    }

    /// What is to be expected of a page at `url`, by what pages like it turned out to be; `None` if its host is not known.
    pub fn expected(&self, _url: &Url) -> Option<Expected> {
        todo!()
    }

    /// So many body bytes were received until `at`; counts for the cap on bytes a second.
    pub fn received(&mut self, _bytes: u64, _at: Millis) {
        todo!()
    }

    /// The rules, where they are used.
    pub fn rules(&self) -> Option<&Rules> {
        todo!()
    }

    /// Writes down what is only counted in memory; to be called before each commit.
    pub fn save(&mut self, _session: &mut Session) {
        todo!()
    }
}

impl Walk {
    /// A walk over all URLs that are not fetched; with `withheld`, also over those that stay queued because their host cannot
    /// be asked.
    pub fn new(_withheld: bool) -> Self {
        todo!()
    }
}

impl Frontier {
    /// Redirects followed in a row.
    pub const MOST_HOPS: u8 = 10;

    /// Whether a duplicate's link to a URL (`id.url`) would change anything: the URL was never met, or is held for another
    /// counterpart. Answered from memory.
    pub fn wants_counterpart(&self, _url: u64) -> bool {
        todo!()
    }
}

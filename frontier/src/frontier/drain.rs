//! What happens when nothing is left to be fetched, or when the crawl goes on in another way than it began: much of what is
//! held is released at once, by work in the background.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use config::OnDuplicate;
use dedup_stage::store::{Result, Session};
use dedup_stage::url::{PageId, Sites, UrlId};
use url::Url;

use super::Frontier;
use crate::hold::works::{Task, Which};
use crate::hold::{Cluster, Draw, Drawn, Sample, cluster};
use crate::job::Via;
use crate::rules::Rules;
use crate::scope::Scope;
use crate::spaces;
use crate::url::{Ended, Standing, State, Urls};

impl Frontier {
    /// From now on, rules are learned and applied; those in `session` are at once.
    pub fn use_rules(&mut self, session: &Session) -> Result<()> {
        self.rules = Some(Rules::open(self.keys.clone(), session)?);
        Ok(())
    }

    /// The rules, where they are used.
    pub fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }

    /// From now on, a queued URL that `scope` does not admit is refused when its turn comes. To be called at the start of a run;
    /// `changed` says whether the scope, a cap or a limit of URLs is another than in the last run: then what was refused for
    /// one of these is looked at again by [`Frontier::step`].
    pub fn use_scope(&mut self, scope: Arc<Scope>, changed: bool, session: &mut Session) {
        self.bounds.scope = Some(scope);
        if changed {
            self.works.add(Task::Records { of: None, which: Which::Bounds }, session);
        }
    }

    /// Most pages that are fetched of one host, and of one registrable domain; 0 for no cap. To be called at the start of a
    /// run.
    pub fn cap_pages(&mut self, of_host: u64, of_domain: u64, session: &Session) -> Result<()> {
        self.bounds.of_host = of_host;
        self.bounds.of_domain = of_domain;
        self.bounds.by_domain = if of_domain > 0 { crate::host::pages_by_domain(session)? } else { HashMap::new() };
        Ok(())
    }

    /// From now on this frontier has these hosts, and another frontier has the others: links to them are
    /// [`Admission::Foreign`](crate::Admission).
    pub fn own(&mut self, sites: Sites) {
        self.bounds.owns = Some(sites);
    }

    /// The identity of a URL.
    pub fn id(&self, url: &Url) -> UrlId {
        self.keys.id(url)
    }

    /// Nothing is left to be fetched, or what is left cannot be reached. Releases what is held for URLs that are still queued,
    /// and in `demote` mode what rules stopped. True if something is to be done or fetched after all: then the crawl goes on.
    pub fn drain(&mut self, session: &mut Session) -> Result<bool> {
        if !self.works.is_empty() {
            return Ok(true);
        }
        if self.conduct.on_duplicate == OnDuplicate::Demote
            && let Some(rules) = &mut self.rules
            && self.urls.counters().stopped() > self.urls.counters().stopped_trap
        {
            rules.be_lenient();
            self.works.add(Task::Records { of: None, which: Which::All { stopped: true } }, session);
        } else if waits_for_queued(&self.urls, session)? {
            self.works.add(Task::Waited, session);
        }
        Ok(!self.works.is_empty())
    }

    /// Releases every link of a duplicate that is held, and what rules stopped if `stopped` is set: for a crawl that goes on
    /// in another mode than it began. The work is done by [`Frontier::step`].
    pub fn release_all(&mut self, stopped: bool, session: &mut Session) {
        self.works.add(Task::Records { of: None, which: Which::All { stopped } }, session);
    }

    /// Releases everything of a cluster. The work is done by [`Frontier::step`].
    pub fn release_cluster(&mut self, cluster: Cluster, session: &mut Session) {
        self.works.add(Task::Records { of: None, which: Which::Cluster(cluster.0) }, session);
    }

    /// Releases everything that was found on one page. The work is done by [`Frontier::step`].
    pub fn release_links_of(&mut self, page: PageId, session: &mut Session) {
        self.works.add(Task::Records { of: None, which: Which::Source(page) }, session);
    }

    /// Queues one URL that is held or stopped, as [`Via::Rescue`]. False if it is neither any more.
    pub fn rescue(&mut self, id: UrlId, session: &mut Session) -> Result<bool> {
        match self.urls.state(id, session)? {
            Some(State::HeldFor { link, .. } | State::HeldAs { link, .. } | State::Stopped { link, .. }) => {
                self.release(id, &link, Via::Rescue, session)
            }
            _ => Ok(false),
        }
    }

    /// Draws a random sample of everything that is held or stopped: about `wanted` URLs, at most `of_cluster` of each cluster.
    /// Each `round` draws in another order. Reads all records once, in memory for the sample alone.
    pub fn sample_held(&self, wanted: usize, of_cluster: usize, round: u64, session: &Session) -> Result<Sample> {
        let mut draw = Draw::new(wanted, of_cluster, round);
        self.each_held(session, &mut |drawn| draw.show(drawn))?;
        Ok(draw.end())
    }

    /// Shows every URL that is held or stopped.
    pub fn each_held(&self, session: &Session, visit: &mut dyn FnMut(Drawn)) -> Result<()> {
        let mut failure = None;
        session.scan(spaces::URLS, &[], &[], &mut |key, value| {
            if !State::may_be_held(value) {
                return ControlFlow::Continue(());
            }
            match Urls::read(key, value) {
                Ok((id, state)) => {
                    if let Some(cluster) = cluster(id, &state) {
                        let covered = !matches!(state, State::HeldAs { .. })
                            && state.anchor(id).is_some_and(|anchor| {
                                let standing = self.urls.get(anchor.url);
                                matches!(standing, Some(Standing::Done(Ended::Well | Ended::Redirected)))
                            });
                        visit(Drawn { id, cluster, covered, state });
                    }
                }
                Err(error) => failure = Some(error),
            }
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(()), Err)
    }
}

/// Whether something is held for a URL that is still queued.
fn waits_for_queued(urls: &Urls, session: &Session) -> Result<bool> {
    let mut found = false;
    session.scan(spaces::HELD_FOR, &[], &[], &mut |key, _| {
        let standing = UrlId::read(key).and_then(|anchor| urls.get(anchor.url));
        found = matches!(standing, Some(Standing::Queued { .. } | Standing::Open { .. }));
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(found)
}

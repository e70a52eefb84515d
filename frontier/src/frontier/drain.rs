//! Releases of many URLs: when nothing is left to be fetched, when the rescue asks for it, and when a crawl goes on
//! with another mode, scope or cap. Also here: the settings of a run (rules, scope, caps, own hosts) and the walk over
//! all held URLs.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use config::OnDuplicate;
use dedup_stage::store::{Result, Session};
use dedup_stage::url::{SiteId, Sites, UrlId};
use url::Url;

use super::Frontier;
use crate::hold::Fallen;
use crate::hold::works::{Task, Which};
use crate::hold::{Drawn, Sample};
use crate::job::Via;
use crate::rules::Rules;
use crate::scope::Scope;
use crate::spaces;
use crate::trial::UrlSet;
use crate::url::{Standing, State, Urls};

impl Frontier {
    /// From now on, rules are learned and applied. The rules in `session` are applied at once.
    pub fn use_rules(&mut self, session: &Session) -> Result<()> {
        self.rules = Some(Rules::open(self.keys.clone(), session)?);
        Ok(())
    }

    /// The learned rules; `None` if rules are switched off.
    pub fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }

    /// From now on, a queued URL that `scope` does not admit is refused when its turn comes. To be called at the start
    /// of a run. `changed` says whether the scope, a cap or a limit of URLs has changed since the last run. If so,
    /// [`Frontier::step`] decides again about the URLs that one of these refused.
    pub fn use_scope(&mut self, scope: Arc<Scope>, changed: bool, session: &mut Session) {
        self.bounds.scope = Some(scope);
        if changed {
            self.works.add(Task::Records { of: None, which: Which::Bounds }, session);
        }
    }

    /// Sets the caps on the pages of one host and of one registrable domain; 0 for no cap. To be called at the start of
    /// a run.
    pub fn cap_pages(&mut self, of_host: u64, of_domain: u64, session: &Session) -> Result<()> {
        self.bounds.of_host = of_host;
        self.bounds.of_domain = of_domain;
        self.bounds.by_domain = if of_domain > 0 { crate::host::pages_by_domain(session)? } else { HashMap::new() };
        Ok(())
    }

    /// From now on, these hosts belong to this frontier and all other hosts to another one. Links to other hosts are
    /// [`Admission::Elsewhere`](crate::Admission).
    pub fn own(&mut self, sites: Sites) {
        self.bounds.owns = Some(sites);
    }

    /// Whether the host of a URL belongs to this frontier. True also for a text that is no URL, because it leads
    /// nowhere.
    pub fn has_host_of(&self, url: &str) -> bool {
        Url::parse(url).map_or(true, |url| !self.is_elsewhere(self.keys.site(&url)))
    }

    /// The identity of a URL.
    pub fn id(&self, url: &Url) -> UrlId {
        self.keys.id(url)
    }

    /// Nothing is left to be fetched, or the hosts of what is left cannot be asked. In `demote`, releases what rewrites
    /// stopped. Then releases what is held or stopped for URLs that are still queued. True if there is work to be done:
    /// the crawl goes on.
    pub fn drain(&mut self, session: &mut Session) -> Result<bool> {
        if !self.works.is_empty() {
            return Ok(true);
        }
        if self.conduct.on_duplicate == OnDuplicate::Demote
            && let Some(rules) = &mut self.rules
            && self.urls.counters().stopped_rule + self.urls.counters().stopped_mirror > 0
        {
            rules.be_lenient();
            self.works.add(Task::Records { of: None, which: Which::All { stopped: true } }, session);
        } else if waits_for_queued(&self.urls, session)? {
            self.works.add(Task::ReleaseWaiting, session);
        }
        Ok(!self.works.is_empty())
    }

    /// A host could not be asked for long (`is_away`), or has answered. While it is away, its pages count as failed for
    /// the URLs that are held or stopped for them, so these URLs are fetched in their place. [`Frontier::step`] does
    /// the work. This is not on record: to be called at the start of each run, too.
    pub fn set_away(&mut self, site: SiteId, is_away: bool, session: &mut Session) {
        if self.urls.set_away(site, is_away) && is_away && !self.is_elsewhere(site) {
            self.works.add(Task::Away(site), session);
        }
    }

    /// Releases every held link of a duplicate and every URL that was stopped for a spent budget; if `stopped` is set,
    /// also the URLs that rewrites stopped. (URLs that are held as known stay held.) This is for a crawl that goes on
    /// in another mode. [`Frontier::step`] does the work.
    pub fn release_all(&mut self, stopped: bool, session: &mut Session) {
        self.works.add(Task::Records { of: None, which: Which::All { stopped } }, session);
    }

    /// A set that has fallen is followed while at least one page in about this many is good.
    pub const ONE_GOOD_IN: u64 = Fallen::ONE_GOOD_IN as u64;

    /// A set falls: releases all its URLs, and follows those that are met later, as long as enough of their pages are
    /// *good* (new, or lead to new ones). `good` is the number of good pages in the sample that made it fall. A set
    /// that falls on credit begins with one good page for each [`Frontier::ONE_GOOD_IN`] fetches of the credit. `site`
    /// is the host of one of them. If the set is `wide` (a family, or siblings), the others are of any host.
    /// [`Frontier::step`] does the work.
    pub fn fall(&mut self, set: UrlSet, site: SiteId, wide: bool, good: u64, session: &mut Session) {
        self.fallen.add(set, wide, u32::try_from(good).unwrap_or(u32::MAX), session);
        self.release_set(set, site, session);
    }

    /// Whether a set has fallen.
    pub fn has_fallen(&self, set: UrlSet) -> bool {
        self.fallen.has(set)
    }

    /// Whether the URLs of a set that are met now are followed, because the set has fallen and still brings enough.
    pub fn is_followed(&self, set: UrlSet) -> bool {
        self.fallen.are_followed(set)
    }

    /// A URL of the host `site` was followed because its set has fallen, and its page was fetched.
    pub fn fallen_brought(&mut self, set: UrlSet, site: SiteId, new: bool, session: &mut Session) {
        if self.fallen.brought(set, new, session) {
            self.release_set(set, site, session);
        }
    }

    /// The number of pages that were fetched because their sets have fallen, and that were not new and have not led to
    /// new pages yet.
    pub fn fallen_in_vain(&self) -> u64 {
        self.fallen.bad()
    }

    /// A page that was not new, and whose URL was followed because its set has fallen, led to a new page: by a link
    /// (`is_direct`), or through other pages.
    pub fn fallen_led(&mut self, set: UrlSet, site: SiteId, is_direct: bool, session: &mut Session) {
        if self.fallen.led(set, is_direct, session) {
            self.release_set(set, site, session);
        }
    }

    /// Releases the URLs of a set that are held or stopped. `site` is the host of one.
    fn release_set(&mut self, set: UrlSet, site: SiteId, session: &mut Session) {
        let of = (!self.fallen.is_wide(set)).then_some(site);
        self.works.add(Task::Records { of, which: Which::Set(set.0) }, session);
    }

    /// Queues one URL that is held or stopped, as [`Via::Rescue`]. False if it was not queued.
    pub fn rescue(&mut self, id: UrlId, session: &mut Session) -> Result<bool> {
        match self.urls.state(id, session)? {
            Some(State::HeldFor { link, .. } | State::HeldAs { link, .. } | State::Stopped { link, .. }) => {
                self.release(id, &link, Via::Rescue, session)
            }
            _ => Ok(false),
        }
    }

    /// Counts everything that is held or stopped.
    pub fn count_held_back(&mut self, session: &Session) -> Result<Sample> {
        let mut sample = Sample::default();
        self.each_held_back(session, &mut |drawn| {
            sample.held_back += 1;
            sample.covered += u64::from(drawn.covered);
        })?;
        Ok(sample)
    }

    /// Calls `visit` with every URL that is held or stopped.
    pub fn each_held_back(&mut self, session: &Session, visit: &mut dyn FnMut(Drawn)) -> Result<()> {
        self.held_back.each(&mut self.urls, session, visit)
    }
}

/// Whether any URL is held or stopped for a URL that is still queued.
fn waits_for_queued(urls: &Urls, session: &Session) -> Result<bool> {
    let mut found = false;
    session.scan(spaces::HELD_FOR, &[], &[], &mut |key, _| {
        let standing = UrlId::read(key).and_then(|anchor| urls.get(anchor.url));
        found = matches!(standing, Some(Standing::Queued { .. } | Standing::Open { .. }));
        if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(found)
}

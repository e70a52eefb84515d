//! How links of duplicates enter the frontier. A link is held for its counterpart or as news, or learned rules stop it.
//! It is queued if it must be tried, or if its counterpart has failed. Also here: `Frontier::release`, which queues a
//! URL that is held, stopped or refused.

use std::sync::Arc;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;
use url::Url;

use super::Frontier;
use super::admit::{again, kept};
use super::ladder_keys::{is_unlike, pair_key, stop_key};
use crate::hold::ladder::{Ladder, Step, Strictness};
use crate::hold::{StandIn, news, stand_in, template, url_sets};
use crate::job::{Admission, FoundLink, Hold, Release, Via};
use crate::reason::SkipReason;
use crate::trial::{Stop, Trial, UrlSet};
use crate::url::{HoldCause, KeptLink, Standing, State};

/// The decision about a link of a duplicate.
pub(super) enum Way {
    /// Hold it for this URL.
    Hold(UrlId),
    /// Fetch it as a trial.
    Try(Trial),
    /// Queue it, for this reason.
    Follow(Release),
    /// Treat it as news.
    News,
    /// Learned rules stop it.
    Stop(Stop),
}

impl Frontier {
    /// Whether a duplicate's link to a URL (`id.url`) may change the state of the URL: the URL was never met, is held,
    /// or was refused for a reason that another link may not have. Answered from memory, so that the caller need not
    /// find the counterparts of most links.
    pub fn wants_counterpart(&self, url: u64) -> bool {
        may_be_held(self.urls.get(url))
    }

    /// Takes a link of a duplicate in `drop` mode. It is held, unless it must be tried or its counterpart has failed.
    pub fn hold(&mut self, found: &FoundLink<'_>, hold: Hold<'_>, session: &mut Session) -> Result<Admission> {
        if self.is_elsewhere(found.id.site) {
            return Ok(Admission::Elsewhere);
        }
        let standing = self.urls.get(found.id.url);
        if !may_be_held(standing) {
            return Ok(Admission::Seen);
        }
        let way = match hold {
            Hold::For(counterpart) if standing == Some(Standing::HeldFor) => {
                self.add_counterpart(found.id, counterpart, session)?;
                return Ok(Admission::Seen);
            }
            Hold::For(counterpart) => self.way(found.id, found.url, counterpart, session)?,
            Hold::News | Hold::Known(_) if matches!(standing, Some(Standing::HeldFor | Standing::HeldAs { .. })) => {
                return Ok(Admission::Seen);
            }
            Hold::News => Way::News,
            Hold::Known(corpus) => {
                let cause = HoldCause::Known { corpus: corpus.into() };
                self.urls.change(found.id, &State::HeldAs { cause, link: kept(found) }, session)?;
                return Ok(Admission::Held);
            }
        };
        self.go(found, way, session)
    }

    /// Does what was decided about a link.
    pub(super) fn go(&mut self, found: &FoundLink<'_>, way: Way, session: &mut Session) -> Result<Admission> {
        match way {
            Way::Hold(counterpart) => {
                self.keep_back(found, State::HeldFor { counterparts: vec![counterpart], link: kept(found) }, session)
            }
            Way::Try(trial) => self.try_link(found, trial, session),
            Way::Follow(why) => self.admit(&FoundLink { via: Via::Released { why }, ..found.clone() }, None, session),
            Way::News => self.hold_news(found, session),
            Way::Stop(stop) => {
                if let Some(rules) = &mut self.rules {
                    rules.stopped(&stop, found.url.as_str(), found.id, session);
                }
                let Stop { rules, reason, representative } = stop;
                // Its representative was fetched: only such a one explains a link.
                let stopped = State::Stopped { rules, reason, representative, waits: None, link: kept(found) };
                self.keep_back(found, stopped, session)
            }
        }
    }

    /// Holds or stops a link, unless one of its sets has fallen.
    fn keep_back(&mut self, found: &FoundLink<'_>, state: State, session: &mut Session) -> Result<Admission> {
        if let Some(set) = self.followed_set(found.id, &state) {
            let found = FoundLink { via: Via::Released { why: Release::Fallen }, ..found.clone() };
            return self.admit(&found, Some(Arc::new(Trial::Fallen(set))), session);
        }
        self.urls.change(found.id, &state, session)?;
        Ok(Admission::Held)
    }

    /// The smallest set that has fallen among those of a URL that would come into this state, if its URLs are followed.
    pub(super) fn followed_set(&self, id: UrlId, state: &State) -> Option<UrlSet> {
        if self.fallen.is_empty() {
            return None;
        }
        let fallen = url_sets(id, state)?.smallest_first().into_iter().find(|set| self.fallen.has(*set));
        fallen.filter(|set| self.fallen.are_followed(*set))
    }

    /// Queues a link as a trial. A trial of a pair of hosts or of a rule comes before all other URLs of its host,
    /// because other URLs wait for the result. A trial of news comes after all other URLs, so that it is not credited
    /// with pages that the other URLs bring.
    pub(super) fn try_link(&mut self, found: &FoundLink<'_>, trial: Trial, session: &mut Session) -> Result<Admission> {
        let priority = if matches!(trial, Trial::News { .. }) { 0.0 } else { 1.0 };
        self.queue_trial(&FoundLink { via: Via::Trial, priority, ..found.clone() }, trial, session)
    }

    /// Queues a link of a followed template with its own priority. Its page counts as a trial of the template.
    pub(super) fn follow_news(
        &mut self,
        found: &FoundLink<'_>,
        template: u64,
        session: &mut Session,
    ) -> Result<Admission> {
        let found = FoundLink { via: Via::Released { why: Release::Template }, ..found.clone() };
        self.queue_trial(&found, Trial::News { template }, session)
    }

    fn queue_trial(&mut self, found: &FoundLink<'_>, trial: Trial, session: &mut Session) -> Result<Admission> {
        let admission = self.admit(found, Some(Arc::new(trial.clone())), session)?;
        if admission != Admission::Queued {
            self.trial_is_off(found.id, found.url, &trial, session)?;
        }
        Ok(admission)
    }

    /// Decides about news if learned rules name a fetched page that shows the same: the rules stop the link, or it is
    /// tried. `None` if no rule explains the link.
    pub(super) fn explained(&mut self, id: UrlId, url: &Url, session: &mut Session) -> Result<Option<Way>> {
        let Some(rules) = &self.rules else { return Ok(None) };
        let Some(stop) = rules.shown_by(url, id, &self.urls, session)? else { return Ok(None) };
        let (Some(ladder_key), Some(other)) = (stop_key(&stop, rules, id, url), stop.representative) else {
            return Ok(None);
        };
        let mut ladder = Ladder::get(ladder_key, session)?;
        let step = ladder.next(Strictness::between(id.site, other.site));
        ladder.take(step);
        ladder.put(ladder_key, session);
        Ok(match step {
            Step::Stay => Some(Way::Stop(stop)),
            Step::Try => Some(Way::Try(Trial::Rules(stop))),
            Step::Let => None,
        })
    }

    fn hold_news(&mut self, found: &FoundLink<'_>, session: &mut Session) -> Result<Admission> {
        if let Some(way) = self.explained(found.id, found.url, session)? {
            return self.go(found, way, session);
        }
        let (site, template) = (found.id.site, template(found.url, found.id.site));
        match self.news.meet(site, template, found.source, session)? {
            news::NewsDecision::Follow => self.follow_news(found, template, session),
            news::NewsDecision::Try => self.try_link(found, Trial::News { template }, session),
            news::NewsDecision::Hold => {
                if matches!(self.urls.get(found.id.url), Some(Standing::HeldAs { .. })) {
                    return Ok(Admission::Seen);
                }
                let cause = HoldCause::News { template };
                self.keep_back(found, State::HeldAs { cause, link: kept(found) }, session)
            }
        }
    }

    /// Adds a counterpart to the record of a held link: another twin has one.
    fn add_counterpart(&mut self, id: UrlId, counterpart: UrlId, session: &mut Session) -> Result<()> {
        if let Some(State::HeldFor { mut counterparts, link }) = self.urls.state(id, session)?
            && !counterparts.contains(&counterpart)
            && counterparts.len() < State::COUNTERPARTS
            && counterpart != id
        {
            counterparts.push(counterpart);
            self.urls.rewrite(id, &State::HeldFor { counterparts, link }, session);
        }
        Ok(())
    }

    /// Decides about a link with this counterpart.
    pub(super) fn way(&mut self, id: UrlId, url: &Url, counterpart: UrlId, session: &mut Session) -> Result<Way> {
        Ok(match stand_in(&self.urls, counterpart, id, session)? {
            StandIn::Well(at) => self.decide(id, url, at, session)?,
            StandIn::Pending(at) => {
                let strictness = Strictness::between(id.site, at.site);
                let has_parted =
                    strictness != Strictness::SameHost && Ladder::get(pair_key(id, at), session)?.is_broken();
                if has_parted || strictness == Strictness::OtherDomain && is_unlike(id, url, at, session)? {
                    return Ok(Way::Follow(Release::Pair));
                }
                self.urls.await_end(at.url);
                self.waits_for(id, at);
                Way::Hold(at)
            }
            StandIn::Failed => {
                // A host that cannot be asked says nothing about how the two hosts differ.
                let is_away = self.urls.is_away(counterpart.site);
                if Strictness::between(id.site, counterpart.site) == Strictness::OtherDomain && !is_away {
                    self.pair_lacks(id, counterpart, session)?;
                }
                Way::Follow(Release::Counterpart)
            }
            StandIn::News => Way::News,
        })
    }

    /// Decides about a link whose counterpart was fetched well. Inside one registrable domain it is held, and not
    /// tried, unless copies of the two hosts have parted.
    fn decide(&mut self, id: UrlId, url: &Url, counterpart: UrlId, session: &mut Session) -> Result<Way> {
        let strictness = Strictness::between(id.site, counterpart.site);
        if strictness == Strictness::SameDomain && Ladder::get(pair_key(id, counterpart), session)?.is_broken() {
            return Ok(Way::Follow(Release::Pair));
        }
        if strictness != Strictness::OtherDomain {
            return Ok(Way::Hold(counterpart));
        }
        if is_unlike(id, url, counterpart, session)? {
            return Ok(Way::Follow(Release::Pair));
        }
        let ladder_key = pair_key(id, counterpart);
        let mut ladder = Ladder::get(ladder_key, session)?;
        let step = ladder.next(strictness);
        ladder.take(step);
        ladder.put(ladder_key, session);
        Ok(match step {
            Step::Stay => Way::Hold(counterpart),
            Step::Try => Way::Try(Trial::Pair { counterpart }),
            Step::Let => Way::Follow(Release::Pair),
        })
    }

    /// Queues a URL that is held, stopped or refused. False if it was not queued.
    pub(super) fn release(&mut self, id: UrlId, link: &KeptLink, via: Via, session: &mut Session) -> Result<bool> {
        let Ok(url) = Url::parse(&link.url) else { return Ok(false) };
        Ok(self.admit(&again(&url, id, link, via), None, session)? == Admission::Queued)
    }
}

/// Whether a link of a duplicate may change the state of a URL.
fn may_be_held(standing: Option<Standing>) -> bool {
    match standing {
        None | Some(Standing::HeldFor | Standing::HeldAs { .. }) => true,
        Some(Standing::Refused(reason)) => {
            matches!(reason, SkipReason::Scope | SkipReason::Depth | SkipReason::Nofollow | SkipReason::TooLong)
        }
        Some(_) => false,
    }
}

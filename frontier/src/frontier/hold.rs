//! How links of duplicates enter the frontier: held for their counterparts or as news, unless they are to be tried or what
//! they would be held for has fallen.

use std::sync::Arc;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;
use url::Url;

use super::Frontier;
use super::admit::{again, kept};
use crate::hold::ladder::{self, Ladder, Rung, Step, Strictness};
use crate::hold::news::{self, template};
use crate::hold::{Fate, Trial, fate};
use crate::job::{Admission, Found, Hold, Release, Via};
use crate::reason::SkipReason;
use crate::url::{Cause, Kept, Standing, State};

/// Where a held link is to go.
pub(super) enum Way {
    /// It is held for this URL.
    Hold(UrlId),
    /// It is fetched as a trial.
    Try(Trial),
    /// It is followed.
    Follow(Release),
    /// It is news.
    News,
}

impl Frontier {
    /// Whether a duplicate's link to a URL (`id.url`) would change anything: the URL was never met, is held, or was refused for
    /// a reason that another link may not have. Answered from memory, so that the counterparts of most links need not be
    /// worked out.
    pub fn wants_counterpart(&self, url: u64) -> bool {
        is_open(self.urls.get(url))
    }

    /// A link of a duplicate in `drop` mode: held, unless it must be tried, or what it would be held for has fallen.
    pub fn hold(&mut self, found: &Found<'_>, hold: Hold<'_>, session: &mut Session) -> Result<Admission> {
        if self.is_foreign(found.id.site) {
            return Ok(Admission::Foreign);
        }
        let standing = self.urls.get(found.id.url);
        if !is_open(standing) {
            return Ok(Admission::Seen);
        }
        let way = match hold {
            Hold::For(counterpart) if standing == Some(Standing::HeldFor) => {
                self.add_counterpart(found.id, counterpart, session)?;
                return Ok(Admission::Seen);
            }
            Hold::For(counterpart) => self.way(found.id, counterpart, session)?,
            Hold::News | Hold::Known(_) if matches!(standing, Some(Standing::HeldFor | Standing::HeldAs { .. })) => {
                return Ok(Admission::Seen);
            }
            Hold::News => Way::News,
            Hold::Known(corpus) => {
                let cause = Cause::Known { corpus: corpus.into() };
                self.urls.change(found.id, &State::HeldAs { cause, link: kept(found) }, session)?;
                return Ok(Admission::Held);
            }
        };
        self.go(found, way, session)
    }

    /// Sends a held link where it is to go.
    pub(super) fn go(&mut self, found: &Found<'_>, way: Way, session: &mut Session) -> Result<Admission> {
        match way {
            Way::Hold(counterpart) => {
                let counterparts = vec![counterpart];
                self.urls.change(found.id, &State::HeldFor { counterparts, link: kept(found) }, session)?;
                Ok(Admission::Held)
            }
            Way::Try(trial) => self.try_link(found, trial, session),
            Way::Follow(why) => self.admit(&Found { via: Via::Released { why }, ..found.clone() }, None, session),
            Way::News => self.hold_news(found, session),
        }
    }

    /// Queues a link as a trial. One of a hold or of a rule comes before everything else on its host: others wait for what
    /// it shows. One of news comes behind links that are no trials: what they bring is no merit of a trial.
    pub(super) fn try_link(&mut self, found: &Found<'_>, trial: Trial, session: &mut Session) -> Result<Admission> {
        let priority = if matches!(trial, Trial::News { .. }) { 0.0 } else { 1.0 };
        self.queue_trial(&Found { via: Via::Trial, priority, ..found.clone() }, trial, session)
    }

    /// Queues a link of an acquitted template, in its own turn. What it shows counts for its template.
    pub(super) fn follow_news(&mut self, found: &Found<'_>, template: u64, session: &mut Session) -> Result<Admission> {
        let found = Found { via: Via::Released { why: Release::Template }, ..found.clone() };
        self.queue_trial(&found, Trial::News { template }, session)
    }

    fn queue_trial(&mut self, found: &Found<'_>, trial: Trial, session: &mut Session) -> Result<Admission> {
        let admission = self.admit(found, Some(Arc::new(trial.clone())), session)?;
        if admission != Admission::Queued {
            self.trial_is_off(found.id, found.url, &trial, session)?;
        }
        Ok(admission)
    }

    fn hold_news(&mut self, found: &Found<'_>, session: &mut Session) -> Result<Admission> {
        let (site, template) = (found.id.site, template(found.url, found.id.site));
        match self.news.meet(site, template, found.source, session)? {
            news::Verdict::Follow => self.follow_news(found, template, session),
            news::Verdict::Try => self.try_link(found, Trial::News { template }, session),
            news::Verdict::Hold => {
                if matches!(self.urls.get(found.id.url), Some(Standing::HeldAs { .. })) {
                    return Ok(Admission::Seen);
                }
                let cause = Cause::News { template };
                self.urls.change(found.id, &State::HeldAs { cause, link: kept(found) }, session)?;
                Ok(Admission::Held)
            }
        }
    }

    /// A further twin has a counterpart of a link that is held.
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

    /// Where a link goes whose counterpart this is.
    pub(super) fn way(&mut self, id: UrlId, counterpart: UrlId, session: &mut Session) -> Result<Way> {
        Ok(match fate(&self.urls, counterpart, id, session)? {
            Fate::Well(at) => self.decide(id, at, session)?,
            Fate::Pending(at) => {
                let foreign = Strictness::between(id.site, at.site) == Strictness::Foreign;
                if foreign && Ladder::get(pair(id, at), session)?.fell() {
                    return Ok(Way::Follow(Release::Pair));
                }
                self.urls.await_end(at.url);
                Way::Hold(at)
            }
            Fate::Fallen => {
                if Strictness::between(id.site, counterpart.site) == Strictness::Foreign {
                    self.pair_lacks(id, counterpart, session)?;
                }
                Way::Follow(Release::Counterpart)
            }
            Fate::News => Way::News,
        })
    }

    /// Where a link goes whose counterpart was fetched well.
    pub(super) fn decide(&mut self, id: UrlId, counterpart: UrlId, session: &mut Session) -> Result<Way> {
        let strictness = Strictness::between(id.site, counterpart.site);
        if strictness != Strictness::Foreign {
            return Ok(Way::Hold(counterpart));
        }
        let rung = pair(id, counterpart);
        let mut ladder = Ladder::get(rung, session)?;
        let step = ladder.next(strictness);
        ladder.take(step);
        ladder.put(rung, session);
        Ok(match step {
            Step::Stay | Step::Wait => Way::Hold(counterpart),
            Step::Try => Way::Try(Trial::Pair { counterpart }),
            Step::Let => Way::Follow(Release::Pair),
        })
    }

    /// Queues a URL that is held, stopped or refused. False if its URL cannot be read any more.
    pub(super) fn release(&mut self, id: UrlId, link: &Kept, via: Via, session: &mut Session) -> Result<bool> {
        let Ok(url) = Url::parse(&link.url) else { return Ok(false) };
        Ok(self.admit(&again(&url, id, link, via), None, session)? == Admission::Queued)
    }
}

/// Whether a link of a duplicate may change where a URL stands.
fn is_open(standing: Option<Standing>) -> bool {
    match standing {
        None | Some(Standing::HeldFor | Standing::HeldAs { .. }) => true,
        Some(Standing::Refused(reason)) => {
            matches!(reason, SkipReason::Scope | SkipReason::Depth | SkipReason::Nofollow | SkipReason::TooLong)
        }
        Some(_) => false,
    }
}

/// Where links of one host that are held for counterparts on another are tried.
pub(super) fn pair(id: UrlId, counterpart: UrlId) -> Rung {
    Rung { site: id.site, cause: ladder::Cause::Pair(counterpart.site) }
}

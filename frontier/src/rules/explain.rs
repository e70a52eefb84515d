//! Which rules say that a URL shows what another URL shows that was fetched.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;
use url::Url;

use super::learner::{Representative, Rules};
use super::rule::RuleStatus;
use crate::hold::{StandIn, stand_in};
use crate::numbers::RuleId;
use crate::trial::Stop;
use crate::url::Urls;

impl Rules {
    /// The stop of a URL by rewrites, if the representative of its class was fetched well, or a URL of another host
    /// that a mirror turns into this one.
    pub(crate) fn shown_by(&self, url: &Url, id: UrlId, urls: &Urls, session: &Session) -> Result<Option<Stop>> {
        if let Some((stop, _)) = self.named_by(url, id, urls, session)? {
            return Ok(Some(stop));
        }
        if self.lenient {
            return Ok(None);
        }
        for (rule, other) in self.proven.mirrored(url) {
            if let StandIn::Well(at) = stand_in(urls, other, id, session)? {
                return Ok(Some(self.stop(vec![rule], at)));
            }
        }
        Ok(None)
    }

    /// The stop of a URL by rewrites, if the representative of its class was fetched well, and the URL that the rules
    /// name. (Its redirects may lead to the representative.)
    pub(crate) fn named_by(
        &self,
        url: &Url,
        id: UrlId,
        urls: &Urls,
        session: &Session,
    ) -> Result<Option<(Stop, UrlId)>> {
        if self.lenient || !self.proven.concerns(url) {
            return Ok(None);
        }
        let (class, chain) = self.proven.class(url, id);
        for (other, rules) in self.others(id, class, &chain, Representative::of(class, session)?) {
            if let StandIn::Well(at) = stand_in(urls, other, id, session)? {
                return Ok(Some((self.stop(rules, at), other)));
            }
        }
        Ok(None)
    }

    /// The other URLs that may be fetched in place of `id`: the representative that is on record for its class, then
    /// the class itself. Each comes with the rules that say so. These are the rules that lead from `id` to the class.
    /// If `id` is the class, they are the rules that led from the representative to the class, if all of them are still
    /// in force.
    pub(super) fn others(
        &self,
        id: UrlId,
        class: UrlId,
        chain: &[RuleId],
        recorded: Option<Representative>,
    ) -> impl Iterator<Item = (UrlId, Vec<RuleId>)> {
        let holds = |rule: &RuleId| self.get(*rule).is_some_and(|rule| rule.status == RuleStatus::Proven);
        let recorded = recorded.map(|Representative { id: other, rules }| match chain {
            [] if rules.iter().all(holds) => (other, rules),
            chain => (other, chain.to_vec()),
        });
        let all = recorded.into_iter().chain([(class, chain.to_vec())]);
        all.filter(move |(other, rules)| *other != id && !rules.is_empty())
    }
}

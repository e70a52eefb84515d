//! The proven rules, and how they are applied to a URL.

use std::collections::HashSet;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{SiteId, UrlId};
use url::Url;

use super::Map;
use super::area::Area;
use super::evidence::Evidence;
use super::rewrite::Rewrite;
use super::rule::{Rule, RuleStatus, Statement, stored};
use crate::numbers::RuleId;
use dedup_stage::url::Keys;

/// All rules that were ever proven. Rules that are still applied can be found by host and by area.
#[derive(Debug)]
pub(super) struct Proven {
    keys: Keys,
    rules: Map<RuleId, Rule>,
    /// Their identities in the order of proof.
    order: Vec<RuleId>,
    /// Rules whose counters are not on record.
    dirty: HashSet<RuleId>,
    /// Rules that stopped URLs of other hosts than their own, each with the hash of such a host. Only those that this
    /// process has noted.
    noted: HashSet<(RuleId, u64)>,
    /// Rewrites by host, in the order of proof.
    rewrites: Map<Box<str>, Vec<RuleId>>,
    /// Rewrites of the URLs of other hosts, by the host to which they lead. All of these are mirrors.
    mirrors: Map<Box<str>, Vec<RuleId>>,
    /// Traps by area.
    traps: Map<u64, RuleId>,
}

impl Proven {
    /// At most this many rules are applied to one URL, one after the other.
    pub const CHAIN: usize = 6;
    /// For one URL, at most this many mirrors of its host are tried. A site may have mirrors without end.
    const MIRRORS: usize = 64;
    /// At most this many rules are kept, over all hosts. Further rules are dropped when they are proven.
    const MOST: usize = 32_768;
    /// At most this many entries of `noted` are kept in memory. A note that was forgotten is written down again.
    const NOTED: usize = 65_536;

    /// The rules in `session`.
    pub fn open(keys: Keys, session: &Session) -> Result<Self> {
        let (rules, rewrites, traps) = (Map::default(), Map::default(), Map::default());
        let (dirty, noted, mirrors) = (HashSet::new(), HashSet::new(), Map::default());
        let order = Vec::new();
        let mut proven = Self { keys, rules, order, dirty, noted, rewrites, mirrors, traps };
        for rule in stored(session)? {
            if rule.status == RuleStatus::Proven {
                proven.apply(&rule);
            }
            proven.order.push(rule.id);
            proven.rules.insert(rule.id, rule);
        }
        Ok(proven)
    }

    /// All rules, the withdrawn ones as well, in the order of proof.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.order.iter().filter_map(|id| self.rules.get(id))
    }

    /// The rule with this identity.
    pub fn get(&self, id: RuleId) -> Option<&Rule> {
        self.rules.get(&id)
    }

    /// Whether no rule was ever proven.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The identity of the host of a URL.
    pub fn site(&self, url: &Url) -> SiteId {
        self.keys.site(url)
    }

    /// Adds a rule about a host. Returns its identity, or `None` if there is no room for it or it was proven
    /// before.
    pub fn add(
        &mut self,
        site: SiteId,
        statement: Statement,
        proof: Evidence,
        session: &mut Session,
    ) -> Option<RuleId> {
        let rule = Rule::new(site, self.order.len() as u32, statement, proof);
        if self.order.len() >= Self::MOST || self.rules.contains_key(&rule.id) {
            return None;
        }
        let id = rule.id;
        rule.put(session);
        self.apply(&rule);
        self.order.push(id);
        self.rules.insert(id, rule);
        Some(id)
    }

    fn apply(&mut self, rule: &Rule) {
        match &rule.statement {
            Statement::Rewrite(rewrite) => {
                self.rewrites.entry(rewrite.host().into()).or_default().push(rule.id);
                if rewrite.host() != rewrite.target_host() {
                    self.mirrors.entry(rewrite.target_host().into()).or_default().push(rule.id);
                }
            }
            Statement::Trap(area) => _ = self.traps.insert(area.id(), rule.id),
        }
    }

    /// A URL that these rules had stopped was fetched as a trial. `agrees`: it showed what the rules say. Calls
    /// `withdrawn` for each rule that is withdrawn now.
    pub fn tried(
        &mut self,
        ids: &[RuleId],
        agrees: bool,
        session: &mut Session,
        withdrawn: &mut dyn FnMut(RuleId, Statement),
    ) {
        for id in ids {
            let Some(rule) = self.rules.get_mut(id).filter(|rule| rule.status == RuleStatus::Proven) else { continue };
            if !rule.tried(agrees) {
                rule.status = RuleStatus::Withdrawn;
                match &rule.statement {
                    Statement::Rewrite(rewrite) => {
                        for (map, host) in
                            [(&mut self.rewrites, rewrite.host()), (&mut self.mirrors, rewrite.target_host())]
                        {
                            map.get_mut(host).into_iter().for_each(|rewrites| rewrites.retain(|other| other != id));
                        }
                    }
                    Statement::Trap(area) => _ = self.traps.remove(&area.id()),
                }
                withdrawn(*id, rule.statement.clone());
            }
            rule.put(session);
        }
    }

    /// Counts a URL of `site` that these rules stopped.
    pub fn stopped(&mut self, ids: &[RuleId], url: &str, site: SiteId, session: &mut Session) {
        for id in ids {
            let Some(rule) = self.rules.get_mut(id) else { continue };
            rule.stopped += 1;
            if rule.example.is_none() {
                rule.example = Some(url.to_owned());
            }
            self.dirty.insert(*id);
            if rule.site != site && self.noted.insert((*id, site.host)) {
                rule.put_site(site, session);
            }
        }
        if self.noted.len() > Self::NOTED {
            self.noted.clear();
        }
    }

    /// Writes down the counters that have changed.
    pub fn save(&mut self, session: &mut Session) {
        for id in self.dirty.drain() {
            self.rules[&id].put(session);
        }
    }

    /// Whether a rewrite changes URLs of this URL's host, or turns other URLs into URLs of this host.
    pub fn concerns(&self, url: &Url) -> bool {
        url.host_str().is_some_and(|host| self.rewrites.contains_key(host) || self.mirrors.contains_key(host))
    }

    /// The trap that a URL lies in.
    pub fn trap(&self, url: &Url) -> Option<RuleId> {
        if self.traps.is_empty() {
            return None;
        }
        self.traps.get(&Area::of(url)?.id()).copied()
    }

    /// Whether an area is a trap.
    pub fn is_trap(&self, area: &Area) -> bool {
        self.traps.contains_key(&area.id())
    }

    /// The rewrites of the URLs of a host, in the order of proof.
    pub fn rewrites<'a>(&'a self, host: &str) -> impl Iterator<Item = (RuleId, &'a Rewrite)> + use<'a> {
        let ids = self.rewrites.get(host).map(Vec::as_slice).unwrap_or_default();
        ids.iter().filter_map(|id| match &self.rules.get(id)?.statement {
            Statement::Rewrite(rewrite) => Some((*id, rewrite)),
            Statement::Trap(_) => None,
        })
    }

    /// The URLs of other hosts that mirrors turn into this one, each with its rule. At most [`Self::MIRRORS`] mirrors
    /// are tried.
    pub fn mirrored<'a>(&'a self, url: &'a Url) -> impl Iterator<Item = (RuleId, UrlId)> + use<'a> {
        let ids = url.host_str().and_then(|host| self.mirrors.get(host)).map(Vec::as_slice).unwrap_or_default();
        ids.iter().take(Self::MIRRORS).filter_map(|id| match &self.rules.get(id)?.statement {
            Statement::Rewrite(rewrite) => Some((*id, self.keys.id(&rewrite.inverse()?.apply(url)?))),
            Statement::Trap(_) => None,
        })
    }

    /// Whether [`Self::mirrored`] applies a rule to URLs of the host to which it leads.
    pub fn is_applied_to_target(&self, id: RuleId) -> bool {
        let Some(Statement::Rewrite(rewrite)) = self.rules.get(&id).map(|rule| &rule.statement) else { return false };
        let mirrors = self.mirrors.get(rewrite.target_host()).map(Vec::as_slice).unwrap_or_default();
        mirrors.iter().take(Self::MIRRORS).any(|mirror| *mirror == id)
    }

    /// Applies all rewrites to a URL, one after the other. Returns the new URL, and the rules that were applied.
    pub fn normal(&self, url: &Url) -> (Url, Vec<RuleId>) {
        let (mut at, mut chain) = (url.clone(), Vec::new());
        while chain.len() < Self::CHAIN
            && let Some(host) = at.host_str()
        {
            let step = self.rewrites(host).find_map(|(id, rewrite)| Some((id, moved(rewrite, &at)?)));
            let Some((id, next)) = step else { break };
            chain.push(id);
            at = next;
        }
        (at, chain)
    }

    /// The class of a URL with this identity, and the rules that were applied to get it.
    pub fn class(&self, url: &Url, id: UrlId) -> (UrlId, Vec<RuleId>) {
        if url.host_str().is_none_or(|host| !self.rewrites.contains_key(host)) {
            return (id, Vec::new());
        }
        let (class, chain) = self.normal(url);
        if chain.is_empty() { (id, chain) } else { (self.keys.id(&class), chain) }
    }

    /// The class of a URL.
    pub fn class_of(&self, url: &Url) -> UrlId {
        self.keys.id(&self.normal(url).0)
    }
}

/// Applies a rewrite to a URL; `None` if the URL stays the same.
pub(super) fn moved(rewrite: &Rewrite, url: &Url) -> Option<Url> {
    rewrite.apply(url).filter(|next| next != url)
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Double;
    use dedup_stage::url::{Canonicalizer, KeyHasher};

    use super::*;

    /// Catches hostile sites that are proven mirrors of one host again and again, so that all links to it are looked at
    /// again each time.
    #[test]
    fn only_so_many_mirrors_are_applied_to_the_host_to_which_they_lead() {
        let keys = Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([7; KeyHasher::SECRET]) };
        let mut session = Session::new(Box::new(Double::default()));
        let mut proven = Proven::open(keys, &session).unwrap();
        let mut prove = |from: String, to: &str| {
            let rewrite = Rewrite::Prefix { from, to: to.to_owned() };
            let id = proven.add(SiteId::default(), Statement::Rewrite(rewrite), Evidence::default(), &mut session);
            id.filter(|id| proven.is_applied_to_target(*id))
        };
        let mirrors = (0..Proven::MIRRORS + 9).map(|number| format!("http://copy{number}.test/"));
        let applied: Vec<RuleId> = mirrors.filter_map(|from| prove(from, "http://original.test/")).collect();
        assert_eq!(applied.len(), Proven::MIRRORS);
        assert!(prove("http://copy.test/".into(), "http://another.test/").is_some(), "each host has its own");
        let url = Url::parse("http://original.test/a/1").unwrap();
        assert_eq!(proven.mirrored(&url).map(|(rule, _)| rule).collect::<Vec<_>>(), applied);
    }
}

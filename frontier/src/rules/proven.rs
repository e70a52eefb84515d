//! The proven rules, and how they are applied to a URL.

use std::collections::{HashMap, HashSet};

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{SiteId, UrlId};
use url::Url;

use super::Map;
use super::evidence::Evidence;
use super::family::Family;
use super::rewrite::{Rewrite, origin};
use super::rule::{Cause, Rule, RuleId, Status, stored};
use dedup_stage::url::Keys;

/// All rules that were ever proven. Those that are still applied can be found by host and by family.
#[derive(Debug)]
pub(super) struct Proven {
    keys: Keys,
    rules: Map<RuleId, Rule>,
    /// Their identities in the order of proof.
    order: Vec<RuleId>,
    /// Rules whose counters are not on record.
    dirty: HashSet<RuleId>,
    /// Pairs of a rule and a host other than its own of which it stopped a URL. Only those that this process noted.
    noted: HashSet<(RuleId, u64)>,
    /// Rewrites by host, in the order of proof.
    rewrites: Map<Box<str>, Vec<RuleId>>,
    /// Hosts to which rewrites lead.
    targets: HashSet<Box<str>>,
    /// Traps by family.
    traps: Map<u64, RuleId>,
}

impl Proven {
    /// Rules applied to one URL, one after the other.
    pub const CHAIN: usize = 6;
    /// Rules over all hosts. Rules that are proven beyond this number are not applied.
    const MOST: usize = 32_768;
    /// Notes that are remembered. A note that was forgotten is written down again.
    const NOTED: usize = 65_536;

    /// What `session` remembers.
    pub fn open(keys: Keys, session: &Session) -> Result<Self> {
        let (rules, rewrites, traps) = (Map::default(), Map::default(), Map::default());
        let (dirty, noted, targets) = (HashSet::new(), HashSet::new(), HashSet::new());
        let order = Vec::new();
        let mut proven = Self { keys, rules, order, dirty, noted, rewrites, targets, traps };
        for rule in stored(session)? {
            if rule.status == Status::Proven {
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

    /// One more rule about URLs like `url`. Returns its identity, if there is room for it.
    pub fn add(&mut self, url: &Url, cause: Cause, proof: Evidence, session: &mut Session) -> Option<RuleId> {
        let rule = Rule::new(self.keys.site(url), self.order.len() as u32, cause, proof);
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
        match &rule.cause {
            Cause::Rewrite(rewrite) => {
                self.rewrites.entry(rewrite.host().into()).or_default().push(rule.id);
                self.targets.insert(rewrite.target_host().into());
            }
            Cause::Trap(family) => _ = self.traps.insert(family.id(), rule.id),
        }
    }

    /// A URL that these rules had stopped was fetched as a trial, and agreed or not. Calls `withdrawn` for each rule that is
    /// withdrawn now.
    pub fn tried(
        &mut self,
        ids: &[RuleId],
        agrees: bool,
        session: &mut Session,
        withdrawn: &mut dyn FnMut(RuleId, Cause),
    ) {
        for id in ids {
            let Some(rule) = self.rules.get_mut(id).filter(|rule| rule.status == Status::Proven) else { continue };
            if !rule.tried(agrees) {
                rule.status = Status::Withdrawn;
                match &rule.cause {
                    Cause::Rewrite(rewrite) => {
                        if let Some(rewrites) = self.rewrites.get_mut(rewrite.host()) {
                            rewrites.retain(|other| other != id);
                        }
                    }
                    Cause::Trap(family) => _ = self.traps.remove(&family.id()),
                }
                withdrawn(*id, rule.cause.clone());
            }
            rule.put(session);
        }
    }

    /// These rules stopped a URL of `site`.
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

    /// Whether some rewrite changes URLs of this URL's host, or leads to that host.
    pub fn concerns(&self, url: &Url) -> bool {
        url.host_str().is_some_and(|host| self.rewrites.contains_key(host) || self.targets.contains(host))
    }

    /// The trap that a URL is in.
    pub fn trap(&self, url: &Url) -> Option<RuleId> {
        if self.traps.is_empty() {
            return None;
        }
        self.traps.get(&Family::of(url)?.id()).copied()
    }

    /// Whether a family is a trap.
    pub fn is_trap(&self, family: &Family) -> bool {
        self.traps.contains_key(&family.id())
    }

    /// The rewrites of the URLs of a host, in the order of proof.
    pub fn rewrites<'a>(&'a self, host: &str) -> impl Iterator<Item = (RuleId, &'a Rewrite)> + use<'a> {
        let ids = self.rewrites.get(host).map(Vec::as_slice).unwrap_or_default();
        ids.iter().filter_map(|id| match &self.rules.get(id)?.cause {
            Cause::Rewrite(rewrite) => Some((*id, rewrite)),
            Cause::Trap(_) => None,
        })
    }

    /// Applies all rewrites to a URL. Returns what becomes of it, and the rules that were applied.
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

    /// The class of a URL with this identity, and the rules that lead there.
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

    /// Tells which URLs of any hosts may show the same.
    pub fn clusters(&self) -> Clusters<'_> {
        let mut kinds = HashMap::new();
        for rule in self.iter().filter(|rule| rule.status == Status::Proven) {
            if let Cause::Rewrite(rewrite) = &rule.cause
                && let Some(kind) = rewrite.on("http://any")
            {
                kinds.entry(kind).or_insert((rule.order, rewrite));
            }
        }
        let mut kinds: Vec<_> = kinds.into_values().collect();
        kinds.sort_unstable_by_key(|(order, _)| *order);
        Clusters { proven: self, kinds: kinds.into_iter().map(|(_, rewrite)| rewrite).collect() }
    }
}

/// Groups URLs of all hosts by path and query. What proven rewrites of any host drop is left out.
#[derive(Debug)]
pub struct Clusters<'a> {
    proven: &'a Proven,
    /// The proven rewrites that can be applied to other hosts, one of each kind.
    kinds: Vec<&'a Rewrite>,
}

impl Clusters<'_> {
    /// The class of a URL.
    pub fn class_of(&self, url: &Url) -> UrlId {
        self.proven.class_of(url)
    }

    /// The cluster of a URL, as a keyed hash.
    pub fn of(&self, url: &Url) -> u64 {
        let mut at = self.proven.normal(url).0;
        let here = origin(&at).to_owned();
        for rewrite in self.kinds.iter().filter_map(|rewrite| rewrite.on(&here)) {
            at = rewrite.apply(&at).unwrap_or(at);
        }
        let path = format!("http://any{}", &at[url::Position::BeforePath..url::Position::AfterQuery]);
        Url::parse(&path).map_or(0, |url| self.proven.keys.id(&url).url)
    }
}

/// Applies a rewrite to a URL; `None` if the URL stays the same.
pub(super) fn moved(rewrite: &Rewrite, url: &Url) -> Option<Url> {
    rewrite.apply(url).filter(|next| next != url)
}

//! The proven rules, and what they make of a URL.

use std::collections::{HashMap, HashSet};

use dedup_stage::store::{Result, Session};
use url::Url;

use super::evidence::Evidence;
use super::family::Family;
use super::rewrite::{Rewrite, origin};
use super::rule::{Cause, Rule, RuleId, Status, stored};
use super::{Keys, Map};

/// All rules that were ever proven; those that still are, by what they apply to.
#[derive(Debug)]
pub(super) struct Proven {
    keys: Keys,
    rules: Vec<Rule>,
    /// Rules whose counters are not on record.
    dirty: HashSet<RuleId>,
    /// Rewrites by host.
    rewrites: Map<Box<str>, Vec<RuleId>>,
    /// Traps by family.
    traps: Map<u64, RuleId>,
}

impl Proven {
    /// Rules applied to one URL, one after the other.
    pub const CHAIN: usize = 6;

    /// What `session` remembers.
    pub fn open(keys: Keys, session: &Session) -> Result<Self> {
        let (dirty, rewrites, traps) = (HashSet::new(), Map::default(), Map::default());
        let mut proven = Self { keys, rules: Vec::new(), dirty, rewrites, traps };
        for rule in stored(session)? {
            if rule.status == Status::Proven {
                proven.apply(&rule);
            }
            proven.rules.push(rule);
        }
        Ok(proven)
    }

    /// All rules, the withdrawn ones as well, by number.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// One more rule.
    pub fn add(&mut self, cause: Cause, proof: Evidence, session: &mut Session) {
        let rule = Rule::new(self.rules.len() as RuleId, cause, proof);
        rule.put(session);
        self.apply(&rule);
        self.rules.push(rule);
    }

    fn apply(&mut self, rule: &Rule) {
        match &rule.cause {
            Cause::Rewrite(rewrite) => self.rewrites.entry(rewrite.host().into()).or_default().push(rule.id),
            Cause::Trap(family) => _ = self.traps.insert(family.id(), rule.id),
        }
    }

    /// Something that these rules stopped was fetched all the same. Calls `withdrawn` for each that falls by that.
    pub fn audited(
        &mut self,
        ids: &[RuleId],
        agrees: bool,
        session: &mut Session,
        withdrawn: &mut dyn FnMut(RuleId, Cause),
    ) {
        for id in ids {
            let rule = &mut self.rules[*id as usize];
            if rule.status != Status::Proven {
                continue;
            }
            rule.audits.add(agrees);
            if !rule.watch(agrees) {
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

    /// These rules stopped a URL.
    pub fn stopped(&mut self, ids: &[RuleId]) {
        for id in ids {
            self.rules[*id as usize].stopped += 1;
            self.dirty.insert(*id);
        }
    }

    /// Writes down the counters that have changed.
    pub fn save(&mut self, session: &mut Session) {
        for id in self.dirty.drain() {
            self.rules[id as usize].put(session);
        }
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
        ids.iter().filter_map(|id| match &self.rules[*id as usize].cause {
            Cause::Rewrite(rewrite) => Some((*id, rewrite)),
            Cause::Trap(_) => None,
        })
    }

    /// What a URL becomes, and by which rules.
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

    /// The hash of the class of a URL with this hash, and the rules that lead there.
    pub fn class(&self, url: &Url, hash: u64) -> (u64, Vec<RuleId>) {
        if url.host_str().is_none_or(|host| !self.rewrites.contains_key(host)) {
            return (hash, Vec::new());
        }
        let (class, chain) = self.normal(url);
        if chain.is_empty() { (hash, chain) } else { (self.keys.hash(&class), chain) }
    }

    /// The hash of the class of a URL.
    pub fn class_of(&self, url: &Url) -> u64 {
        self.keys.hash(&self.normal(url).0)
    }

    /// Tells which URLs of any hosts may show the same.
    pub fn clusters(&self) -> Clusters<'_> {
        let mut kinds = HashMap::new();
        for rule in self.rules.iter().filter(|rule| rule.status == Status::Proven) {
            if let Cause::Rewrite(rewrite) = &rule.cause
                && let Some(kind) = rewrite.on("http://any")
            {
                kinds.entry(kind).or_insert((rule.id, rewrite));
            }
        }
        let mut kinds: Vec<_> = kinds.into_values().collect();
        kinds.sort_unstable_by_key(|(id, _)| *id);
        Clusters { proven: self, kinds: kinds.into_iter().map(|(_, rewrite)| rewrite).collect() }
    }
}

/// Clusters of URLs of all hosts by path and query, less what rules of any host say makes no difference.
#[derive(Debug)]
pub struct Clusters<'a> {
    proven: &'a Proven,
    /// One proven rewrite of each kind that makes sense on other hosts.
    kinds: Vec<&'a Rewrite>,
}

impl Clusters<'_> {
    /// The hash of the class of a URL.
    pub fn class_of(&self, url: &Url) -> u64 {
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
        Url::parse(&path).map_or(0, |url| self.proven.keys.hash(&url))
    }
}

/// What a rewrite makes of a URL, if that is another one.
pub(super) fn moved(rewrite: &Rewrite, url: &Url) -> Option<Url> {
    rewrite.apply(url).filter(|next| next != url)
}

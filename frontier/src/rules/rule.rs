//! A rule that was proven: its statement, its proof, the results of its trials.

use std::fmt;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::area::Area;
use super::evidence::{Evidence, Watch};
use super::rewrite::Rewrite;
use crate::numbers::RuleId;
use crate::spaces;

/// Kind of the records of rules in [`spaces::RULES`], by host and identity.
const RULE: u8 = b'r';
/// Kind of the records that name further hosts whose URLs a rule stopped.
const SITE: u8 = b'o';

/// The statement of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Statement {
    /// A URL shows the same as the URL that the rewrite makes of it.
    Rewrite(Rewrite),
    /// The URLs of the area show nothing new.
    Trap(Area),
}

/// Whether a rule is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RuleStatus {
    /// The rule is applied.
    Proven,
    /// The rule is not applied any more, because its trials failed.
    Withdrawn,
}

/// A proven rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Its identity.
    pub id: RuleId,
    /// The host whose URLs it is about.
    pub site: SiteId,
    /// Its place in the order of proof.
    pub order: u32,
    /// Its statement.
    pub statement: Statement,
    /// Whether it is in force.
    pub status: RuleStatus,
    /// The evidence that proved it: pairs of URLs, or pages of a trap.
    pub proof: Evidence,
    /// The results of its trials: stopped URLs that were fetched all the same.
    pub trials: Evidence,
    /// URLs that it stopped.
    pub stopped: u64,
    /// The first URL that it stopped.
    pub example: Option<String>,
    watch: Watch,
}

/// Counts of rules, and of the URLs that they stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Rules in force.
    pub proven: u64,
    /// Rules that were withdrawn because their trials failed.
    pub withdrawn: u64,
    /// URLs that rules stopped.
    pub stopped: u64,
}

impl Totals {
    /// The counts of `rules`.
    pub fn of<'a>(rules: impl IntoIterator<Item = &'a Rule>) -> Self {
        let mut totals = Self::default();
        for rule in rules {
            match rule.status {
                RuleStatus::Proven => totals.proven += 1,
                RuleStatus::Withdrawn => totals.withdrawn += 1,
            }
            totals.stopped += rule.stopped;
        }
        totals
    }
}

impl Rule {
    pub(super) fn new(site: SiteId, order: u32, statement: Statement, proof: Evidence) -> Self {
        let id = xxh3_64_with_seed(&codec::encode(&statement), site.host) >> 11;
        let (trials, watch) = (Evidence::default(), Watch::default());
        Self { id, site, order, statement, status: RuleStatus::Proven, proof, trials, stopped: 0, example: None, watch }
    }

    /// `mirror`, `trap` or the kind of rewrite: `parameter`, `prefix`, `segment`, `ending`, `form`.
    pub fn kind(&self) -> &'static str {
        match &self.statement {
            Statement::Trap(_) => "trap",
            Statement::Rewrite(rewrite) if rewrite.is_mirror() => "mirror",
            Statement::Rewrite(Rewrite::Parameter { .. }) => "parameter",
            Statement::Rewrite(Rewrite::Prefix { .. }) => "prefix",
            Statement::Rewrite(Rewrite::Segment { .. }) => "segment",
            Statement::Rewrite(Rewrite::Ending { .. }) => "ending",
            Statement::Rewrite(Rewrite::Form { .. }) => "form",
        }
    }

    /// Whether the rule says that a host or folder shows what another host or folder shows.
    pub fn is_mirror(&self) -> bool {
        matches!(&self.statement, Statement::Rewrite(rewrite) if rewrite.is_mirror())
    }

    /// Counts one more trial. False if the rule must be withdrawn now.
    pub(super) fn tried(&mut self, agrees: bool) -> bool {
        self.trials.add(agrees);
        self.watch.count(agrees)
    }

    /// Puts the rule on record.
    pub(super) fn put(&self, session: &mut Session) {
        session.put(spaces::RULES, key(self.site, RULE, self.id), codec::encode(self));
    }

    /// Notes that the rule stopped a URL of another host than its own.
    pub(super) fn put_site(&self, site: SiteId, session: &mut Session) {
        let mut key = key(self.site, SITE, self.id);
        key.extend(site.to_bytes());
        session.put(spaces::RULES, key, []);
    }

    /// The hosts whose URLs the rule may have stopped.
    pub fn sites(&self, session: &Session) -> Result<Vec<SiteId>> {
        let mut sites = vec![self.site];
        let (from, to) = (key(self.site, SITE, self.id), key(self.site, SITE, self.id + 1));
        session.scan(spaces::RULES, &from, &to, &mut |key, _| {
            sites.extend(key.get(from.len()..).and_then(SiteId::read));
            ControlFlow::Continue(())
        })?;
        Ok(sites)
    }
}

fn key(site: SiteId, kind: u8, id: RuleId) -> Vec<u8> {
    [&site.to_bytes()[..], &[kind], &id.to_be_bytes()].concat()
}

/// Every rule in the store, in the order of proof.
pub fn stored(session: &Session) -> Result<Vec<Rule>> {
    let (mut rules, mut failure) = (Vec::<Rule>::new(), None);
    session.scan(spaces::RULES, &[], &[], &mut |key, value| {
        if key.get(SiteId::BYTES) == Some(&RULE) {
            match codec::decode(value, "a learned rule") {
                Ok(rule) => rules.push(rule),
                Err(error) => {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    })?;
    rules.sort_by_key(|rule| (rule.order, rule.id));
    failure.map_or(Ok(rules), Err)
}

impl fmt::Display for Rule {
    /// The name of the rule in `skipped.jsonl`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.statement {
            Statement::Rewrite(rewrite) => rewrite.fmt(f),
            Statement::Trap(area) => area.fmt(f),
        }
    }
}

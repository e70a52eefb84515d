//! A rule that was proven: what it does, what proved it, how its audits went.

use std::fmt;
use std::ops::ControlFlow;

use dedup_stage::store::{Error, Result, Session};
use serde::{Deserialize, Serialize};

use super::evidence::{Evidence, Watch};
use super::family::Family;
use super::rewrite::Rewrite;
use crate::spaces;

/// First byte of the keys of rules in [`spaces::RULES`], by number.
const RULE: u8 = b'r';

/// Identity of a rule: a keyed hash of what the rule says, of 53 bits (so that it is exact in JSON).
pub type RuleId = u64;

/// What a rule is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// URLs show what other URLs show.
    Rewrite(Rewrite),
    /// URLs show nothing new.
    Trap(Family),
}

/// Where a rule stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is applied.
    Proven,
    /// Its audits failed.
    Withdrawn,
}

/// A proven rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its number.
    pub id: RuleId,
    /// What it is about.
    pub cause: Cause,
    /// Where it stands.
    pub status: Status,
    /// What proved it: pairs of URLs, or pages of a trap.
    pub proof: Evidence,
    /// What was stopped and fetched all the same.
    pub audits: Evidence,
    /// URLs stopped.
    pub stopped: u64,
    watch: Watch,
}

/// How many rules there are, and what they did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Rules that are applied.
    pub proven: u64,
    /// Rules that were, until their audits failed.
    pub withdrawn: u64,
    /// URLs that they stopped.
    pub stopped: u64,
}

impl Totals {
    /// Those of `rules`.
    pub fn of<'a>(rules: impl IntoIterator<Item = &'a Rule>) -> Self {
        let mut totals = Self::default();
        for rule in rules {
            match rule.status {
                Status::Proven => totals.proven += 1,
                Status::Withdrawn => totals.withdrawn += 1,
            }
            totals.stopped += rule.stopped;
        }
        totals
    }
}

/// As it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    id: RuleId,
    cause: Cause,
    status: Status,
    proof: [u32; 2],
    audits: [u32; 2],
    stopped: u64,
    watch: f64,
}

impl Rule {
    pub(super) fn new(id: RuleId, cause: Cause, proof: Evidence) -> Self {
        let (audits, watch) = (Evidence::default(), Watch::default());
        Self { id, cause, status: Status::Proven, proof, audits, stopped: 0, watch }
    }

    /// `mirror`, `trap` or the kind of rewrite: `parameter`, `prefix`, `segment`, `ending`, `form`.
    pub fn kind(&self) -> &'static str {
        match &self.cause {
            Cause::Trap(_) => "trap",
            Cause::Rewrite(rewrite) if rewrite.is_mirror() => "mirror",
            Cause::Rewrite(Rewrite::Parameter { .. }) => "parameter",
            Cause::Rewrite(Rewrite::Prefix { .. }) => "prefix",
            Cause::Rewrite(Rewrite::Segment { .. }) => "segment",
            Cause::Rewrite(Rewrite::Ending { .. }) => "ending",
            Cause::Rewrite(Rewrite::Form { .. }) => "form",
        }
    }

    /// Whether it says that a host or folder is another.
    pub fn is_mirror(&self) -> bool {
        matches!(&self.cause, Cause::Rewrite(rewrite) if rewrite.is_mirror())
    }

    /// One more audit; false where the rule is to be withdrawn.
    pub(super) fn watch(&mut self, agrees: bool) -> bool {
        self.watch.holds(agrees)
    }

    /// Writes it down.
    pub(super) fn put(&self, session: &mut Session) {
        let stored = Stored {
            id: self.id,
            cause: self.cause.clone(),
            status: self.status,
            proof: [self.proof.agreed, self.proof.differed],
            audits: [self.audits.agreed, self.audits.differed],
            stopped: self.stopped,
            watch: self.watch.sum,
        };
        let mut key = vec![RULE];
        key.extend(self.id.to_be_bytes());
        // Strings and numbers always become JSON.
        session.put(spaces::RULES, key, serde_json::to_vec(&stored).unwrap_or_default());
    }

    /// Reads it back.
    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        let stored: Stored = serde_json::from_slice(bytes)
            .map_err(|error| Error::Damaged(format!("a learned rule cannot be read: {error}")))?;
        let evidence = |[agreed, differed]: [u32; 2]| Evidence { agreed, differed };
        Ok(Self {
            id: stored.id,
            cause: stored.cause,
            status: stored.status,
            proof: evidence(stored.proof),
            audits: evidence(stored.audits),
            stopped: stored.stopped,
            watch: Watch { sum: stored.watch },
        })
    }
}

/// Every rule in the store, by number.
pub fn stored(session: &Session) -> Result<Vec<Rule>> {
    let mut rules = Vec::new();
    let mut failure = None;
    session.scan(spaces::RULES, &[RULE], &[RULE + 1], &mut |_, value| match Rule::read(value) {
        Ok(rule) => {
            rules.push(rule);
            ControlFlow::Continue(())
        }
        Err(error) => {
            failure = Some(error);
            ControlFlow::Break(())
        }
    })?;
    failure.map_or(Ok(rules), Err)
}

impl fmt::Display for Rule {
    /// Its name, as `skipped.jsonl` has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Cause::Rewrite(rewrite) => rewrite.fmt(f),
            Cause::Trap(family) => family.fmt(f),
        }
    }
}

//! The rules, mirrors and traps that the crawl has learned, with their evidence, the budgets that are running out, and
//! the hosts that stand out. The terminal, the live page and the report show them.

use std::cmp::Reverse;

use config::OnDuplicate;
use dedup_stage::store::{Result, Session};
use frontier::rules::{Rule, RuleStatus, Totals, stored};
use frontier::{BudgetView, Frontier, HostNote, stored_budgets, stored_notes};

use crate::units;

/// The rules, mirrors and traps that the crawl has learned, and its findings about hosts.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// All rules that were ever proven. Those that stopped the most URLs come first.
    pub rules: Vec<Rule>,
    /// Budgets of which at least half is spent. The most spent one comes first.
    pub budgets: Vec<BudgetView>,
    /// Hosts that lost slots, or whose delay is longer because they bring little. Those that lost the most slots come
    /// first.
    pub hosts: Vec<HostNote>,
}

impl Learned {
    /// Reads the state of a crawl.
    pub fn stored(on_duplicate: OnDuplicate, session: &Session) -> Result<Self> {
        Ok(Self::new(stored(session)?, stored_budgets(on_duplicate, session)?, stored_notes(session)?))
    }

    /// Asks the frontier of a crawl that runs.
    pub fn of(frontier: &Frontier) -> Self {
        let rules = frontier.rules().map(|rules| rules.iter().cloned().collect());
        Self::new(rules.unwrap_or_default(), frontier.budgets(), frontier.notes().collect())
    }

    fn new(mut rules: Vec<Rule>, mut budgets: Vec<BudgetView>, mut hosts: Vec<HostNote>) -> Self {
        rules.sort_by_key(|rule| (Reverse(rule.stopped), rule.id));
        let share = |budget: &BudgetView| f64::from(budget.spent) / f64::from(budget.limit.max(1));
        budgets.sort_by(|a, b| share(b).total_cmp(&share(a)));
        hosts.sort_by(|a, b| (b.slots_lost, b.stretch, &a.host).cmp(&(a.slots_lost, a.stretch, &b.host)));
        Self { rules, budgets, hosts }
    }

    /// Hosts that held slots for nothing. Those that lost the most come first.
    pub fn slow_hosts(&self) -> impl Iterator<Item = &HostNote> {
        self.hosts.iter().filter(|note| note.slots_lost > 0)
    }

    /// Hosts that are under the automatic ceiling.
    pub fn held_down(&self) -> impl Iterator<Item = &HostNote> {
        self.hosts.iter().filter(|note| note.stretch > 0)
    }

    /// The number of rules, and of the URLs that they stopped.
    pub fn totals(&self) -> Totals {
        Totals::of(&self.rules)
    }
}

/// The state of a rule, in words.
pub fn state(rule: &Rule) -> &'static str {
    match rule.status {
        RuleStatus::Proven => "proven",
        RuleStatus::Withdrawn => "withdrawn",
    }
}

/// The proof of a rule, in words.
pub fn proof(rule: &Rule) -> String {
    let agreed = u64::from(rule.proof.agreed);
    match (rule.kind(), rule.proof.differed) {
        ("trap", 0) => format!("{} in a row brought nothing", units::counted(agreed, "page")),
        ("trap", differed) => format!("{} brought nothing, {differed} did", units::counted(agreed, "page")),
        (_, 0) => format!("{} of pages agreed", units::counted(agreed, "pair")),
        (_, differed) => format!("{} of pages agreed, {differed} differed", units::counted(agreed, "pair")),
    }
}

/// The results of the trials of a rule, in words.
pub fn trials(rule: &Rule) -> String {
    let failed = rule.trials.differed;
    match rule.trials.agreed + failed {
        0 => "not tried yet".into(),
        all => format!("{failed} of {} failed", units::counted(u64::from(all), "trial")),
    }
}

/// The state of a budget, in words.
pub fn spending(budget: &BudgetView) -> String {
    match budget.is_spent() {
        true => "spent: nothing more is fetched there".into(),
        false => format!("{} spent", units::share(budget.spent.into(), budget.limit.into())),
    }
}

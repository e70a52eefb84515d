//! `crawler rules`: prints what the crawl has learned about URLs, with the evidence.

use std::process::ExitCode;

use frontier::BudgetView;
use frontier::rules::{Rule, RuleStatus};
use serde_json::{Value, json};

use super::shown::Printable;
use super::{Telling, tell};
use crate::crawl::CrawlDir;
use crate::report::html::put;
use crate::report::learned::{Learned, proof, spending, state, trials};
use crate::terminal::say::say;
use crate::units;

/// Runs the command.
pub fn run(args: Telling) -> anyhow::Result<ExitCode> {
    let mut dir = CrawlDir::reading(&args.dir.dir)?;
    let on_duplicate = dir.last_settings()?.dedup.on_duplicate;
    let learned = Learned::stored(on_duplicate, dir.session())?;
    if args.json {
        return tell(format!("{:#}\n", learned.rules.iter().map(json).collect::<Value>()));
    }
    if learned.rules.is_empty() {
        say!("no rule was proven");
    }
    let mut out = String::new();
    for rule in &learned.rules {
        put!(out, "{}\n", text(rule));
    }
    for budget in &learned.budgets {
        let BudgetView { host, group, spent, limit } = budget;
        put!(out, "{:9} {} {}\n", "budget", Printable(host), Printable(group));
        put!(out, "          {spent} of {limit} duplicates; {}\n", spending(budget));
    }
    tell(out)
}

fn json(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "kind": rule.kind(),
        "rule": rule.to_string(),
        "status": state(rule),
        "proof": {"agreed": rule.proof.agreed, "differed": rule.proof.differed},
        "audits": {"agreed": rule.trials.agreed, "differed": rule.trials.differed},
        "stopped": rule.stopped,
    })
}

/// One rule as text: the rule, and its evidence.
pub(super) fn text(rule: &Rule) -> String {
    let withdrawn = if rule.status == RuleStatus::Withdrawn { "; withdrawn" } else { "" };
    format!(
        "{:9} {}\n          {}; {} stopped; {}{withdrawn}",
        rule.kind(),
        Printable(&rule.to_string()),
        proof(rule),
        units::counted(rule.stopped, "URL"),
        trials(rule),
    )
}

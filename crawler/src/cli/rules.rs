//! `crawler rules`: what the crawl learned of URLs, with the evidence.

use std::process::ExitCode;

use frontier::rules::{Rule, Status, stored};
use serde_json::{Value, json};

use super::Dir;
use crate::crawl::CrawlDir;

/// Arguments of `crawler rules`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    dir: Dir,
    /// One JSON array on stdout
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut dir = CrawlDir::existing(&args.dir.dir)?;
    let rules = stored(dir.session())?;
    if args.json {
        println!("{:#}", rules.iter().map(json).collect::<Value>());
        return Ok(ExitCode::SUCCESS);
    }
    if rules.is_empty() {
        eprintln!("no rule was proven");
    }
    for rule in &rules {
        println!("{}", text(rule));
    }
    Ok(ExitCode::SUCCESS)
}

fn json(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "kind": rule.kind(),
        "rule": rule.to_string(),
        "status": status(rule),
        "proof": {"agreed": rule.proof.agreed, "differed": rule.proof.differed},
        "audits": {"agreed": rule.audits.agreed, "differed": rule.audits.differed},
        "stopped": rule.stopped,
    })
}

fn status(rule: &Rule) -> &'static str {
    match rule.status {
        Status::Proven => "proven",
        Status::Withdrawn => "withdrawn",
    }
}

/// One rule, for people: what it says, and what speaks for it.
pub(super) fn text(rule: &Rule) -> String {
    let proof = match (rule.kind(), rule.proof.differed) {
        ("trap", _) => format!("{} pages in a row brought nothing", rule.proof.agreed),
        (_, 0) => format!("proven by {} pairs of pages", rule.proof.agreed),
        (_, differed) => format!("proven by {} pairs of pages against {differed}", rule.proof.agreed),
    };
    let withdrawn = if rule.status == Status::Withdrawn { "; withdrawn" } else { "" };
    format!(
        "{:9} {rule}\n          {proof}; {} URLs stopped; {} of {} audits failed{withdrawn}",
        rule.kind(),
        rule.stopped,
        rule.audits.differed,
        rule.audits.agreed + rule.audits.differed
    )
}

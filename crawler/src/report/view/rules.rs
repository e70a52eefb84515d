//! The section about the rules that the crawl has learned about URLs, with their evidence.

use frontier::rules::Totals;

use super::super::html::{Web, WebLink, put};
use super::super::learned::{Learned, proof, spending, state, trials};
use super::{Table, count};
use crate::units;

/// At most `most` rules, mirrors and traps, each with a URL that it stopped. Those that stopped the most come first.
/// Then at most `most` budgets that are running out.
pub fn rules(out: &mut String, id: Option<&str>, learned: &Learned, most: usize) {
    let Learned { rules, budgets, .. } = learned;
    if rules.is_empty() && budgets.is_empty() {
        out.push_str("<p class=\"note\">No rule was proven, and no budget is half spent.</p>\n");
        return;
    }
    if !rules.is_empty() {
        let mut rows = String::new();
        for rule in rules.iter().take(most) {
            put!(rows, "<tr><td><code>{}</code>", Web(&rule.to_string()));
            if let Some(url) = &rule.example {
                put!(rows, "<br><span class=\"note\">stopped for example {}</span>", WebLink(url));
            }
            put!(rows, "</td><td>{}</td><td>{}</td>{}", rule.kind(), state(rule), count(rule.stopped));
            put!(rows, "<td>{}</td><td>{}</td></tr>\n", proof(rule), trials(rule));
        }
        let Totals { proven, withdrawn, stopped } = learned.totals();
        let mut caption = format!("{} in force", units::counted(proven, "rule"));
        if withdrawn > 0 {
            put!(caption, ", {} withdrawn", units::count(withdrawn));
        }
        put!(caption, "; {} stopped", units::counted(stopped, "URL"));
        if rules.len() > most {
            put!(caption, "; the {most} that stopped most");
        }
        let heads = &["rule", "kind", "state", "#URLs stopped", "evidence", "trials"];
        Table { id, caption: &caption, heads, rows }.put(out);
    }
    if !budgets.is_empty() {
        let mut rows = String::new();
        for budget in budgets.iter().take(most) {
            put!(rows, "<tr><th scope=\"row\">{}</th><td><code>{}</code></td>", Web(&budget.host), Web(&budget.group));
            put!(rows, "<td>{}</td>", spending(budget));
            put!(rows, "{}{}</tr>\n", count(budget.spent.into()), count(budget.limit.into()));
        }
        let heads = &["host", "folder and parameters", "state", "#duplicates spent", "#budget"];
        Table { id: None, caption: "Budgets for duplicates: half spent, or more", heads, rows }.put(out);
    }
}

#[cfg(test)]
mod tests {
    use frontier::BudgetView;
    use serde_json::json;

    use super::*;

    /// A rule that was withdrawn.
    fn withdrawn() -> frontier::rules::Rule {
        let rule = json!({
            "id": 0, "site": {"domain": [0, 0, 0, 0, 0, 0, 0, 0], "host": [0, 0, 0, 0, 0, 0, 0, 0]}, "order": 0,
            "statement": {"Rewrite": {"Parameter": {"origin": "http://a.test", "name": "<sid>\u{202e}"}}},
            "status": "Withdrawn", "proof": {"agreed": 12, "differed": 1}, "trials": {"agreed": 40, "differed": 3},
            "stopped": 1234, "example": "http://a.test/?<sid>=1", "watch": {"sum": 0.0}
        });
        serde_json::from_value(rule).unwrap()
    }

    #[test]
    fn evidence_stands_beside_each_rule_and_names_are_text() {
        let budget = BudgetView { host: "a.test".into(), group: "/<x>/?n".into(), spent: 990, limit: 1_000 };
        let learned = Learned { rules: vec![withdrawn()], budgets: vec![budget], ..Learned::default() };
        let mut out = String::new();
        rules(&mut out, None, &learned, 10);
        for shown in [
            "without &lt;sid&gt;<i class=\"hidden-character\">U+202E</i>",
            "stopped for example <a href=\"http://a.test/?&lt;sid&gt;=1\"",
            ">withdrawn<",
            ">1,234<",
            "12 pairs of pages agreed, 1 differed",
            "3 of 43 trials failed",
            "0 rules in force, 1 withdrawn; 1,234 URLs stopped",
            "/&lt;x&gt;/?n",
            "99 % spent",
        ] {
            assert!(out.contains(shown), "{shown}: {out}");
        }
    }
}

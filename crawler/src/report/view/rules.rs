//! What the crawl learned of URLs, with the evidence.

use std::collections::HashMap;
use std::io;

use frontier::rules::Totals;

use super::super::html::{Web, WebLink, put};
use super::super::learned::{Learned, audits, proof, spending, state};
use super::super::line::SkipLine;
use super::super::source::Lines;
use super::super::tally::Tally;
use super::super::units;
use super::{Table, count};

/// Rules, mirrors and traps, those first that stopped most, each with a URL that it stopped if `skips` has one; then the
/// budgets that are running out. At most `most` of each.
pub fn rules(
    out: &mut String,
    id: Option<&str>,
    learned: &Learned,
    tally: &Tally,
    skips: &Lines,
    most: usize,
) -> io::Result<()> {
    let Learned { rules, budgets } = learned;
    if rules.is_empty() && budgets.is_empty() {
        out.push_str("<p class=\"note\">No rule was proven, and no budget is half spent.</p>\n");
        return Ok(());
    }
    if !rules.is_empty() {
        let stopped = tally.stopped();
        let shown = &rules[..rules.len().min(most)];
        let examples = examples(shown.iter().map(|rule| rule.to_string()), &stopped, skips)?;
        let mut rows = String::new();
        for (rule, example) in shown.iter().zip(examples) {
            put!(rows, "<tr><td><code>{}</code>", Web(&rule.to_string()));
            if let Some(url) = example {
                put!(rows, "<br><span class=\"note\">stopped for example {}</span>", WebLink(&url));
            }
            put!(rows, "</td><td>{}</td><td>{}</td>{}", rule.kind(), state(rule), count(rule.stopped));
            put!(rows, "<td>{}</td><td>{}</td></tr>\n", proof(rule), audits(rule));
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
        let heads = &["rule", "kind", "state", "#URLs stopped", "evidence", "audits"];
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
    Ok(())
}

/// For each rule a URL that it stopped, by itself or together with others.
fn examples(
    rules: impl Iterator<Item = String>,
    stopped: &HashMap<&str, u64>,
    skips: &Lines,
) -> io::Result<Vec<Option<String>>> {
    let url = |rule: String| {
        let Some(at) = stopped.get(&*rule) else { return Ok(None) };
        let lines = skips.at([*at])?;
        let skip = lines.first().and_then(|line| serde_json::from_slice::<SkipLine<'_>>(line).ok());
        Ok(skip.map(|skip| skip.url.to_string()))
    };
    rules.map(url).collect()
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::{Double, Session};
    use frontier::BudgetView;
    use frontier::rules::stored;
    use serde_json::json;

    use super::*;

    /// A rule as the state has it.
    fn withdrawn() -> frontier::rules::Rule {
        let mut session = Session::new(Box::new(Double::default()));
        let cause = json!({"rewrite": {"kind": "parameter", "origin": "http://a.test", "name": "<sid>\u{202e}"}});
        let rule = json!({
            "id": 0, "cause": cause, "status": "withdrawn", "proof": [12, 1], "audits": [40, 3], "stopped": 1234, "watch": 0.0
        });
        session.put(frontier::spaces::RULES, *b"r\0\0\0\0", rule.to_string());
        stored(&session).unwrap().remove(0)
    }

    #[test]
    fn evidence_stands_beside_each_rule_and_names_are_text() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("skipped.jsonl");
        let rule = withdrawn();
        let line = json!({"url": "http://a.test/?<sid>=1", "reason": "rule", "rule": format!("{rule}, then another")});
        std::fs::write(&path, format!("{line}\n")).unwrap();
        let skips = Lines::open(&path, None).unwrap();
        let mut tally = Tally::new(false);
        skips.each(&mut |at, line| tally.skip(&serde_json::from_slice(line).unwrap(), at)).unwrap();
        let budget = BudgetView { host: "a.test".into(), group: "/<x>/?n".into(), spent: 990, limit: 1_000 };
        let learned = Learned { rules: vec![rule], budgets: vec![budget] };
        let mut out = String::new();
        rules(&mut out, None, &learned, &tally, &skips, 10).unwrap();
        for shown in [
            "without &lt;sid&gt;<i class=\"hidden-character\">U+202E</i>",
            "stopped for example <a href=\"http://a.test/?&lt;sid&gt;=1\"",
            ">withdrawn<",
            ">1,234<",
            "12 pairs of pages agreed, 1 differed",
            "3 of 43 audits failed",
            "0 rules in force, 1 withdrawn; 1,234 URLs stopped",
            "/&lt;x&gt;/?n",
            "99 % spent",
        ] {
            assert!(out.contains(shown), "{shown}: {out}");
        }
    }
}

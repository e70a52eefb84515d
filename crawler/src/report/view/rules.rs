//! What the crawl learned of URLs, with the evidence.

use super::super::Learned;
use super::super::html::{Web, put};
use super::{Table, count};

/// Rules, mirrors and traps, those first that stopped most.
pub fn rules(out: &mut String, rules: &[Learned]) {
    if rules.is_empty() {
        out.push_str("<p class=\"note\">No rule was proven.</p>\n");
        return;
    }
    let mut rules: Vec<&Learned> = rules.iter().collect();
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.stopped));
    let mut rows = String::new();
    for Learned { kind, rule, withdrawn, proof, audits, stopped } in rules {
        put!(rows, "<tr><td><code>{}</code></td><td>{kind}</td>", Web(rule));
        put!(rows, "<td>{}</td>{}", if *withdrawn { "withdrawn" } else { "applied" }, count(*stopped));
        for [agreed, differed] in [proof, audits] {
            put!(rows, "{}{}", count(u64::from(*agreed)), count(u64::from(*differed)));
        }
        rows.push_str("</tr>\n");
    }
    let heads = &[
        "rule",
        "kind",
        "state",
        "#URLs stopped",
        "#proof: agreed",
        "#proof: differed",
        "#audits: agreed",
        "#audits: differed",
    ];
    Table { id: None, caption: "Rules, mirrors and traps, by what they stopped", heads, rows }.put(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_stands_beside_each_rule() {
        let rule = Learned {
            kind: "parameter",
            rule: "drop <sid> on a.test".into(),
            withdrawn: true,
            proof: [12, 0],
            audits: [40, 3],
            stopped: 1_234,
        };
        let mut out = String::new();
        rules(&mut out, &[rule]);
        for shown in ["drop &lt;sid&gt; on a.test", ">withdrawn<", ">1,234<", ">12<", ">40<", ">3<"] {
            assert!(out.contains(shown), "{shown}: {out}");
        }
    }
}

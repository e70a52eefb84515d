//! The main text of pages: one line of `text.jsonl` or `markdown.jsonl` for each cluster of pages that are alive.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufRead, Write};

use serde::Deserialize;

use super::latest::{Latest, key};
use crate::report::line::PageLine;

/// The members of a line that are read.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    visit: u32,
    duplicate_of: Option<String>,
}

/// A cluster of pages that say the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cluster {
    /// The cluster that `pages.jsonl` gives.
    Told(u32),
    /// The cluster of a page that `pages.jsonl` does not have (any more), by the key of a URL.
    Of(u64),
}

/// Copies lines of text. `pages` gives the lines of `pages.jsonl`: they say which pages are alive, which text each
/// shows at its latest visit, and which pages say the same. One page of each cluster is copied or, with `all`, each
/// page that is alive. `texts` opens the lines of text at their beginning; they are read twice.
pub fn write<R: BufRead>(
    pages: impl BufRead,
    texts: impl Fn() -> io::Result<R>,
    all: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut latest = Latest::default();
    for line in pages.lines() {
        latest.add(&serde_json::from_str::<PageLine<'_>>(&line?)?);
    }
    // For each page that is alive: the number of its line, its cluster, and whether it is a copy.
    let mut now: HashMap<u64, (u64, Cluster, bool)> = HashMap::new();
    for (number, line) in (0..).zip(texts()?.lines()) {
        let line = line?;
        let Line { url, visit, duplicate_of } = serde_json::from_str(&line)?;
        let (url, twin) = (key(&url), duplicate_of.as_deref().map(key));
        let of = twin.unwrap_or(url);
        let cluster = match latest.cluster(url) {
            Some(cluster) => Cluster::Told(cluster),
            None if latest.has(url) => continue,
            None => latest.cluster(of).map_or(Cluster::Of(of), Cluster::Told),
        };
        if latest.is_of_visit(url, visit) {
            now.insert(url, (number, cluster, twin.is_some()));
        }
    }
    let chosen: HashSet<u64> = if all {
        now.into_values().map(|(number, ..)| number).collect()
    } else {
        let mut best: BTreeMap<Cluster, (bool, u64)> = BTreeMap::new();
        for (number, cluster, is_copy) in now.into_values() {
            let best = best.entry(cluster).or_insert((is_copy, number));
            *best = (*best).min((is_copy, number));
        }
        best.into_values().map(|(_, number)| number).collect()
    };
    for (number, line) in (0..).zip(texts()?.lines()) {
        let line = line?;
        if chosen.contains(&number) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::latest::lines::{ROUNDS, Seen, line};

    /// The URLs and visits of the text that is exported after `visits`. The lines of the first `known` visits are
    /// missing.
    fn exported(visits: &[Seen], known: usize, all: bool) -> Vec<String> {
        let pages: String = visits.iter().skip(known).map(line).collect();
        // A crawl writes lines in this way: a page that says what it said before gets no line of text.
        let said = visits.iter().filter(|seen| seen.2 == 200 && !matches!(seen.3, "unchanged" | "unjudged"));
        let texts: String = said
            .map(|Seen(url, visit, _, _, twin, text)| {
                json!({"url": url, "visit": visit, "duplicate_of": twin, "text": text}).to_string() + "\n"
            })
            .collect();
        let mut out = Vec::new();
        super::write(pages.as_bytes(), || Ok(texts.as_bytes()), all, &mut out).unwrap();
        let lines = String::from_utf8(out).unwrap();
        let page = |line: &str| -> serde_json::Value { serde_json::from_str(line).unwrap() };
        let name = |line: &str| format!("{} {}", page(line)["url"].as_str().unwrap(), page(line)["visit"]);
        lines.lines().map(name).collect()
    }

    #[test]
    fn each_cluster_of_living_pages_has_one_text_after_every_round() {
        assert_eq!(exported(&ROUNDS[..5], 0, false), ["p 1", "q 1", "s 1"]);
        assert_eq!(exported(&ROUNDS[..9], 0, false), ["p/copy 1", "q/copy 1", "s 1", "p 2", "n 1"]);
        assert_eq!(exported(&ROUNDS, 0, false), ["p/copy 1", "q/copy 1", "s 1"]);
        assert_eq!(exported(&ROUNDS, 0, true), ["p/copy 1", "q/copy 1", "s 1", "q 3", "p 3"]);
    }

    /// Catches a text that is given away although its page may not be used any more.
    #[test]
    fn a_text_that_may_not_be_used_any_more_is_not_exported() {
        let visits = [
            Seen("p", 1, 200, "unique", None, 1),
            Seen("q", 1, 200, "unique", None, 2),
            Seen("p/copy", 1, 200, "near", Some("p"), 1),
            Seen("p", 2, 200, "unjudged", None, 1),
            Seen("q", 2, 200, "unjudged", None, 2),
            Seen("q", 3, 200, "unchanged", None, 2),
        ];
        assert_eq!(exported(&visits[..3], 0, false), ["p 1", "q 1"]);
        assert_eq!(exported(&visits[..5], 0, false), ["p/copy 1"], "another page that says the same may be used");
        assert_eq!(exported(&visits, 0, true), ["q 1", "p/copy 1"]);
    }

    #[test]
    fn a_text_whose_line_of_pages_jsonl_is_gone_is_exported_once() {
        assert_eq!(exported(&ROUNDS[..5], 4, false), ["p 1", "q 1", "s 1"]);
        assert_eq!(exported(&ROUNDS[..5], 5, true).len(), 5);
        // Only later lines of `p` and its copy are there. What they show was written earlier.
        assert_eq!(exported(&ROUNDS[..7], 6, false), ["q 1", "p/copy 1", "s 1", "p 2"]);
    }
}

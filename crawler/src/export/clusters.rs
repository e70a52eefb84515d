//! Clusters of pages that say the same: the page that the others repeat, and the others.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};

use serde_json::json;

use super::latest::{Latest, key};
use crate::report::line::PageLine;

/// The line that describes the content that a page shows now.
#[derive(Clone, Copy, Debug)]
struct Place {
    is_copy: bool,
    /// The number of the line.
    line: usize,
}

/// Writes `{"representative","pages"}` for each cluster of more than one page. The representative is the page that the
/// others repeat. But if pages of the cluster say that another page of it has the canonical URL, the representative is
/// that page. (A canonical URL outside of the cluster shows something else, and is not believed.) If a page was visited
/// several times, its latest visits decide about its cluster: a page that says what it said before stays in its
/// cluster, and a page that is missing is in no cluster.
pub fn write(pages: impl BufRead, out: &mut impl Write) -> io::Result<()> {
    let mut latest = Latest::default();
    let mut places: HashMap<String, Place> = HashMap::new();
    let mut canonicals: HashMap<String, String> = HashMap::new();
    for (number, line) in pages.lines().enumerate() {
        let line = line?;
        let line: PageLine<'_> = serde_json::from_str(&line)?;
        latest.add(&line);
        if let Some(canonical) = line.canonical.as_deref() {
            canonicals.insert(line.url.to_string(), canonical.to_owned());
        }
        if let Some(twin) = line.duplicate_of.as_deref()
            && !places.contains_key(twin)
        {
            places.insert(twin.to_owned(), Place { is_copy: false, line: number });
        }
        if latest.is_of_visit(key(&line.url), line.visit) {
            places.insert(line.url.to_string(), Place { is_copy: line.duplicate_of.is_some(), line: number });
        }
    }
    let mut clusters: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for url in places.keys() {
        if let Some(cluster) = latest.cluster(key(url)) {
            clusters.entry(cluster).or_default().push(url);
        }
    }
    let clusters: BTreeMap<&str, Vec<&str>> = clusters
        .into_values()
        .filter(|pages| pages.len() > 1)
        .map(|mut pages| {
            pages.sort_unstable();
            let chosen = chosen(first(&pages, &places), &pages, &canonicals);
            pages.retain(|page| *page != chosen);
            (chosen, pages)
        })
        .collect();
    for (representative, pages) in clusters {
        writeln!(out, "{}", json!({"representative": representative, "pages": pages}))?;
    }
    Ok(())
}

/// The page that the others repeat: one that repeats none. If that page is not in the cluster any more, the page that
/// was the first to show the content.
fn first<'a>(pages: &[&'a str], places: &HashMap<String, Place>) -> &'a str {
    let rank = |page: &&&str| (places[**page].is_copy, places[**page].line);
    pages.iter().min_by_key(rank).copied().unwrap_or_default()
}

/// The representative of a cluster: the page that most of its pages name as canonical; of several such pages, the first
/// by URL.
fn chosen<'a>(first: &'a str, pages: &[&'a str], canonicals: &HashMap<String, String>) -> &'a str {
    let mut votes: BTreeMap<&str, u32> = BTreeMap::new();
    for canonical in pages.iter().filter_map(|page| canonicals.get(*page)) {
        if let Some(named) = pages.iter().find(|page| *page == canonical) {
            *votes.entry(named).or_default() += 1;
        }
    }
    votes.into_iter().rev().max_by_key(|(_, votes)| *votes).map_or(first, |(page, _)| page)
}

#[cfg(test)]
mod tests {
    use super::super::latest::lines::{ROUNDS, Seen, line};

    fn written(lines: &str) -> String {
        let mut out = Vec::new();
        super::write(lines.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_copy_of_a_copy_is_in_the_cluster_of_the_first_in_any_order_of_lines() {
        let mut lines = [
            Seen("a", 1, 200, "unique", None, 1),
            Seen("b", 1, 200, "near", Some("a"), 2),
            Seen("c", 1, 200, "near", Some("b"), 3),
            Seen("d", 1, 200, "unique", None, 4),
            Seen("e", 1, 200, "near", Some("d"), 5),
        ]
        .map(|seen| line(&seen));
        let e_changed = line(&Seen("e", 2, 200, "unique", None, 6));
        for _ in 0..2 {
            let expected = "{\"pages\":[\"b\",\"c\"],\"representative\":\"a\"}\n";
            assert_eq!(written(&(lines.concat() + &e_changed)), expected);
            // The pages of several workers may come in such an order.
            lines.reverse();
        }
    }

    #[test]
    fn a_round_in_which_nothing_changed_leaves_clusters_as_they_are() {
        let crawl: String = ROUNDS[..5].iter().map(line).collect();
        let clusters = written(&crawl);
        assert_eq!(clusters.lines().count(), 2, "{clusters}");
        let quiet: String = ["p", "q", "p/copy", "q/copy", "s"]
            .map(|url| line(&Seen(url, 2, if url == "s" { 304 } else { 200 }, "unchanged", None, 7)))
            .concat();
        assert_eq!(written(&(crawl + &quiet)), clusters);
    }

    #[test]
    fn a_page_is_in_the_cluster_of_what_it_shows_now() {
        let of = |visits: &[Seen]| written(&visits.iter().map(line).collect::<String>());
        assert_eq!(of(&ROUNDS[..9]), "", "one has changed, and one is missing");
        let both =
            "{\"pages\":[\"p\"],\"representative\":\"p/copy\"}\n{\"pages\":[\"q\"],\"representative\":\"q/copy\"}\n";
        assert_eq!(of(&ROUNDS), both);
    }

    #[test]
    fn a_canonical_url_stands_for_its_cluster_if_it_is_in_it() {
        let line = |url: &str, twin: Option<&str>, canonical: Option<&str>| {
            let verdict = if twin.is_some() { "near" } else { "unique" };
            serde_json::json!({"url": url, "status": 200, "verdict": verdict, "duplicate_of": twin, "canonical": canonical}).to_string() + "\n"
        };
        let lines = [
            line("a", None, Some("b")),
            line("b", Some("a"), None),
            line("c", Some("a"), Some("b")),
            line("d", Some("a"), Some("http://evil.test/")),
            line("e", None, Some("x")),
            line("f", Some("e"), Some("x")),
            line("x", None, None),
        ];
        let expected =
            "{\"pages\":[\"a\",\"c\",\"d\"],\"representative\":\"b\"}\n{\"pages\":[\"f\"],\"representative\":\"e\"}\n";
        assert_eq!(written(&lines.concat()), expected);
    }
}

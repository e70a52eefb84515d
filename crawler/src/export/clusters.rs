//! Clusters of pages that say the same: the page that the others repeat, and those others.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::json;

/// What is read of a line of `pages.jsonl`.
#[derive(Deserialize)]
struct Line {
    url: String,
    duplicate_of: Option<String>,
    #[serde(default)]
    canonical: Option<String>,
}

/// Writes `{"representative","pages"}` for each cluster of more than one page. The representative is the page that the others
/// repeat; but where pages of the cluster say that another page of it has the canonical URL, that one. (A canonical URL outside
/// of the cluster shows something else, and is not believed.) A page of several visits is where its last visit puts it.
pub fn write(pages: impl BufRead, out: &mut impl Write) -> io::Result<()> {
    let mut twins: HashMap<String, Option<String>> = HashMap::new();
    let mut canonicals: HashMap<String, String> = HashMap::new();
    for line in pages.lines() {
        let Line { url, duplicate_of, canonical } = serde_json::from_str(&line?)?;
        canonicals.extend(canonical.map(|canonical| (url.clone(), canonical)));
        twins.insert(url, duplicate_of);
    }
    let mut clusters: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (url, twin) in &twins {
        let Some(twin) = twin else { continue };
        let mut root = twin;
        // A twin may itself repeat a page; a page that changed may have closed a ring.
        for _ in 0..twins.len() {
            match twins.get(root) {
                Some(Some(next)) if next != url => root = next,
                _ => break,
            }
        }
        clusters.entry(root).or_default().push(url);
    }
    let clusters: BTreeMap<&str, Vec<&str>> = clusters
        .into_iter()
        .map(|(first, mut pages)| {
            pages.push(first);
            let chosen = chosen(first, &pages, &canonicals);
            pages.retain(|page| *page != chosen);
            pages.sort_unstable();
            (chosen, pages)
        })
        .collect();
    for (representative, pages) in clusters {
        writeln!(out, "{}", json!({"representative": representative, "pages": pages}))?;
    }
    Ok(())
}

/// The page that stands for a cluster: the one that most of its pages name as canonical, of several the first by URL.
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
    #[test]
    fn a_copy_of_a_copy_is_in_the_cluster_of_the_first() {
        let lines = [("a", "null"), ("b", r#""a""#), ("c", r#""b""#), ("d", "null"), ("e", r#""d""#), ("e", "null")];
        let lines: String =
            lines.iter().map(|(url, twin)| format!("{{\"url\":\"{url}\",\"duplicate_of\":{twin}}}\n")).collect();
        let mut out = Vec::new();
        super::write(lines.as_bytes(), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "{\"pages\":[\"b\",\"c\"],\"representative\":\"a\"}\n");
    }

    #[test]
    fn a_canonical_url_stands_for_its_cluster_if_it_is_in_it() {
        let line = |url: &str, twin: Option<&str>, canonical: Option<&str>| {
            serde_json::json!({"url": url, "duplicate_of": twin, "canonical": canonical}).to_string() + "\n"
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
        let mut out = Vec::new();
        super::write(lines.concat().as_bytes(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let expected =
            "{\"pages\":[\"a\",\"c\",\"d\"],\"representative\":\"b\"}\n{\"pages\":[\"f\"],\"representative\":\"e\"}\n";
        assert_eq!(out, expected);
    }
}

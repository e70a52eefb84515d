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
}

/// Writes `{"representative","pages"}` for each cluster of more than one page, ordered by representative. A page of several
/// visits is where its last visit puts it.
pub fn write(pages: impl BufRead, out: &mut impl Write) -> io::Result<()> {
    let mut twins: HashMap<String, Option<String>> = HashMap::new();
    for line in pages.lines() {
        let Line { url, duplicate_of } = serde_json::from_str(&line?)?;
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
    for (representative, mut pages) in clusters {
        pages.sort_unstable();
        writeln!(out, "{}", json!({"representative": representative, "pages": pages}))?;
    }
    Ok(())
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
}

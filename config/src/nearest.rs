//! The known word that a mistyped one is nearest to.

use std::cmp::Reverse;

/// The candidate with the smallest edit distance from `word`; of equals the one that begins more like it, then the first.
/// The last part of a candidate counts as well, so that `distance` finds `dedup.distance`, though less than the whole.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('_', "-");
    candidates.into_iter().min_by_key(|candidate| {
        let whole = 2 * edits(&word, candidate);
        let part = candidate.rsplit_once('.').map_or(whole, |(_, part)| 2 * edits(&word, part) + 1);
        let begins = word.bytes().zip(candidate.bytes()).take_while(|(a, b)| a == b).count();
        (whole.min(part), Reverse(begins))
    })
}

/// Levenshtein's distance in characters: insertions, deletions and replacements.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{edits, nearest};

    #[test]
    fn counts_edits() {
        for (a, b, distance) in [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2)] {
            assert_eq!(edits(a, b), distance, "{a} {b}");
            assert_eq!(edits(b, a), distance, "{b} {a}");
        }
    }

    #[test]
    fn finds_whole_keys_and_their_last_parts() {
        let keys = ["dedup.distance", "politeness.delay", "scope.max-depth"];
        assert_eq!(nearest("dedup.distanse", keys), Some("dedup.distance"));
        assert_eq!(nearest("max_depht", keys), Some("scope.max-depth"));
        assert_eq!(nearest("dealy", keys), Some("politeness.delay"));
        assert_eq!(nearest("dealy", []), None);
    }
}

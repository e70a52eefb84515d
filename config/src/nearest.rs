//! Finds the known word that is nearest to a mistyped word.

use std::cmp::Reverse;

use strsim::levenshtein;

/// The candidate with the smallest edit distance from `word`. Among equals it is the one that has the longest beginning
/// in common with `word`, then the first one. The last part of a candidate also counts, but a little less than the
/// whole, so `distance` finds `dedup.distance`.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase().replace('_', "-");
    candidates.into_iter().min_by_key(|candidate| {
        let whole = 2 * levenshtein(&word, candidate);
        let part = candidate.rsplit_once('.').map_or(whole, |(_, part)| 2 * levenshtein(&word, part) + 1);
        let ends = |text: &str| text.rsplit_once('.').map(|(_, part)| part.to_owned());
        let ends = ends(&word).zip(ends(candidate)).map_or(whole, |(a, b)| 2 * levenshtein(&a, &b) + 2);
        let begins = word.bytes().zip(candidate.bytes()).take_while(|(a, b)| a == b).count();
        (whole.min(part).min(ends), Reverse(begins))
    })
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_whole_keys_and_their_last_parts() {
        let keys = ["dedup.distance", "politeness.delay", "scope.max-depth"];
        assert_eq!(nearest("dedup.distanse", keys), Some("dedup.distance"));
        assert_eq!(nearest("max_depht", keys), Some("scope.max-depth"));
        assert_eq!(nearest("dealy", keys), Some("politeness.delay"));
        assert_eq!(nearest("fetch.delai", keys), Some("politeness.delay"), "of another group");
        assert_eq!(nearest("dealy", []), None);
    }
}

//! The sentences in which two texts differ.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// The sentences that are in only one of two texts, in their order. A sentence that has only moved is in both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sentences {
    /// The sentences that are only in the earlier text.
    pub removed: Vec<String>,
    /// The sentences that are only in the later text.
    pub added: Vec<String>,
    /// The same sentences, grouped by place, with the old and the new sentences of each place. Places at which only
    /// numbers differ are left out.
    #[serde(skip)]
    pub places: Vec<TextDifference>,
    /// The number of sentences that differ only in numbers, such as dates, counts and versions.
    #[serde(skip)]
    pub numbers: usize,
}

/// One place at which two texts differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextDifference {
    /// The sentences of the earlier text at this place.
    pub removed: Vec<String>,
    /// The sentences of the later text at this place.
    pub added: Vec<String>,
}

impl Sentences {
    /// The most sentences of each text that are compared.
    const MOST: usize = 20_000;
    /// The time after which the alignment need not be the best any more.
    const PATIENCE: Duration = Duration::from_millis(200);

    /// The sentences in which `after` differs from `before`.
    ///
    /// # References
    /// Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica 1986), as implemented in the crate
    /// `similar`.
    pub fn of(before: &str, after: &str) -> Self {
        let [before, after] = [before, after].map(|text| sentences(text).take(Self::MOST).collect::<Vec<_>>());
        let deadline = Instant::now() + Self::PATIENCE;
        let mut places = Vec::new();
        for op in capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(deadline)) {
            if !matches!(op, DiffOp::Equal { .. }) {
                let (removed, added) = (before[op.old_range()].to_vec(), after[op.new_range()].to_vec());
                places.push(TextDifference { removed, added });
            }
        }
        leave_out_moved(&mut places);
        let all = |side: fn(&TextDifference) -> &Vec<String>| places.iter().flat_map(side).cloned().collect();
        let (removed, added) = (all(|place| &place.removed), all(|place| &place.added));
        let numbers = places.iter().filter(|place| differs_in_numbers(place)).map(|place| place.added.len()).sum();
        places.retain(|place| !differs_in_numbers(place));
        Self { removed, added, places, numbers }
    }
}

/// Removes sentences that were removed at one place and added at another.
fn leave_out_moved(places: &mut Vec<TextDifference>) {
    let mut balance: HashMap<String, (usize, usize)> = HashMap::new();
    for place in &*places {
        place.removed.iter().for_each(|sentence| balance.entry(sentence.clone()).or_default().0 += 1);
        place.added.iter().for_each(|sentence| balance.entry(sentence.clone()).or_default().1 += 1);
    }
    // If a sentence was removed and added several times, the smaller of the two counts has only moved.
    let mut moved: HashMap<String, (usize, usize)> = balance
        .into_iter()
        .map(|(sentence, (removed, added))| (sentence, (removed.min(added), removed.min(added))))
        .collect();
    for place in &mut *places {
        place.removed.retain(|sentence| moved.get_mut(sentence).is_none_or(|(left, _)| !take_one(left)));
        place.added.retain(|sentence| moved.get_mut(sentence).is_none_or(|(_, left)| !take_one(left)));
    }
    places.retain(|place| !(place.removed.is_empty() && place.added.is_empty()));
}

fn take_one(left: &mut usize) -> bool {
    let any = *left > 0;
    *left = left.saturating_sub(1);
    any
}

/// Whether the sentences of a place are the same except for their digits.
fn differs_in_numbers(place: &TextDifference) -> bool {
    let letters = |sentences: &[String]| -> Vec<String> {
        let runs = sentences.iter().map(|sentence| sentence.split(|c: char| c.is_ascii_digit()));
        runs.map(|parts| parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("0")).collect()
    };
    place.removed.len() == place.added.len() && letters(&place.removed) == letters(&place.added)
}

/// The sentences of a text whose passages are separated by line feeds. A sentence ends with its passage, and also after
/// a full stop, a question mark or an exclamation mark before a space. The number of a heading or an item (`2.1.
/// Installation`) does not end a sentence. Any white space counts as one space. Signs that stand alone at either end
/// (`#`, `|`) do not count.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    /// A number that follows fewer words than this belongs to a heading or an item.
    const NUMBERED: usize = 4;
    text.lines().flat_map(|passage| {
        let (mut sentences, mut words) = (Vec::new(), Vec::new());
        for word in passage.split_whitespace() {
            words.push(word);
            let is_numbered = words.len() < NUMBERED && !word.contains(char::is_alphabetic);
            // Scripts without spaces end their sentences with marks of their own.
            if word.ends_with(['.', '!', '?', '。', '！', '？']) && !is_numbered {
                sentences.push(joined(&words));
                words.clear();
            }
        }
        sentences.push(joined(&words));
        sentences.into_iter().filter(|sentence| !sentence.is_empty())
    })
}

/// The words of a sentence, without signs that stand alone at either end.
fn joined(words: &[&str]) -> String {
    let is_word = |word: &&str| word.contains(char::is_alphanumeric);
    let start = words.iter().position(is_word).unwrap_or(words.len());
    let end = words.iter().rposition(is_word).map_or(start, |last| last + 1);
    words[start..end].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_sentence_stands_alone() {
        let before = "Title\nOne is first. Two is  second! Is three third?\nFoot";
        let after = before.replace("second", "next");
        let found = Sentences::of(before, &after);
        assert_eq!(
            (&found.removed[..], &found.added[..]),
            (&["Two is second!".into()][..], &["Two is next!".into()][..])
        );
        assert_eq!(found.places.len(), 1);
        assert_eq!(Sentences::of(before, &before.replace("  ", " \t ")), Sentences::default(), "spaces say nothing");
        assert_eq!(Sentences::of("2.1. Use", "2.1. Use #"), Sentences::default(), "nor does a sign alone");
        assert_eq!(Sentences::of("Chapter 7. Use", "Chapter 8. Use").numbers, 1, "a heading is one sentence");
        assert_eq!(Sentences::of("", "New.").added, ["New."]);
        assert_eq!(Sentences::of("Old. Kept.", "Kept.").removed, ["Old."]);
    }

    #[test]
    fn what_has_moved_is_no_change_and_numbers_are_counted() {
        let moved = Sentences::of("Moved.\nOne.\nTwo.\nThree.", "One.\nTwo.\nThree.\nMoved.");
        assert_eq!(moved, Sentences::default());
        let twice = Sentences::of("Again.\nOne.\nTwo.\nThree.", "One.\nTwo.\nThree.\nAgain. Again.");
        assert_eq!((twice.removed.len(), twice.added.len()), (0, 1), "one of two has moved");
        let dated = Sentences::of("Made on May 12, 2025.\nOld.", "Made on May 3, 2026.\nNew.");
        assert_eq!((dated.removed.len(), dated.numbers, dated.places.len()), (2, 0, 1), "one place, which says more");
        let dated = Sentences::of("Made on May 12, 2025.\nKept.\nOld.", "Made on May 3, 2026.\nKept.\nNew.");
        assert_eq!((dated.removed.len(), dated.numbers, dated.places.len()), (2, 1, 1));
    }
}

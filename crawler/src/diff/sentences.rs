//! The sentences in which two texts differ.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// Sentences that stand in one of two texts only, in their order. A sentence that has only moved stands in both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sentences {
    /// Only in the earlier text.
    pub removed: Vec<String>,
    /// Only in the later text.
    pub added: Vec<String>,
    /// The same by place: what stood in one place before, and what stands there now. Places at which only numbers differ are
    /// left out.
    #[serde(skip)]
    pub places: Vec<TextDifference>,
    /// Sentences that differ in numbers only, such as dates, counts and versions.
    #[serde(skip)]
    pub numbers: usize,
}

/// One place at which two texts differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextDifference {
    /// What the earlier text says there.
    pub removed: Vec<String>,
    /// What the later text says there.
    pub added: Vec<String>,
}

impl Sentences {
    /// Sentences of each text that are compared.
    const MOST: usize = 20_000;
    /// Aligning gives up perfection after this.
    const PATIENCE: Duration = Duration::from_millis(200);

    /// What `after` says otherwise than `before`.
    ///
    /// # References
    /// Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica 1986), as the crate `similar` has it.
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

/// Takes sentences out that were removed at one place and added at another.
fn leave_out_moved(places: &mut Vec<TextDifference>) {
    let mut balance: HashMap<String, (usize, usize)> = HashMap::new();
    for place in &*places {
        place.removed.iter().for_each(|sentence| balance.entry(sentence.clone()).or_default().0 += 1);
        place.added.iter().for_each(|sentence| balance.entry(sentence.clone()).or_default().1 += 1);
    }
    // Of what was removed so often and added so often, the smaller number has only moved.
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

/// Whether the sentences of a place are the same but for their digits.
fn differs_in_numbers(place: &TextDifference) -> bool {
    let letters = |sentences: &[String]| -> Vec<String> {
        let runs = sentences.iter().map(|sentence| sentence.split(|c: char| c.is_ascii_digit()));
        runs.map(|parts| parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("0")).collect()
    };
    place.removed.len() == place.added.len() && letters(&place.removed) == letters(&place.added)
}

/// The sentences of a text whose passages are parted by line feeds: a sentence ends with its passage, and behind a full stop, a
/// question or an exclamation mark that a space follows. The number of a heading or an item (`2.1. Installation`) ends none. White
/// space counts as one space; signs that stand alone at either end (`#`, `|`) do not count.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    /// A number behind fewer words is that of a heading or an item.
    const NUMBERED: usize = 4;
    text.lines().flat_map(|passage| {
        let (mut sentences, mut words) = (Vec::new(), Vec::new());
        for word in passage.split_whitespace() {
            words.push(word);
            let is_numbered = words.len() < NUMBERED && !word.contains(char::is_alphabetic);
            // Scripts that are written without spaces end their sentences with marks of their own.
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

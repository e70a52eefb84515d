//! The sentences in which two texts differ.

use std::time::{Duration, Instant};

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

/// Sentences that stand in one of two texts only, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sentences {
    /// Only in the earlier text.
    pub removed: Vec<String>,
    /// Only in the later text.
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
        let mut found = Self::default();
        for op in capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(deadline)) {
            if !matches!(op, DiffOp::Equal { .. }) {
                found.removed.extend_from_slice(&before[op.old_range()]);
                found.added.extend_from_slice(&after[op.new_range()]);
            }
        }
        found
    }
}

/// The sentences of a text whose blocks are parted by line feeds: a sentence ends with its block, and behind a full stop, a
/// question or an exclamation mark that a space follows. White space counts as one space.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    text.lines().flat_map(|block| {
        let mut sentences = vec![String::new()];
        for word in block.split_whitespace() {
            let Some(last) = sentences.last_mut() else { continue };
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
            // Scripts that are written without spaces end their sentences with marks of their own.
            if word.ends_with(['.', '!', '?', '。', '！', '？']) {
                sentences.push(String::new());
            }
        }
        sentences.into_iter().filter(|sentence| !sentence.is_empty())
    })
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
        assert_eq!(Sentences::of(before, &before.replace("  ", " \t ")), Sentences::default(), "spaces say nothing");
        assert_eq!(Sentences::of("", "New.").added, ["New."]);
        assert_eq!(Sentences::of("Old. Kept.", "Kept.").removed, ["Old."]);
    }
}

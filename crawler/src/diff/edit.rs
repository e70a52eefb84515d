//! Shows the place of a change of a text to users: an edited sentence in one line, other sentences as removed or added.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::TextDifference;

/// The number of words that are shown on either side of an edit.
const AROUND: usize = 8;
/// The most sentences of one place, on either side, among which edited sentences are looked for.
const PAIRED: usize = 24;

/// One line about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A sentence, with its edits marked.
    Edited(String),
    /// A sentence that was removed.
    Removed(String),
    /// A sentence that was added.
    Added(String),
}

/// The lines of a place. Between edited sentences, removed sentences come before added ones.
pub fn lines(place: &TextDifference) -> Vec<Line> {
    let TextDifference { removed, added } = place;
    let (mut lines, mut gone, mut come) = (Vec::new(), 0, 0);
    let mut until = |gone: &mut usize, come: &mut usize, to: (usize, usize), line: Option<String>| {
        lines.extend(removed[*gone..to.0].iter().cloned().map(Line::Removed));
        lines.extend(added[*come..to.1].iter().cloned().map(Line::Added));
        lines.extend(line.map(Line::Edited));
        (*gone, *come) = (to.0 + 1, to.1 + 1);
    };
    for (at, after) in added.iter().enumerate().take(PAIRED) {
        let mut rest = removed.iter().enumerate().skip(gone).take(PAIRED);
        if let Some((pair, line)) = rest.find_map(|(pair, before)| Some((pair, edited(before, after)?))) {
            until(&mut gone, &mut come, (pair, at), Some(line));
        }
    }
    until(&mut gone, &mut come, (removed.len(), added.len()), None);
    lines
}

/// The edit of a sentence, such as `The limit is [-100-] {+200+} pages.`; `None` if less than half of the words are the
/// same. Long runs of equal words are shortened.
fn edited(before: &str, after: &str) -> Option<String> {
    let [before, after] = [before, after].map(|text| text.split_whitespace().collect::<Vec<_>>());
    let ops = capture_diff_slices(Algorithm::Myers, &before, &after);
    let same: usize = ops.iter().map(|op| if let DiffOp::Equal { len, .. } = op { *len } else { 0 }).sum();
    if same * 2 < before.len().max(after.len()) {
        return None;
    }
    let mut parts = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        let (old, new) = (&before[op.old_range()], &after[op.new_range()]);
        if matches!(op, DiffOp::Equal { .. }) {
            parts.push(shortened(old, at == 0, at + 1 == ops.len()));
            continue;
        }
        if !old.is_empty() {
            parts.push(format!("[-{}-]", old.join(" ")));
        }
        if !new.is_empty() {
            parts.push(format!("{{+{}+}}", new.join(" ")));
        }
    }
    Some(parts.join(" "))
}

/// A run of equal words, without those that are far from an edit.
fn shortened(words: &[&str], is_first: bool, is_last: bool) -> String {
    let (head, tail) = (if is_first { 0 } else { AROUND }, if is_last { 0 } else { AROUND });
    if words.len() <= head + tail + 1 {
        return words.join(" ");
    }
    let (head, tail) = (words[..head].join(" "), words[words.len() - tail..].join(" "));
    [head.as_str(), "…", tail.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edited_sentences_of_a_place_find_each_other() {
        let own = |sentences: &[&str]| sentences.iter().map(|sentence| (*sentence).to_owned()).collect();
        let place = TextDifference {
            removed: own(&["Old a b.", "It is so."]),
            added: own(&["New x y z.", "It is not so.", "More."]),
        };
        let expected = [
            Line::Removed("Old a b.".into()),
            Line::Added("New x y z.".into()),
            Line::Edited("It is {+not+} so.".into()),
            Line::Added("More.".into()),
        ];
        assert_eq!(lines(&place), expected);
    }

    #[test]
    fn an_edit_stands_among_its_words() {
        let (before, after) = ("The limit is 100 pages.", "The limit is 200 pages now.");
        assert_eq!(edited(before, after).unwrap(), "The limit is [-100 pages.-] {+200 pages now.+}");
        assert_eq!(edited("a b c d", "a b x d").unwrap(), "a b [-c-] {+x+} d");
        assert_eq!(edited("a b c d", "a b d").unwrap(), "a b [-c-] d");
        assert_eq!(edited("a b c d", "w x y z"), None);
        let long = |word: &str| format!("{} {word} {}", "before ".repeat(20), "after ".repeat(20));
        let short = edited(&long("x"), &long("y")).unwrap();
        assert_eq!(short, format!("… {}[-x-] {{+y+}} {}…", "before ".repeat(8), "after ".repeat(8)));
    }
}

//! A sentence that was edited, in one line: what was taken out of it and what was put in stand in brackets.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Words shown on either side of an edit.
const AROUND: usize = 8;

/// `The limit is [-100-] {+200+} pages.`, where half of the words are the same at least; else `None`. Longer runs of words that
/// are the same are shortened.
pub fn edited(before: &str, after: &str) -> Option<String> {
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

/// Words that are the same, without those that stand far from an edit.
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

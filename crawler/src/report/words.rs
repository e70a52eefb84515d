//! The words in which two pages differ.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::html::{Web, put};
use crate::units;

/// Two texts that are aligned word by word.
#[derive(Clone, Debug)]
pub struct Difference {
    runs: Vec<Run>,
    added: usize,
    removed: usize,
    common: usize,
}

/// Words that both texts have, or only one of them.
#[derive(Clone, Debug)]
enum Run {
    Both(Vec<String>),
    There(Vec<String>),
    Here(Vec<String>),
}

impl Difference {
    /// At most this many words of each text are compared.
    const MOST: usize = 20_000;
    /// At most this many runs are shown.
    const RUNS: usize = 60;
    /// This many common words are shown on each side of a difference.
    const CONTEXT: usize = 6;
    /// At most this many words of a run that differs are shown.
    const LONGEST: usize = 60;
    /// After this time, the alignment need not be the best one.
    const PATIENCE: Duration = Duration::from_millis(100);

    /// Finds the words in which `here` differs from `there`.
    ///
    /// # References
    /// Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica 1986), as implemented in the crate
    /// `similar`.
    pub fn of(here: &str, there: &str) -> Self {
        let words = |text: &'_ str| text.split_whitespace().take(Self::MOST).map(str::to_owned).collect::<Vec<_>>();
        let (here, there) = (words(here), words(there));
        let deadline = Instant::now() + Self::PATIENCE;
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &there, &here, Some(deadline));
        let mut difference = Self { runs: Vec::new(), added: 0, removed: 0, common: 0 };
        for op in ops {
            let (old, new) = (&there[op.old_range()], &here[op.new_range()]);
            if let DiffOp::Equal { len, .. } = op {
                difference.common += len;
                difference.runs.push(Run::Both(new.to_vec()));
                continue;
            }
            difference.removed += old.len();
            difference.added += new.len();
            if !old.is_empty() {
                difference.runs.push(Run::There(old.to_vec()));
            }
            if !new.is_empty() {
                difference.runs.push(Run::Here(new.to_vec()));
            }
        }
        difference
    }

    /// Whether there is no difference.
    pub fn is_none(&self) -> bool {
        self.added + self.removed == 0
    }

    /// The differences, in one sentence.
    pub fn summary(&self) -> String {
        if self.is_none() {
            return "The words are the same.".into();
        }
        format!(
            "{} in common; {} only here, {} only in the twin.",
            units::counted(self.common as u64, "word"),
            units::count(self.added as u64),
            units::count(self.removed as u64)
        )
    }

    /// The differences with some words around them. `ins` marks words that only this page has, `del` words that only
    /// the twin has.
    pub fn html(&self) -> String {
        let mut out = String::new();
        let last = self.runs.len().saturating_sub(1);
        for (at, run) in self.runs.iter().enumerate() {
            if at >= Self::RUNS {
                put!(out, " … and {} more places", (self.runs.len() - at).div_ceil(2));
                break;
            }
            match run {
                Run::Both(words) => {
                    let (before, after) = (at > 0, at < last);
                    let shown = Self::CONTEXT * (usize::from(before) + usize::from(after));
                    if words.len() <= shown {
                        put!(out, "{} ", Web(&words.join(" ")));
                        continue;
                    }
                    if before {
                        put!(out, "{} ", Web(&words[..Self::CONTEXT].join(" ")));
                    }
                    out.push_str("… ");
                    if after {
                        put!(out, "{} ", Web(&words[words.len() - Self::CONTEXT..].join(" ")));
                    }
                }
                Run::There(words) => put!(out, "<del>{}</del> ", Web(&cut(words))),
                Run::Here(words) => put!(out, "<ins>{}</ins> ", Web(&cut(words))),
            }
        }
        out
    }
}

fn cut(words: &[String]) -> String {
    let mut text = words[..words.len().min(Difference::LONGEST)].join(" ");
    if words.len() > Difference::LONGEST {
        text.push_str(" …");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_word_stands_between_its_neighbours() {
        let there = "the quick brown fox jumps over the lazy dog and runs away into the dark forest";
        let here = there.replace("lazy", "<b>eager</b>");
        let difference = Difference::of(&here, there);
        assert_eq!(difference.summary(), "15 words in common; 1 only here, 1 only in the twin.");
        let html = difference.html();
        assert!(html.contains("<del><bdi>lazy</bdi></del> <ins><bdi>&lt;b&gt;eager&lt;/b&gt;</bdi></ins>"), "{html}");
        assert!(html.starts_with("… <bdi>quick brown fox jumps over the</bdi>"), "{html}");
        assert_eq!(Difference::of(there, there).summary(), "The words are the same.");
    }

    #[test]
    fn texts_without_end_or_without_words_are_compared_too() {
        let long: String = (0..100_000).map(|n| format!("w{} ", n * 7 % 1_000)).collect();
        let other: String = (0..100_000).map(|n| format!("w{} ", n * 11 % 1_000)).collect();
        assert!(Difference::of(&long, &other).html().len() < 100_000);
        assert_eq!(Difference::of("", "").html(), "");
    }
}

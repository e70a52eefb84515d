//! Splits the difference between two texts of a page into the passages that came and the text that went.
//!
//! The passages of the earlier text are not stored, but those of the present text are known. The
//! difference has the pairs of words that only one of the two texts has. If a passage is new, removing its pairs makes
//! the difference smaller. If it was there before, removing them makes it larger. What is left in the end is the text
//! that went.

use crate::page::Passages;
use crate::signature::Difference;

/// The texts that make up a difference.
#[derive(Debug)]
pub(super) struct Texts {
    /// The passages that came, each with its number of pairs. At least one.
    came: Vec<(Difference, usize)>,
    /// What went. It may be several passages, or nothing.
    went: Difference,
    /// Whether no other passage may have come.
    is_clear: bool,
    /// The number of pairs in all other passages of the present text.
    stayed: usize,
}

impl Texts {
    /// Shorter passages, such as headings, are not looked for.
    const LEAST: usize = 8;
    /// If more passages came, the text is a new one.
    const MOST: usize = 3;
    /// A passage came if the difference has fewer bits without it, by this share of the bits of the passage. (If a
    /// difference is large, pairs that differ often cancel each other out, so taking them away changes less.)
    const GAIN: f32 = 0.25;
    /// A text that went has at least this many pairs.
    const WENT: f32 = 8.0;

    /// Splits a difference. `passages` are those of the present text. `None` if no passage came, or too many.
    pub(super) fn of(whole: &Difference, passages: &Passages) -> Option<Self> {
        if !whole.pairs().is_finite() {
            return None;
        }
        let mut stayed = passages.iter().map(<[u8]>::len).sum();
        let flips = passages.iter().filter(|flips| flips.len() >= Self::LEAST);
        let mut candidates: Vec<_> = flips.map(|flips| (flips, Difference::of_passage(flips))).collect();
        let (mut came, mut went) = (Vec::new(), *whole);
        let is_clear = loop {
            let gain = |(flips, passage): &(&[u8], Difference)| {
                (went.odd() as f32 - went.without_passage(flips).odd() as f32) / passage.odd() as f32
            };
            let best = candidates.iter().map(gain).enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
            let Some((at, _)) = best.filter(|(_, gain)| *gain >= Self::GAIN) else {
                break best.is_none_or(|(_, gain)| gain <= 0.0);
            };
            if came.len() == Self::MOST {
                return None;
            }
            let (flips, passage) = candidates.swap_remove(at);
            went = went.without_passage(flips);
            stayed -= flips.len();
            came.push((passage, flips.len()));
        };
        (!came.is_empty()).then_some(Self { came, went, is_clear, stayed })
    }

    fn has_gone(&self) -> bool {
        self.went.pairs() >= Self::WENT
    }

    /// The text that came and the text that went, if one took the place of the other. Each must be less than half of
    /// the text that has it. Otherwise the page has another text of its own, such as a notice that the site is closed.
    pub(super) fn exchange(&self) -> Option<(&Difference, &Difference)> {
        match &self.came[..] {
            [(came, pairs)] if self.is_clear && self.has_gone() => {
                let is_less = *pairs < self.stayed && self.went.pairs() < self.stayed as f32;
                is_less.then_some((came, &self.went))
            }
            _ => None,
        }
    }

    /// The differences that the texts make, one by one.
    pub(super) fn into_parts(self) -> Vec<Difference> {
        let went = self.has_gone().then_some(self.went);
        self.came.into_iter().map(|(came, _)| came).chain(went).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::page::{Input, Page, Passages, Reader};
    use crate::testing::words;

    use super::*;

    /// A page with these paragraphs, each with a seed and a number of words.
    fn page(paragraphs: &[(u64, usize)]) -> (Page, Passages) {
        let body: String =
            paragraphs.iter().map(|(seed, count)| format!("<p>{}</p>", words(*seed, *count).join(" "))).collect();
        let url = "http://a.test/x".parse().unwrap();
        let mut reader = Reader::default();
        let page =
            reader.read(&Input { url: &url, status: 200, content_type: Some("text/html"), body: body.as_bytes() });
        let passages = reader.passages(&page);
        (page, passages)
    }

    /// The texts between two versions of a page, whose own paragraphs stay the same.
    fn between(before: &[(u64, usize)], now: &[(u64, usize)]) -> Option<Texts> {
        let own = [(1, 80), (2, 50), (3, 60)];
        let (before, _) = page(&[&own[..], before].concat());
        let (now, passages) = page(&[&own[..], now].concat());
        Texts::of(&now.odd?.difference(&before.odd?), &passages)
    }

    #[test]
    fn what_came_and_what_went_are_told_apart() {
        let (mut exchanges, mut pairs) = (0, 0);
        for seed in 10..60 {
            let (one, other, third) = ((seed, 30), (seed + 100, 20), (seed + 200, 25));
            let texts = between(&[one], &[other]).expect("a text came");
            if let Some((came, went)) = texts.exchange() {
                assert!((came.pairs() - 20.0).abs() < 8.0 && (went.pairs() - 30.0).abs() < 15.0, "{texts:?}");
                exchanges += 1;
            }
            let two = between(&[one], &[other, third]);
            assert!(two.as_ref().is_none_or(|texts| texts.exchange().is_none()), "{two:?}");
            pairs += usize::from(two.is_some_and(|texts| texts.came.len() == 2));
            let only_came = between(&[], &[other]).expect("a text came");
            assert!(only_came.exchange().is_none() && only_came.into_parts().len() == 1);
            assert!(between(&[one], &[]).is_none(), "a text went, and none came");
            let most = between(&[one], &[(seed + 300, 300)]).or_else(|| between(&[(seed, 300)], &[other]));
            assert!(most.is_none_or(|texts| texts.exchange().is_none()), "most of a page is its own text");
        }
        assert!(exchanges > 45 && pairs > 45, "{exchanges} exchanges, {pairs} times two texts");
    }
}

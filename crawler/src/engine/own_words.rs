//! Finds the duplicates that have a few words of their own. If a long text is the same on many pages (a preamble, terms
//! of sale), each page with it is a near-duplicate of the others. But a page may have a paragraph or an item of its own
//! beside that text, and then its links are worth following.
//!
//! Only trials are looked at: pages that are fetched to see what the links of a duplicate are worth. The words of a
//! trial are compared with those of earlier trials of its host. A row of words is *known* if an earlier trial had it.
//! If most words of a trial stand in known rows, and some words in a row do not, these are its *own words*.
//!
//! A copy that was edited here and there has single words of its own, and they do not count. A text that changes from
//! visit to visit (a quotation, an advertisement) comes from a stock, so some trials show what others have shown. If
//! there are too many such trials, own words do not count any more, and those that did are taken back. (This is decided
//! for each template of links: see the frontier's trials of news. At the end of a crawl, links of any template are tried.
//! Then own words count only on a host that has a template with many such trials, and none with a stock.)
//!
//! All this is in memory only. After a restart, a host has to show its text once more.

use std::collections::HashMap;

use dedup_stage::judge::{Judgement, Verdict};
use dedup_stage::page::{BORDER, FILLING, WordMark};
use frontier::{Job, Trial};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::message::PageFinding;
use super::state::EngineState;

/// The words of its own that a trial has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OwnWords {
    /// None, or it is no near-duplicate.
    None,
    /// A few, and they count.
    Few,
    /// Too many trials of its template have none. So the words come from a stock, and those of earlier trials did not
    /// count either.
    OfStock,
}

/// The rows of words that trials have shown.
#[derive(Debug, Default)]
pub(super) struct ShownWords {
    /// A part of the hash of each row, at a place that another part of it names. Empty until there is a trial.
    rows: Vec<u32>,
    /// By the hash of the host and the template of the trials. With [`ShownWords::ANY`] in place of a template: trials
    /// that are no trials of a template, and whether some template of the host has a stock.
    templates: HashMap<(u64, u64), Trials>,
}

/// The trials of a template of whose text most was known.
#[derive(Clone, Copy, Debug, Default)]
struct Trials {
    /// Those with own words.
    with: u32,
    /// The others.
    without: u32,
    /// Whether the words come from a stock.
    has_stock: bool,
    /// With [`ShownWords::ANY`]: the number of trials with own words of the template that has most of them.
    most: u32,
}

impl ShownWords {
    /// At most this many templates are remembered. When there are more, all are forgotten.
    const TEMPLATES: usize = config::bounds::HOSTS_COMPARED;
    /// In place of a template.
    const ANY: u64 = 0;
    const ROWS: usize = config::bounds::ROWS_OF_WORDS;
    /// The words of a row.
    const ROW: usize = 4;
    /// So many own words that follow each other say something. (Words with digits, dates and words of the URL do not count.)
    const LEAST: usize = 3;
    /// Own words count while at most one trial in this many has none …
    const FEW: u32 = 5;
    /// … apart from this many. (Some paragraphs of a law are repealed.)
    const APART: u32 = 2;
    /// A trial of no template has own words only if a template of its host has so many trials with own words. Fewer do
    /// not show whether there is a stock.
    const SURE: u32 = 10;

    /// The words that only this trial has. All its words are remembered.
    fn page(&mut self, host: u64, template: u64, marks: &[WordMark]) -> OwnWords {
        if marks.len() < Self::ROW {
            return OwnWords::None;
        }
        if self.rows.is_empty() {
            self.rows = vec![0; Self::ROWS];
        }
        let (mut known, mut row, mut longest) = (0, 0, 0);
        let mut all = 0;
        for block in marks.split(|mark| *mark == BORDER) {
            // The rows that are known reach up to this word.
            let mut known_to = 0;
            for (at, word) in block.iter().enumerate() {
                // A block that is shorter than a row is a row.
                let is_short = at == 0 && block.len() < Self::ROW;
                let words = if is_short { Some(block) } else { block.get(at..at + Self::ROW) };
                if words.is_some_and(|words| self.show(host, words)) {
                    known_to = at + Self::ROW;
                }
                let says = usize::from(*word != FILLING);
                all += says;
                match at < known_to {
                    true => (known, row) = (known + says, 0),
                    false => row += says,
                }
                longest = longest.max(row);
            }
        }
        if 2 * known < all {
            return OwnWords::None;
        }
        let key = (host, template);
        if self.templates.len() >= Self::TEMPLATES && !self.templates.contains_key(&key) {
            self.templates.clear();
        }
        let trials = self.templates.entry(key).or_default();
        let has_own = longest >= Self::LEAST;
        *if has_own { &mut trials.with } else { &mut trials.without } += 1;
        let others = trials.without.saturating_sub(Self::APART);
        trials.has_stock |= others * Self::FEW > trials.with + trials.without;
        let (with, has_stock) = (trials.with, trials.has_stock);
        let any = self.templates.entry((host, Self::ANY)).or_default();
        any.has_stock |= has_stock;
        if template != Self::ANY {
            any.most = any.most.max(with);
        }
        match has_own {
            _ if has_stock => OwnWords::OfStock,
            true if template != Self::ANY || any.most >= Self::SURE => OwnWords::Few,
            _ => OwnWords::None,
        }
    }

    /// Whether a trial has shown this row of words. It is remembered.
    fn show(&mut self, host: u64, words: &[WordMark]) -> bool {
        let mut bytes = [0; Self::ROW * size_of::<WordMark>()];
        for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        let hash = xxh3_64_with_seed(&bytes, host);
        // 0 says that a place is empty.
        let (place, part) = ((hash >> 32) as usize % Self::ROWS, hash as u32 | 1);
        std::mem::replace(&mut self.rows[place], part) == part
    }
}

impl EngineState<'_> {
    /// The words of its own that a near-duplicate has. [`OwnWords::None`] for any page that is no trial.
    pub(super) fn own_words(&mut self, job: &Job, finding: &PageFinding, judgement: &Judgement) -> OwnWords {
        if finding.word_marks.is_empty() || job.page.visit > 1 {
            return OwnWords::None;
        }
        let template = match job.trial.as_deref() {
            Some(Trial::News { template }) => *template,
            _ => ShownWords::ANY,
        };
        let own_words = self.shown_words.page(job.page.url.site.host, template, &finding.word_marks);
        if matches!(judgement.verdict, Verdict::Near { .. }) { own_words } else { OwnWords::None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: u64 = 7;
    const TEMPLATE: u64 = 5;

    /// Words that appear on no other page.
    fn words(random: &mut fastrand::Rng, count: usize) -> Vec<WordMark> {
        (0..count).map(|_| random.u32(..) | 1).collect()
    }

    fn judge(pages: impl IntoIterator<Item = Vec<WordMark>>) -> Vec<OwnWords> {
        let mut shown_words = ShownWords::default();
        pages.into_iter().map(|page| shown_words.page(HOST, TEMPLATE, &page)).collect()
    }

    #[test]
    fn words_beside_a_known_text_are_own_words() {
        let mut random = fastrand::Rng::with_seed(1);
        let preamble = words(&mut random, 800);
        let mut page = |own: usize| [&preamble[..300], &words(&mut random, own), &preamble[300..]].concat();
        let pages = [page(20), page(20), page(ShownWords::LEAST), page(2), page(0), page(20)];
        use OwnWords::{Few, None};
        assert_eq!(judge(pages), [None, Few, Few, None, None, Few]);
    }

    #[test]
    fn a_page_without_a_known_text_has_none() {
        let mut random = fastrand::Rng::with_seed(1);
        assert_eq!(judge((0..9).map(|_| words(&mut random, 300))), [OwnWords::None; 9]);
    }

    #[test]
    fn single_words_and_words_that_say_nothing_do_not_count() {
        let mut random = fastrand::Rng::with_seed(1);
        let text = words(&mut random, 400);
        let mut edited = || {
            let mut page = text.clone();
            (0..page.len()).step_by(20).for_each(|at| page[at] = random.u32(..) | 1);
            page
        };
        let pages = [text.clone(), edited(), edited()];
        assert!(!judge(pages).contains(&OwnWords::Few));
        let pages = [text.clone(), [&text[..200], &[0, 9, 0, 11, 0], &text[200..]].concat()];
        assert!(!judge(pages).contains(&OwnWords::Few));
    }

    #[test]
    fn some_pages_of_a_list_may_have_none() {
        for seed in 0..20 {
            let mut random = fastrand::Rng::with_seed(seed);
            let text = words(&mut random, 300);
            let pages: Vec<_> = (0..300)
                .map(|_| {
                    let own = if random.u8(..20) < 2 { 0 } else { 9 };
                    [&text[..], &words(&mut random, own)].concat()
                })
                .collect();
            assert!(!judge(pages).contains(&OwnWords::OfStock), "{seed}");
        }
    }

    #[test]
    fn short_blocks_are_known_in_any_order() {
        let mut random = fastrand::Rng::with_seed(1);
        let (text, mut names) = (words(&mut random, 100), words(&mut random, 40));
        let mut page = || {
            random.shuffle(&mut names);
            let names = names.iter().flat_map(|name| [BORDER, *name]);
            text.iter().copied().chain(names).collect::<Vec<_>>()
        };
        assert!(!judge((0..3).map(|_| page()).collect::<Vec<_>>()).contains(&OwnWords::Few));
    }

    #[test]
    fn trials_of_no_template_need_a_template_with_many() {
        let mut random = fastrand::Rng::with_seed(1);
        let text = words(&mut random, 100);
        let mut page = || [&text[..], &words(&mut random, 9)].concat();
        let mut shown_words = ShownWords::default();
        for with in 0..ShownWords::SURE {
            shown_words.page(HOST, TEMPLATE, &page());
            assert_eq!(shown_words.page(HOST, ShownWords::ANY, &page()), OwnWords::None, "{with}");
        }
        shown_words.page(HOST, TEMPLATE, &page());
        assert_eq!(shown_words.page(HOST, ShownWords::ANY, &page()), OwnWords::Few);
    }

    #[test]
    fn a_stock_of_texts_stops_counting_and_hosts_share_nothing() {
        let mut random = fastrand::Rng::with_seed(1);
        let text = words(&mut random, 300);
        let stock: Vec<_> = (0..30).map(|_| words(&mut random, 12)).collect();
        let pages: Vec<_> = (0..200).map(|_| [&text[..], random.choice(&stock).unwrap()].concat()).collect();
        let last = judge(pages.clone()).iter().rposition(|own| *own == OwnWords::Few).unwrap();
        assert!((5..40).contains(&last), "{last}");
        let mut shown_words = ShownWords::default();
        assert!((0..200).all(|host| shown_words.page(host, TEMPLATE, &pages[0]) == OwnWords::None));
    }
}

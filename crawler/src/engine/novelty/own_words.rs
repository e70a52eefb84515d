//! Finds the duplicates that have a few words of their own. If a long text is the same on many pages (a preamble, terms
//! of sale), each page with it is a near-duplicate of the others. But a page may have a paragraph or an item of its own
//! beside that text, and then its links are worth following.
//!
//! Only trials are looked at: pages that are fetched to see what the links of a duplicate are worth. The words of a
//! trial are compared with those of earlier trials of its registrable domain. A row of words is *known* if an earlier
//! trial had it.
//! If most words of a trial stand in known rows, and some words in a row do not, these are its *own words*.
//!
//! A copy that was edited here and there has single words of its own, and they do not count. A text that changes from
//! visit to visit (a quotation, an advertisement) comes from a *stock*, a set of texts from which the
//! site shows one at each visit, so some trials show what others have shown. If
//! there are too many such trials, own words do not count any more, and those that did are taken back. (This is decided
//! for each template of links: see the frontier's trials of news.)
//!
//! At the end of a crawl, links of any template are tried, and what they were worth cannot be taken back. So own words
//! count only after several URLs of the domain with the same shape had some, and while there is no sign of a stock. (Or
//! after many trials of one of its templates had some.) A page that only repeats a page without own words is no such
//! sign: beside the pages of towns, for example, their equal overviews are tried, too.
//!
//! All this is in memory only. After a restart, a domain has to show its text once more.

use std::collections::HashMap;

use dedup_stage::page::{BORDER, FILLING, WordMark};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The words of its own that a trial has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum OwnWords {
    /// None, or it is no near-duplicate.
    None,
    /// A few, and they count.
    Few,
    /// Too many trials of its template have none. So the words come from a stock, and those of earlier trials did not
    /// count either.
    OfStock,
}

/// The kind of a trial, with the hash of what is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::engine) enum Tried {
    /// Links of this template.
    Template(u64),
    /// URLs of this shape.
    Shape(u64),
}

/// The rows of words that trials have shown.
#[derive(Debug, Default)]
pub(in crate::engine) struct ShownWords {
    /// A part of the hash of each row, at a place that another part of it names. Empty until there is a trial. Whole
    /// texts are remembered in the same way.
    rows: Vec<u32>,
    /// By the hash of the domain.
    trials: HashMap<(u64, Tried), Trials>,
    /// The templates of each domain.
    templates: HashMap<u64, OfDomain>,
}

/// The trials of one kind of whose text most was known.
#[derive(Clone, Copy, Debug, Default)]
struct Trials {
    /// Those with own words.
    with: u32,
    /// The others.
    without: u32,
    /// Whether the words come from a stock.
    has_stock: bool,
}

/// All templates of a domain.
#[derive(Clone, Copy, Debug, Default)]
struct OfDomain {
    /// Whether the words of some template come from a stock.
    has_stock: bool,
    /// The number of trials with own words of the template that has most of them.
    most: u32,
}

/// What is remembered of a whole text: that a trial had it, and that it had own words then.
const SHOWN: u64 = 1;
const WITH_OWN: u64 = 2;

impl ShownWords {
    /// At most this many templates and shapes are remembered. When there are more, all are forgotten.
    const TRIALS: usize = config::bounds::HOSTS_COMPARED;
    const ROWS: usize = config::bounds::ROWS_OF_WORDS;
    /// The words of a row.
    const ROW: usize = 4;
    /// So many own words that follow each other say something. (Words with digits, dates and words of the URL do not
    /// count.)
    const LEAST: usize = 3;
    /// Own words count while at most one trial in this many has none …
    const FEW: u32 = 5;
    /// … apart from this many. (Some paragraphs of a law are repealed.)
    const APART: u32 = 2;
    /// Trials of a shape have own words after so many of them had some. Fewer do not show whether there is a stock.
    const SEVERAL: u32 = 5;
    /// They also do after so many trials of a template of the domain had some, if no template has a stock.
    const SURE: u32 = 10;

    /// The words that only this trial has. All its words are remembered.
    pub fn page(&mut self, domain: u64, tried: Tried, marks: &[WordMark]) -> OwnWords {
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
                if words.is_some_and(|words| self.show(domain, words)) {
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
        let text = marks.iter().fold(domain, |hash, mark| xxh3_64_with_seed(&mark.to_le_bytes(), hash));
        let of_text = |what| xxh3_64_with_seed(&text.to_le_bytes(), what);
        let was_shown = self.show_hash(of_text(SHOWN));
        if 2 * known < all {
            return OwnWords::None;
        }
        let has_own = longest >= Self::LEAST;
        if has_own {
            self.show_hash(of_text(WITH_OWN));
        } else if matches!(tried, Tried::Shape(_)) && was_shown && !self.has_hash(of_text(WITH_OWN)) {
            return OwnWords::None;
        }
        if self.trials.len() >= Self::TRIALS && !self.trials.contains_key(&(domain, tried)) {
            self.trials.clear();
            self.templates.clear();
        }
        let trials = self.trials.entry((domain, tried)).or_default();
        *if has_own { &mut trials.with } else { &mut trials.without } += 1;
        let others = trials.without.saturating_sub(Self::APART);
        trials.has_stock |= others * Self::FEW > trials.with + trials.without;
        let Trials { with, has_stock, .. } = *trials;
        let counts = match tried {
            Tried::Template(_) => {
                let of_domain = self.templates.entry(domain).or_default();
                of_domain.has_stock |= has_stock;
                of_domain.most = of_domain.most.max(with);
                true
            }
            Tried::Shape(_) => {
                let of_domain = self.templates.get(&domain).copied().unwrap_or_default();
                with > Self::SEVERAL || of_domain.most >= Self::SURE && !of_domain.has_stock
            }
        };
        match has_own {
            _ if has_stock => OwnWords::OfStock,
            true if counts => OwnWords::Few,
            _ => OwnWords::None,
        }
    }

    /// Whether a trial has shown this row of words. It is remembered.
    fn show(&mut self, domain: u64, words: &[WordMark]) -> bool {
        let mut bytes = [0; Self::ROW * size_of::<WordMark>()];
        for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        self.show_hash(xxh3_64_with_seed(&bytes, domain))
    }

    /// Whether something with this hash was shown. It is remembered.
    fn show_hash(&mut self, hash: u64) -> bool {
        let (place, part) = place_of(hash);
        std::mem::replace(&mut self.rows[place], part) == part
    }

    fn has_hash(&self, hash: u64) -> bool {
        let (place, part) = place_of(hash);
        self.rows[place] == part
    }
}

/// The place of a hash among the rows, and what stands there. (0 says that a place is empty.)
fn place_of(hash: u64) -> (usize, u32) {
    ((hash >> 32) as usize % ShownWords::ROWS, hash as u32 | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: u64 = 7;
    const TEMPLATE: Tried = Tried::Template(5);
    const SHAPE: Tried = Tried::Shape(5);

    /// Words that appear on no other page.
    fn words(random: &mut fastrand::Rng, count: usize) -> Vec<WordMark> {
        (0..count).map(|_| random.u32(..) | 1).collect()
    }

    fn judge(pages: impl IntoIterator<Item = Vec<WordMark>>) -> Vec<OwnWords> {
        let mut shown_words = ShownWords::default();
        pages.into_iter().map(|page| shown_words.page(DOMAIN, TEMPLATE, &page)).collect()
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

    /// Catches own words that count only where a template was tried.
    #[test]
    fn trials_of_a_shape_need_some_that_had_own_words_and_equal_pages_beside_them_do_not_matter() {
        use OwnWords::{Few, None};
        let mut random = fastrand::Rng::with_seed(1);
        let text = words(&mut random, 100);
        let mut page = || [&text[..], &words(&mut random, 9)].concat();
        let mut shown_words = ShownWords::default();
        shown_words.page(DOMAIN, SHAPE, &text);
        for with in 0..4 * ShownWords::SEVERAL {
            let expected = if with < ShownWords::SEVERAL { None } else { Few };
            assert_eq!(shown_words.page(DOMAIN, SHAPE, &page()), expected, "{with}");
            assert_eq!(shown_words.page(DOMAIN, SHAPE, &text), None, "a page without own words");
        }
        assert_eq!(shown_words.page(DOMAIN, Tried::Shape(6), &page()), None, "another shape");
        for _ in 0..ShownWords::SURE {
            shown_words.page(DOMAIN, TEMPLATE, &page());
        }
        assert_eq!(shown_words.page(DOMAIN, Tried::Shape(6), &page()), Few, "many trials of a template had some");
    }

    #[test]
    fn trials_of_a_shape_that_repeat_own_words_show_a_stock() {
        let mut random = fastrand::Rng::with_seed(3);
        let text = words(&mut random, 100);
        let stock: Vec<_> = (0..20).map(|_| words(&mut random, 9)).collect();
        let mut shown_words = ShownWords::default();
        let pages = (0..60).map(|_| [&text[..], random.choice(&stock).unwrap()].concat());
        let found: Vec<_> = pages.map(|page| shown_words.page(DOMAIN, SHAPE, &page)).collect();
        assert!(!found[30..].contains(&OwnWords::Few) && found.contains(&OwnWords::OfStock), "{found:?}");
    }

    #[test]
    fn a_stock_of_texts_stops_counting_and_domains_share_nothing() {
        let mut random = fastrand::Rng::with_seed(1);
        let text = words(&mut random, 300);
        let stock: Vec<_> = (0..30).map(|_| words(&mut random, 12)).collect();
        let pages: Vec<_> = (0..200).map(|_| [&text[..], random.choice(&stock).unwrap()].concat()).collect();
        let last = judge(pages.clone()).iter().rposition(|own| *own == OwnWords::Few).unwrap();
        assert!((5..40).contains(&last), "{last}");
        let mut shown_words = ShownWords::default();
        assert!((0..200).all(|domain| shown_words.page(domain, TEMPLATE, &pages[0]) == OwnWords::None));
    }
}

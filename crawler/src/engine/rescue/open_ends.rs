//! The *open ends* of a crawl: held URLs behind which nobody knows how many pages lie. An estimate can only tell of
//! URLs that are known, so the open ends are counted apart. There are two kinds:
//!
//! 1. URLs without a counterpart, met on pages that were only fetched as trials. If a page alone does not tell whether
//!    pages like it bring something new, a few of these are fetched as trials. A chain of such pages is followed while
//!    it brings something new. When it is given up, its next URL stays held.
//! 2. URLs with a counterpart that were met during the last round of the rescue. No later sample has shown what lies
//!    behind them. For example, an old copy of a site ends with chapter 60, and the site itself goes on. If the budget
//!    of the rescue ends at chapter 50, the URL of chapter 51 stays held, and the new chapters lie behind it.
//!
//! **How long a chain may be.** A page is part of a chain if it is the only page to which the page before it led. All
//! that is known of a chain is that it did not end in its first `n` pages. If the place at which it was given up is as
//! likely to be one part of the whole chain as another, it has at most `39 n` further pages with a probability of
//! 97.5 %. (J. R. Gott, "Implications of the Copernican principle for our future prospects", Nature 363, 1993.) These
//! pages raise the upper end of the estimate.

use std::collections::HashMap;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::PageId;
use frontier::{Release, SkipReason, Skipped, Via};

use super::led::{self, Led};
use super::record::read;
use super::state::RescueState;
use crate::record::PageRecord;

/// The open ends that were found so far.
#[derive(Debug)]
pub struct OpenEnds {
    /// The number of the last round of the rescue; `None` if it did not come to its end.
    last: Option<u32>,
    /// The number of open ends.
    count: u64,
    /// The pages that linked to them, with the number of open ends of each.
    sources: HashMap<PageId, u64>,
}

impl OpenEnds {
    /// A chain has at least this many pages. Two or three pages follow each other by chance.
    const CHAIN: u64 = 4;
    /// A chain that did not end in its first `n` pages has at most so many times `n` further pages, with a probability
    /// of 97.5 %.
    const TIMES: u64 = 39;
    /// At most so many sources of open ends are looked at. They take about 4 MB.
    const MOST: usize = 1 << 16;

    /// Reads the state of the rescue.
    pub fn read(session: &Session) -> Result<Self> {
        let state = RescueState::read(session)?;
        let last = state.lost().map(|_| state.number).filter(|number| *number > 0);
        Ok(Self { last, count: 0, sources: HashMap::new() })
    }

    /// Notes a URL that is not fetched, if it is an open end. `source` is the page that linked to it.
    pub fn note(&mut self, skipped: &Skipped, source: Option<&PageRecord>, session: &Session) {
        if !self.has(skipped, source, session) {
            return;
        }
        self.count += 1;
        if let Some(page) = skipped.source
            && (self.sources.len() < Self::MOST || self.sources.contains_key(&page))
        {
            *self.sources.entry(page).or_default() += 1;
        }
    }

    /// The number of open ends.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest number of pages that lie behind those open ends that are the ends of chains, with a probability of
    /// 97.5 %. Without a sample it is 0, because there is no estimate that it could raise.
    pub fn behind(&self, session: &Session) -> Result<u64> {
        if self.last.is_none() || self.sources.is_empty() {
            return Ok(0);
        }
        let led = Led::read(session)?;
        let mut behind = 0_u64;
        // A page with several open ends is no part of a chain.
        for page in self.sources.iter().filter(|(_, ends)| **ends == 1).map(|(page, _)| *page) {
            let pages = chain(page, &led, session)?;
            if pages >= Self::CHAIN {
                behind = behind.saturating_add(Self::TIMES.saturating_mul(pages));
            }
        }
        Ok(behind)
    }

    /// Whether a URL that is not fetched is an open end.
    fn has(&self, skipped: &Skipped, source: Option<&PageRecord>, session: &Session) -> bool {
        if skipped.is_news {
            return source.is_some_and(|page| is_trial(page.via));
        }
        let trial = || skipped.source.and_then(|page| read(page.url, session));
        let is_held = skipped.reason == SkipReason::DuplicateSource;
        is_held && self.last.is_some_and(|last| trial().is_some_and(|trial| trial.during == last))
    }
}

/// The number of pages of the chain that ends with `page`.
fn chain(page: PageId, led: &Led, session: &Session) -> Result<u64> {
    let (mut at, mut pages) = (page, 0);
    // The last page led to none, as the next one is held.
    while led.of(at.url.url) <= u32::from(pages > 0) {
        pages += 1;
        match PageRecord::get(at, session)?.and_then(|record| record.source) {
            Some(source) if pages < led::MOST as u64 => at = source,
            _ => break,
        }
    }
    Ok(pages)
}

/// Whether a page was fetched only to see what pages like it bring.
fn is_trial(via: Via) -> bool {
    matches!(via, Via::Trial | Via::Rescue | Via::Released { why: Release::Template | Release::Fallen })
}

#[cfg(test)]
mod tests {
    use super::super::led::tests::{crawl, page};
    use super::*;

    /// Catches a length that counts the pages before the chain, and a chain that is followed through a list.
    #[test]
    fn a_chain_begins_behind_the_last_page_that_led_to_several() {
        // A seed leads to two pages. One of them, 2, leads to a chain: 3, 4, and so on.
        let mut pages = vec![(1, None, 1), (2, Some(1), 2), (100, Some(1), 100)];
        pages.extend((3..=9).map(|url| (url, Some(url - 1), url)));
        let session = crawl(&pages);
        let length = |session: &Session, url| chain(page(url), &Led::read(session).unwrap(), session).unwrap();
        assert_eq!(length(&session, 9), 8);
        assert_eq!(length(&session, 100), 1);
        assert_eq!(length(&session, 8), 0, "its next page was fetched");
        // A chain without a beginning.
        assert_eq!(length(&crawl(&[(1, None, 1), (2, Some(1), 2)]), 2), 2);
    }

    #[test]
    fn only_the_ends_of_chains_count_and_only_after_a_sample() {
        let pages: Vec<_> = (1..=20).map(|url| (url, (url > 1).then(|| url - 1), url)).collect();
        let session = crawl(&pages);
        let behind = |last, ends: &[(u64, u64)]| {
            let sources = ends.iter().map(|(url, ends)| (page(*url), *ends)).collect();
            OpenEnds { last, count: ends.len() as u64, sources }.behind(&session).unwrap()
        };
        assert_eq!(behind(Some(3), &[(20, 1)]), 39 * 20);
        assert_eq!(behind(Some(3), &[(20, 2)]), 0, "a page with two ends");
        assert_eq!(behind(Some(3), &[(19, 1)]), 0, "a page within the chain");
        assert_eq!(behind(None, &[(20, 1)]), 0, "no sample");
        assert_eq!(behind(Some(3), &[]), 0);
    }
}

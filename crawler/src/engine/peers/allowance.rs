//! `--max-pages` in an engine that crawls with other processes. The pages of the crawl are given to processes in
//! blocks. This is the part of one process.
//!
//! A process asks for more pages in time, and gives back those that it has left when it has nothing to fetch. If no
//! pages are left to give, the process is *dry*: it fetches no pages, but its request stays open, because another
//! process may give some back.

use crate::engine::peers::QuotaRequest;

/// The pages that this process may fetch.
#[derive(Debug)]
pub(in crate::engine) struct Allowance {
    /// The number of pages in all, counted from its first.
    pages: u64,
    /// The number of the last request for more.
    number: u64,
    /// Whether the last request has not been answered with pages yet.
    asks: bool,
    /// Whether the last answer was that there are no pages to give.
    dry: bool,
}

impl Allowance {
    /// The least number of pages to ask for: a process that has only begun does not know what it needs.
    const FEWEST: u64 = 8;
    /// The number of pages to ask for, for each open request. So they last for this many rounds of requests.
    const ROUNDS: u64 = 4;

    /// Makes an allowance of `pages` pages in all, as far as is known.
    pub fn new(pages: u64) -> Self {
        Self { pages, number: 0, asks: false, dry: false }
    }

    /// Whether no further pages may be fetched, if `fetched` were fetched and `open` are being fetched.
    pub fn is_full(&self, fetched: u64, open: u64) -> bool {
        fetched + open >= self.pages
    }

    /// Whether an answer is awaited. It is not if the last answer was that there are no pages.
    pub fn is_awaited(&self) -> bool {
        self.asks && !self.dry
    }

    /// Asks for more pages, if those that are left will not last until an answer comes.
    pub fn ask(&mut self, fetched: u64, open: u64) -> Option<QuotaRequest> {
        if self.asks || self.pages > fetched + 2 * open {
            return None;
        }
        self.number += 1;
        (self.asks, self.dry) = (true, false);
        Some(QuotaRequest::More { number: self.number, pages: (open * Self::ROUNDS).max(Self::FEWEST) })
    }

    /// Gives back the pages that are left. Call this when nothing is open and nothing is to be fetched.
    pub fn give_back(&mut self, fetched: u64) -> Option<QuotaRequest> {
        if self.pages <= fetched {
            return None;
        }
        (self.pages, self.asks, self.dry) = (fetched, false, false);
        Some(QuotaRequest::Back { to: fetched })
    }

    /// Takes the answer to a request. Returns true if there are more pages now. The answer to a request that was taken
    /// back has no effect.
    pub fn heard(&mut self, number: u64, pages: u64) -> bool {
        if !self.asks || number != self.number {
            return false;
        }
        let more = pages > self.pages;
        (self.pages, self.asks, self.dry) = (pages, !more, !more);
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_asked_for_in_time_and_what_is_left_is_given_back() {
        let mut allowance = Allowance::new(10);
        assert_eq!(allowance.ask(0, 4), None, "enough for another round");
        assert_eq!(allowance.ask(2, 4), Some(QuotaRequest::More { number: 1, pages: 16 }));
        assert_eq!(allowance.ask(6, 4), None, "one request at a time");
        assert!(allowance.is_full(6, 4) && allowance.is_awaited());
        assert!(!allowance.heard(1, 10) && !allowance.is_awaited(), "there was nothing to give");
        assert_eq!(allowance.ask(10, 0), None, "the request stands");
        assert!(allowance.heard(1, 15) && !allowance.is_full(10, 4));
        assert_eq!(allowance.give_back(12), Some(QuotaRequest::Back { to: 12 }));
        assert!(allowance.is_full(12, 0));
        assert_eq!(allowance.give_back(12), None);
        assert_eq!(allowance.ask(12, 0), Some(QuotaRequest::More { number: 2, pages: Allowance::FEWEST }));
        assert!(!allowance.heard(1, 99) && allowance.is_full(12, 0), "an answer to what was asked before");
    }
}

//! `--max-pages` in an engine that crawls with others: the pages of the crawl are handed to processes in blocks, and this is
//! the block of one.
//!
//! A process asks for more in time, and gives back what it holds when it has nothing to fetch. Where nobody has any pages
//! left to give, it is *dry*: it fetches no pages, but its request stands, because another process may give some back.

use super::peers::QuotaRequest;

/// The pages that this process may fetch.
#[derive(Debug)]
pub(super) struct Allowance {
    /// In all, from its first on.
    pages: u64,
    /// The number of the last request for more.
    number: u64,
    /// Whether that is not answered with pages yet.
    asks: bool,
    /// Whether there was nothing to give.
    dry: bool,
}

impl Allowance {
    /// Fewest pages to ask for: a process that has only begun does not know what it needs.
    const FEWEST: u64 = 8;
    /// Pages to ask for, for each request that is open. They last for so many rounds of requests.
    const ROUNDS: u64 = 4;

    /// So many pages in all, as far as is known.
    pub fn new(pages: u64) -> Self {
        Self { pages, number: 0, asks: false, dry: false }
    }

    /// Whether nothing may be fetched beside these.
    pub fn is_full(&self, fetched: u64, open: u64) -> bool {
        fetched + open >= self.pages
    }

    /// Whether an answer is awaited. Not so where there was nothing to give.
    pub fn is_awaited(&self) -> bool {
        self.asks && !self.dry
    }

    /// Asks for more where what is left will not last until an answer comes.
    pub fn ask(&mut self, fetched: u64, open: u64) -> Option<QuotaRequest> {
        if self.asks || self.pages > fetched + 2 * open {
            return None;
        }
        self.number += 1;
        (self.asks, self.dry) = (true, false);
        Some(QuotaRequest::More { number: self.number, pages: (open * Self::ROUNDS).max(Self::FEWEST) })
    }

    /// Nothing is open and nothing is to be fetched: gives back what is left.
    pub fn give_back(&mut self, fetched: u64) -> Option<QuotaRequest> {
        if self.pages <= fetched {
            return None;
        }
        (self.pages, self.asks, self.dry) = (fetched, false, false);
        Some(QuotaRequest::Back { to: fetched })
    }

    /// The answer to a request. True if there are more pages now. An answer to a request that was taken back says nothing.
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

//! `--max-pages` in an engine that crawls with others: the pages of the crawl are handed to processes in blocks, and this is
//! the block of one.
//!
//! A process asks for more in time, and gives back what it holds when it has nothing to fetch. Where nobody has any pages
//! left to give, it is *dry*: it fetches no pages, but its request stands, because another process may give some back.

use frontier::{JobKind, Next, Outcome};

use super::peers::QuotaRequest;
use super::{Engine, Result};

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

impl Engine<'_> {
    /// Whether `--max-pages` allows no more page jobs than are open now.
    pub(super) fn is_full(&self) -> bool {
        let (limit, pages, open) =
            (self.desk.settings.limits.max_pages, self.desk.ledger.stats.pages, self.jobs.open_pages());
        match &self.desk.together {
            Some(together) => together.allowance.as_ref().is_some_and(|allowance| allowance.is_full(pages, open)),
            None => limit > 0 && pages + open >= limit,
        }
    }

    /// Asks for more pages, if those that may be fetched here are soon used up.
    pub(super) fn seek_pages(&mut self) {
        let (fetched, open) = (self.desk.ledger.stats.pages, self.jobs.open_pages());
        let Some(together) = &mut self.desk.together else { return };
        let request = together.allowance.as_mut().and_then(|allowance| allowance.ask(fetched, open));
        if let Some(request) = request {
            together.peers.ask_for_pages(request);
        }
    }

    /// While no page may be fetched: hands out what another process waits for. False if there is nothing.
    pub(super) fn hand_out_errand(&mut self) -> Result<bool> {
        if self.desk.together.is_none() {
            return Ok(false);
        }
        let now = self.now();
        // Jobs that wait keep their hosts from errands.
        let job = match self.desk.waited() {
            Some(job) if job.kind == JobKind::Page => {
                let back = Outcome::Returned { requested: false };
                self.desk.frontier.report(&job, back, now, &mut self.desk.ledger.session)?;
                return Ok(true);
            }
            Some(job) => job,
            None => match self.desk.frontier.next_errand(now, &mut self.desk.ledger.session)? {
                Next::Job(job) => job,
                Next::Wait(due) => {
                    self.due = Some(due);
                    return Ok(false);
                }
                Next::Idle => return Ok(false),
            },
        };
        if let Some(order) = self.desk.order(job)? {
            self.jobs.start(order)?;
        }
        Ok(true)
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

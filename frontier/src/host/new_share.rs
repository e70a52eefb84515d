//! Estimates how much of a page that was not yet fetched may be new. The estimate is based on the pages of the same
//! host, of the same path prefix and of the same query pattern. It is a factor for the scores of whole groups, and is
//! applied when the best URL of a host is chosen. So if a host with a million queued URLs turns out to be a mirror, no
//! queue entry has to be changed.
//!
//! Let `h = E(host; 1)`, `p = E(prefix; h)`, `q = E(query; h)`, where `E(pages; prior) = (Σ novelty + 4 · prior) / (n +
//! 4)` over pages that were judged lately. The factor of a group is `h^host · (p/h)^path · (q/h)^query`, clamped to
//! 0.01..1. So the share of the host counts once. Prefix and query count by how much they differ from the host.

use config::Priority;

/// How much of the pages judged lately was new. Old pages count less and less.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NewShare {
    pages: f32,
    new: f32,
}

impl NewShare {
    /// After this many pages, the earlier pages count half.
    const WINDOW: f32 = 256.0;
    /// The prior counts as much as this many pages.
    const PRIOR: f32 = 4.0;
    /// The least factor. No URL ever gets the factor zero.
    const LEAST: f32 = 0.01;

    /// A share as it was put on record.
    pub fn new(pages: u16, new: u16) -> Self {
        Self { pages: f32::from(pages), new: f32::from(new).min(f32::from(pages)) }
    }

    /// The numbers to put on record: pages, and how many of them were new.
    pub fn rounded(self) -> (u16, u16) {
        (self.pages.round() as u16, self.new.round() as u16)
    }

    /// Counts a page. `novelty` is how much of it was new, 0..1.
    pub fn page(&mut self, novelty: f32) {
        if self.pages >= Self::WINDOW {
            self.pages /= 2.0;
            self.new /= 2.0;
        }
        self.pages += 1.0;
        self.new += novelty.clamp(0.0, 1.0);
    }

    /// The pages of both shares together.
    pub fn with(self, other: Self) -> Self {
        Self { pages: self.pages + other.pages, new: self.new + other.new }
    }

    /// The expected share that is new. `prior` is the share that was expected before any page was judged.
    pub fn expected(self, prior: f32) -> f32 {
        (self.new + Self::PRIOR * prior) / (self.pages + Self::PRIOR)
    }
}

/// The three parts of the factor of a group. Each is 1 before anything was learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// The expected share of the host.
    pub host: f32,
    /// The expected share of the path prefix, divided by that of the host.
    pub path: f32,
    /// The expected share of the query pattern, divided by that of the host.
    pub query: f32,
}

impl Default for Expected {
    fn default() -> Self {
        Self { host: 1.0, path: 1.0, query: 1.0 }
    }
}

impl Expected {
    /// Computes the parts from the shares of a host, of a path prefix and of a query pattern.
    pub fn of(host: NewShare, path: NewShare, query: NewShare) -> Self {
        let h = host.expected(1.0).max(NewShare::LEAST);
        Self { host: h, path: path.expected(h) / h, query: query.expected(h) / h }
    }

    /// The factor for scores.
    pub fn factor(self, weights: &Priority) -> f32 {
        let factor = self.host.powf(weights.host_weight)
            * self.path.powf(weights.path_weight)
            * self.query.powf(weights.query_weight);
        factor.clamp(NewShare::LEAST, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(new: u32, old: u32) -> NewShare {
        let mut share = NewShare::default();
        (0..new.max(old)).for_each(|n| {
            (n < new).then(|| share.page(1.0));
            (n < old).then(|| share.page(0.0));
        });
        share
    }

    #[test]
    fn what_is_known_of_the_host_counts_once() {
        let weights = config::Settings::default().priority;
        let nothing = Expected::of(NewShare::default(), NewShare::default(), NewShare::default());
        assert_eq!(nothing.factor(&weights), 1.0);
        let (host, new, old) = (pages(50, 50), pages(50, 0), pages(0, 50));
        let mirror = Expected::of(host, host, host).factor(&weights);
        assert!((0.45..0.6).contains(&mirror), "{mirror}");
        assert!(Expected::of(host, new, host).factor(&weights) > 0.9);
        assert!(Expected::of(host, old, host).factor(&weights) < 0.1);
    }

    #[test]
    fn a_host_that_changes_is_believed_in_the_end() {
        let mut share = pages(1_000, 0);
        (0..600).for_each(|_| share.page(0.0));
        assert!(share.expected(1.0) < 0.2, "{share:?}");
        let (pages, new) = share.rounded();
        assert!((NewShare::new(pages, new).expected(1.0) - share.expected(1.0)).abs() < 0.02);
    }
}

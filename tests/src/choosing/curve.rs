//! Curves of the contents found over the pages fetched.

/// The curve of one crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve {
    /// The total number of pages fetched, without robots.txt.
    pub fetches: u64,
    /// For each distinct content, in the order of finding: the number of pages that had been fetched when it was found.
    pub found_at: Vec<u64>,
}

impl Curve {
    /// The number of fetches until this share of `contents` was found; `None` if it was never found.
    pub fn fetches_for(&self, share: f64, contents: u64) -> Option<u64> {
        let wanted = (share * contents as f64).ceil() as usize;
        if wanted == 0 { Some(0) } else { self.found_at.get(wanted - 1).copied() }
    }

    /// The number of contents that the first `fetches` fetches found.
    pub fn contents_by(&self, fetches: u64) -> u64 {
        self.found_at.partition_point(|at| *at <= fetches) as u64
    }

    /// The number of contents that were found.
    pub fn contents(&self) -> u64 {
        self.found_at.len() as u64
    }

    /// Adds a fetch. `new` says whether it found a new content.
    pub fn fetched(&mut self, new: bool) {
        self.fetches += 1;
        if new {
            self.found_at.push(self.fetches);
        }
    }
}

/// The median: the middle value, or the lower one of two; NaN if there are no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

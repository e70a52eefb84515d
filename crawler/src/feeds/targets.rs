//! The targets of the links of one answer, within the bounds that hold for the links of any page.

use url::Url;

/// The targets so far, and the number of those for which there is no room.
#[derive(Debug)]
pub(super) struct Targets {
    urls: Vec<Url>,
    most: usize,
    bytes: usize,
    cut: usize,
    /// The sum of the digests of the entries that were added.
    digest: u64,
}

impl Targets {
    /// Room for this many targets, and for [`config::bounds::LINK_BYTES`] bytes of them.
    pub fn new(most: usize) -> Self {
        Self { urls: Vec::new(), most, bytes: 0, cut: 0, digest: 0 }
    }

    /// Adds the target of an entry with this digest, or counts it as cut.
    pub fn add_entry(&mut self, url: Url, digest: u64) {
        if self.add(url) {
            self.digest = self.digest.wrapping_add(digest);
        }
    }

    /// Adds a target, or counts it as cut. Whether it was added.
    pub fn add(&mut self, url: Url) -> bool {
        let bytes = self.bytes + url.as_str().len();
        let fits = self.urls.len() < self.most && bytes <= config::bounds::LINK_BYTES;
        if fits {
            self.bytes = bytes;
            self.urls.push(url);
        } else {
            self.cut += 1;
        }
        fits
    }

    /// Whether there are as many targets as may be.
    pub fn is_full(&self) -> bool {
        self.urls.len() >= self.most
    }

    /// Counts targets that were not looked at.
    pub fn cut(&mut self, more: usize) {
        self.cut += more;
    }

    /// The sum of the digests of the entries that were added.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// The targets, and the number of those that are cut.
    pub fn finish(self) -> (Vec<Url>, usize) {
        (self.urls, self.cut)
    }
}

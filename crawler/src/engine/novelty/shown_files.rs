//! The files that the crawl was shown ([`crate::fetch::file_digest`]). If equal pages lead to a file each, their links are
//! worth following as long as these files differ.
//!
//! All this is in memory only. After a restart, a file counts as new once more.

/// The digests of the files that were shown last.
#[derive(Debug, Default)]
pub(in crate::engine) struct ShownFiles {
    /// A part of each digest, at a place that another part of it names. Empty until there is a file.
    digests: Vec<u32>,
}

impl ShownFiles {
    const PLACES: usize = config::bounds::FILES;

    /// Whether a file is new. It is remembered.
    pub fn is_new(&mut self, digest: u64) -> bool {
        if self.digests.is_empty() {
            self.digests = vec![0; Self::PLACES];
        }
        // 0 says that a place is empty.
        let (place, part) = ((digest >> 32) as usize % Self::PLACES, digest as u32 | 1);
        std::mem::replace(&mut self.digests[place], part) != part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_new_once() {
        let mut files = ShownFiles::default();
        let mut random = fastrand::Rng::with_seed(1);
        let digests: Vec<u64> = (0..500).map(|_| random.u64(..)).collect();
        let mut new = || digests.iter().filter(|digest| files.is_new(**digest)).count();
        assert_eq!(new(), 500);
        assert!(new() < 20, "a few have lost their places to others");
    }
}

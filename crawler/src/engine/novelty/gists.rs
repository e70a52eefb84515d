//! Decides whether a page with too little text for a fingerprint brings something. It does if its gist
//! (`dedup_stage::page::Page::gist`) says something that the host has not shown lately. Otherwise the page only repeats
//! its URL or earlier pages.

use std::collections::{HashMap, VecDeque};

/// The gists of the last short pages of each host.
#[derive(Debug, Default)]
pub(in crate::engine) struct Gists {
    last: HashMap<u64, VecDeque<u32>>,
}

impl Gists {
    /// At most this many hosts are remembered. When there are more, all are forgotten.
    const HOSTS: usize = config::bounds::HOSTS_COMPARED;
    /// At most this many gists of a host are remembered: those that were shown last.
    const GISTS: usize = config::bounds::GISTS;

    /// Whether a gist is new on the host with this hash. It is remembered.
    pub(in crate::engine) fn is_new(&mut self, host: u64, gist: u64) -> bool {
        if gist == 0 {
            return false;
        }
        if self.last.len() >= Self::HOSTS && !self.last.contains_key(&host) {
            self.last.clear();
        }
        let last = self.last.entry(host).or_default();
        let gist = gist as u32;
        let before = last.iter().position(|other| *other == gist).and_then(|at| last.remove(at));
        if last.len() == Self::GISTS {
            last.pop_front();
        }
        last.push_back(gist);
        before.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gist_is_new_once_on_each_host_while_it_is_remembered() {
        let mut gists = Gists::default();
        assert!(gists.is_new(1, 7) && !gists.is_new(1, 7) && gists.is_new(2, 7));
        assert!(!gists.is_new(1, 0), "it says nothing");
        for other in 0..10 * Gists::GISTS as u64 {
            gists.is_new(1, 100 + other);
            assert!(!gists.is_new(1, 7), "it was shown lately");
        }
        assert!(gists.is_new(1, 100), "long ago");
    }
}

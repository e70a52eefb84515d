//! What the twin of a page has in place of each of its links.

use crate::judge::OutLink;
use crate::url::{PageId, UrlId};

/// What a page's twin has in place of one of the page's links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counterpart {
    /// A link to the same URL.
    Same,
    /// A link to this URL, which is for the twin what the link is for the page.
    Of(UrlId),
    /// Nothing: the twin has no such link.
    News,
}

/// The links of a duplicate, held for those of its twin.
#[derive(Debug)]
pub struct Held {
    twin: PageId,
}

impl Held {
    /// The page that the duplicate repeats.
    pub fn twin(&self) -> PageId {
        self.twin
    }

    /// The counterpart of a link of the duplicate. Worked out at each call, since most links of a duplicate are known to
    /// the frontier already and need none.
    pub fn counterpart(&self, link: &OutLink) -> Counterpart {
        let _ = link;
        todo!()
    }
}

//! A list in parts: each part has the same text and a few entries of its own. Each entry is a page with a text of its
//! own.

use fastrand::Rng;
use url::Url;

use super::front;
use crate::gate::draw::{Address, prose, target};
use crate::gate::{Page, Reply, Site};

/// A list in parts.
pub(super) struct Pager {
    items: u64,
    /// The number of entries in a part: 1 to 12.
    each: u64,
    parts: Address,
    entries: Address,
    /// The text above every part: 0 to 2,000 words.
    text: String,
    links: Links,
    /// Whether the links to entries name them, and whether entries link back to their part.
    titled: bool,
    back: bool,
}

/// The other parts to which a part links.
#[derive(Clone, Copy, Debug)]
enum Links {
    /// The next part.
    Next,
    /// The previous and the next part.
    Both,
    /// All parts within a distance of three.
    Window,
    /// All parts.
    All,
}

/// The numbers of words above the list.
const WORDS: [usize; 6] = [0, 30, 150, 400, 1_000, 2_000];

impl Pager {
    pub(super) fn draw(random: &mut Rng) -> Self {
        let each = random.u64(1..=12);
        let parts = random.u64(20..=80).max(60 / each);
        Self {
            items: each * parts - random.u64(..each),
            each,
            parts: Address::pages(random, each),
            entries: Address::draw(random),
            text: prose(random.u64(..), WORDS[random.usize(..WORDS.len())]),
            links: [Links::Next, Links::Both, Links::Window, Links::All][random.usize(..4)],
            titled: random.bool(),
            back: random.bool(),
        }
    }

    /// A list whose entries have names that do not show a number. Each part links only to the next one (and perhaps to
    /// the previous one), so that no other link leads there.
    pub(super) fn hidden(random: &mut Rng) -> Self {
        let each = random.u64(1..=3);
        let text = prose(random.u64(..), 60 + random.usize(..200));
        let links = if random.bool() { Links::Next } else { Links::Both };
        Self {
            each,
            text,
            links,
            entries: Address::hidden(random),
            items: each * 60,
            back: false,
            ..Self::draw(random)
        }
    }

    fn count(&self) -> u64 {
        self.items.div_ceil(self.each)
    }

    fn part(&self, part: u64) -> Page {
        let entries = part * self.each..((part + 1) * self.each).min(self.items);
        let page = entries.fold(Page::new("The list").paragraph(&self.text), |page, entry| {
            let anchor = if self.titled { prose(entry, 2) } else { "Read more".into() };
            page.item(entry, &self.entries.write(entry), &anchor)
        });
        let linked = |other: u64| match self.links {
            Links::Next => other == part + 1,
            Links::Both => other == part + 1 || other + 1 == part,
            Links::Window => other.abs_diff(part) <= 3,
            Links::All => true,
        };
        let others = (0..self.count()).filter(|other| *other != part && linked(*other));
        others.fold(page, |page, other| page.link(&self.parts.write(other), &format!("{}", other + 1)))
    }

    fn entry(&self, entry: u64) -> Page {
        let page = Page::new("An entry").text(entry, 80 + (entry % 120) as usize);
        if self.back { page.link(&self.parts.write(entry / self.each), "Back") } else { page.link("/", "Home") }
    }
}

impl Site for Pager {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        if target == "/" {
            return Reply::Page(Page::new("Home").text(1 << 20, 60).link(&self.parts.write(0), "The list"));
        }
        let part = self.parts.read(target, self.count()).map(|part| self.part(part));
        let entry = || self.entries.read(target, self.items).map(|entry| self.entry(entry));
        part.or_else(entry).map_or(Reply::Missing, Reply::Page)
    }
}

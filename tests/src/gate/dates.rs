//! A chain of pages with the same words on each, that differ in a date only. No page tells whether anything lies behind
//! it: it may be a day of an endless calendar, or the next one of an archive whose entries are dates.

use fastrand::Rng;
use url::Url;

use super::draw::{prose, target, word};
use super::{Page, Reply, Site, Thing};

/// A chain of pages with dates.
#[derive(Clone, Debug)]
pub struct Dates {
    pages: u64,
    host: String,
    name: String,
    salt: u64,
}

impl Dates {
    /// A chain of this many pages.
    pub fn draw(seed: u64, pages: u64) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x6461_7465);
        Self { pages, host: format!("{}.test", word(&mut random)), name: word(&mut random), salt: random.u64(..) }
    }

    fn page(&self, target: &str) -> Option<Page> {
        let link = |page: Page, next: u64| page.link(&format!("/{}/{next}", self.name), "More");
        if target == "/" {
            return Some(link(Page::new("Start").paragraph(&prose(self.salt, 30)), 0));
        }
        let at: u64 = target.strip_prefix(&format!("/{}/", self.name))?.parse().ok().filter(|at| *at < self.pages)?;
        let date = format!("{}-{:02}-{:02}", 1700 + at * 7 % 300, 1 + at % 12, 1 + at * 5 % 28);
        let mut page = Page::new("Entries").paragraph(&prose(self.salt ^ 1, 300)).html(&format!("<li>{date}</li>"));
        page.things.push(Thing::Item(at));
        Some(if at + 1 < self.pages { link(page, at + 1) } else { page })
    }
}

impl Site for Dates {
    fn seeds(&self) -> Vec<String> {
        vec![format!("http://{}/", self.host)]
    }

    fn reply(&self, url: &Url) -> Reply {
        let page = (url.host_str() == Some(&self.host)).then(|| self.page(target(url))).flatten();
        page.map_or(Reply::Missing, Reply::Page)
    }
}

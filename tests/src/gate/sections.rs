//! A manual and a copy of it in which a few chapters differ, because they were translated or rewritten. Both begin with
//! the same table of contents, which lists all pages. No URL shows which chapters differ. A crawler that samples single
//! pages at random from all that it holds back finds such a chapter only by luck.

use fastrand::Rng;
use url::Url;

use super::draw::{prose, target, word};
use super::lists::Parts;
use super::{Page, Reply, Site};

/// A manual and its copy.
#[derive(Clone, Debug)]
pub struct Sections {
    /// The host and the first folder of the manual, and of the copy.
    parts: [(String, String); 2],
    chapters: u64,
    /// The number of pages of each chapter.
    pages: u64,
    /// The chapters of the copy that differ.
    own: Vec<u64>,
    name: String,
    salt: u64,
}

impl Sections {
    /// A manual of this many `chapters`, with this many `pages` each. `own` chapters of the copy differ.
    pub fn draw(seed: u64, parts: Parts, chapters: u64, pages: u64, own: u64) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x7365_6374);
        let mut all: Vec<u64> = (0..chapters).collect();
        random.shuffle(&mut all);
        Self {
            parts: parts.draw(&mut random),
            chapters,
            pages,
            own: all.into_iter().take(own as usize).collect(),
            name: word(&mut random),
            salt: random.u64(..),
        }
    }

    fn page(&self, part: usize, target: &str) -> Option<Page> {
        let target = target.strip_prefix(self.parts[part].1.as_str())?;
        let Some((chapter, page)) = target.trim_start_matches('/').split_once('/') else {
            let contents = Page::new("Contents").paragraph(&prose(self.salt, 90));
            let pages = (0..self.chapters).flat_map(|chapter| (0..self.pages).map(move |page| (chapter, page)));
            let link = |contents: Page, (chapter, page)| {
                contents.link(&format!("{}-{chapter}/{page}.html", self.name), &format!("Page {page}"))
            };
            return matches!(target, "/" | "").then(|| pages.fold(contents, link));
        };
        let number: u64 = chapter.strip_prefix(&self.name)?.strip_prefix('-')?.parse().ok()?;
        if number >= self.chapters {
            return None;
        }
        let page: u64 = page.strip_suffix(".html")?.parse().ok().filter(|page| *page < self.pages)?;
        let own = u64::from(part == 1 && self.own.contains(&number));
        let text = self.salt ^ (own << 48) ^ (number << 16) ^ page;
        Some(Page::new(prose(text ^ 0x5469, 4)).text(text, 120))
    }
}

impl Site for Sections {
    fn seeds(&self) -> Vec<String> {
        self.parts.iter().map(|(host, folder)| format!("http://{host}{folder}/")).collect()
    }

    fn reply(&self, url: &Url) -> Reply {
        let is_in =
            |(host, folder): &(String, String)| url.host_str() == Some(host) && url.path().starts_with(folder.as_str());
        let part = self.parts.iter().position(is_in);
        part.and_then(|part| self.page(part, target(url))).map_or(Reply::Missing, Reply::Page)
    }
}

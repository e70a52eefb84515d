//! A directory: a tree of pages with links, with or without a text above them. The leaves are articles.

use fastrand::Rng;
use url::Url;

use super::front;
use crate::gate::draw::{Address, prose, target};
use crate::gate::{Page, Reply, Site};

/// A directory.
pub(super) struct Directory {
    /// The number of sub-pages of an inner page; after it, the number of articles to which each page links (1 to 12).
    branches: u64,
    articles: u64,
    lists: u64,
    list: Address,
    article: Address,
    text: String,
    titled: bool,
}

impl Directory {
    pub(super) fn draw(random: &mut Rng) -> Self {
        let (branches, articles) = (random.u64(2..=6), random.u64(1..=12));
        Self {
            branches,
            articles,
            lists: (random.u64(150..=250) / articles).max(12),
            list: Address::draw(random),
            article: Address::draw(random),
            text: prose(random.u64(..), [0, 0, 40, 300, 1_000][random.usize(..5)]),
            titled: random.bool(),
        }
    }

    fn list(&self, list: u64) -> Page {
        let page = Page::new("Directory").paragraph(&self.text);
        let page = (0..self.articles).map(|at| list * self.articles + at).fold(page, |page, article| {
            let anchor = if self.titled { prose(article, 2) } else { "link".into() };
            page.item(article, &self.article.write(article), &anchor)
        });
        let below = (1..=self.branches).map(|at| list * self.branches + at).filter(|below| *below < self.lists);
        below.fold(page, |page, below| page.link(&self.list.write(below), "more"))
    }
}

impl Site for Directory {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        if target == "/" {
            return Reply::Page(self.list(0));
        }
        let list = self.list.read(target, self.lists).map(|list| self.list(list));
        let article = || {
            let article = self.article.read(target, self.lists * self.articles)?;
            Some(Page::new("Article").text(article, 100).link("/", "Directory"))
        };
        list.or_else(article).map_or(Reply::Missing, Reply::Page)
    }
}

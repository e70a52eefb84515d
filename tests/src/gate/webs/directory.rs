//! A directory: a tree of pages with links, with or without a text above them. The leaves are articles, short notes or
//! pictures. Or a chain of pages with links to other sites.

use fastrand::Rng;
use url::Url;

use super::front;
use crate::gate::draw::{Address, prose, target, word};
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
    /// The number of words of an article; 0 if a picture takes its place.
    words: usize,
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
            words: 100,
        }
    }

    /// A directory of notes with 3 to 19 words, or of pictures without words.
    pub(super) fn of_short_pages(random: &mut Rng) -> Self {
        let words = if random.u32(..3) == 0 { 0 } else { random.usize(3..20) };
        Self { words, ..Self::draw(random) }
    }

    fn article(&self, article: u64) -> Page {
        let page = match self.words {
            0 => Page::new("Picture").picture(article, &format!("<img src=\"/pictures/{article}.jpeg\">")),
            words => Page::new("Article").text(article, words),
        };
        page.link("/", "Directory")
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
            Some(self.article(article))
        };
        list.or_else(article).map_or(Reply::Missing, Reply::Page)
    }
}

/// A directory of other sites: each page has 3 to 12 links to them, under equal text, and a link to the next page.
pub(super) struct Elsewhere {
    pages: u64,
    links: u64,
    page: Address,
    text: String,
    salt: u64,
}

impl Elsewhere {
    pub(super) fn draw(random: &mut Rng) -> Self {
        Self {
            pages: random.u64(100..=200),
            links: random.u64(3..=12),
            page: Address::draw(random),
            text: prose(random.u64(..), [30, 40, 300, 1_000][random.usize(..4)]),
            salt: random.u64(..),
        }
    }

    fn page(&self, page: u64) -> Page {
        let links = page * self.links..(page + 1) * self.links;
        let list = links.fold(Page::new("Links").paragraph(&self.text), |list, link| {
            list.item(link, &format!("http://{}{link}.example/", word(&mut Rng::with_seed(self.salt ^ link))), "Visit")
        });
        if page + 1 < self.pages { list.link(&self.page.write(page + 1), "more") } else { list }
    }
}

impl Site for Elsewhere {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let is_here = front().iter().any(|seed| url.as_str().starts_with(seed.as_str()));
        let page = if target(url) == "/" { Some(0) } else { self.page.read(target(url), self.pages) };
        page.filter(|_| is_here).map_or(Reply::Missing, |page| Reply::Page(self.page(page)))
    }
}

//! Honest sites whose pages look like copies of each other: equal text around a picture, a list entry or a link. A
//! crawler that takes the second page for a copy of the first and follows none of its links loses most of the site.

mod beside;
mod directory;
mod gallery;
mod images;
mod months;
mod pager;
mod plain;
mod shop;
mod threads;

use std::sync::Arc;

use fastrand::Rng;

use super::Site;

/// The kinds of honest sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Honest {
    /// A paragraph, a photo (or a film, or a sound), and a link to the next page.
    Gallery,
    /// A list in parts of 1 to 12 entries, under 0 to 2,000 words of equal text.
    Pager,
    /// A list in parts of 1 to 3 entries, under equal text. Each part links to the next one, and the URLs of the
    /// entries do not show their numbers.
    Hidden,
    /// A calendar of months with a few events each, under equal text.
    Months,
    /// Boards that list threads, and threads of several pages.
    Threads,
    /// Pages of one picture each, without a word.
    Images,
    /// A directory: pages of links, with or without a text above them.
    Directory,
    /// A directory of pages with fewer than 20 words, or with a picture and no words.
    ShortPages,
    /// A chain of pages with links to other sites, under equal text.
    Elsewhere,
    /// A shop: products that differ in a picture and a few words, and that link to each other.
    Shop,
    /// Pages with equal content, and a text of their own in an aside, a side bar, a header or a footer.
    Beside,
    /// Pages with a few words of their own beside 150 to 2,000 words of equal text.
    Plain,
}

impl Honest {
    /// A site of this kind. Its shape, size and names are drawn from the seed.
    pub fn make(self, seed: u64) -> Arc<dyn Site> {
        let mut random = Rng::with_seed(seed ^ 0x6f6e_6573);
        match self {
            Honest::Gallery => Arc::new(gallery::Gallery::draw(&mut random)),
            Honest::Pager => Arc::new(pager::Pager::draw(&mut random)),
            Honest::Hidden => Arc::new(pager::Pager::hidden(&mut random)),
            Honest::Months => Arc::new(months::Months::draw(&mut random)),
            Honest::Threads => Arc::new(threads::Threads::draw(&mut random)),
            Honest::Images => Arc::new(images::Images::draw(&mut random)),
            Honest::Directory => Arc::new(directory::Directory::draw(&mut random)),
            Honest::ShortPages => Arc::new(directory::Directory::of_short_pages(&mut random)),
            Honest::Elsewhere => Arc::new(directory::Elsewhere::draw(&mut random)),
            Honest::Shop => Arc::new(shop::Shop::draw(&mut random)),
            Honest::Beside => Arc::new(beside::Beside::draw(&mut random)),
            Honest::Plain => Arc::new(plain::Plain::draw(&mut random)),
        }
    }
}

/// The only seed of a site: its front page.
fn front() -> Vec<String> {
    vec!["http://honest.test/".into()]
}

//! A site of articles below a domain all of whose names have an address. Each article links to one of these names. Its
//! page says the same as all others, and links to further names.

use fastrand::Rng;
use url::Url;

use super::draw::{prose, target, word};
use super::{Page, Reply, Site};

/// A site, and endless hosts beside it.
#[derive(Clone, Debug)]
pub struct Wildcard {
    domain: String,
    articles: u64,
    links: usize,
    salt: u64,
}

impl Wildcard {
    /// A site of this many articles. The page of each name has this many links to further names.
    pub fn draw(seed: u64, articles: u64, links: usize) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x7769_6c64);
        Self { domain: format!("{}.test", word(&mut random)), articles, links, salt: random.u64(..) }
    }

    fn www(&self) -> String {
        format!("www.{}", self.domain)
    }

    /// A name that follows from a seed.
    fn name(&self, seed: u64) -> String {
        let mut random = Rng::with_seed(self.salt ^ seed);
        format!("http://{}{}.{}/", word(&mut random), random.u32(..), self.domain)
    }

    fn article(&self, target: &str) -> Option<Page> {
        let number: u64 = target.strip_prefix("/article/")?.parse().ok().filter(|number| *number < self.articles)?;
        let mut page = Page::new(format!("Article {number}")).text(number, 80).link(&self.name(number), "Go");
        for next in (3 * number + 1..=3 * number + 3).filter(|next| *next < self.articles) {
            page = page.link(&format!("/article/{next}"), "More");
        }
        Some(page)
    }
}

impl Site for Wildcard {
    fn seeds(&self) -> Vec<String> {
        vec![format!("http://{}/article/0", self.www())]
    }

    fn reply(&self, url: &Url) -> Reply {
        let host = url.host_str().unwrap_or_default();
        if host == self.www() {
            return self.article(target(url)).map_or(Reply::Missing, Reply::Page);
        }
        if target(url) != "/" || !host.ends_with(&self.domain) {
            return Reply::Missing;
        }
        let mut page = Page::new("Welcome").paragraph(&prose(self.salt, 80));
        let mut random =
            Rng::with_seed(host.bytes().fold(self.salt, |sum, byte| sum.wrapping_mul(31) ^ u64::from(byte)));
        for _ in 0..self.links {
            page = page.link(&self.name(random.u64(..)), "Friend");
        }
        Reply::Page(page)
    }
}

//! Small sites of kinds on which crawlers go wrong: copies with all kinds of URLs, endless sets of URLs, and honest
//! sites that look like copies. Each is a function from URLs to pages, with a text of its own for each content.

mod pages;
mod table;

use std::time::Duration;

use crawler::demo::web::{Answer, Truth};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::World;
use pages::prose;
pub use table::ODD;

/// A small site.
#[derive(Clone, Copy)]
pub struct Odd {
    /// A description of its oddity.
    pub name: &'static str,
    /// The behaviour that is expected of a crawl.
    pub kind: Kind,
    /// The seeds of crawls.
    pub seeds: &'static [&'static str],
    /// The number of contents that can be reached.
    pub contents: u64,
    /// The page at a URL; `None` if there is none.
    page: fn(&Url) -> Option<Page>,
}

/// The behaviour that is expected of a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rules must recognise the copies.
    Copies,
    /// The site goes on for ever with the same content.
    Endless,
    /// There are no copies of any kind, and no rule may be learned.
    Honest,
    /// The pages are near-duplicates, although each has a content of its own.
    Alike,
}

/// A page: its content, its text, and the targets of its links.
struct Page {
    shows: Truth,
    text: String,
    links: Vec<String>,
}

/// The number of contents of most sites.
const MANY: u64 = 150;

impl World for Odd {
    fn seeds(&self) -> Vec<String> {
        self.seeds.iter().map(|seed| (*seed).to_owned()).collect()
    }

    fn host(&self, name: &str) -> Option<u32> {
        ["a.test", "b.test", "www.a.test"].iter().position(|host| *host == name).map(|host| host as u32)
    }

    fn answer(&self, url: &Url) -> Answer {
        let page = (self.page)(url);
        let status = if page.is_some() { 200 } else { 404 };
        let body = page.map_or(String::new(), |page| page.html());
        Answer { status, content_type: "text/html", location: None, body, delay: Duration::ZERO }
    }

    fn shows(&self, url: &Url) -> Truth {
        (self.page)(url).map_or(Truth::Missing, |page| page.shows)
    }

    fn class(&self, url: &Url) -> u64 {
        match self.shows(url) {
            Truth::Content(content) => content,
            _ => xxh3_64(url.as_str().as_bytes()),
        }
    }
}

impl Page {
    /// An article whose text depends only on `content`.
    fn article(content: u64, links: Vec<String>) -> Self {
        Self { shows: Truth::Content(content), text: prose(content, 150), links }
    }

    fn html(&self) -> String {
        let title: String = self.text.chars().take(20).collect();
        let mut html =
            format!("<html><head><title>{title}</title></head><body><h1>{title}</h1>\n<p>{}</p>\n", self.text);
        for (at, link) in self.links.iter().enumerate() {
            html += &format!("<p>See <a href=\"{}\">part {at}</a>.</p>\n", link.replace('&', "&amp;"));
        }
        html + "</body></html>\n"
    }
}

//! Small sites of the kinds that crawlers go wrong on: copies in every spelling, spaces without end, and honest sites that look
//! like copies. Each is a function from URL to page, with prose of its own for each content.

mod pages;
mod table;

use std::time::Duration;

use crawler::demo::web::{Answer, Shown};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::World;
use pages::prose;
pub use table::ODD;

/// A small site.
#[derive(Clone, Copy)]
pub struct Odd {
    /// What is odd about it.
    pub name: &'static str,
    /// What is to be expected of a crawl.
    pub kind: Kind,
    /// Where crawls start.
    pub seeds: &'static [&'static str],
    /// Contents within reach.
    pub contents: u64,
    /// What a URL is answered with; `None` where there is nothing.
    page: fn(&Url) -> Option<Page>,
}

/// What is to be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rules find the copies out.
    Copies,
    /// There is more and more of the same.
    Endless,
    /// Nothing is a copy of a kind, and no rule may be learned.
    Honest,
    /// The pages are near-duplicates, though each is the only one of its kind.
    Alike,
}

/// A page: what it shows, its text, and the targets of its links.
struct Page {
    shows: Shown,
    text: String,
    links: Vec<String>,
}

/// Contents of most sites.
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

    fn shows(&self, url: &Url) -> Shown {
        (self.page)(url).map_or(Shown::Missing, |page| page.shows)
    }

    fn class(&self, url: &Url) -> u64 {
        match self.shows(url) {
            Shown::Content(content) => content,
            _ => xxh3_64(url.as_str().as_bytes()),
        }
    }
}

impl Page {
    /// An article about its number.
    fn article(content: u64, links: Vec<String>) -> Self {
        Self { shows: Shown::Content(content), text: prose(content, 150), links }
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

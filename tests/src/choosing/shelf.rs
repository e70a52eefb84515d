//! A small site with a topic: at regular intervals, a page is about lighthouses. Links between these pages lead through
//! other pages.

use std::time::Duration;

use crawler::demo::web::{Answer, Truth};
use url::Url;

use super::World;

/// One host. Its pages at regular intervals are about the topic.
#[derive(Clone, Copy, Debug)]
pub struct Shelf {
    /// The number of pages.
    pub pages: u64,
    /// The interval: pages whose number is a multiple of this are about the topic.
    pub every: u64,
}

/// The subjects of the other pages.
const OTHERS: [&str; 7] = ["turnips", "engines", "violins", "glaciers", "ledgers", "saddles", "mortar"];

impl Shelf {
    fn path(self, page: u64) -> String {
        if page.is_multiple_of(self.every) && page > 0 { format!("/topic-{page}") } else { format!("/page-{page}") }
    }

    fn number(self, url: &Url) -> Option<u64> {
        let number = url.path().rsplit('-').next()?.parse().ok()?;
        (url.path() == self.path(number) && number < self.pages).then_some(number)
    }

    fn html(self, page: u64) -> String {
        let about = page.is_multiple_of(self.every) && page > 0;
        let other = OTHERS[(page % OTHERS.len() as u64) as usize];
        let subject = if about { "lighthouse keepers" } else { other };
        let mut html = format!("<title>On {subject}, {page}</title><h1>On {subject}</h1>");
        for line in 0..12 {
            html += &format!(
                "<p>Chapter {page} part {line} tells of {subject}, number{}, and word{page}x{line}.</p>",
                page * 31 + line
            );
        }
        // The anchors say nothing; on some pages, the text around a link does.
        for step in [1, 2, 3, 5, 7] {
            let to = (page * 3 + step) % self.pages;
            html += &format!("<p>See <a href=\"{}\">more</a>.</p>", self.path(to));
        }
        let next = (page / self.every + 1) * self.every % self.pages;
        // Every other page says what the next page on the topic is about.
        let what = if page.is_multiple_of(2) { "On the coast, a lighthouse" } else { "Further on" };
        html += &format!("<p>{what}: <a href=\"{}\">more</a>.</p>", self.path(next));
        html
    }
}

impl World for Shelf {
    fn seeds(&self) -> Vec<String> {
        vec![format!("http://shelf.test{}", self.path(0))]
    }

    fn host(&self, name: &str) -> Option<u32> {
        (name == "shelf.test").then_some(0)
    }

    fn answer(&self, url: &Url) -> Answer {
        let page = self.number(url);
        let body = page.map_or(String::new(), |page| self.html(page));
        let status = if page.is_some() { 200 } else { 404 };
        Answer { status, content_type: "text/html", location: None, body, delay: Duration::ZERO }
    }

    fn shows(&self, url: &Url) -> Truth {
        self.number(url).map_or(Truth::Missing, Truth::Content)
    }

    fn class(&self, url: &Url) -> u64 {
        self.number(url).unwrap_or(u64::MAX)
    }
}

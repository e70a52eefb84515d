//! A small site with a topic: every so many pages are about lighthouses, and link to the next ones through pages that are not.

use std::time::Duration;

use crawler::demo::web::{Answer, Shown};
use url::Url;

use super::World;

/// One host with so many pages; every so many are about the topic.
#[derive(Clone, Copy, Debug)]
pub struct Shelf {
    /// Pages.
    pub pages: u64,
    /// Every n-th is about the topic.
    pub every: u64,
}

/// What the other pages are about.
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
        // Anchors say nothing; what stands around them does, in places.
        for step in [1, 2, 3, 5, 7] {
            let to = (page * 3 + step) % self.pages;
            html += &format!("<p>See <a href=\"{}\">more</a>.</p>", self.path(to));
        }
        let next = (page / self.every + 1) * self.every % self.pages;
        // Every other page says what it is that comes next.
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

    fn shows(&self, url: &Url) -> Shown {
        self.number(url).map_or(Shown::Missing, Shown::Content)
    }

    fn class(&self, url: &Url) -> u64 {
        self.number(url).unwrap_or(u64::MAX)
    }
}

//! Pages made piece by piece, which remember what they bring and where they link to.

use std::fmt::Write;

use url::Url;

use super::draw::prose;

/// What a page may bring: something that a reader would miss if no fetched page had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thing {
    /// A text of its own.
    Text(u64),
    /// A picture, a film, a sound.
    Picture(u64),
    /// An entry of a list, by the link that leads to it.
    Item(u64),
}

/// What a URL is answered with.
#[derive(Clone, Debug)]
pub enum Reply {
    /// 200.
    Page(Page),
    /// 404.
    Missing,
    /// No answer ever comes.
    Silence,
}

/// A web. Each URL has one answer, whenever it is asked for.
pub trait Site: Send + Sync {
    /// Where crawls start, in this order.
    fn seeds(&self) -> Vec<String>;
    /// What a URL is answered with.
    fn reply(&self, url: &Url) -> Reply;
    /// The seconds that the robots.txt of a host asks for between two requests; 0 where there is no robots.txt.
    fn crawl_delay(&self, _host: &str) -> u32 {
        0
    }
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    body: String,
    /// What it brings.
    pub things: Vec<Thing>,
    /// Targets of its links, as written.
    pub links: Vec<String>,
}

impl Page {
    /// A page with nothing on it.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), body: String::new(), things: Vec::new(), links: Vec::new() }
    }

    /// A paragraph that other pages have, too: it brings nothing.
    pub fn paragraph(mut self, text: &str) -> Self {
        if !text.is_empty() {
            let _ = writeln!(self.body, "<p>{text}</p>");
        }
        self
    }

    /// A text that no other page has: so many words, in paragraphs of about 60.
    pub fn text(mut self, number: u64, words: usize) -> Self {
        self.things.push(Thing::Text(number));
        let text = prose(number, words);
        let all: Vec<&str> = text.split(' ').collect();
        for part in all.chunks(60) {
            let _ = writeln!(self.body, "<p>{}.</p>", part.join(" "));
        }
        self
    }

    /// A picture, written as `html`.
    pub fn picture(mut self, number: u64, html: &str) -> Self {
        self.things.push(Thing::Picture(number));
        self.html(html)
    }

    /// A link to an entry of a list.
    pub fn item(mut self, number: u64, href: &str, anchor: &str) -> Self {
        self.things.push(Thing::Item(number));
        self.body.push_str("<li>");
        self.link(href, anchor)
    }

    /// A link.
    pub fn link(mut self, href: &str, anchor: &str) -> Self {
        let _ = writeln!(self.body, "<a href=\"{}\">{anchor}</a>", href.replace('&', "&amp;"));
        self.links.push(href.to_owned());
        self
    }

    /// Anything else.
    pub fn html(mut self, html: &str) -> Self {
        self.body.push_str(html);
        self.body.push('\n');
        self
    }

    /// The document.
    pub fn document(&self) -> String {
        let Self { title, body, .. } = self;
        format!("<!doctype html>\n<html><head><title>{title}</title></head><body><main>\n{body}</main></body></html>\n")
    }
}

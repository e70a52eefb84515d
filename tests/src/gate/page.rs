//! Pages that are made piece by piece, and that know their content and their links.

use std::fmt::Write;

use url::Url;

use super::draw::prose;

/// A piece of content of a page: something that a reader would miss if no fetched page had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thing {
    /// A text that no other page has.
    Text(u64),
    /// A picture, a film or a sound.
    Picture(u64),
    /// An entry of a list, named by the page to which it links.
    Item(u64),
    /// A file.
    File(u64),
}

/// The answer for a URL.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A page with status 200.
    Page(Page),
    /// An archive with this number in it.
    File(u64),
    /// A 404 answer.
    Missing,
    /// No answer ever comes.
    Silence,
}

/// A web. The answer for a URL is the same at all times.
pub trait Site: Send + Sync {
    /// The seeds of crawls, in this order.
    fn seeds(&self) -> Vec<String>;
    /// The answer for a URL.
    fn reply(&self, url: &Url) -> Reply;
    /// The delay in seconds that the robots.txt of a host asks for; 0 if there is no robots.txt.
    fn crawl_delay(&self, _host: &str) -> u32 {
        0
    }
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    body: String,
    /// The content of the page.
    pub things: Vec<Thing>,
    /// The targets of its links, as written.
    pub links: Vec<String>,
}

impl Page {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), body: String::new(), things: Vec::new(), links: Vec::new() }
    }

    /// Adds a paragraph that other pages have, too. It does not count as content.
    pub fn paragraph(mut self, text: &str) -> Self {
        if !text.is_empty() {
            let _ = writeln!(self.body, "<p>{text}</p>");
        }
        self
    }

    /// Adds a text that no other page has, with this many words, in paragraphs of about 60.
    pub fn text(mut self, number: u64, words: usize) -> Self {
        self.things.push(Thing::Text(number));
        let text = prose(number, words);
        let all: Vec<&str> = text.split(' ').collect();
        for part in all.chunks(60) {
            let _ = writeln!(self.body, "<p>{}.</p>", part.join(" "));
        }
        self
    }

    /// Adds a text that no other page has, written as `html`.
    pub fn own(mut self, number: u64, html: &str) -> Self {
        self.things.push(Thing::Text(number));
        self.html(html)
    }

    /// Adds a picture, written as `html`.
    pub fn picture(mut self, number: u64, html: &str) -> Self {
        self.things.push(Thing::Picture(number));
        self.html(html)
    }

    /// Adds a link to an entry of a list.
    pub fn item(mut self, number: u64, href: &str, anchor: &str) -> Self {
        self.things.push(Thing::Item(number));
        self.body.push_str("<li>");
        self.link(href, anchor)
    }

    /// Adds a link.
    pub fn link(mut self, href: &str, anchor: &str) -> Self {
        let _ = writeln!(self.body, "<a href=\"{}\">{anchor}</a>", href.replace('&', "&amp;"));
        self.links.push(href.to_owned());
        self
    }

    /// Adds other HTML.
    pub fn html(mut self, html: &str) -> Self {
        self.body.push_str(html);
        self.body.push('\n');
        self
    }

    /// The HTML document.
    pub fn document(&self) -> String {
        let Self { title, body, .. } = self;
        format!("<!doctype html>\n<html><head><title>{title}</title></head><body><main>\n{body}</main></body></html>\n")
    }
}

//! Feeds (RSS, Atom, JSON Feed) as lists of links, and other texts that are no HTML.
//!
//! RSS and Atom are read by `frontier::sitemap`, which reads them for sitemaps already, as a stream and with its limits; here
//! stands JSON Feed, read as a stream too, and what tells a feed, Markdown and plain text from each other.
//!
//! A page worker asks [`kind`] of every answer. Of a feed it follows the [`entries`]; what a feed says is its list, and it has no fingerprint.
//! Markdown and plain text are judged as text; links of Markdown are read by [`markdown::links`].

mod json;
pub mod markdown;

#[cfg(test)]
mod tests;

use frontier::sitemap::{self, Sitemap};
use url::Url;

/// What an answer that is no HTML page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// RSS or Atom.
    Feed,
    /// JSON Feed.
    JsonFeed,
    /// PDF.
    Pdf,
    /// Markdown.
    Markdown,
    /// Text of no form.
    Text,
    /// A file of an office program: named, not read.
    Office,
    /// Something else.
    Other,
}

/// Entries that are read of a feed.
pub const MAX_ENTRIES: usize = 10_000;
/// Bytes that are looked at to tell what something is.
const HEAD: usize = 1024;

/// Tells by the type, the end of the path and the first bytes what an answer holds. XML and JSON of other kinds are `Other`.
pub fn kind(content_type: Option<&str>, url: &Url, body: &[u8]) -> Kind {
    let essence = essence(content_type);
    let head = &body[..body.len().min(HEAD)];
    if head.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    match essence.as_str() {
        "application/rss+xml" | "application/atom+xml" | "application/rdf+xml" => Kind::Feed,
        "application/xml" | "text/xml" if looks_like_feed(head) => Kind::Feed,
        "application/feed+json" => Kind::JsonFeed,
        "application/json" if json::looks_like_feed(head) => Kind::JsonFeed,
        "application/pdf" | "application/x-pdf" => Kind::Pdf,
        "text/markdown" | "text/x-markdown" => Kind::Markdown,
        "text/plain" | "" if has_extension(url, &["md", "markdown", "mdown", "mkd"]) => Kind::Markdown,
        "text/plain" => Kind::Text,
        essence if is_office(essence) => Kind::Office,
        _ => Kind::Other,
    }
}

/// Whether an answer of this type is read here although it is no page.
pub fn is_read(content_type: Option<&str>) -> bool {
    let essence = essence(content_type);
    let is_pdf = matches!(essence.as_str(), "application/pdf" | "application/x-pdf");
    essence == "application/feed+json" || cfg!(feature = "pdf") && is_pdf
}

fn essence(content_type: Option<&str>) -> String {
    content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// What a feed lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// Where its entries lead, in order: http and https, without fragment, at most [`MAX_ENTRIES`].
    pub links: Vec<Url>,
    /// Of the links and the dates of all entries, in any order; never 0.
    pub digest: u64,
}

/// The entries of a feed of this kind. Relative links are resolved against `base`, the URL of the feed. Reading never fails; it
/// ends where the feed makes no more sense.
pub fn entries(kind: Kind, body: &[u8], base: &Url) -> Entries {
    let (links, digest) = match kind {
        Kind::Feed => {
            let pages = Sitemap::open(body, base).filter(|entry| entry.kind == sitemap::Kind::Page).take(MAX_ENTRIES);
            pages.fold((Vec::new(), 0), |(mut links, digest), entry| {
                let digest = entry.digest().wrapping_add(digest);
                links.push(entry.loc);
                (links, digest)
            })
        }
        Kind::JsonFeed => {
            let links = json::links(body, base);
            let digest = links.iter().fold(0, |sum: u64, link| sum.wrapping_add(sitemap::digest(link, None)));
            (links, digest)
        }
        Kind::Pdf | Kind::Markdown | Kind::Text | Kind::Office | Kind::Other => Default::default(),
    };
    Entries { links, digest: digest.max(1) }
}

/// Whether the root of an XML document is that of a feed.
fn looks_like_feed(head: &[u8]) -> bool {
    let mut rest = head;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at + 1..];
        match rest.first() {
            Some(b'?' | b'!') => {}
            _ => {
                let end = rest.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'));
                let name = &rest[..end.unwrap_or(rest.len())];
                let local = name.rsplit(|byte| *byte == b':').next().unwrap_or_default();
                return matches!(local, b"rss" | b"feed" | b"RDF");
            }
        }
    }
    false
}

fn has_extension(url: &Url, extensions: &[&str]) -> bool {
    let name = url.path().rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, found)| extensions.iter().any(|known| found.eq_ignore_ascii_case(known)))
}

fn is_office(essence: &str) -> bool {
    essence.starts_with("application/vnd.openxmlformats-officedocument.")
        || essence.starts_with("application/vnd.oasis.opendocument.")
        || essence.starts_with("application/vnd.ms-")
        || matches!(essence, "application/msword" | "application/rtf" | "application/epub+zip")
}

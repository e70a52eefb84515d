//! Feeds (RSS, Atom, JSON Feed) as lists of links, and other texts that are no HTML.
//!
//! RSS and Atom are read by `frontier::sitemap`, which also reads them as sitemaps, as a stream and within limits. This
//! module reads JSON Feed, also as a stream, and tells feeds, Markdown and plain text from each other.
//!
//! A page worker calls [`kind`] for every answer. If it is a feed, the worker follows the links of its [`entries`]. A
//! feed is only a list, so it has no fingerprint. Markdown and plain text are judged as text. [`markdown::links`] reads
//! the links of Markdown.

mod json;
pub mod markdown;
mod targets;

#[cfg(test)]
mod tests;

use frontier::sitemap::{self, Sitemap};
use url::Url;

use targets::Targets;

/// The kind of an answer that is no HTML page.
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
    /// Text without a form.
    Text,
    /// A file of an office program. It is named, but not read.
    Office,
    /// Something else.
    Other,
}

/// The most entries of a feed that are read.
pub const MAX_ENTRIES: usize = 10_000;
/// The number of bytes that are looked at to find the kind.
const HEAD: usize = 1024;

/// Finds the kind of an answer by its type, the end of its path and its first bytes. XML and JSON of other kinds are
/// `Other`. A type that says little ([`is_vague`]) counts less than the first bytes.
pub fn kind(content_type: Option<&str>, url: &Url, body: &[u8]) -> Kind {
    let essence = essence(content_type);
    let head = &body[..body.len().min(HEAD)];
    if head.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    match essence.as_str() {
        "application/rss+xml" | "application/atom+xml" | "application/rdf+xml" => Kind::Feed,
        "application/xml" | "text/xml" if looks_like_feed(head) => Kind::Feed,
        // Programs that do not name a type get one of these from their server.
        "text/html" | "text/plain" | "" if begins_with_markup(head) && looks_like_feed(head) => Kind::Feed,
        "application/feed+json" => Kind::JsonFeed,
        "application/pdf" | "application/x-pdf" => Kind::Pdf,
        "text/markdown" | "text/x-markdown" => Kind::Markdown,
        "text/plain" | "" if has_extension(url, &["md", "markdown", "mdown", "mkd"]) => Kind::Markdown,
        "text/plain" => Kind::Text,
        essence if is_office(essence) => Kind::Office,
        essence if says_little(essence) && begins_with_markup(head) && looks_like_feed(head) => Kind::Feed,
        essence if says_little(essence) && json::looks_like_feed(head) => Kind::JsonFeed,
        _ => Kind::Other,
    }
}

/// Whether an answer of this type may be read although the type does not promise it: servers give feeds and PDF files
/// types such as `application/octet-stream`, `application/json` and `application/x-rss`. The first bytes tell
/// ([`is_recognised`]).
pub fn is_vague(content_type: Option<&str>) -> bool {
    says_little(&essence(content_type))
}

fn says_little(essence: &str) -> bool {
    const PARTS: [&str; 9] = ["octet-stream", "download", "unknown", "json", "xml", "rss", "atom", "feed", "pdf"];
    let (kind, rest) = essence.split_once('/').unwrap_or_default();
    !matches!(kind, "image" | "audio" | "video" | "font")
        && PARTS.iter().any(|part| rest.contains(part))
        && !is_office(essence)
}

/// Whether the first bytes of an answer whose type is vague show that it is read. `None` if more bytes are needed.
pub fn is_recognised(head: &[u8], is_whole: bool) -> Option<bool> {
    if head.len() < HEAD && !is_whole {
        return None;
    }
    let head = &head[..head.len().min(HEAD)];
    let is_pdf = cfg!(feature = "pdf") && head.starts_with(b"%PDF-");
    Some(is_pdf || begins_with_markup(head) && looks_like_feed(head) || json::looks_like_feed(head))
}

/// Whether an answer of this type is read although it is no page.
pub fn is_read(content_type: Option<&str>) -> bool {
    let essence = essence(content_type);
    let is_pdf = matches!(essence.as_str(), "application/pdf" | "application/x-pdf");
    essence == "application/feed+json" || cfg!(feature = "pdf") && is_pdf
}

fn essence(content_type: Option<&str>) -> String {
    content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The entries of a feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// The targets of the entries, in their order: http and https, without fragments, at most [`MAX_ENTRIES`] and
    /// [`config::bounds::LINK_BYTES`] bytes.
    pub links: Vec<Url>,
    /// The number of further entries (of a feed with more than 50,000, not all of them).
    pub cut: usize,
    /// The digest of the links, dates, identifiers and titles of all entries, in any order. It is never 0.
    pub digest: u64,
}

/// The entries of a feed of this kind. Relative links are resolved against `base`, the URL of the feed. Reading never
/// fails. It ends where the feed makes no sense any more.
pub fn entries(kind: Kind, body: &[u8], base: &Url) -> Entries {
    let mut found = Entries::default();
    match kind {
        Kind::Feed => {
            let (mut entries, mut targets) = (Sitemap::open(body, base), Targets::new(MAX_ENTRIES));
            for entry in entries.by_ref().filter(|entry| entry.kind == sitemap::Kind::Page) {
                let digest = entry.digest();
                targets.add_entry(entry.loc, digest);
            }
            found.digest = targets.digest();
            (found.links, found.cut) = targets.finish();
            found.cut += usize::from(entries.is_cut());
        }
        Kind::JsonFeed => {
            (found.links, found.cut, found.digest) = json::links(body, base);
        }
        Kind::Pdf | Kind::Markdown | Kind::Text | Kind::Office | Kind::Other => {}
    }
    found.digest = found.digest.max(1);
    found
}

/// Whether the root element of an XML document is that of a feed.
fn begins_with_markup(head: &[u8]) -> bool {
    head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start().starts_with(b"<")
}

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

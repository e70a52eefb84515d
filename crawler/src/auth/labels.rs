//! Links that say only in attributes that they end a session: pictures and icons with `alt`, `title` or `aria-label`.
//! The text of a link is known to the reader of pages, but these attributes are not.

use std::sync::LazyLock;

use html5ever::tokenizer::Tag;
use regex::bytes::Regex;
use url::Url;

use super::logout::{PHRASES, says_logout};
use crate::tags::{self, Piece, attribute};

/// The attributes that have labels.
const LABELS: [&str; 3] = ["alt", "title", "aria-label"];

/// A page without any such label has no link that is looked for, so its tags are not read. (A label with a character
/// reference may be any label.)
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    let phrases: Vec<String> = PHRASES.iter().map(|phrase| regex::escape(phrase)).collect();
    let (labels, phrases) = (LABELS.join("|"), phrases.join("|"));
    let pattern = format!(r#"(?i)(?:{labels})\s*=\s*["']?[^\w"'>]*(?:(?:{phrases})|[^"'>]{{0,24}}&)"#);
    Regex::new(&pattern).expect("a pattern that compiles")
});

/// The number of bytes of a page that are read.
const MAX_BYTES: usize = 4 << 20;
/// The most links of a page that are kept.
const MAX_LINKS: usize = 64;

/// The links of a page at `url` whose labels say that they end a session, without fragments.
pub fn labelled(body: &[u8], url: &Url) -> Vec<Url> {
    let body = &body[..body.len().min(MAX_BYTES)];
    if !LABELLED.is_match(body) {
        return Vec::new();
    }
    let mut found = Found::default();
    tags::read(body, |piece| match piece {
        Piece::Start(tag) => found.tag(tag),
        Piece::End("a") => found.open = None,
        Piece::End(_) | Piece::Text(_) => {}
    });
    let Found { base, links, .. } = found;
    let base = base.and_then(|href| url.join(href.trim()).ok()).unwrap_or_else(|| url.clone());
    let resolved = links.iter().filter_map(|href| base.join(href.trim()).ok());
    resolved
        .map(|mut link| {
            link.set_fragment(None);
            link
        })
        .collect()
}

#[derive(Default)]
struct Found {
    base: Option<String>,
    /// The `href` of the open link.
    open: Option<String>,
    links: Vec<String>,
}

impl Found {
    fn tag(&mut self, tag: &Tag) {
        let href = attribute(tag, "href");
        match &*tag.name {
            "base" if self.base.is_none() => self.base = href.clone(),
            "a" => self.open = href.clone(),
            _ => {}
        }
        let link = if &*tag.name == "area" { href } else { self.open.clone() };
        let mut labels = LABELS.iter().filter_map(|name| attribute(tag, name));
        if let Some(link) = link
            && self.links.len() < MAX_LINKS
            && self.links.last() != Some(&link)
            && labels.any(|label| says_logout(&label))
        {
            self.links.push(link);
        }
    }
}

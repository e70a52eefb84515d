//! Links that say only in attributes that they end a session: pictures and icons with `alt`, `title` or `aria-label`.
//! The text of a link is known to the reader of pages, but these attributes are not.

use std::cell::RefCell;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use url::Url;

use super::logout::says_logout;

/// The number of bytes of a page that are read.
const MAX_BYTES: usize = 4 << 20;
/// The most links of a page that are kept.
const MAX_LINKS: usize = 64;

/// The links of a page at `url` whose labels say that they end a session, without fragments.
pub fn labelled(body: &[u8], url: &Url) -> Vec<Url> {
    let tokenizer = Tokenizer::new(Sink::default(), Default::default());
    let input = BufferQueue::default();
    input.push_back(String::from_utf8_lossy(&body[..body.len().min(MAX_BYTES)]).as_ref().into());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    let Found { base, links, .. } = tokenizer.sink.found.into_inner();
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

#[derive(Default)]
struct Sink {
    found: RefCell<Found>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut found = self.found.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return found.tag(&tag),
            Token::TagToken(tag) if &*tag.name == "a" => found.open = None,
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Found {
    fn tag(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let value = |name: &str| {
            let attribute = tag.attrs.iter().find(|attribute| &*attribute.name.local == name);
            attribute.map(|attribute| attribute.value.to_string())
        };
        let href = value("href");
        match &*tag.name {
            "base" if self.base.is_none() => self.base = href.clone(),
            "a" => self.open = href.clone(),
            "script" => return TokenSinkResult::RawData(RawKind::ScriptData),
            "title" | "textarea" => return TokenSinkResult::RawData(RawKind::Rcdata),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => return TokenSinkResult::RawData(RawKind::Rawtext),
            _ => {}
        }
        let link = if &*tag.name == "area" { href } else { self.open.clone() };
        let mut labels = ["alt", "title", "aria-label"].iter().filter_map(|name| value(name));
        if let Some(link) = link
            && self.links.len() < MAX_LINKS
            && self.links.last() != Some(&link)
            && labels.any(|label| says_logout(&label))
        {
            self.links.push(link);
        }
        TokenSinkResult::Continue
    }
}

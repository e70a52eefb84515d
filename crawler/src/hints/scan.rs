//! The elements of a page that carry hints: `meta`, `link`, `base`, and links with `rel`.

use std::cell::RefCell;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};

use super::Target;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// `href` of the first `base`.
    pub base: Option<String>,
    /// Name (in lower case; of `http-equiv` with that in front and a colon) and content of each `meta`.
    pub metas: Vec<(String, String)>,
    /// `link` elements, and `a` and `area` elements with a `rel`.
    pub links: Vec<Element>,
}

/// An element that links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// `href`.
    pub href: String,
    /// `rel`.
    pub rel: String,
    /// `hreflang`.
    pub language: String,
    /// `type`.
    pub kind: String,
}

impl Element {
    /// The same as a link of a header.
    pub(super) fn target(&self) -> Target {
        Target {
            href: self.href.clone(),
            rel: self.rel.clone(),
            anchor: None,
            languages: vec![self.language.clone()],
            kind: self.kind.clone(),
        }
    }
}

/// Elements of each kind that are kept, and bytes of an attribute.
const MAX_ELEMENTS: usize = 2_000;
const MAX_VALUE: usize = 8 << 10;

/// Reads a page.
pub fn scan(html: &str) -> Head {
    let tokenizer = Tokenizer::new(Sink::default(), Default::default());
    let input = BufferQueue::default();
    input.push_back(html.into());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.head.into_inner()
}

#[derive(Default)]
struct Sink {
    head: RefCell<Head>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        if tag.kind != TagKind::StartTag {
            return TokenSinkResult::Continue;
        }
        let mut head = self.head.borrow_mut();
        match &*tag.name {
            "base" => head.base = head.base.take().or_else(|| attribute(&tag, "href")),
            "meta" if head.metas.len() < MAX_ELEMENTS => {
                let name = attribute(&tag, "name").or_else(|| attribute(&tag, "property"));
                let name =
                    name.or_else(|| attribute(&tag, "http-equiv").map(|name| format!("http-equiv:{}", name.trim())));
                if let (Some(name), Some(content)) = (name, attribute(&tag, "content")) {
                    head.metas.push((name.trim().to_ascii_lowercase(), content));
                }
            }
            "link" | "a" | "area" if head.links.len() < MAX_ELEMENTS => {
                if let (Some(rel), Some(href)) = (attribute(&tag, "rel"), attribute(&tag, "href")) {
                    let text = |name| attribute(&tag, name).unwrap_or_default();
                    head.links.push(Element { href, rel, language: text("hreflang"), kind: text("type") });
                }
            }
            "script" => return TokenSinkResult::RawData(RawKind::ScriptData),
            "title" | "textarea" => return TokenSinkResult::RawData(RawKind::Rcdata),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => return TokenSinkResult::RawData(RawKind::Rawtext),
            "plaintext" => return TokenSinkResult::Plaintext,
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

fn attribute(tag: &Tag, name: &str) -> Option<String> {
    let found = tag.attrs.iter().find(|attribute| &*attribute.name.local == name)?;
    (found.value.len() <= MAX_VALUE).then(|| found.value.to_string())
}

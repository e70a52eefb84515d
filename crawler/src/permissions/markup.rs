//! What the markup of a page says of its use: meta elements, and links to licences. Most pages say nothing of the kind: they
//! are told by a few words, and cost no second look.

use std::cell::RefCell;
use std::sync::LazyLock;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use regex::bytes::Regex;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup {
    /// Name (in lower case) and content of each `meta`.
    pub metas: Vec<(String, String)>,
    /// `href` of each `link` with `rel=license`.
    pub licences: Vec<String>,
}

/// Bytes of a page that are looked at: its head.
const HEAD: usize = 64 << 10;
/// Elements of each kind that are kept, and bytes of an attribute.
const MAX_ELEMENTS: usize = 256;
const MAX_VALUE: usize = 4 << 10;

/// The words without which a page says nothing of its use.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("(?i)noai|noimageai|noarchive|nocache|tdm-|licen[cs]e").expect("a pattern that compiles")
});

impl Markup {
    /// Reads the head of a page; `body` as it came, since all that counts is ASCII.
    pub fn read(body: &[u8]) -> Self {
        let head = &body[..body.len().min(HEAD)];
        if !WORDS.is_match(head) {
            return Self::default();
        }
        let tokenizer = Tokenizer::new(Sink::default(), Default::default());
        let input = BufferQueue::default();
        input.push_back(String::from_utf8_lossy(head).as_ref().into());
        let _ = tokenizer.feed(&input);
        tokenizer.end();
        tokenizer.sink.found.into_inner()
    }
}

#[derive(Default)]
struct Sink {
    found: RefCell<Markup>,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let Token::TagToken(tag) = token else { return TokenSinkResult::Continue };
        if tag.kind != TagKind::StartTag {
            return TokenSinkResult::Continue;
        }
        let mut found = self.found.borrow_mut();
        match &*tag.name {
            "meta" if found.metas.len() < MAX_ELEMENTS => {
                if let (Some(name), Some(content)) = (attribute(&tag, "name"), attribute(&tag, "content")) {
                    found.metas.push((name.trim().to_ascii_lowercase(), content));
                }
            }
            "link" if found.licences.len() < MAX_ELEMENTS => {
                let rel = attribute(&tag, "rel").unwrap_or_default();
                let is_licence = |word: &str| ["license", "licence"].iter().any(|rel| word.eq_ignore_ascii_case(rel));
                if rel.split_ascii_whitespace().any(is_licence) {
                    found.licences.extend(attribute(&tag, "href"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metas_and_licences_are_read_whatever_their_case() {
        let page = br#"<title><meta name=robots content=noai></title><META NAME=Robots CONTENT="NOAI, noarchive">
            <meta name=tdm-reservation content=1><link rel="License nofollow" href=/l><link rel=next href=/n>"#;
        let found = Markup::read(page);
        let metas = [("robots", "NOAI, noarchive"), ("tdm-reservation", "1")];
        assert_eq!(found.metas, metas.map(|(name, content)| (name.to_owned(), content.to_owned())));
        assert_eq!(found.licences, ["/l"]);
        assert_eq!(Markup::read(b"<meta name=robots content=index><link rel=next href=/n>"), Markup::default());
    }
}

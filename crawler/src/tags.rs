//! Reads the tags of a page for readers that need attributes which the reader of pages does not keep: the fields of
//! forms, the labels of links, the files that a page needs.

use std::cell::RefCell;

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};

use crate::extract::attributes;

/// A piece of a page.
pub enum Piece<'a> {
    /// A start tag.
    Start(&'a Tag),
    /// The name of an end tag.
    End(&'a str),
    /// Text, or what stands in a script or style.
    Text(&'a str),
}

/// Calls `visit` with each piece of a page. Only ASCII is sure to be right if the page is no UTF-8. No pieces come if
/// it would take too long to read the tags ([`attributes::are_too_many`]).
pub fn read(page: &[u8], mut visit: impl FnMut(Piece<'_>)) {
    if attributes::are_too_many(page) {
        return;
    }
    let tokenizer = Tokenizer::new(Sink(RefCell::new(&mut visit)), Default::default());
    let input = BufferQueue::default();
    input.push_back(String::from_utf8_lossy(page).as_ref().into());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
}

/// The value of an attribute.
pub fn attribute(tag: &Tag, name: &str) -> Option<String> {
    tag.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| attribute.value.to_string())
}

/// Passes the tokens on to the visitor. (It is not generic: otherwise, the compiler would make a tokenizer for each kind
/// of visitor.)
struct Sink<'v>(RefCell<&'v mut dyn FnMut(Piece<'_>)>);

impl TokenSink for Sink<'_> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut visit = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => {
                visit(Piece::Start(&tag));
                return content_of(&tag.name);
            }
            Token::TagToken(tag) => visit(Piece::End(&tag.name)),
            Token::CharacterTokens(text) => visit(Piece::Text(&text)),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// The way in which the content of an element is read.
fn content_of(name: &str) -> TokenSinkResult<()> {
    match name {
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(page: &str) -> String {
        let mut found = String::new();
        read(page.as_bytes(), |piece| match piece {
            Piece::Start(tag) => found += &format!("<{}{}>", tag.name, attribute(tag, "a").unwrap_or_default()),
            Piece::End(name) => found += &format!("</{name}>"),
            Piece::Text(text) => found += text,
        });
        found
    }

    #[test]
    fn what_looks_like_a_tag_in_a_script_is_none() {
        assert_eq!(
            pieces("<p a=1>x<script><b></script><title><i>&amp;</title>"),
            "<p1>x<script><b></script><title><i>&</title>"
        );
        assert_eq!(pieces("<plaintext><p>"), "<plaintext><p>");
    }

    #[test]
    fn a_tag_with_attributes_without_end_is_not_read() {
        let attributes: String = (0..20_000).map(|n| format!(" a{n}")).collect();
        assert_eq!(pieces(&format!("<p{attributes}>text")), "");
    }
}

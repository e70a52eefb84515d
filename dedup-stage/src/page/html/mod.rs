//! Reading HTML: one pass of html5ever's tokenizer into an [`Outline`], without a tree.
//!
//! The tokenizer leaves to its sink what the tree builder would know: which elements hold no markup, where foreign
//! content begins. Only a start tag may answer with another tokenizer state.

mod attributes;
mod builder;
mod media;
mod region;

use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

use super::hints::Hints;
use super::outline::Outline;
use super::raw;
use builder::Builder;

/// The tokenizer is fed pieces of this many bytes, so that it can be watched.
const PIECE: usize = 32 * 1024;
/// A tag that has swallowed two pieces is abandoned so many times; then the rest of the page is left unread.
const GIVE_UP: u32 = 8;
/// Separators in a piece from which it may be many attributes, which cost the square of their number.
const MANY_SEPARATORS: usize = 512;

/// Reads `html` into `outline`.
pub fn read(html: &str, outline: &mut Outline, hints: &mut Hints) {
    read_pieces(html, outline, hints, raw::opening);
}

/// Reads `html`; what `opening` finds in a piece may be passed over.
fn read_pieces(
    html: &str,
    outline: &mut Outline,
    hints: &mut Hints,
    opening: impl Fn(&str, usize, usize) -> Option<raw::Opening>,
) {
    let builder = RefCell::new(Builder::new(outline, hints));
    let sink = Sink { builder, tokens: Cell::new(0), opened: Cell::new(false) };
    let mut tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let queue = BufferQueue::default();
    let mut at = 0;
    // Where the last piece with a token began, and where it ended.
    let (mut last_progress, mut silent_since) = (0, 0);
    let mut abandoned = 0;
    while at < html.len() {
        let piece = boundary(html, at + PIECE);
        let raw = opening(html, at, piece);
        let end = raw.map_or(piece, |raw| raw.end);
        let tokens = tokenizer.sink.tokens.get();
        queue.push_back(StrTendril::from_slice(&html[at..end]));
        let _ = tokenizer.feed(&queue);
        let piece_start = at;
        at = end;
        if tokenizer.sink.tokens.get() != tokens {
            last_progress = piece_start;
            if let Some(raw) = raw.filter(|_| tokenizer.sink.opened.get()) {
                at = raw::content_end(html, at, raw.name).unwrap_or(at);
            }
            silent_since = at;
        } else if at < html.len() && at - silent_since >= PIECE {
            // One tag or comment fills a whole piece: take it for read, and go on behind it.
            if html[silent_since..at].bytes().filter(|b| b" \n\t/=\"'".contains(b)).count() > MANY_SEPARATORS {
                abandoned += 1;
            }
            let Some(end) = end_of_token(html, last_progress, at).filter(|_| abandoned < GIVE_UP) else { break };
            at = end;
            (last_progress, silent_since) = (at, at);
            tokenizer = Tokenizer::new(tokenizer.sink, TokenizerOpts::default());
        }
    }
    tokenizer.end();
    tokenizer.sink.builder.into_inner().finish();
}

/// The first character boundary at or after `at`.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Where a token that began in the piece at `since` and goes on at `at` ends: a comment at its arrow, a tag at its bracket.
fn end_of_token(html: &str, since: usize, at: usize) -> Option<usize> {
    let beginning = &html[since..boundary(html, since + 2 * PIECE).min(at)];
    let end = if beginning.contains("<!--") { "-->" } else { ">" };
    memchr::memmem::find(&html.as_bytes()[at - 2..], end.as_bytes()).map(|found| at - 2 + found + end.len())
}

struct Sink<'a> {
    builder: RefCell<Builder<'a>>,
    /// Tokens that are no parse errors.
    tokens: Cell<u64>,
    /// Whether the last of them opened a script or a style sheet.
    opened: Cell<bool>,
}

impl TokenSink for Sink<'_> {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::CharacterTokens(text) => {
                self.count();
                self.builder.borrow_mut().text(&text);
            }
            Token::TagToken(tag) => {
                self.count();
                return match tag.kind {
                    TagKind::StartTag => {
                        let mut builder = self.builder.borrow_mut();
                        let next = builder.start(&tag);
                        self.opened.set(builder.expects_code());
                        next
                    }
                    TagKind::EndTag => {
                        self.builder.borrow_mut().end(&tag.name);
                        TokenSinkResult::Continue
                    }
                };
            }
            Token::CommentToken(_) => self.count(),
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.borrow().is_in_foreign()
    }
}

impl Sink<'_> {
    #[inline]
    fn count(&self) {
        self.tokens.set(self.tokens.get() + 1);
        self.opened.set(false);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn outline(html: &str, opening: impl Fn(&str, usize, usize) -> Option<raw::Opening>) -> Outline {
        let mut outline = Outline::default();
        read_pieces(html, &mut outline, &mut Hints::default(), opening);
        outline
    }

    proptest! {
        #[test]
        fn what_is_passed_over_says_nothing(parts in prop::collection::vec(prop::sample::select(vec![
            "<script>", "<script type=\">\">", "<SCRIPT>", "</script>", "</script", "</SCRIPT\n>", "<style>", "</style >",
            "<!--", "-->", "<!-- <script> -->", "<p>", "some words ", "<a href=x>", "</a>", "<svg>", "</svg>", "<title>",
            "</title>", "<textarea>", "</textarea>", "a < b", "<b title='<script>'>", "\0", "\r\n", "&amp;", "<iframe>",
            "</iframe>", "<xmp>", "<![CDATA[", "]]>", "<script", ">", " src=y", "'", "\"",
        ]), 0..60)) {
            let html = parts.concat();
            let (all, some) = (outline(&html, |_, _, _| None), outline(&html, raw::opening));
            prop_assert_eq!(all.text, some.text);
            prop_assert_eq!(all.blocks, some.blocks);
            prop_assert_eq!(all.hrefs, some.hrefs);
            prop_assert_eq!(all.title, some.title);
        }
    }
}

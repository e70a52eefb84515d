//! Reading HTML: one pass of html5ever's tokenizer into an [`Outline`], without a tree.
//!
//! The tokenizer leaves to its sink what the tree builder would know: which elements hold no markup, where foreign
//! content begins. Only a start tag may answer with another tokenizer state.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::{LocalName, local_name};

use super::hints::{Hint, Hints};
use super::outline::{Chrome, Outline, Shape};
use super::raw;
use super::tags::{Raw, Role, closes_itself, is_item, is_void, role};

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
                        self.opened.set(matches!(builder.raw, Some(Raw::Script | Raw::Text)));
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
        self.builder.borrow().foreign > 0
    }
}

impl Sink<'_> {
    #[inline]
    fn count(&self) {
        self.tokens.set(self.tokens.get() + 1);
        self.opened.set(false);
    }
}

/// An open element that everything within shares a property with.
#[derive(Debug)]
struct Region {
    name: LocalName,
    depth: u32,
}

impl Region {
    fn starts(region: &mut Option<Region>, name: &LocalName) {
        if let Some(open) = region
            && open.name == *name
        {
            if closes_itself(name) {
                *region = None;
            } else {
                open.depth += 1;
            }
        }
    }

    /// Whether this end tag closes the region.
    fn ends(region: &mut Option<Region>, name: &LocalName) -> bool {
        let Some(open) = region else { return false };
        if open.name == *name {
            open.depth -= 1;
            if open.depth > 0 {
                return false;
            }
        } else if !(closes_itself(&open.name) && is_parent_of_self_closing(name)) {
            return false;
        }
        *region = None;
        true
    }
}

fn is_parent_of_self_closing(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("ul") | local_name!("ol") | local_name!("dl") | local_name!("table") | local_name!("div")
    ) || matches!(*name, local_name!("body") | local_name!("section") | local_name!("article") | local_name!("td"))
}

struct Builder<'a> {
    outline: &'a mut Outline,
    hints: &'a mut Hints,
    /// Text is dropped inside.
    hidden: Option<Region>,
    /// Text is chrome inside, as it was marked.
    chrome: Option<Region>,
    mark: Chrome,
    /// Open `article` and `main` elements: a `header` within is content.
    main: u32,
    foreign: u32,
    raw: Option<Raw>,
    titled: bool,
}

impl<'a> Builder<'a> {
    fn new(outline: &'a mut Outline, hints: &'a mut Hints) -> Self {
        Self {
            outline,
            hints,
            hidden: None,
            chrome: None,
            mark: Chrome::None,
            main: 0,
            foreign: 0,
            raw: None,
            titled: false,
        }
    }

    fn finish(mut self) {
        self.part(Shape::Plain);
        self.outline.end();
        self.outline.end_link();
    }

    fn text(&mut self, text: &str) {
        match self.raw {
            None | Some(Raw::Plain) => {
                if self.hidden.is_none() && self.foreign == 0 && !text.is_empty() {
                    self.outline.push(text);
                }
            }
            Some(Raw::Title) if !self.titled => self.outline.title.push_str(text),
            Some(_) => {}
        }
    }

    fn part(&mut self, shape: Shape) {
        let chrome = if self.chrome.is_some() { self.mark } else { Chrome::None };
        self.outline.part(chrome, shape);
    }

    fn start(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name = &tag.name;
        // After a tokenizer was abandoned, raw content has no end tag.
        self.raw = None;
        Region::starts(&mut self.hidden, name);
        Region::starts(&mut self.chrome, name);
        let role = role(name);
        if self.foreign > 0 && !matches!(role, Role::Foreign | Role::Anchor) {
            // Elements that break out of foreign content.
            if matches!(role, Role::Block | Role::Heading | Role::Main | Role::Chrome) {
                self.foreign = 0;
            } else {
                return TokenSinkResult::Continue;
            }
        }
        match role {
            Role::Inline => {}
            Role::Block | Role::Main | Role::Heading | Role::Chrome => {
                self.enter(tag, role);
                self.part(match role {
                    Role::Heading => Shape::Heading,
                    _ if is_item(name) => Shape::Item,
                    _ => Shape::Plain,
                });
                return TokenSinkResult::Continue;
            }
            Role::Space => self.outline.space(),
            Role::Hidden => self.hide(tag),
            Role::Anchor => self.anchor(tag),
            Role::Frame => {
                if let Some(source) = attribute(tag, &local_name!("src")) {
                    self.outline.link(source, false, false, true);
                }
            }
            Role::Head => self.head(tag),
            Role::Foreign => self.foreign += u32::from(!tag.self_closing),
            Role::Raw(raw) => return self.raw(tag, raw),
        }
        if !tag.attrs.is_empty() && self.hidden.is_none() && !is_void(name) && is_hidden(tag) {
            self.hide(tag);
        }
        TokenSinkResult::Continue
    }

    /// Looks at the attributes of a block-level element for what it is.
    fn enter(&mut self, tag: &Tag, role: Role) {
        if is_void(&tag.name) {
            return;
        }
        let mut chrome = if role == Role::Chrome { Chrome::Marked } else { Chrome::None };
        let mut content = role == Role::Main;
        self.main += u32::from(content);
        if tag.name == local_name!("header") {
            chrome = if self.main == 0 { Chrome::Marked } else { Chrome::None };
        }
        for attribute in &tag.attrs {
            match attribute.name.local {
                local_name!("class") | local_name!("id") if role == Role::Block => {
                    match self.hints.of(&attribute.value) {
                        Hint::Chrome if chrome == Chrome::None => chrome = Chrome::Named,
                        Hint::Chrome => {}
                        Hint::Content => content = true,
                        Hint::None => {}
                    }
                }
                local_name!("role") => match &*attribute.value {
                    "navigation" | "banner" | "contentinfo" | "complementary" | "search" | "menu" | "dialog" => {
                        chrome = Chrome::Marked;
                    }
                    "main" | "article" => content = true,
                    _ => {}
                },
                // Pages that hide their body show it by a script.
                local_name!("hidden") | local_name!("style") | local_name!("aria-hidden")
                    if self.hidden.is_none()
                        && tag.name != local_name!("body")
                        && hides(&attribute.name.local, &attribute.value) =>
                {
                    self.hide(tag);
                }
                _ => {}
            }
        }
        if content && role != Role::Chrome {
            return;
        }
        if chrome != Chrome::None && self.chrome.is_none() && tag.name != local_name!("body") {
            self.chrome = Some(Region { name: tag.name.clone(), depth: 1 });
            self.mark = chrome;
        }
    }

    fn hide(&mut self, tag: &Tag) {
        if self.hidden.is_none() {
            self.hidden = Some(Region { name: tag.name.clone(), depth: 1 });
        }
    }

    fn anchor(&mut self, tag: &Tag) {
        let has_text = tag.name == local_name!("a");
        if has_text {
            self.outline.end_link();
        }
        if let Some(href) = attribute(tag, &local_name!("href")) {
            let nofollow = attribute(tag, &local_name!("rel")).is_some_and(|rel| has_word(rel, "nofollow"));
            self.outline.link(href, nofollow, has_text, self.chrome.is_some());
        }
    }

    fn head(&mut self, tag: &Tag) {
        match tag.name {
            local_name!("html") => {
                if let Some(language) = attribute(tag, &local_name!("lang"))
                    && self.outline.language.is_empty()
                {
                    self.outline.language.push_str(language.trim());
                }
            }
            local_name!("base") => {
                if self.outline.base.is_none() {
                    self.outline.base = attribute(tag, &local_name!("href")).map(str::to_owned);
                }
            }
            local_name!("link") => {
                if let (Some(rel), Some(href)) =
                    (attribute(tag, &local_name!("rel")), attribute(tag, &local_name!("href")))
                    && ["canonical", "alternate", "next", "prev"].iter().any(|kind| has_word(rel, kind))
                    && !has_word(rel, "stylesheet")
                {
                    self.outline.link(href, has_word(rel, "nofollow"), false, true);
                }
            }
            local_name!("meta") => self.meta(tag),
            _ => {}
        }
    }

    fn meta(&mut self, tag: &Tag) {
        let Some(content) = attribute(tag, &local_name!("content")) else { return };
        if let Some(name) = attribute(tag, &local_name!("name"))
            && name.trim().eq_ignore_ascii_case("robots")
        {
            for word in content.split(|c: char| c == ',' || c.is_whitespace()) {
                let none = word.eq_ignore_ascii_case("none");
                self.outline.noindex |= none || word.eq_ignore_ascii_case("noindex");
                self.outline.nofollow |= none || word.eq_ignore_ascii_case("nofollow");
            }
        }
        if let Some(pragma) = attribute(tag, &local_name!("http-equiv"))
            && pragma.eq_ignore_ascii_case("refresh")
            && let Some(target) = refresh_target(content)
        {
            self.outline.link(target, false, false, true);
        }
    }

    fn raw(&mut self, tag: &Tag, raw: Raw) -> TokenSinkResult<()> {
        if tag.name == local_name!("iframe")
            && let Some(source) = attribute(tag, &local_name!("src"))
        {
            self.outline.link(source, false, false, true);
        }
        self.raw = Some(raw);
        match raw {
            Raw::Script => TokenSinkResult::RawData(RawKind::ScriptData),
            Raw::Text => TokenSinkResult::RawData(RawKind::Rawtext),
            Raw::Title | Raw::Area => TokenSinkResult::RawData(RawKind::Rcdata),
            Raw::Plain => {
                self.part(Shape::Plain);
                TokenSinkResult::Plaintext
            }
        }
    }

    fn end(&mut self, name: &LocalName) {
        if let Some(raw) = self.raw.take() {
            // Only its own end tag ends raw content.
            self.titled |= raw == Raw::Title;
            return;
        }
        let role = role(name);
        match role {
            Role::Block | Role::Heading | Role::Main | Role::Chrome => self.part(Shape::Plain),
            Role::Space => self.outline.space(),
            Role::Anchor if *name == local_name!("a") => self.outline.end_link(),
            Role::Foreign => self.foreign = self.foreign.saturating_sub(1),
            _ => {}
        }
        if role == Role::Main {
            self.main = self.main.saturating_sub(1);
        }
        Region::ends(&mut self.hidden, name);
        if Region::ends(&mut self.chrome, name) {
            self.part(Shape::Plain);
        }
    }
}

fn attribute<'t>(tag: &'t Tag, name: &LocalName) -> Option<&'t str> {
    tag.attrs.iter().find(|attribute| attribute.name.local == *name).map(|attribute| &*attribute.value)
}

/// Whether an attribute of the element hides it.
fn is_hidden(tag: &Tag) -> bool {
    tag.attrs.iter().any(|attribute| hides(&attribute.name.local, &attribute.value))
}

fn hides(name: &LocalName, value: &str) -> bool {
    match *name {
        local_name!("hidden") => !value.eq_ignore_ascii_case("until-found"),
        local_name!("aria-hidden") => value == "true",
        local_name!("style") => {
            let style: Cow<'_, str> = match value.bytes().any(|b| b.is_ascii_uppercase() || b.is_ascii_whitespace()) {
                true if value.len() < 1024 => {
                    Cow::Owned(value.split_ascii_whitespace().collect::<String>().to_ascii_lowercase())
                }
                _ => Cow::Borrowed(value),
            };
            style.contains("display:none") || style.contains("visibility:hidden")
        }
        _ => false,
    }
}

/// Whether the space-separated list has this word, without regard to case.
fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|item| item.eq_ignore_ascii_case(word))
}

/// The URL in the content of a meta refresh: `5; url=next.html`.
fn refresh_target(content: &str) -> Option<&str> {
    let rest = content.trim_start().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let rest = rest.trim_start().trim_start_matches([';', ',']).trim_start();
    let rest = match rest.get(..3) {
        Some(word) if word.eq_ignore_ascii_case("url") => match rest[3..].trim_start().strip_prefix('=') {
            Some(value) => value.trim_start(),
            None => rest,
        },
        _ => rest,
    };
    let target = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next()?,
        _ => rest,
    };
    (!target.trim().is_empty()).then_some(target.trim())
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

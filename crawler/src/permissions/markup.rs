//! The statements about use in the markup of a page: meta elements, and links to licences. Most pages have none. So
//! the page is first searched for the tags of such elements, and these for a few words. Only a page with one of these
//! words is read further.

use std::ops::Range;
use std::sync::LazyLock;

use dedup_stage::page::tokenizer::{self, Attribute, Content, Name, Sink, Tag};
use regex::bytes::Regex;

/// The statements in the markup of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup {
    /// The name (in lower case) and the content of each `meta`.
    pub metas: Vec<(String, String)>,
    /// The `href` of each `link` with `rel=license`.
    pub licences: Vec<String>,
}

/// The number of bytes of a page that are read: its head.
const HEAD: usize = 64 << 10;
/// The most elements of each kind that are kept, and the most bytes of an attribute.
const MAX_ELEMENTS: usize = 256;
const MAX_VALUE: usize = 4 << 10;

/// The elements that can make a statement. Their names have the same length.
const ELEMENTS: [&[u8]; 2] = [b"meta", b"link"];
/// A tag without any of these words makes no statement about use.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("(?i)noai|noimageai|noarchive|nocache|tdm-|licen[cs]e").expect("a pattern that compiles")
});

impl Markup {
    /// Reads the head of a page. `body` is not decoded, because everything that counts is ASCII. `token` is the product
    /// token of the crawler, to which the page may speak.
    pub fn read(body: &[u8], token: &str) -> Self {
        let head = &body[..body.len().min(HEAD)];
        if !tags(head).iter().any(|tag| WORDS.is_match(tag) || contains(tag, token.as_bytes())) {
            return Self::default();
        }
        let mut found = Self::default();
        tokenizer::read(&String::from_utf8_lossy(head), &mut found);
        found
    }

    /// The contents of the meta elements with the name of a crawler.
    pub fn metas_of<'a>(&'a self, token: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.metas.iter().filter(move |(name, _)| name.eq_ignore_ascii_case(token));
        named.map(|(_, content)| content.as_str())
    }
}

impl Sink for Markup {
    fn text(&mut self, _text: &str) {}

    fn start(&mut self, tag: &Tag<'_>) -> Content {
        const META: Name = Name::of("meta");
        const LINK: Name = Name::of("link");
        if tag.name == META && self.metas.len() < MAX_ELEMENTS {
            if let (Some(name), Some(content)) = (value(tag, Attribute::Name), value(tag, Attribute::Content)) {
                self.metas.push((name.trim().to_ascii_lowercase(), content));
            }
        } else if tag.name == LINK && self.licences.len() < MAX_ELEMENTS {
            let rel = value(tag, Attribute::Rel).unwrap_or_default();
            let is_licence = |word: &str| ["license", "licence"].iter().any(|rel| word.eq_ignore_ascii_case(rel));
            if rel.split_ascii_whitespace().any(is_licence) {
                self.licences.extend(value(tag, Attribute::Href));
            }
        }
        content_of(tag.name)
    }

    fn end(&mut self, _name: Name) {}

    fn is_in_foreign(&self) -> bool {
        false
    }
}

/// The parts of a page that hold the tags of its meta and link elements. Each tag is in one part with all attributes.
/// (In a broken tag, a `>` in a value may look like its end. So a part has a least length, too.)
fn tags(head: &[u8]) -> Vec<&[u8]> {
    const LEAST: usize = 512;
    let mut parts: Vec<Range<usize>> = Vec::new();
    let is_one = |at: &usize| {
        let name = head.get(at + 1..at + 1 + ELEMENTS[0].len());
        name.is_some_and(|name| ELEMENTS.iter().any(|element| name.eq_ignore_ascii_case(element)))
    };
    for (number, start) in memchr::memchr_iter(b'<', head).filter(is_one).enumerate().take(MAX_ELEMENTS) {
        // A page with very many tags is searched to its end. It could have a quote without its end in each of them.
        let end = if number + 1 < MAX_ELEMENTS { end_of_tag(head, start) } else { head.len() };
        let end = end.max(head.len().min(start + LEAST));
        match parts.last_mut() {
            Some(part) if start <= part.end => part.end = part.end.max(end),
            _ => parts.push(start..end),
        }
    }
    parts.into_iter().map(|part| &head[part]).collect()
}

/// The place of the first `>` outside quotes after `from`.
fn end_of_tag(head: &[u8], from: usize) -> usize {
    let mut quote = None;
    for at in memchr::memchr3_iter(b'>', b'"', b'\'', &head[from..]) {
        match (quote, head[from + at]) {
            (None, b'>') => return from + at,
            (None, mark) => quote = Some(mark),
            (Some(open), mark) if open == mark => quote = None,
            (Some(_), _) => {}
        }
    }
    head.len()
}

/// Whether a text has a word, in whatever case.
fn contains(text: &[u8], word: &[u8]) -> bool {
    let Some(first) = word.first() else { return false };
    let mut places = memchr::memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text);
    places.any(|at| text.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)))
}

/// The way in which the content of an element is read.
fn content_of(name: Name) -> Content {
    const ELEMENTS: [(Name, Content); 9] = [
        (Name::of("script"), Content::Script),
        (Name::of("style"), Content::Raw),
        (Name::of("title"), Content::Text),
        (Name::of("textarea"), Content::Text),
        (Name::of("xmp"), Content::Raw),
        (Name::of("iframe"), Content::Raw),
        (Name::of("noembed"), Content::Raw),
        (Name::of("noframes"), Content::Raw),
        (Name::of("plaintext"), Content::Plain),
    ];
    ELEMENTS.iter().find(|(element, _)| *element == name).map_or(Content::Markup, |(_, content)| *content)
}

fn value(tag: &Tag<'_>, attribute: Attribute) -> Option<String> {
    tag.value(attribute).filter(|value| value.len() <= MAX_VALUE).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metas_and_licences_are_read_whatever_their_case() {
        let page = br#"<title><meta name=robots content=noai></title><META NAME=Robots CONTENT="NOAI, noarchive">
            <meta name=tdm-reservation content=1><link rel="License nofollow" href=/l><link rel=next href=/n>"#;
        let found = Markup::read(page, "bot");
        let metas = [("robots", "NOAI, noarchive"), ("tdm-reservation", "1")];
        assert_eq!(found.metas, metas.map(|(name, content)| (name.to_owned(), content.to_owned())));
        assert_eq!(found.licences, ["/l"]);
        let hidden = b"<script><meta name=robots content=noai></script><style><link rel=license href=/x></style>\
            <textarea><link rel=license href=/y></textarea><!-- <link rel=license href=/z> -->\
            <link href='&#47;l&amp;m' rel='licence'><plaintext><link rel=license href=/w>";
        assert_eq!(Markup::read(hidden, "bot"), Markup { metas: Vec::new(), licences: vec!["/l&m".to_owned()] });
        let page = b"<meta name=robots content=index><link rel=next href=/n>";
        assert_eq!(Markup::read(page, "bot-b"), Markup::default());
    }

    #[test]
    fn a_statement_is_found_wherever_the_tag_has_it() {
        let long = "x".repeat(2_000);
        for page in [
            format!("<meta content='{long} > noai' name=robots>"),
            format!("<p title=\"it's\"><meta data-x=\"{long}\" content=noai name=robots>"),
            "<meta name=robots data-x=a\"b content=\"x>noai\">".to_owned(),
            format!("<meta content=x name=y><p>{long}<meta name=robots content=noai"),
            format!("<link rel=next href=/n><link rel=next href='/{long}'><meta name=robots content=noai>"),
        ] {
            assert!(tags(page.as_bytes()).iter().any(|tag| WORDS.is_match(tag)), "{page}");
        }
        let many = "<meta name=a content=b>".repeat(MAX_ELEMENTS) + &long + "<meta name=robots content=noai>";
        assert!(tags(many.as_bytes()).iter().any(|tag| WORDS.is_match(tag)));
        // A part may end in the middle of the next tag. Wherever that is, no word is cut.
        for fill in 440..520 {
            let page = format!("<meta name=a content=b>{}<meta name=robots content=noai>", &long[..fill]);
            assert!(tags(page.as_bytes()).iter().any(|tag| WORDS.is_match(tag)), "{fill}");
        }
        let page = format!("<meta name=a content=b>{long}<p>noai noarchive licence</p>");
        assert!(!tags(page.as_bytes()).iter().any(|tag| WORDS.is_match(tag)));
    }

    #[test]
    fn metas_with_the_name_of_the_crawler_are_read() {
        let page = b"<meta name=Our-Bot content='nofollow, x'><meta name=other content=noindex><p>text";
        let found = Markup::read(page, "our-bot");
        assert_eq!(found.metas_of("our-bot").collect::<Vec<_>>(), ["nofollow, x"]);
        assert_eq!(Markup::read(page, "third"), Markup::default());
    }
}

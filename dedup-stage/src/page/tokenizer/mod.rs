//! A tokenizer of HTML (HTML standard, section 13.2.5). It works on slices of the page: vector searches find plain text
//! and tags, without any allocation. It gives the same tokens as html5ever's tokenizer; the tests compare both.
//! html5ever itself reads the scripts whose text does not show their end.
//!
//! Comments, the document type, and the content of scripts and style sheets are skipped.

mod judge;
mod name;
pub mod oracle;
mod raw;
mod reference;
mod tag;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use name::{Name, Table};
use reference::ReferenceContext;
pub use tag::{Attribute, Tag};

/// Takes the tokens.
pub trait Sink {
    /// Takes text between tags. Its character references are resolved. Several pieces may follow each other. No piece
    /// is empty.
    fn text(&mut self, text: &str);

    /// Takes a start tag. Returns how the text behind it is to be read.
    fn start(&mut self, tag: &Tag<'_>) -> Content;

    /// Takes an end tag.
    fn end(&mut self, name: Name);

    /// Whether the text behind this place is foreign content (SVG, MathML). CDATA sections exist only there.
    fn is_in_foreign(&self) -> bool;
}

/// How the content of an element is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Tags and text.
    Markup,
    /// A script. Nothing before its end tag is passed on.
    Script,
    /// Like `Script`, with a simpler rule for the end: style sheets and the like.
    Raw,
    /// Text up to the end tag: titles, text areas.
    Text,
    /// Text up to the end of the document.
    Plain,
}

/// Reads `html`. A byte order mark must have been removed.
pub fn read(html: &str, sink: &mut impl Sink) {
    let html = with_line_feeds(html);
    let mut scanner = Scanner { html: &html, tag: Tag::default() };
    let mut at = 0;
    while let Some(next) = scanner.step(at, sink) {
        at = next;
    }
}

/// Replaces carriage returns, with or without a line feed, by line feeds (section 13.2.3.5).
fn with_line_feeds(html: &str) -> Cow<'_, str> {
    let bytes = html.as_bytes();
    let Some(mut at) = memchr::memchr(b'\r', bytes) else { return Cow::Borrowed(html) };
    let mut text = String::with_capacity(html.len());
    let mut from = 0;
    loop {
        text.push_str(&html[from..at]);
        text.push('\n');
        from = at + 1 + usize::from(bytes.get(at + 1) == Some(&b'\n'));
        match memchr::memchr(b'\r', &bytes[from..]) {
            Some(next) => at = from + next,
            None => return Cow::Owned(text + &html[from..]),
        }
    }
}

struct Scanner<'t> {
    html: &'t str,
    /// The last tag. Its memory is used again.
    tag: Tag<'t>,
}

impl<'t> Scanner<'t> {
    /// Reads the text or the tag that begins at `at`. Returns its end; `None` at the end of the document.
    #[inline]
    fn step(&mut self, at: usize, sink: &mut impl Sink) -> Option<usize> {
        let bytes = self.html.as_bytes();
        if *bytes.get(at)? == b'<' {
            return self.markup(at, sink);
        }
        let rest = &bytes[at..];
        let plain = memchr::memchr3(b'<', b'&', 0, rest).unwrap_or(rest.len());
        if rest.get(plain).is_none_or(|byte| *byte == b'<') {
            sink.text(&self.html[at..at + plain]);
            return Some(at + plain);
        }
        let end = plain + memchr::memchr(b'<', &rest[plain..]).unwrap_or(rest.len() - plain);
        pieces(&self.html[at..at + end], Text::Markup, sink);
        Some(at + end)
    }

    /// Reads the markup that begins with the less-than sign at `at`.
    #[inline]
    fn markup(&mut self, at: usize, sink: &mut impl Sink) -> Option<usize> {
        let bytes = self.html.as_bytes();
        match bytes.get(at + 1) {
            Some(byte) if byte.is_ascii_alphabetic() => {
                let end = self.tag.read(self.html, at + 1)?;
                match sink.start(&self.tag) {
                    Content::Markup => Some(end),
                    content => self.content(content, end, sink),
                }
            }
            Some(b'/') => match bytes.get(at + 2) {
                Some(byte) if byte.is_ascii_alphabetic() => {
                    let end = self.tag.read(self.html, at + 2)?;
                    sink.end(self.tag.name);
                    Some(end)
                }
                Some(_) => self.after(at + 2, ">"),
                None => {
                    sink.text("</");
                    None
                }
            },
            Some(b'!') => self.declaration(at + 2, sink),
            Some(b'?') => self.after(at + 1, ">"),
            _ => {
                sink.text("<");
                Some(at + 1)
            }
        }
    }

    /// Reads the rest of a comment, a document type or a CDATA section, behind `<!`.
    fn declaration(&self, at: usize, sink: &mut impl Sink) -> Option<usize> {
        let rest = &self.html[at..];
        if let Some(comment) = rest.strip_prefix("--") {
            return comment_length(comment).map(|length| at + 2 + length);
        }
        if !rest.starts_with("[CDATA[") || !sink.is_in_foreign() {
            return self.after(at, ">");
        }
        let at = at + "[CDATA[".len();
        let end = self.after(at, "]]>");
        let content = &self.html[at..end.map_or(self.html.len(), |end| end - "]]>".len())];
        content.split('\0').filter(|piece| !piece.is_empty()).for_each(|piece| sink.text(piece));
        end
    }

    /// Reads the content of an element that holds no markup.
    fn content(&self, content: Content, at: usize, sink: &mut impl Sink) -> Option<usize> {
        let rest = &self.html[at..];
        let end = match content {
            Content::Markup => Some(0),
            Content::Plain => None,
            Content::Raw | Content::Text => raw::end(rest, self.tag.name),
            Content::Script => match raw::script_end(rest) {
                raw::End::At(end) => Some(end),
                raw::End::Never => None,
                raw::End::Unclear => return judge::script(rest, sink).map(|end| at + end),
            },
        };
        let inside = &rest[..end.unwrap_or(rest.len())];
        match content {
            Content::Text => pieces(inside, Text::WithReferences, sink),
            Content::Plain => pieces(inside, Text::Plain, sink),
            Content::Markup | Content::Script | Content::Raw => {}
        }
        Some(at + end?)
    }

    /// One past the next `end`.
    fn after(&self, at: usize, end: &str) -> Option<usize> {
        memchr::memmem::find(&self.html.as_bytes()[at..], end.as_bytes()).map(|found| at + found + end.len())
    }
}

/// How special characters of a text are read: character references and U+0000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    /// Text between tags. U+0000 is dropped.
    Markup,
    /// Text with references. U+0000 becomes U+FFFD.
    WithReferences,
    /// Text without references: ampersands are plain characters. U+0000 becomes U+FFFD.
    Plain,
}

/// Passes on a text that may have special characters.
fn pieces(text: &str, kind: Text, sink: &mut impl Sink) {
    let mut pass = |piece: &str| {
        if !piece.is_empty() {
            sink.text(piece);
        }
    };
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'&', 0, rest.as_bytes()) {
        pass(&rest[..at]);
        rest = &rest[at..];
        let mut length = 1;
        if rest.starts_with('\0') {
            pass(if kind == Text::Markup { "" } else { "\u{FFFD}" });
        } else if let Some(reference) = reference::read(rest, ReferenceContext::Text).filter(|_| kind != Text::Plain) {
            length = reference.length;
            reference.characters.into_iter().flatten().for_each(|character| pass(character.encode_utf8(&mut [0; 4])));
        } else {
            pass("&");
        }
        rest = &rest[length..];
    }
    pass(rest);
}

/// The length of a comment that begins here, including its arrow.
fn comment_length(comment: &str) -> Option<usize> {
    let ends = |before: &str| ["--", "--!"].into_iter().any(|end| before.ends_with(end)) || matches!(before, "" | "-");
    memchr::memchr_iter(b'>', comment.as_bytes()).find(|at| ends(&comment[..*at])).map(|at| at + 1)
}

//! Reads a page: from bytes and headers to text, links, title, language and fingerprint, in one pass and without a
//! tree. No content can make the reader fail.
//!
//! The files here use these words:
//!
//! - *block*: a run of visible text between two boundaries of block elements.
//! - *chrome*: the parts of a page that are the same on many pages of its site: navigation, footers, advertisements.
//! - *sign*: an element, a role or a word of a class by which an author marks chrome. Some authors mark their content
//!   so, too. So a sign is *believed* only if that is plausible (`belief`).
//! - *content*: the blocks that say what this page says (`content`). A block of content is a *passage*.
//! - *outline*: all that is gathered from the markup in one pass (`outline`).

mod address_words;
mod asides;
mod belief;
pub mod charset;
mod chrome;
pub mod content;
mod date_words;
mod filling;
mod gist;
mod hints;
mod html;
mod joined_numbers;
mod kind;
mod language;
mod link_texts;
mod links;
pub(crate) mod media;
mod medium;
mod numbering;
mod outline;
mod passages;
mod pieces;
mod prescan;
mod rel;
mod repeats;
mod short;
mod signs;
mod statement;
mod tags;
pub mod tokenizer;
mod word_marks;

#[cfg(test)]
mod tests;

use std::ops::Range;

use ::url::Url;

use crate::digest::sha256;
use crate::signature::{OddSketch, Passage, Signature, Signer};
use crate::words::{WordHash, Words};
pub use asides::Aside;
use belief::believed;
pub use html::refresh_target;
pub use kind::Kind;
pub use link_texts::{LinkText, LinkTexts};
use outline::Outline;
pub use outline::{Block, BlockKind};
pub use passages::Passages;
pub use pieces::Piece;
pub use rel::Rels;
use signs::Signs;
pub use word_marks::{BORDER, FILLING, WordMark};

/// One fetched page, as HTTP gave it (transfer and content encodings removed).
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The URL it was fetched from. Relative links are resolved against it, unless the page names another base.
    pub url: &'a Url,
    /// HTTP status. Pages with statuses other than 2xx are read, but get no signature.
    pub status: u16,
    /// Value of the `Content-Type` header.
    pub content_type: Option<&'a str>,
    /// Decoded body.
    pub body: &'a [u8],
}

/// A hyperlink of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The URL, resolved against the page's base, without fragment. Only http and https.
    pub url: Url,
    /// Whether every place of the link has `rel=nofollow`.
    pub nofollow: bool,
    /// Visible text of the link, white space folded, at most 200 bytes.
    pub anchor: String,
    /// Whether it stands in the content: not before the first block of content, and not in chrome.
    pub content: bool,
    /// Further facts that the page tells about the link, at any of its places.
    pub rels: Rels,
}

/// Everything that is read from one page. It depends only on the [`Input`] and the recipe.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Whether this is text or HTML. Only then it can have links and a signature.
    pub is_text: bool,
    /// Name of the charset it was decoded with, as in the Encoding standard.
    pub charset: &'static str,
    /// Two- or three-letter language tag: the one that the page names, or the one that was detected. Empty if unknown.
    pub language: String,
    /// Title, white space folded, at most 1,000 bytes.
    pub title: String,
    /// Number of words of visible text.
    pub words: u32,
    /// Whether meta robots says `noindex`.
    pub noindex: bool,
    /// Whether meta robots says `nofollow`. Then the links of the page are not followed.
    pub nofollow: bool,
    /// Links in the order of the page, one for each distinct URL, at most [`Reader::MAX_LINKS`] links and
    /// [`Reader::MAX_LINK_BYTES`] bytes.
    pub links: Vec<Link>,
    /// The number of distinct links that these caps cut. Links after the first 100,000 links as written are not
    /// resolved: two of them are distinct if they are written in different ways.
    pub links_cut: u32,
    /// Bytes of visible text beyond [`Reader::MAX_TEXT`].
    pub text_cut: u64,
    /// Hashes of the distinct images, videos, sounds and embedded files outside chrome, sorted, of at most
    /// [`Reader::MAX_MEDIA`] media. The lowest bits of a hash tell its kind (`MediumKind`). A medium of another site
    /// has two hashes.
    pub media: Vec<u64>,
    /// The number of media that `MAX_MEDIA` cut.
    pub media_cut: u32,
    /// The running texts in its chrome, and beside long texts that look like it. Empty if the page has no signature.
    pub asides: Vec<Aside>,
    /// Hash of all words of the visible text, in order. 0 if there are none.
    pub text: u64,
    /// SHA-256 of the body.
    pub sha256: [u8; 32],
    /// The fingerprint and the sketch, which the judge compares. `None` if the page has too little text, is an error
    /// page, or is no page.
    pub signature: Option<Signature>,
    /// The odd sketch of its content, which is compared with that of another visit to the URL. `None` if it has no
    /// content.
    pub odd: Option<OddSketch>,
    /// The texts of its links, if it consists mostly of links.
    pub link_texts: LinkTexts,
    /// The passages of its content, if the caller has asked for them ([`Reader::passages`]): a crawler needs them only
    /// for a URL that was visited before.
    pub passages: Passages,
    /// For a page that has too little text for a signature: a digest of all that it says. `None` if it says nothing.
    pub statement: Option<[u8; 32]>,
    /// For such a page: a hash of what it says apart from numbers, dates and the words of its own URL. 0 if that is
    /// nothing.
    pub gist: u64,
}

impl Page {
    /// Whether it has neither words nor media.
    pub(crate) fn says_nothing(&self) -> bool {
        self.text == 0 && self.odd.is_none() && self.statement.is_none() && self.signature.is_none()
    }
}

/// How bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Html,
    Text,
    Nothing,
}

/// Reads pages. It keeps only scratch memory between them, so any number of readers give the same answers.
#[derive(Debug, Default)]
pub struct Reader {
    outline: Outline,
    hints: hints::Hints,
    resolver: links::Resolver,
    words: Words,
    hashes: Vec<WordHash>,
    spans: Vec<Range<usize>>,
    starts: Vec<usize>,
    believed: Signs,
    content: Vec<Passage>,
    places: Vec<(u32, u32)>,
    signer: Signer,
    /// Whether the page that was read last has left much scratch memory.
    is_large: bool,
}

impl Reader {
    /// Cap on the links taken from one page.
    pub const MAX_LINKS: usize = config::bounds::LINKS;
    /// Cap on the bytes of these links as resolved. (A long base makes short links long.)
    pub const MAX_LINK_BYTES: usize = config::bounds::LINK_BYTES;
    /// Cap on the media taken from one page.
    pub const MAX_MEDIA: usize = 256;
    /// This many bytes of a body are read. All bytes count for the digest.
    pub const MAX_BODY: usize = 16 << 20;
    /// Bytes of visible text whose words count.
    pub const MAX_TEXT: usize = config::bounds::TEXT;
    /// The scratch memory of a page is kept for the next one if the page has no more bytes than this.
    const KEPT: usize = config::bounds::LARGE_PAGE;
    /// Cap on the title, in bytes.
    const MAX_TITLE: usize = 1_000;

    /// Reads one page.
    pub fn read(&mut self, input: &Input<'_>) -> Page {
        let mut page = Page { sha256: sha256(input.body), ..Page::default() };
        self.forget_large();
        self.outline.clear();
        self.believed = Signs::NONE;
        self.content.clear();
        self.outline.host.push_str(input.url.host_str().unwrap_or_default());
        let body = &input.body[..input.body.len().min(Self::MAX_BODY)];
        let form = form(input.content_type, body);
        if form == Form::Nothing {
            return page;
        }
        page.is_text = true;
        let domain = input.url.domain().and_then(|host| host.rsplit('.').next());
        let encoding = charset::detect(body, input.content_type, domain);
        page.charset = encoding.name();
        let decoded = charset::decode(body, encoding);
        self.is_large = decoded.len() > Self::KEPT;
        if self.is_large {
            // A text that grows is copied, and takes twice its memory meanwhile. Memory that is not used costs nothing.
            self.outline.text.reserve(decoded.len());
        }
        match form {
            Form::Html => html::read(&decoded, &mut self.outline, &mut self.hints),
            _ => self.outline.plain(&decoded),
        }
        outline::fold_space(&self.outline.title, &mut page.title, Self::MAX_TITLE);
        (page.noindex, page.nofollow) = (self.outline.noindex, self.outline.nofollow);
        page.language = language::primary(&self.outline.language);

        page.text_cut = self.read_words();
        page.words = self.hashes.len() as u32;
        page.text = text_hash(&self.hashes);
        if page.language.is_empty() {
            page.language.push_str(language::detect(&self.outline.text, &self.hashes));
        }
        self.believed = believed(&self.outline.blocks, &self.spans);
        let base = links::base(input.url, &self.outline);
        let base = base.as_ref().unwrap_or(input.url);
        (page.links, page.links_cut) = self.resolver.resolve(base, &self.outline, self.believed, &mut self.places);
        let media = media::read(input.url, base, &self.outline, self.believed);
        (page.media, page.media_cut) = (media.marked(), media.cut);
        if (200..300).contains(&input.status) {
            content::choose(&self.outline.blocks, &self.spans, &self.hashes, self.believed, &mut self.content);
            self.mark_content_links(&mut page.links);
            let links = page.links.iter().map(|link| (&link.url, link.content));
            (page.odd, page.link_texts) =
                link_texts::compared(&self.content, &self.outline, &self.hashes, &self.places);
            page.signature = self.signer.sign(&self.hashes, &self.content, links);
            if page.signature.is_some() {
                page.asides = asides::read(&self.outline.blocks, &self.spans, &self.hashes, self.believed);
            } else {
                page.odd = self.odd_of_short(&page.title);
                let media = media.unmarked();
                page.statement = statement::digest(&page.title, &self.hashes, &media);
                page.gist = gist::gist(input.url, &page.title, &self.hashes, &media, &mut self.words);
            }
        }
        page
    }

    /// Gives back the scratch memory of a large page. Its text and words are gone then.
    pub fn forget_large(&mut self) {
        if self.is_large {
            *self = Self::default();
        }
    }

    /// Reads the words of the blocks, and returns how many bytes of them the cap has cut.
    fn read_words(&mut self) -> u64 {
        let Outline { text, blocks, .. } = &self.outline;
        self.hashes.clear();
        self.spans.clear();
        if self.is_large {
            // Nearly every word takes two bytes or more.
            self.hashes.reserve(text.len().min(Self::MAX_TEXT) / 2);
        }
        if text.len() <= Self::MAX_TEXT {
            self.starts.clear();
            self.starts.extend(blocks.iter().map(|block| block.start as usize));
            self.words.hashes_of_parts(text, &self.starts, &mut self.hashes, &mut self.spans);
            return 0;
        }
        let (mut room, mut cut) = (Self::MAX_TEXT, 0);
        for block in blocks {
            let (start, text) = (self.hashes.len(), &text[block.range()]);
            let read = head(text, room);
            room -= read.len();
            cut += (text.len() - read.len()) as u64;
            self.words.hashes(read, &mut self.hashes);
            self.spans.push(start..self.hashes.len());
        }
        cut
    }

    /// Finds out which links stand in the content: from its first block on. Lists that are not taken into the text
    /// count, too. (Links in believed chrome are not among the places.)
    fn mark_content_links(&self, links: &mut [Link]) {
        let Some(first) = self.content.first() else { return };
        let start = self.outline.blocks[first.block].start;
        for &(_, link) in self.places.iter().filter(|(place, _)| *place >= start) {
            links[link as usize].content = true;
        }
    }

    /// The hashes of all words of [`Reader::text`], in order.
    pub fn words(&self) -> &[WordHash] {
        &self.hashes
    }

    /// The places of links outside of chrome, in order: the byte of [`Reader::text`] at which the text of the link
    /// begins, and the number of the link in [`Page::links`].
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        self.places.iter().map(|(at, link)| (*at as usize, *link as usize))
    }

    /// The visible text of the page that was read last. Line feeds separate its blocks.
    pub fn text(&self) -> &str {
        &self.outline.text
    }

    /// The passages of this text that are content, block by block.
    pub fn content(&self) -> impl Iterator<Item = &str> {
        self.content.iter().map(|passage| &self.outline.text[self.outline.blocks[passage.block].range()])
    }

    /// The hashes of the words of [`Reader::content`], in order.
    pub fn content_words(&self) -> impl Iterator<Item = WordHash> {
        self.content.iter().flat_map(|passage| &self.hashes[passage.words.clone()]).copied()
    }

    /// The ranges of the texts of links in [`Reader::text`]. Links in chrome are left out.
    pub fn anchors(&self) -> impl Iterator<Item = Range<usize>> {
        let links = self.outline.links.iter().filter(|link| !link.signs.meet(self.believed));
        links
            .map(|link| link.anchor.0 as usize..link.anchor.1 as usize)
            .filter(|anchor| self.outline.text.get(anchor.clone()).is_some())
    }

    /// The blocks of [`Reader::text`].
    pub fn blocks(&self) -> &[Block] {
        &self.outline.blocks
    }
}

/// The beginning of a text, of at most this many bytes.
fn head(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// A hash of words in order.
fn text_hash(words: &[WordHash]) -> u64 {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    let mut bytes = [0u8; 512];
    for part in words.chunks(64) {
        for (place, word) in bytes.chunks_exact_mut(8).zip(part) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        hasher.update(&bytes[..8 * part.len()]);
    }
    if words.is_empty() { 0 } else { hasher.digest() }
}

/// The form of a page by the header. If the header does not tell, by the first bytes.
fn form(content_type: Option<&str>, body: &[u8]) -> Form {
    match Kind::of(content_type) {
        Kind::Html => Form::Html,
        Kind::Text => Form::Text,
        Kind::Unknown | Kind::Binary => sniff(body),
        Kind::Xml | Kind::OtherText | Kind::Other => Form::Nothing,
    }
}

/// This many bytes of a body are looked at to find out what it is (MIME Sniffing standard, section 5.2).
const SNIFFED: usize = 1445;

/// Whether a body says at its beginning that it is HTML.
pub fn says_html(body: &[u8]) -> bool {
    let head = &body[..body.len().min(SNIFFED)];
    ["<html", "<!doctype html"].iter().any(|sign| charset::find_ignore_case(head, sign.as_bytes()).is_some())
}

/// The form of a page without a type: HTML if it looks like markup, text if it has no binary bytes (after the MIME
/// Sniffing standard, section 7).
fn sniff(body: &[u8]) -> Form {
    let head = &body[..body.len().min(SNIFFED)];
    let marked = encoding_rs::Encoding::for_bom(head).is_some();
    let binary = |b: &u8| matches!(b, 0..=8 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F);
    if head.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'<')
        || says_html(head)
        || charset::find_ignore_case(head, b"<a ").is_some()
    {
        Form::Html
    } else if marked || !head.iter().any(binary) {
        Form::Text
    } else {
        Form::Nothing
    }
}

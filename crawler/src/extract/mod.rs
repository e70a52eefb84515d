//! The main text of a page in forms that people and models read: plain text and Markdown, with title, headings, lists,
//! tables, links and code. It is made for `--text` and `--markdown` alone, and apart from what is fingerprinted: the
//! judgement reads pages without a tree (`dedup_stage::page`), this reads them with one.
//!
//! What of a page is its main text is found by the crate `dom_smoothie`, a port of mozilla/readability; what it finds is
//! taken apart into [`Block`]s here and written as [`text`] or [`markdown`]. `tests/peers/extract` compares the outcome with
//! other extractors. A page in which no article is found (a front page, a list) gives everything outside navigation, header,
//! footer and forms, and says so.
//!
//! Page workers call [`page_lines`] with each judged page where `--text` or `--markdown` asks for it. That costs about 5 to
//! 10 ms a page of 100 KB. Hostile pages: at most [`MAX_BYTES`] are read, and neither [`MAX_ELEMENTS`] nor [`MAX_DEPTH`] is
//! passed.

mod blocks;
mod cost;
mod line;
mod lines;
pub mod markdown;
pub mod text;

#[cfg(test)]
mod tests;

use dom_query::{Document, NodeRef};
use dom_smoothie::{Config, Readability};
use url::Url;

pub use lines::{Forms, page_lines};

/// Bytes of a page that are read.
pub const MAX_BYTES: usize = 4 << 20;
/// Elements of a page in which an article is looked for; larger ones are taken as they stand.
pub const MAX_ELEMENTS: usize = 30_000;
/// Depth of nesting in which an article is looked for; what lies deeper is not read, and of a page that nests twice as deep
/// nothing.
pub const MAX_DEPTH: usize = 256;

/// Characters of text that make an article.
const MIN_ARTICLE: usize = 250;

/// The main text of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Main {
    /// Title, white space folded; may be empty.
    pub title: String,
    /// The text.
    pub blocks: Vec<Block>,
    /// Whether an article was found; else the blocks are all of the page but its chrome.
    pub is_article: bool,
}

/// A part of a text that stands on its own lines.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading of level 1 to 6.
    Heading(u8, Vec<Span>),
    /// A paragraph.
    Paragraph(Vec<Span>),
    /// A list; the number of the first item where its items are numbered.
    List(Option<u32>, Vec<Vec<Block>>),
    /// A quotation.
    Quote(Vec<Block>),
    /// Code as it stands, with its language where the page names it.
    Code(String, String),
    /// Rows of cells; whether the first row is a heading.
    Table(bool, Vec<Vec<Vec<Span>>>),
    /// A break between parts.
    Rule,
}

/// A part of a line. No text but that of code has more than one white space in a row, or a line end.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Text as it is read.
    Text(String),
    /// Text with weight.
    Strong(Vec<Span>),
    /// Text in another voice.
    Emphasis(Vec<Span>),
    /// A word of a program.
    Code(String),
    /// Text that leads to an http, https or mailto URL.
    Link(Url, Vec<Span>),
    /// A picture, by the words that stand in for it.
    Image(Url, String),
    /// A line end within a paragraph.
    Break,
}

/// Reads a page; `url` is where it was fetched from. Nothing here fails on content: a page whose tree would cost too much
/// has no blocks, and its caller falls back to what `dedup_stage::page` has read.
pub fn extract(html: &str, url: &Url) -> Main {
    let html = head(html, MAX_BYTES);
    if cost::is_too_much(html) {
        return Main::default();
    }
    let document = Document::from(html);
    let base = base(&document, url);
    let (elements, depth) = size(&document.root());
    if elements <= MAX_ELEMENTS
        && depth <= MAX_DEPTH
        && let Some(main) = article(document.clone(), &base)
    {
        return main;
    }
    let title = document.select_single("head > title").text();
    let blocks = blocks::read(&document.root(), &base, blocks::Skip::Chrome);
    Main { title: fold(&title), blocks, is_article: false }
}

/// What readability takes for the article.
fn article(document: Document, base: &Url) -> Option<Main> {
    let config = Config { keep_classes: true, ..Config::default() };
    let mut reader = Readability::with_document(document, Some(base.as_str()), Some(config)).ok()?;
    let article = reader.parse().ok()?;
    let content = Document::fragment(article.content);
    let blocks = blocks::read(&content.root(), base, blocks::Skip::Hidden);
    // Of a page with little text readability keeps whatever it finds.
    let is_long = blocks.iter().map(text::block_len).sum::<usize>() >= MIN_ARTICLE;
    is_long.then(|| Main { title: fold(&article.title), blocks, is_article: true })
}

/// The base of the page's links.
fn base(document: &Document, url: &Url) -> Url {
    let href = document.select_single("base[href]").attr("href");
    let base = href.and_then(|href| url.join(href.trim()).ok());
    base.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| url.clone())
}

/// Number of elements below a node, and depth of the deepest.
fn size(root: &NodeRef<'_>) -> (usize, usize) {
    let (mut elements, mut deepest, mut depth) = (0, 0, 0);
    let mut next = root.first_child();
    while let Some(node) = next {
        elements += usize::from(node.is_element());
        deepest = deepest.max(depth + 1);
        next = match node.first_child() {
            Some(child) => {
                depth += 1;
                Some(child)
            }
            None => {
                let mut at = Some(node);
                loop {
                    let Some(here) = at.filter(|here| here.id != root.id) else { break None };
                    if let Some(sibling) = here.next_sibling() {
                        break Some(sibling);
                    }
                    depth = usize::saturating_sub(depth, 1);
                    at = here.parent();
                }
            }
        };
    }
    (elements, deepest)
}

/// At most `most` bytes of a text, without half a character.
pub(crate) fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// Runs of white space as one space, none at the ends.
fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

//! The main text of a page in forms for people and models: plain text and Markdown, with title, headings, lists,
//! tables, links and code. It is made only for `--text` and `--markdown`, and separately from the fingerprints: the
//! judgement reads pages without a tree (`dedup_stage::page`), and this module reads them with one.
//!
//! The crate `dom_smoothie`, a port of mozilla/readability, finds the main text of a page. This module splits the
//! result into [`Block`]s, and writes them as [`text`] or [`markdown`]. `tests/peers/extract` compares the outcome with
//! other extractors. If no article is found in a page (a front page, a list), the main text is everything outside
//! navigation, header, footer and forms, and [`Main::is_article`] is false.
//!
//! Page workers call [`page_lines`] with each judged page if `--text` or `--markdown` is given. That costs about 5 to
//! 10 ms for a page of 100 KB. Against hostile pages, there are bounds: [`MAX_BYTES`], [`MAX_ELEMENTS`] and
//! [`MAX_DEPTH`].

pub mod attributes;
mod blocks;
mod cost;
mod grid;
mod line;
mod lines;
pub mod markdown;
pub mod text;

#[cfg(test)]
mod tests;

use dom_query::{Document, NodeRef};
use dom_smoothie::{Config, Readability};
use url::Url;

pub use lines::{Forms, Texts, page_lines};

/// The most bytes of a page that are read.
pub const MAX_BYTES: usize = 4 << 20;
/// The most elements of a page in which an article is looked for. A larger page is taken as it is.
pub const MAX_ELEMENTS: usize = 30_000;
/// The largest depth of nesting in which an article is looked for. Deeper content is not read. If a page nests twice as
/// deep, nothing of it is read.
pub const MAX_DEPTH: usize = 256;

/// The least number of characters of text that make an article.
const MIN_ARTICLE: usize = 250;

/// The main text of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Main {
    /// The title, with white space folded; it may be empty.
    pub title: String,
    /// The text.
    pub blocks: Vec<Block>,
    /// Whether an article was found. Otherwise, the blocks are the whole page without navigation, header, footer and
    /// forms.
    pub is_article: bool,
}

/// A part of a text that stands on its own lines.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading of level 1 to 6.
    Heading(u8, Vec<Span>),
    /// A paragraph.
    Paragraph(Vec<Span>),
    /// A list. If its items are numbered, the number is that of the first item.
    List(Option<u32>, Vec<Vec<Block>>),
    /// A quotation.
    Quote(Vec<Block>),
    /// The language of code, if the page names it, and the code as it is written.
    Code(String, String),
    /// A table: whether its first row is a heading, and its rows of cells.
    Table(bool, Vec<Vec<Vec<Span>>>),
    /// A break between parts.
    Rule,
}

/// A part of a line. Only code contains line ends, or more than one white space in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Plain text.
    Text(String),
    /// Strong text.
    Strong(Vec<Span>),
    /// Emphasised text.
    Emphasis(Vec<Span>),
    /// Code within a line.
    Code(String),
    /// Text that leads to an http, https or mailto URL.
    Link(Url, Vec<Span>),
    /// A picture: its URL, and the text that stands in for it.
    Image(Url, String),
    /// A line end within a paragraph.
    Break,
}

/// Reads a page. `url` is the URL from which it was fetched. No content makes this fail. If the tree of a page would
/// cost too much, the result has no blocks, and the caller uses what `dedup_stage::page` has read.
pub fn extract(html: &str, url: &Url) -> Main {
    let html = head(html, MAX_BYTES);
    if attributes::are_too_many(html.as_bytes()) || cost::is_too_much(html) {
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

/// The article that readability finds.
fn article(document: Document, base: &Url) -> Option<Main> {
    let config = Config { keep_classes: true, ..Config::default() };
    let mut reader = Readability::with_document(document, Some(base.as_str()), Some(config)).ok()?;
    let article = reader.parse().ok()?;
    let content = Document::fragment(article.content);
    let blocks = blocks::read(&content.root(), base, blocks::Skip::Hidden);
    // If a page has little text, readability keeps whatever it finds.
    let is_long = blocks.iter().map(text::block_len).sum::<usize>() >= MIN_ARTICLE;
    is_long.then(|| Main { title: fold(&article.title), blocks, is_article: true })
}

/// The base URL of the page's links.
fn base(document: &Document, url: &Url) -> Url {
    let href = document.select_single("base[href]").attr("href");
    let base = href.and_then(|href| url.join(href.trim()).ok());
    base.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| url.clone())
}

/// The number of elements below a node, and the depth of the deepest.
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

/// The first `most` bytes of a text at most, without half a character.
pub(crate) fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

/// Folds runs of white space into one space, and removes those at the ends.
fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

//! The outline of a page: visible text in blocks, links as written, and what the head says. The sink of the tokenizer
//! fills it.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

use super::Rels;
use super::signs::Signs;

/// A run of visible text between two block boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The first byte in `Outline::text`.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Number of bytes that are no white space.
    pub ink: u32,
    /// Number of these bytes that are inside links.
    pub link_ink: u32,
    /// Number of these bytes that are inside links to other hosts.
    pub away_ink: u32,
    /// The signs of chrome around it.
    pub signs: Signs,
    /// The kind of the block.
    pub shape: BlockKind,
}

/// The kind of a block, by its element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockKind {
    /// A paragraph or a division.
    #[default]
    Plain,
    /// A heading.
    Heading,
    /// An item of a list, a cell of a table, or preformatted text. It may be short and yet be content.
    Item,
}

impl Block {
    /// Its range in the text.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether less than this percentage of its bytes is text of links. White space does not count, because markup may
    /// be indented or not.
    pub(super) fn links_below(&self, percent: u32) -> bool {
        u64::from(self.link_ink) * 100 < u64::from(self.ink) * u64::from(percent)
    }

    /// Whether its words form sentences or headings. The items of lists and tables, and preformatted text, do not.
    pub(super) fn is_prose(&self) -> bool {
        self.shape != BlockKind::Item
    }

    /// Whether it is a list of links: at least half of it is text of links.
    pub(super) fn is_list(&self) -> bool {
        self.shape != BlockKind::Heading && !self.links_below(50)
    }
}

/// A link as written.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawLink {
    /// Its `href`, as a range of [`Outline::hrefs`].
    pub href: (u32, u32),
    /// Its visible text, as a range of [`Outline::text`].
    pub anchor: (u32, u32),
    /// `rel=nofollow`.
    pub nofollow: bool,
    /// Further facts that the page tells about it.
    pub rels: Rels,
    /// Whether it names another host.
    pub away: bool,
    /// The signs of chrome around it.
    pub signs: Signs,
    /// `rel=sponsored`.
    pub sponsored: bool,
}

/// A medium as written.
#[derive(Clone, Copy, Debug)]
pub struct RawMedium {
    /// Its address, as a range of [`Outline::hrefs`].
    pub address: (u32, u32),
    /// The number of the link that it stands in, in [`Outline::links`].
    pub link: Option<u32>,
    /// The signs of chrome around it.
    pub signs: Signs,
}

/// Everything that is gathered in one pass. It is cleared and used again for the next page.
#[derive(Debug, Default)]
pub struct Outline {
    /// Visible text. Line feeds separate the blocks.
    pub text: String,
    /// The blocks, in order. None is blank.
    pub blocks: Vec<Block>,
    /// Targets of links and addresses of media, one after another.
    pub hrefs: String,
    /// The links, in order.
    pub links: Vec<RawLink>,
    /// The media, in order.
    pub media: Vec<RawMedium>,
    /// Number of media beyond [`Outline::MAX_MEDIA`].
    pub media_cut: u32,
    /// Text of the first `title`.
    pub title: String,
    /// `lang` of the root.
    pub language: String,
    /// `href` of the first `base`.
    pub base: Option<String>,
    /// Whether meta robots says `noindex`.
    pub noindex: bool,
    /// Whether meta robots says `nofollow`.
    pub nofollow: bool,
    /// The host of the page, by which links to other hosts are recognized.
    pub host: String,
    /// Hashes of the targets of links beyond [`Outline::MAX_LINKS`], as written.
    pub links_cut: Vec<u64>,
    open: Block,
    in_link: bool,
}

impl Outline {
    /// At most this many blocks. Text beyond them belongs to the last block.
    const MAX_BLOCKS: usize = 200_000;
    /// At most this many links as written are kept.
    const MAX_LINKS: usize = 100_000;
    /// At most this many media as written are kept.
    const MAX_MEDIA: usize = 4_096;

    /// Forgets the page. Keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.blocks.clear();
        self.hrefs.clear();
        self.links.clear();
        self.media.clear();
        self.media_cut = 0;
        self.title.clear();
        self.language.clear();
        self.base = None;
        self.noindex = false;
        self.links_cut.clear();
        self.nofollow = false;
        self.open = Block::default();
        self.in_link = false;
        self.host.clear();
    }

    /// Reads plain text. Its paragraphs are the blocks.
    pub fn plain(&mut self, text: &str) {
        let mut blank = true;
        for line in text.lines() {
            if line.trim().is_empty() {
                if !blank {
                    self.part(Signs::NONE, BlockKind::Plain);
                }
                blank = true;
            } else {
                blank = false;
                self.push(line);
                self.space();
            }
        }
        self.part(Signs::NONE, BlockKind::Plain);
        self.end();
    }

    /// Appends visible text to the open block.
    #[inline]
    pub fn push(&mut self, text: &str) {
        let first = text.as_bytes()[0];
        if first.is_ascii_whitespace() && text.bytes().all(|b| b.is_ascii_whitespace()) {
            self.space();
        } else {
            self.text.push_str(text);
        }
    }

    /// Separates two words of a block.
    #[inline]
    pub fn space(&mut self) {
        if self.text.as_bytes().last().is_some_and(|b| !b.is_ascii_whitespace()) {
            self.text.push(' ');
        }
    }

    /// Ends the text: ends the last link, and the last block if the cap has left it open. Then counts how much of each
    /// block is text of links.
    pub fn end(&mut self) {
        self.end_link();
        if self.blocks.len() >= Self::MAX_BLOCKS && self.text.len() > self.open.start as usize {
            self.open.end = self.text.len() as u32;
            self.blocks.push(self.open);
        }
        let (text, mut first) = (self.text.as_bytes(), 0);
        for block in &mut self.blocks {
            block.ink = ink(&text[block.range()]);
            for link in &self.links[first..] {
                if link.anchor.0 >= block.end {
                    break;
                }
                let (from, to) = (link.anchor.0.max(block.start), link.anchor.1.min(block.end));
                let inside = text.get(from as usize..to as usize).map_or(0, ink);
                block.link_ink += inside;
                block.away_ink += if link.away { inside } else { 0 };
                // A link may reach into the next block.
                first += usize::from(link.anchor.1 <= block.end);
            }
        }
    }

    /// Ends the open block, and begins one of this shape.
    #[inline]
    pub fn part(&mut self, signs: Signs, shape: BlockKind) {
        if self.blocks.len() >= Self::MAX_BLOCKS {
            return self.space();
        }
        let start = self.open.start as usize;
        if self.text[start..].bytes().all(|b| b.is_ascii_whitespace()) {
            self.text.truncate(start);
            if self.open.shape == BlockKind::Item && shape == BlockKind::Plain && self.open.signs == signs {
                // If a paragraph begins an item, the paragraph is the item.
                return;
            }
        } else {
            self.open.end = self.text.len() as u32;
            self.blocks.push(self.open);
            self.text.push('\n');
        }
        self.open = Block { start: self.text.len() as u32, signs, shape, ..Block::default() };
    }

    /// Adds a link. If it has text, the text follows until [`Outline::end_link`].
    pub fn link(&mut self, href: &str, nofollow: bool, rels: Rels, has_text: bool, signs: Signs) {
        self.end_link();
        if self.links.len() >= Self::MAX_LINKS {
            self.links_cut.extend(written(href).map(|(_, hash)| hash));
            return;
        }
        let from = self.hrefs.len() as u32;
        self.hrefs.push_str(href);
        let at = self.text.len() as u32;
        let away = self.leads_away(href);
        let href = (from, self.hrefs.len() as u32);
        self.links.push(RawLink { href, anchor: (at, at), nofollow, rels, away, signs, sponsored: false });
        self.in_link = has_text;
    }

    /// Marks the open link as paid for.
    pub fn sponsor(&mut self) {
        if self.in_link
            && let Some(link) = self.links.last_mut()
        {
            link.sponsored = true;
        }
    }

    /// Adds a medium by its address as written.
    pub fn medium(&mut self, address: &str, signs: Signs) {
        if self.media.len() >= Self::MAX_MEDIA {
            self.media_cut += 1;
            return;
        }
        let from = self.hrefs.len() as u32;
        self.hrefs.push_str(address.trim());
        let link = if self.in_link { self.links.len().checked_sub(1) } else { None };
        let link = link.map(|link| link as u32);
        self.media.push(RawMedium { address: (from, self.hrefs.len() as u32), link, signs });
    }

    /// Whether a link as written names another host.
    fn leads_away(&self, href: &str) -> bool {
        let bytes = href.trim_start().as_bytes();
        let scheme = if bytes.len() >= 8 && bytes[..8].eq_ignore_ascii_case(b"https://") {
            8
        } else if bytes.len() >= 7 && bytes[..7].eq_ignore_ascii_case(b"http://") {
            7
        } else if bytes.starts_with(b"//") {
            2
        } else {
            return false;
        };
        let authority = bytes[scheme..].split(|b| b"/?#:".contains(b)).next().unwrap_or_default();
        let bare = |host| <[u8]>::strip_prefix(host, b"www.").unwrap_or(host);
        !bare(authority).eq_ignore_ascii_case(bare(self.host.as_bytes()))
    }

    /// Ends the open link.
    pub fn end_link(&mut self) {
        if self.in_link {
            self.in_link = false;
            if let Some(link) = self.links.last_mut() {
                // Blank blocks are removed from the text, so the end may lie before the start.
                link.anchor.1 = (self.text.len() as u32).max(link.anchor.0);
            }
        }
    }

    /// The target of a link, as written.
    pub fn href(&self, link: &RawLink) -> &str {
        &self.hrefs[link.href.0 as usize..link.href.1 as usize]
    }

    /// The visible text of a link, as written.
    pub fn anchor(&self, link: &RawLink) -> &str {
        self.text.get(link.anchor.0 as usize..link.anchor.1 as usize).unwrap_or_default()
    }
}

/// Bytes that are no white space.
fn ink(text: &[u8]) -> u32 {
    // The bytes of a part are counted in one byte, so that the compiler can add vectors of bytes.
    const PART: usize = 128;
    let of_part = |part: &[u8]| u32::from(part.iter().map(|byte| u8::from(*byte > b' ')).sum::<u8>());
    text.chunks(PART).map(of_part).sum()
}

/// Appends `text` to `to` with runs of white space folded to one space, up to `limit` bytes in all.
pub fn fold_space(text: &str, to: &mut String, limit: usize) {
    for word in text.split_whitespace() {
        if !to.is_empty() && !to.ends_with(' ') {
            to.push(' ');
        }
        let room = limit.saturating_sub(to.len());
        if word.len() > room {
            let mut end = room;
            while !word.is_char_boundary(end) {
                end -= 1;
            }
            to.push_str(&word[..end]);
            break;
        }
        to.push_str(word);
    }
    if to.ends_with(' ') {
        to.pop();
    }
}

/// A reference without its fragment and without white space around it, and the hash of that. `None` if the reference
/// plainly leads to something that is not fetched.
pub fn written(href: &str) -> Option<(&str, u64)> {
    let href = href.split('#').next().unwrap_or_default().trim_matches(|c: char| c <= ' ');
    (!has_other_scheme(href)).then(|| (href, xxh3_64(href.as_bytes())))
}

/// Whether a reference plainly has a scheme that is not fetched (`mailto:`, `javascript:`). Then it need not be parsed.
fn has_other_scheme(href: &str) -> bool {
    let Some(colon) = href.bytes().position(|b| !b.is_ascii_alphanumeric() && !b"+-.".contains(&b)) else {
        return false;
    };
    let scheme = &href[..colon];
    href.as_bytes()[colon] == b':'
        && scheme.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && !scheme.eq_ignore_ascii_case("http")
        && !scheme.eq_ignore_ascii_case("https")
}

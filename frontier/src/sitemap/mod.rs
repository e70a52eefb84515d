//! Reads sitemaps (sitemaps.org 0.9): urlset and index, plain text, RSS and Atom, each also compressed with gzip.
//!
//! A sitemap is read as a stream, so its unpacked text is never in memory as a whole. It is read as far as it makes
//! sense, and up to the limits of the protocol. Entities that it declares are not expanded, so a bomb of entities is
//! only text. The caller has to break cycles of indexes, because it knows which sitemaps it has seen.

#[cfg(test)]
mod tests;
mod text;
mod xml;

use std::io::{BufRead, Read};

use dedup_stage::url::{compact, drop_user};
use flate2::read::MultiGzDecoder;
use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use text::Text;
use xml::Xml;

/// One entry of a sitemap.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The address to which the entry leads: http or https, without fragment.
    pub loc: Url,
    /// Whether the entry leads to a page or to another sitemap.
    pub kind: Kind,
    /// The time of the last change, as written (W3C date and time in XML, RFC 2822 in RSS).
    pub lastmod: Option<Box<str>>,
    /// The priority that the site gives it, 0..1.
    pub priority: Option<f32>,
    /// A digest of the identifier and the title that a feed gives it; 0 if it has neither.
    pub says: u64,
}

impl Entry {
    /// A digest of the address, the time of change, the identifier and the title. Two lists with the same sum of
    /// digests have the same entries.
    pub fn digest(&self) -> u64 {
        digest(&self.loc, self.lastmod.as_deref(), self.says)
    }
}

/// The digest of an entry with this address and this time of change, as written. `says`: the digest of its identifier
/// and title ([`says`]), or 0.
pub fn digest(loc: &Url, lastmod: Option<&str>, says: u64) -> u64 {
    xxh3_64_with_seed(&[loc.as_str().as_bytes(), lastmod.unwrap_or_default().as_bytes()].join(&b' '), says)
}

/// The digest of what an entry says, after it has said one thing more. `before` is the digest so far, at first 0.
/// `what` tells apart the kinds of things, such as titles and identifiers.
pub fn says(before: u64, what: &str, text: &str) -> u64 {
    if text.is_empty() { before } else { xxh3_64_with_seed(&[what.as_bytes(), text.as_bytes()].join(&b' '), before) }
}

/// The kind of document to which an entry leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A page.
    Page,
    /// Another sitemap.
    Sitemap,
}

/// The entries of a sitemap, in order. Reading never fails. It ends where the text makes no more sense.
#[derive(Debug)]
pub struct Sitemap<'a> {
    format: Format<'a>,
    base: &'a Url,
    entries: usize,
    is_cut: bool,
}

#[derive(Debug)]
enum Format<'a> {
    Xml(Box<Xml<'a>>),
    Lines(Text<'a>),
}

/// The texts of an entry, before they are checked.
#[derive(Debug, Default)]
struct Raw {
    loc: String,
    is_sitemap: bool,
    lastmod: String,
    priority: String,
    /// The digest of identifier and title.
    says: u64,
    /// What a relative address is relative to, if it is not the address of the sitemap.
    base: Option<Url>,
}

impl<'a> Sitemap<'a> {
    /// At most this many entries are read (sitemaps.org).
    pub const MAX_ENTRIES: usize = config::bounds::SITEMAP_ENTRIES;
    /// At most this many bytes are read, counted after unpacking (sitemaps.org).
    pub const MAX_BYTES: usize = 50 << 20;

    /// Opens a body as it was fetched. Relative addresses are resolved against `base`, the address of the sitemap.
    pub fn open(body: &'a [u8], base: &'a Url) -> Self {
        let packed: Box<dyn Read + Send + 'a> = match body {
            [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(body)),
            body => Box::new(body),
        };
        let mut text = Text::new(packed, Self::MAX_BYTES);
        let format = match text.first_letter() {
            Some(b'<') => Format::Xml(Box::new(Xml::new(text, base))),
            _ => Format::Lines(text),
        };
        Self { format, base, entries: 0, is_cut: false }
    }

    /// Whether there is more than was read, because of a limit. It is known once the last entry was read.
    pub fn is_cut(&self) -> bool {
        let text = match &self.format {
            Format::Xml(xml) => xml.source(),
            Format::Lines(text) => text,
        };
        self.is_cut || text.is_used_up()
    }

    fn raw(&mut self) -> Option<Raw> {
        match &mut self.format {
            Format::Xml(xml) => xml.next(),
            Format::Lines(text) => {
                text.start_event();
                let mut loc = String::new();
                let read = text.read_line(&mut loc).ok()?;
                (read > 0).then(|| Raw { loc, ..Raw::default() })
            }
        }
    }
}

impl Iterator for Sitemap<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        while !self.is_cut {
            let raw = self.raw()?;
            let is_text = matches!(self.format, Format::Lines(_));
            let base = raw.base.as_ref().unwrap_or(self.base);
            let Some(loc) = address(&raw.loc, base, is_text) else { continue };
            if self.entries == Self::MAX_ENTRIES {
                self.is_cut = true;
                return None;
            }
            self.entries += 1;
            let lastmod = raw.lastmod.trim();
            let priority = raw.priority.trim().parse::<f32>().ok().filter(|priority| priority.is_finite());
            return Some(Entry {
                loc,
                kind: if raw.is_sitemap { Kind::Sitemap } else { Kind::Page },
                lastmod: (!lastmod.is_empty()).then(|| lastmod.into()),
                priority: priority.map(|priority| priority.clamp(0.0, 1.0)),
                says: raw.says,
            });
        }
        None
    }
}

/// Reads an address. Lines of text must be whole addresses, because other files have lines, too.
fn address(text: &str, base: &Url, is_whole: bool) -> Option<Url> {
    let text = text.trim();
    let mut url = if is_whole { Url::parse(text) } else { base.join(text) }.ok()?;
    url.set_fragment(None);
    drop_user(&mut url);
    (!text.is_empty() && matches!(url.scheme(), "http" | "https")).then(|| compact(url))
}

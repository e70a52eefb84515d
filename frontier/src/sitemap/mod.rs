//! Sitemaps (sitemaps.org 0.9): urlset and index, plain text, RSS and Atom, each also compressed with gzip.
//!
//! A sitemap is read as a stream, so that what it unpacks to never lies in memory; it is read as far as it makes sense, and
//! up to the limits of the protocol. Entities of its own are not expanded: a bomb of them is so much text. Cycles of
//! indexes are the caller's to break; it knows which sitemaps it has seen.

#[cfg(test)]
mod tests;
mod text;
mod xml;

use std::io::{BufRead, Read};

use dedup_stage::url::{compact, drop_user};
use flate2::read::MultiGzDecoder;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use text::Text;
use xml::Xml;

/// One line of a sitemap.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Where it leads: http or https, without fragment.
    pub loc: Url,
    /// To a page or to another sitemap.
    pub kind: Kind,
    /// When it changed, as written (W3C date and time in XML, RFC 2822 in RSS).
    pub lastmod: Option<Box<str>>,
    /// What the site thinks of it, 0..1.
    pub priority: Option<f32>,
}

impl Entry {
    /// Of what it says: where it leads, and when that has changed. Two lists with the same sum of digests list the same.
    pub fn digest(&self) -> u64 {
        digest(&self.loc, self.lastmod.as_deref())
    }
}

/// Of an entry that leads there, and has changed then, as written.
pub fn digest(loc: &Url, lastmod: Option<&str>) -> u64 {
    xxh3_64(&[loc.as_str().as_bytes(), lastmod.unwrap_or_default().as_bytes()].join(&b' '))
}

/// What an entry leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A page.
    Page,
    /// Another sitemap.
    Sitemap,
}

/// The entries of a sitemap, in order. Reading never fails; it ends where the text makes no more sense.
#[derive(Debug)]
pub struct Sitemap<'a> {
    format: Format<'a>,
    base: &'a Url,
    entries: usize,
}

#[derive(Debug)]
enum Format<'a> {
    Xml(Box<Xml<'a>>),
    Lines(Text<'a>),
}

/// An entry as a format gives it.
#[derive(Debug, Default)]
struct Raw {
    loc: String,
    is_sitemap: bool,
    lastmod: String,
    priority: String,
}

impl<'a> Sitemap<'a> {
    /// Entries that are read (sitemaps.org).
    pub const MAX_ENTRIES: usize = config::bounds::SITEMAP_ENTRIES;
    /// Bytes that are read, unpacked (sitemaps.org).
    pub const MAX_BYTES: usize = 50 << 20;

    /// Opens a body as it was fetched. Relative addresses are resolved against `base`, the address of the sitemap.
    pub fn open(body: &'a [u8], base: &'a Url) -> Self {
        let packed: Box<dyn Read + Send + 'a> = match body {
            [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(body)),
            body => Box::new(body),
        };
        let mut text = Text::new(packed, Self::MAX_BYTES);
        let format = match text.first_letter() {
            Some(b'<') => Format::Xml(Box::new(Xml::new(text))),
            _ => Format::Lines(text),
        };
        Self { format, base, entries: 0 }
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
        while self.entries < Self::MAX_ENTRIES {
            let raw = self.raw()?;
            let is_text = matches!(self.format, Format::Lines(_));
            let Some(loc) = address(&raw.loc, self.base, is_text) else { continue };
            self.entries += 1;
            let lastmod = raw.lastmod.trim();
            let priority = raw.priority.trim().parse::<f32>().ok().filter(|priority| priority.is_finite());
            return Some(Entry {
                loc,
                kind: if raw.is_sitemap { Kind::Sitemap } else { Kind::Page },
                lastmod: (!lastmod.is_empty()).then(|| lastmod.into()),
                priority: priority.map(|priority| priority.clamp(0.0, 1.0)),
            });
        }
        None
    }
}

/// A line of text has to be a whole address: other files have lines, too.
fn address(text: &str, base: &Url, is_whole: bool) -> Option<Url> {
    let text = text.trim();
    let mut url = if is_whole { Url::parse(text) } else { base.join(text) }.ok()?;
    url.set_fragment(None);
    drop_user(&mut url);
    (!text.is_empty() && matches!(url.scheme(), "http" | "https")).then(|| compact(url))
}

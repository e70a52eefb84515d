//! Reads the XML formats. Prefixes and even namespaces are often wrong, so elements are known by their local names and
//! their places. The `loc` of an image inside an entry is not taken for the `loc` of the entry.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use url::Url;

use super::text::Text;
use super::{Raw, says};

/// Elements may be nested this deep; a sitemap needs four levels.
const MAX_DEPTH: usize = 64;
/// At most this much text of an element is kept. URLs are shorter.
const MAX_TEXT: usize = 64 << 10;
/// A longer base (`xml:base`, resolved) is ignored.
const MAX_BASE: usize = 2 << 10;

/// The elements that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    /// `url` of a urlset; `item` of RSS; `entry` of Atom.
    Page,
    /// `sitemap` of an index.
    Sitemap,
    /// `loc`, or `link` in RSS.
    Loc,
    /// `lastmod`; `pubDate`, `date` or `updated` in feeds.
    LastMod,
    Priority,
    /// `guid` of RSS, if it is an address (a "permalink").
    Permalink,
    /// `guid` of RSS otherwise; `id` of Atom.
    Id,
    /// The title of an entry of a feed.
    Title,
    Other,
}

/// Reads entries from XML of any of the formats.
#[derive(Debug)]
pub(super) struct Xml<'a> {
    reader: Reader<Text<'a>>,
    buffer: Vec<u8>,
    open: Vec<Name>,
    text: String,
    entry: Raw,
    /// The permalink of the entry, in case it has no link.
    permalink: String,
    /// The address of the sitemap.
    base: &'a Url,
    /// The bases that open elements give (`xml:base`), each with the place of its element in `open`.
    bases: Vec<(usize, Url)>,
    /// Whether nothing more is read: after the end, after a mistake, or if elements are nested too deep.
    has_ended: bool,
}

impl<'a> Xml<'a> {
    /// The text that is read.
    pub fn source(&self) -> &Text<'a> {
        self.reader.get_ref()
    }

    pub fn new(text: Text<'a>, base: &'a Url) -> Self {
        let mut reader = Reader::from_reader(text);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        let (open, text) = (Vec::new(), String::new());
        let (buffer, entry, permalink, bases) = (Vec::new(), Raw::default(), String::new(), Vec::new());
        Self { reader, buffer, open, text, entry, permalink, base, bases, has_ended: false }
    }

    /// The next entry. At the end and at the first mistake in the XML, the last entry may be incomplete.
    pub fn next(&mut self) -> Option<Raw> {
        while !self.has_ended {
            self.buffer.clear();
            self.reader.get_mut().start_event();
            let mut buffer = std::mem::take(&mut self.buffer);
            let entry = match self.reader.read_event_into(&mut buffer) {
                Ok(Event::Start(element)) => self.start(&element),
                Ok(Event::Empty(element)) => self.start(&element).or(self.end()),
                Ok(Event::End(_)) => self.end(),
                Ok(Event::Text(text)) => self.text(&text),
                Ok(Event::CData(text)) => self.text(&text),
                Ok(Event::GeneralRef(reference)) => {
                    let c = reference.resolve_char_ref().ok().flatten().or(predefined(&reference));
                    c.and_then(|c| self.text(c.encode_utf8(&mut [0; 4])))
                }
                Ok(Event::Eof) | Err(_) => {
                    self.has_ended = true;
                    self.take()
                }
                Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => None,
            };
            self.buffer = buffer;
            if entry.is_some() {
                return entry;
            }
        }
        None
    }

    fn start(&mut self, element: &BytesStart<'_>) -> Option<Raw> {
        if self.open.len() == MAX_DEPTH {
            self.has_ended = true;
            return None;
        }
        if element.attributes_raw().contains("xml:base")
            && let Some(base) = attribute(element, "xml:base")
            && let Ok(base) = self.base().join(base.trim())
            && base.as_str().len() <= MAX_BASE
        {
            self.bases.push((self.open.len(), base));
        }
        let mut name = name(element.local_name().into_inner());
        let mut before = None;
        match (self.open.last(), name) {
            // An entry has at most two elements around it: its list, and perhaps a feed.
            (None | Some(Name::Other), Name::Page | Name::Sitemap) if self.open.len() <= 2 => {
                before = self.take();
                self.entry.is_sitemap = name == Name::Sitemap;
            }
            (Some(Name::Page | Name::Sitemap), Name::Loc) => {
                if !self.entry.loc.is_empty() && element.local_name().into_inner() == "loc" {
                    before = self.take();
                }
                self.take_link(element);
            }
            (Some(Name::Page | Name::Sitemap), Name::LastMod | Name::Priority) => {}
            (Some(Name::Page), Name::Id | Name::Title) => {}
            (Some(Name::Other), Name::Loc) if self.open.len() <= 2 => {
                before = self.next_part(element);
                name = Name::Other;
            }
            // A `guid` is an address unless it says that it is none.
            (Some(Name::Page), Name::Permalink)
                if attribute(element, "isPermaLink").is_none_or(|value| value != "false") => {}
            (Some(Name::Page), Name::Permalink) => name = Name::Id,
            _ => name = Name::Other,
        }
        self.text.clear();
        self.open.push(name);
        before
    }

    /// Takes the address of a link of Atom, which is in an attribute.
    fn take_link(&mut self, element: &BytesStart<'_>) {
        if attribute(element, "rel").is_none_or(|rel| rel == "alternate")
            && let Some(href) = attribute(element, "href")
            && self.entry.loc.is_empty()
        {
            self.entry.loc = href;
            self.entry.base = self.given_base();
        }
    }

    /// The entry for the next part of a feed that is cut into parts (RFC 5005).
    fn next_part(&self, element: &BytesStart<'_>) -> Option<Raw> {
        let href = attribute(element, "rel").filter(|rel| rel == "next").and(attribute(element, "href"))?;
        Some(Raw { loc: href, base: self.given_base(), ..Raw::default() })
    }

    /// The base of the addresses in the innermost open element.
    fn base(&self) -> &Url {
        self.bases.last().map_or(self.base, |(_, base)| base)
    }

    /// The base that the innermost of these elements gives, if any does.
    fn given_base(&self) -> Option<Url> {
        self.bases.last().map(|(_, base)| base.clone())
    }

    fn text(&mut self, text: &str) -> Option<Raw> {
        if self.open.last().is_some_and(|name| !matches!(name, Name::Other | Name::Page)) {
            let room = MAX_TEXT.saturating_sub(self.text.len());
            self.text.extend(text.chars().take(room));
        }
        None
    }

    fn end(&mut self) -> Option<Raw> {
        let name = self.open.pop()?;
        let entry = self.close(name);
        while self.bases.pop_if(|(place, _)| *place >= self.open.len()).is_some() {}
        entry
    }

    /// An element was closed.
    fn close(&mut self, name: Name) -> Option<Raw> {
        if matches!(name, Name::Id | Name::Permalink | Name::Title) {
            let what = if name == Name::Title { "title" } else { "id" };
            self.entry.says = says(self.entry.says, what, self.text.trim());
        }
        let slot = match name {
            Name::Loc if self.entry.loc.is_empty() => {
                self.entry.base = self.given_base();
                &mut self.entry.loc
            }
            Name::LastMod => &mut self.entry.lastmod,
            Name::Priority => &mut self.entry.priority,
            Name::Permalink => &mut self.permalink,
            Name::Page => return self.take(),
            Name::Sitemap => {
                // Some indexes have the address in the element itself, without a `loc`.
                if self.entry.loc.is_empty() {
                    self.entry.loc.push_str(self.text.trim());
                }
                return self.take();
            }
            Name::Loc | Name::Id | Name::Title | Name::Other => return None,
        };
        slot.push_str(self.text.trim());
        self.text.clear();
        None
    }

    /// Takes the entry so far. `None` if it has no address.
    fn take(&mut self) -> Option<Raw> {
        let mut entry = std::mem::take(&mut self.entry);
        let permalink = std::mem::take(&mut self.permalink);
        if entry.loc.is_empty() && ["http://", "https://"].iter().any(|scheme| permalink.starts_with(scheme)) {
            entry.loc = permalink;
        }
        self.entry.is_sitemap = entry.is_sitemap;
        (!entry.loc.is_empty()).then_some(entry)
    }
}

/// The value of an attribute.
fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.attributes().with_checks(false).flatten().find(|other| other.key.as_ref() == name)?;
    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
    Some(value.map_or_else(|_| attribute.value.clone().into_owned(), |value| value.into_owned()))
}

fn name(local: &str) -> Name {
    match local {
        "url" | "item" | "entry" => Name::Page,
        "sitemap" => Name::Sitemap,
        "loc" | "link" => Name::Loc,
        "lastmod" | "pubDate" | "date" | "updated" => Name::LastMod,
        "priority" => Name::Priority,
        "guid" => Name::Permalink,
        "id" => Name::Id,
        "title" => Name::Title,
        _ => Name::Other,
    }
}

/// The five entities that XML itself defines. Entities that a document declares are not expanded.
fn predefined(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

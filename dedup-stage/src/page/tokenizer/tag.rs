//! Tags: their names, and the attributes that are read (HTML standard, sections 13.2.5.8 and 13.2.5.32 to 13.2.5.40).

use std::borrow::Cow;

use super::name::{Name, Table};
use super::reference;

/// A start tag or an end tag.
#[derive(Debug)]
pub struct Tag<'t> {
    /// The name of the element.
    pub name: Name,
    /// Whether a slash stands before its end.
    pub self_closing: bool,
    /// Whether it has attributes, known or not.
    pub has_attributes: bool,
    /// One bit for each known attribute that it has.
    known: u64,
    values: [&'t str; Attribute::COUNT],
}

macro_rules! attributes {
    ($($(#[$doc:meta])* $variant:ident $name:literal),* $(,)?) => {
        /// The attributes that are read. All others are skipped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Attribute {
            $($variant),*
        }

        impl Attribute {
            /// All attributes, in order, with their names.
            pub const ALL: [(Attribute, &'static str); [$($name),*].len()] = [$((Attribute::$variant, $name)),*];
        }
    };
}

attributes! {
    AriaHidden "aria-hidden",
    Class "class",
    Content "content",
    Data "data",
    DataBackground "data-background",
    DataBg "data-bg",
    DataCfsrc "data-cfsrc",
    DataEcho "data-echo",
    DataLazy "data-lazy",
    DataLazySrc "data-lazy-src",
    DataLazySrcset "data-lazy-srcset",
    DataLazyload "data-lazyload",
    DataOriginal "data-original",
    DataSrc "data-src",
    DataSrcset "data-srcset",
    Height "height",
    Hidden "hidden",
    Href "href",
    Hreflang "hreflang",
    HttpEquiv "http-equiv",
    Id "id",
    Lang "lang",
    Name "name",
    Open "open",
    Poster "poster",
    Readonly "readonly",
    Rel "rel",
    Role "role",
    ShadowRootMode "shadowrootmode",
    Src "src",
    Srcset "srcset",
    Style "style",
    Width "width",
    XlinkHref "xlink:href",
}

impl Attribute {
    const COUNT: usize = Self::ALL.len();
    const NAMES: [Name; Self::COUNT] = {
        let mut names = [Name::of(""); Self::COUNT];
        let mut at = 0;
        while at < Self::COUNT {
            names[at] = Name::of(Self::ALL[at].1);
            at += 1;
        }
        names
    };
    const TABLE: Table<128> = Table::new(&Self::NAMES);
}

static TABLE: Table<128> = Attribute::TABLE;

/// Bits that say what a byte ends: the name of a tag, the name of an attribute, an unquoted value.
const TAG_NAME: u8 = 1;
const ATTRIBUTE_NAME: u8 = 2;
const UNQUOTED: u8 = 4;

static ENDS: [u8; 256] = {
    let mut ends = [0; 256];
    let spaces = b"\t\n\x0C ";
    let mut at = 0;
    while at < spaces.len() {
        ends[spaces[at] as usize] = TAG_NAME | ATTRIBUTE_NAME | UNQUOTED;
        at += 1;
    }
    ends[b'/' as usize] = TAG_NAME | ATTRIBUTE_NAME;
    ends[b'>' as usize] = TAG_NAME | ATTRIBUTE_NAME | UNQUOTED;
    ends[b'=' as usize] = ATTRIBUTE_NAME;
    ends
};

/// Whether a byte is white space within tags. (Line ends are line feeds.)
#[inline]
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\x0C')
}

impl Default for Tag<'_> {
    fn default() -> Self {
        Self {
            name: Name::of(""),
            self_closing: false,
            has_attributes: false,
            known: 0,
            values: [""; Attribute::COUNT],
        }
    }
}

impl<'t> Tag<'t> {
    /// A tag whose attributes have these values, as written.
    pub(super) fn new(
        name: Name,
        self_closing: bool,
        has_attributes: bool,
        values: impl Iterator<Item = (Attribute, &'t str)>,
    ) -> Self {
        let mut tag = Self { name, self_closing, has_attributes, ..Self::default() };
        values.for_each(|(attribute, value)| tag.set(attribute as usize, value));
        tag
    }

    /// The value of an attribute, with its character references resolved. If several attributes have this name, that of
    /// the first.
    pub fn value(&self, attribute: Attribute) -> Option<Cow<'t, str>> {
        self.has(attribute).then(|| reference::resolve(self.values[attribute as usize]))
    }

    /// Whether it has an attribute.
    #[inline]
    pub fn has(&self, attribute: Attribute) -> bool {
        self.known >> attribute as u32 & 1 == 1
    }

    /// Reads the tag whose name begins at `at`. Returns its end; `None` if the document ends before the tag does.
    #[inline]
    pub(super) fn read(&mut self, html: &'t str, at: usize) -> Option<usize> {
        let bytes = html.as_bytes();
        let end = until(bytes, at, TAG_NAME)?;
        self.name = Name::read(bytes, at, end);
        (self.known, self.self_closing, self.has_attributes) = (0, false, false);
        // Most tags have no attributes.
        if bytes[end] == b'>' { Some(end + 1) } else { self.read_attributes(html, end) }
    }

    fn read_attributes(&mut self, html: &'t str, mut at: usize) -> Option<usize> {
        let bytes = html.as_bytes();
        loop {
            // The name of an attribute begins here.
            match *bytes.get(at)? {
                b'>' => return Some(at + 1),
                b'/' => {
                    if *bytes.get(at + 1)? == b'>' {
                        self.self_closing = true;
                        return Some(at + 2);
                    }
                    at += 1;
                    continue;
                }
                byte if is_space(byte) => {
                    at += 1;
                    continue;
                }
                _ => {}
            }
            self.has_attributes = true;
            // The first character belongs to the name, even an equals sign.
            let from = at;
            at = until(bytes, at + 1, ATTRIBUTE_NAME)?;
            let name = from..at;
            while is_space(*bytes.get(at)?) {
                at += 1;
            }
            let mut value = 0..0;
            if bytes[at] == b'=' {
                at += 1;
                while is_space(*bytes.get(at)?) {
                    at += 1;
                }
                match bytes[at] {
                    quote @ (b'"' | b'\'') => {
                        let end = at + 1 + memchr::memchr(quote, &bytes[at + 1..])?;
                        value = at + 1..end;
                        at = end + 1;
                    }
                    b'>' => {}
                    _ => {
                        let end = until(bytes, at, UNQUOTED)?;
                        value = at..end;
                        at = end;
                    }
                }
            }
            if let Some(attribute) = TABLE.get(Name::read(bytes, name.start, name.end)) {
                self.set(attribute, &html[value]);
            }
        }
    }

    /// Sets the value of an attribute. If several have this name, the first counts.
    fn set(&mut self, attribute: usize, value: &'t str) {
        if self.known >> attribute & 1 == 0 {
            self.known |= 1 << attribute;
            self.values[attribute] = value;
        }
    }
}

/// The first position from `at` on whose byte ends `what`.
#[inline]
fn until(bytes: &[u8], at: usize, what: u8) -> Option<usize> {
    bytes.get(at..)?.iter().position(|byte| ENDS[usize::from(*byte)] & what != 0).map(|found| at + found)
}

//! Tells what each HTML element means to the reader.

use super::tokenizer::{Name, Table};

/// The part an element plays in reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is part of a line of text.
    Inline,
    /// Begins and ends a block of text.
    Block,
    /// It is a block whose content is usually the same on every page of a site.
    Chrome,
    /// It is a block that has the content of the page.
    Main,
    /// A heading.
    Heading,
    /// It is white space between words, and does not end a block.
    Space,
    /// Its text is not shown.
    Hidden,
    /// Its content is not markup. The tokenizer must know this.
    Raw(Raw),
    /// `a`, `area`.
    Anchor,
    /// `frame`, `iframe` and others with a `src` that is a page.
    Frame,
    /// `link`, `meta`, `base`, `html`: read for their attributes.
    Head,
    /// Foreign content: `svg`, `math`.
    Foreign,
}

/// How the content of a raw element is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raw {
    /// `script`.
    Script,
    /// `style` and the like: no character references.
    Text,
    /// `title`: character references, no tags.
    Title,
    /// `textarea`.
    Area,
    /// A `textarea` that is read-only and not hidden. Its text is content: sites for texts of users show these texts
    /// so.
    ShownArea,
    /// `plaintext`: up to the end of the document.
    Plain,
}

/// An element.
#[derive(Clone, Copy, Debug)]
pub struct Element {
    /// Its name, as the standard writes it; empty if it is not known.
    pub name: &'static str,
    /// Its role in reading.
    pub role: Role,
    traits: u8,
}

/// It has no end tag.
const VOID: u8 = 1;
/// Its end tag is optional: a sibling or the parent's end closes it.
const CLOSES_ITSELF: u8 = 2;
/// It holds elements that close themselves: its end tag closes the last of these.
const PARENT: u8 = 4;
/// Its text may be short and yet be content.
const ITEM: u8 = 8;
/// It shows an image, a video, a sound or an embedded file.
const MEDIUM: u8 = 16;
/// It is shown in place of media that cannot be shown: the media inside of it count, and its text does not.
const STANDS_IN: u8 = 32;

static ELEMENTS: [Element; 94] = [
    element("a", Role::Anchor, 0),
    element("address", Role::Block, 0),
    element("amp-anim", Role::Space, MEDIUM),
    element("amp-img", Role::Space, MEDIUM),
    element("amp-video", Role::Hidden, MEDIUM | STANDS_IN),
    element("area", Role::Anchor, VOID),
    element("article", Role::Main, PARENT),
    element("aside", Role::Chrome, 0),
    element("audio", Role::Hidden, MEDIUM | STANDS_IN),
    element("base", Role::Head, VOID),
    element("basefont", Role::Inline, VOID),
    element("bgsound", Role::Inline, VOID),
    element("blockquote", Role::Block, 0),
    element("body", Role::Block, PARENT),
    element("br", Role::Space, VOID),
    element("button", Role::Space, 0),
    element("canvas", Role::Hidden, 0),
    element("caption", Role::Block, ITEM),
    element("center", Role::Block, 0),
    element("col", Role::Inline, VOID),
    element("datalist", Role::Hidden, 0),
    element("dd", Role::Block, CLOSES_ITSELF | ITEM),
    element("details", Role::Block, 0),
    element("dialog", Role::Hidden, 0),
    element("dir", Role::Block, 0),
    element("div", Role::Block, PARENT),
    element("dl", Role::Block, PARENT),
    element("dt", Role::Block, CLOSES_ITSELF | ITEM),
    element("embed", Role::Inline, VOID | MEDIUM),
    element("fieldset", Role::Block, 0),
    element("figcaption", Role::Block, ITEM),
    element("figure", Role::Block, 0),
    element("footer", Role::Chrome, 0),
    element("form", Role::Block, 0),
    element("frame", Role::Frame, VOID),
    element("frameset", Role::Block, 0),
    element("h1", Role::Heading, 0),
    element("h2", Role::Heading, 0),
    element("h3", Role::Heading, 0),
    element("h4", Role::Heading, 0),
    element("h5", Role::Heading, 0),
    element("h6", Role::Heading, 0),
    element("head", Role::Block, 0),
    element("header", Role::Block, 0),
    element("hgroup", Role::Block, 0),
    element("hr", Role::Block, VOID),
    element("html", Role::Head, 0),
    element("iframe", Role::Raw(Raw::Text), MEDIUM),
    element("image", Role::Space, VOID | MEDIUM),
    element("img", Role::Space, VOID | MEDIUM),
    element("input", Role::Space, VOID),
    element("keygen", Role::Inline, VOID),
    element("legend", Role::Block, 0),
    element("li", Role::Block, CLOSES_ITSELF | ITEM),
    element("link", Role::Head, VOID),
    element("main", Role::Main, 0),
    element("math", Role::Foreign, 0),
    element("menu", Role::Chrome, 0),
    element("meta", Role::Head, VOID),
    element("nav", Role::Chrome, 0),
    element("noembed", Role::Raw(Raw::Text), 0),
    element("noframes", Role::Raw(Raw::Text), 0),
    element("noscript", Role::Hidden, STANDS_IN),
    element("object", Role::Hidden, MEDIUM | STANDS_IN),
    element("ol", Role::Block, PARENT),
    element("optgroup", Role::Block, 0),
    element("option", Role::Block, CLOSES_ITSELF),
    element("p", Role::Block, CLOSES_ITSELF),
    element("param", Role::Inline, VOID),
    element("plaintext", Role::Raw(Raw::Plain), 0),
    element("pre", Role::Block, ITEM),
    element("script", Role::Raw(Raw::Script), 0),
    element("search", Role::Block, 0),
    element("section", Role::Block, PARENT),
    element("select", Role::Hidden, 0),
    element("source", Role::Inline, VOID | MEDIUM),
    element("style", Role::Raw(Raw::Text), 0),
    element("summary", Role::Block, 0),
    element("svg", Role::Foreign, 0),
    element("table", Role::Block, PARENT),
    element("tbody", Role::Block, 0),
    element("td", Role::Block, CLOSES_ITSELF | PARENT | ITEM),
    element("template", Role::Hidden, 0),
    element("textarea", Role::Raw(Raw::Area), 0),
    element("tfoot", Role::Block, 0),
    element("th", Role::Block, CLOSES_ITSELF | ITEM),
    element("thead", Role::Block, 0),
    element("title", Role::Raw(Raw::Title), 0),
    element("tr", Role::Block, CLOSES_ITSELF | ITEM),
    element("track", Role::Inline, VOID),
    element("ul", Role::Block, PARENT),
    element("video", Role::Hidden, MEDIUM | STANDS_IN),
    element("wbr", Role::Inline, VOID),
    element("xmp", Role::Raw(Raw::Text), 0),
];

/// Elements that are not known flow within a line.
static UNKNOWN: Element = element("", Role::Inline, 0);

const fn element(name: &'static str, role: Role, traits: u8) -> Element {
    Element { name, role, traits }
}

static TABLE: Table<256> = {
    let mut names = [Name::of(""); ELEMENTS.len()];
    let mut at = 0;
    while at < ELEMENTS.len() {
        names[at] = Name::of(ELEMENTS[at].name);
        at += 1;
    }
    Table::new(&names)
};

impl Element {
    /// The element called `name`.
    #[inline]
    pub fn of(name: Name) -> &'static Element {
        TABLE.get(name).map_or(&UNKNOWN, |number| &ELEMENTS[number])
    }

    /// Whether it has no end tag.
    pub fn is_void(&self) -> bool {
        self.traits & VOID != 0
    }

    /// Whether its end tag is optional: a sibling or the parent's end closes it.
    pub fn closes_itself(&self) -> bool {
        self.traits & CLOSES_ITSELF != 0
    }

    /// Whether its end tag closes the last of the elements that it holds, if they close themselves.
    pub fn closes_children(&self) -> bool {
        self.traits & PARENT != 0
    }

    /// Whether its text may be short and yet be content.
    pub fn is_item(&self) -> bool {
        self.traits & ITEM != 0
    }

    /// Whether it shows a medium.
    pub fn is_medium(&self) -> bool {
        self.traits & MEDIUM != 0
    }

    /// Whether the media inside of it count although its text does not.
    pub fn stands_in(&self) -> bool {
        self.traits & STANDS_IN != 0
    }
}

//! What each HTML element means to the reader.

use html5ever::{LocalName, local_name};

/// The part an element plays in reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Flows within a line of text.
    Inline,
    /// Begins and ends a block of text.
    Block,
    /// A block that usually holds what is the same on every page of a site.
    Chrome,
    /// A block that holds what the page is about.
    Main,
    /// A heading.
    Heading,
    /// White space between words, no end of block.
    Space,
    /// Its text is not shown.
    Hidden,
    /// Its content is not markup; the tokenizer must be told.
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

/// How the content of a raw element is tokenized.
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
    /// `plaintext`: until the end of the document.
    Plain,
}

/// The role of the element called `name`.
pub fn role(name: &LocalName) -> Role {
    match *name {
        local_name!("a") | local_name!("area") => Role::Anchor,
        local_name!("frame") => Role::Frame,
        local_name!("link") | local_name!("meta") | local_name!("base") | local_name!("html") => Role::Head,
        local_name!("script") => Role::Raw(Raw::Script),
        local_name!("style")
        | local_name!("xmp")
        | local_name!("iframe")
        | local_name!("noembed")
        | local_name!("noframes") => Role::Raw(Raw::Text),
        local_name!("title") => Role::Raw(Raw::Title),
        local_name!("textarea") => Role::Raw(Raw::Area),
        local_name!("plaintext") => Role::Raw(Raw::Plain),
        local_name!("svg") | local_name!("math") => Role::Foreign,
        local_name!("template")
        | local_name!("noscript")
        | local_name!("select")
        | local_name!("datalist")
        | local_name!("dialog")
        | local_name!("object")
        | local_name!("audio")
        | local_name!("video")
        | local_name!("canvas") => Role::Hidden,
        local_name!("nav") | local_name!("footer") | local_name!("aside") | local_name!("menu") => Role::Chrome,
        local_name!("main") | local_name!("article") => Role::Main,
        local_name!("h1")
        | local_name!("h2")
        | local_name!("h3")
        | local_name!("h4")
        | local_name!("h5")
        | local_name!("h6") => Role::Heading,
        local_name!("br") | local_name!("img") | local_name!("input") | local_name!("button") => Role::Space,
        local_name!("address")
        | local_name!("blockquote")
        | local_name!("body")
        | local_name!("caption")
        | local_name!("center")
        | local_name!("dd")
        | local_name!("details")
        | local_name!("dir")
        | local_name!("div")
        | local_name!("dl")
        | local_name!("dt")
        | local_name!("fieldset")
        | local_name!("figcaption")
        | local_name!("figure")
        | local_name!("form")
        | local_name!("frameset")
        | local_name!("head")
        | local_name!("header")
        | local_name!("hgroup")
        | local_name!("hr")
        | local_name!("legend")
        | local_name!("li")
        | local_name!("ol")
        | local_name!("optgroup")
        | local_name!("option")
        | local_name!("p")
        | local_name!("pre")
        | local_name!("search")
        | local_name!("section")
        | local_name!("summary")
        | local_name!("table")
        | local_name!("tbody")
        | local_name!("td")
        | local_name!("tfoot")
        | local_name!("th")
        | local_name!("thead")
        | local_name!("tr")
        | local_name!("ul") => Role::Block,
        _ => Role::Inline,
    }
}

/// Elements that have no end tag.
pub fn is_void(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("area")
            | local_name!("base")
            | local_name!("basefont")
            | local_name!("bgsound")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("frame")
            | local_name!("hr")
            | local_name!("img")
            | local_name!("input")
            | local_name!("keygen")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("param")
            | local_name!("source")
            | local_name!("track")
            | local_name!("wbr")
    )
}

/// Elements whose end tag is optional: a sibling or the parent's end closes them.
pub fn closes_itself(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("p")
            | local_name!("li")
            | local_name!("dd")
            | local_name!("dt")
            | local_name!("td")
            | local_name!("th")
            | local_name!("tr")
            | local_name!("option")
    )
}

/// Elements whose text may be short and yet be content.
pub fn is_item(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("li")
            | local_name!("dd")
            | local_name!("dt")
            | local_name!("td")
            | local_name!("th")
            | local_name!("tr")
            | local_name!("pre")
            | local_name!("caption")
            | local_name!("figcaption")
    )
}

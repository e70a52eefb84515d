//! Turns tags and text into the [`Outline`]: blocks, links, hidden parts, chrome, and what the head says.

use super::attributes::{has_word, is_hidden, is_open, refresh_target};
use super::media;
use super::region::Regions;
use crate::page::Rels;
use crate::page::hints::{Hint, Hints, is_note};
use crate::page::outline::{BlockKind, Outline};
use crate::page::signs::Signs;
use crate::page::tags::{Element, Raw, Role};
use crate::page::tokenizer::{Attribute, Content, Name, Sink, Tag};

const A: Name = Name::of("a");
const ASIDE: Name = Name::of("aside");
const BODY: Name = Name::of("body");
const DD: Name = Name::of("dd");
const DT: Name = Name::of("dt");
const HEADER: Name = Name::of("header");
const IFRAME: Name = Name::of("iframe");
const LI: Name = Name::of("li");
const SECTION: Name = Name::of("section");

/// Fills an outline, tag by tag.
pub struct Builder<'a> {
    outline: &'a mut Outline,
    hints: &'a mut Hints,
    /// Hidden parts. Their text is dropped.
    hidden: Regions<()>,
    /// Chrome, with all signs around it.
    chrome: Regions<Signs>,
    /// The number of open `article` and `main` elements. A `header` inside of them is content.
    main: u32,
    foreign: u32,
    raw: Option<Raw>,
    titled: bool,
    /// The picture that the first `source` since the last other medium offers.
    offered: Option<String>,
}

impl<'a> Builder<'a> {
    /// Marked elements may be nested this deep. Deeper ones are not told apart.
    const MAX_DEPTH: usize = 16;

    pub fn new(outline: &'a mut Outline, hints: &'a mut Hints) -> Self {
        Self {
            outline,
            hints,
            hidden: Regions::default(),
            chrome: Regions::default(),
            main: 0,
            foreign: 0,
            raw: None,
            titled: false,
            offered: None,
        }
    }

    /// Ends the outline at the end of the page.
    pub fn finish(mut self) {
        self.part(BlockKind::Plain);
        self.outline.end();
    }

    fn part(&mut self, shape: BlockKind) {
        self.outline.part(self.signs(), shape);
    }

    /// The signs of chrome around the present place.
    fn signs(&self) -> Signs {
        self.chrome.innermost().map_or(Signs::NONE, |(_, signs)| *signs)
    }

    /// The start tag of an element that begins a block.
    fn block(&mut self, tag: &Tag<'_>, element: &Element) {
        if tag.has_attributes || element.role != Role::Block || tag.name == HEADER {
            self.enter(tag, element);
        }
        self.part(match element.role {
            Role::Heading => BlockKind::Heading,
            _ if element.is_item() => BlockKind::Item,
            _ => BlockKind::Plain,
        });
    }

    /// Looks at the attributes of a block-level element to find out what it is.
    fn enter(&mut self, tag: &Tag<'_>, element: &Element) {
        if element.is_void() {
            return;
        }
        // Pages that hide their body show it by a script, so the body is never hidden.
        if self.hidden.depth() == 0 && tag.name != BODY && is_hidden(tag) {
            self.hidden.open(tag.name, ());
        }
        let mut content = element.role == Role::Main;
        self.main += u32::from(content);
        let is_header = tag.name == HEADER && self.main == 0;
        let mut signs =
            if element.role == Role::Chrome || is_header { Signs::of_role(element.name) } else { Signs::NONE };
        if element.role == Role::Block || !signs.is_empty() {
            let class = tag.value(Attribute::Class);
            if tag.name == ASIDE && class.as_deref().is_some_and(is_note) {
                return;
            }
            let (of_class, is_section) = class.map(|class| self.hints.of_class(&class)).unwrap_or_default();
            // Programs make the identifiers of sections and entries from their headings and names.
            let is_entry = [DT, DD, LI].contains(&tag.name);
            let id = if is_entry { None } else { tag.value(Attribute::Id) };
            let of_id = id.map(|id| self.hints.of_id(&id)).unwrap_or_default();
            let is_named = tag.name == SECTION || is_section;
            for hint in [of_class, if is_named && of_id != Hint::Content { Hint::None } else { of_id }] {
                match hint {
                    Hint::Chrome(named) => signs |= named,
                    Hint::Content => content = true,
                    Hint::None => {}
                }
            }
        }
        if let Some(role) = tag.value(Attribute::Role) {
            match &*role {
                // Roles of DPUB-ARIA: footnotes, examples and other parts of a text. A table of contents is a `nav`.
                _ if tag.name == ASIDE && role.starts_with("doc-") => return,
                "navigation" | "banner" | "contentinfo" | "complementary" | "search" | "menu" | "dialog" => {
                    signs |= Signs::of_role(&role);
                }
                "main" | "article" => content = true,
                _ => {}
            }
        }
        if content && element.role != Role::Chrome {
            return;
        }
        let all = self.signs() | signs;
        if all != self.signs() && tag.name != BODY && self.chrome.depth() < Self::MAX_DEPTH {
            self.chrome.open(tag.name, all);
        }
    }

    fn media(&mut self, tag: &Tag<'_>, element: &Element) {
        let mut offered = self.offered.take();
        if element.name == "source" {
            self.offered = offered.take().or_else(|| media::offered(tag));
        }
        if self.hidden.innermost().is_none_or(|(element, ())| element.stands_in())
            && !is_hidden(tag)
            && let Some(address) = media::address(element, tag, offered)
        {
            self.outline.medium(&address, self.signs());
        }
    }

    /// Adds the picture behind an element to the media.
    fn background(&mut self, tag: &Tag<'_>) {
        if tag.has_attributes
            && self.hidden.depth() == 0
            && let Some(address) = media::background(tag)
        {
            self.outline.medium(&address, self.signs());
        }
    }

    fn hide(&mut self, tag: &Tag<'_>) {
        if self.hidden.depth() == 0 {
            self.hidden.open(tag.name, ());
        }
    }

    fn anchor(&mut self, tag: &Tag<'_>) {
        let has_text = tag.name == A;
        if has_text {
            self.outline.end_link();
        }
        let in_drawing = || tag.value(Attribute::XlinkHref).filter(|_| self.foreign > 0);
        if let Some(href) = tag.value(Attribute::Href).or_else(in_drawing) {
            let (mut nofollow, mut sponsored, mut rels) = (false, false, Rels::ANCHOR);
            if let Some(rel) = tag.value(Attribute::Rel) {
                nofollow = has_word(&rel, "nofollow");
                sponsored = has_word(&rel, "sponsored");
                rels = Rels::of_anchor(&rel);
            }
            self.outline.link(&href, nofollow, rels, has_text, self.signs());
            if sponsored {
                self.outline.sponsor();
            }
        }
    }

    /// Adds a link to a page that is shown within this page.
    fn frame(&mut self, tag: &Tag<'_>) {
        if let Some(source) = tag.value(Attribute::Src) {
            self.outline.link(&source, false, Rels::ANCHOR, false, Signs::HEAD);
        }
    }

    fn head(&mut self, tag: &Tag<'_>, element: &Element) {
        match element.name {
            "html" => {
                if let Some(language) = tag.value(Attribute::Lang)
                    && self.outline.language.is_empty()
                {
                    self.outline.language.push_str(language.trim());
                }
            }
            "base" if self.outline.base.is_none() => {
                self.outline.base = tag.value(Attribute::Href).map(|href| href.into_owned());
            }
            "link" => {
                if let (Some(rel), Some(href)) = (tag.value(Attribute::Rel), tag.value(Attribute::Href))
                    && !has_word(&rel, "stylesheet")
                {
                    let rels = Rels::named(&rel, tag.value(Attribute::Hreflang).is_some());
                    if rels != Rels::NONE || has_word(&rel, "alternate") {
                        self.outline.link(&href, has_word(&rel, "nofollow"), rels, false, Signs::HEAD);
                    }
                }
            }
            "meta" => self.meta(tag),
            _ => {}
        }
    }

    fn meta(&mut self, tag: &Tag<'_>) {
        let Some(content) = tag.value(Attribute::Content) else { return };
        if tag.value(Attribute::Name).is_some_and(|name| name.trim().eq_ignore_ascii_case("robots")) {
            for word in content.split(|c: char| c == ',' || c.is_whitespace()) {
                let none = word.eq_ignore_ascii_case("none");
                self.outline.noindex |= none || word.eq_ignore_ascii_case("noindex");
                self.outline.nofollow |= none || word.eq_ignore_ascii_case("nofollow");
            }
        }
        if tag.value(Attribute::HttpEquiv).is_some_and(|pragma| pragma.eq_ignore_ascii_case("refresh"))
            && let Some(target) = refresh_target(&content)
        {
            self.outline.link(target, false, Rels::REFRESH, false, Signs::HEAD);
        }
    }

    fn raw(&mut self, tag: &Tag<'_>, raw: Raw) -> Content {
        if tag.name == IFRAME {
            self.frame(tag);
        }
        let raw = match raw {
            Raw::Area if tag.has(Attribute::Readonly) && !is_hidden(tag) => Raw::ShownArea,
            raw => raw,
        };
        self.raw = Some(raw);
        match raw {
            Raw::Script => Content::Script,
            Raw::Text => Content::Raw,
            Raw::Title | Raw::Area => Content::Text,
            Raw::ShownArea => {
                self.part(BlockKind::Plain);
                Content::Text
            }
            Raw::Plain => {
                self.part(BlockKind::Plain);
                Content::Plain
            }
        }
    }
}

impl Sink for Builder<'_> {
    #[inline]
    fn text(&mut self, text: &str) {
        match self.raw {
            None | Some(Raw::Plain | Raw::ShownArea) => {
                if self.hidden.depth() == 0 && self.foreign == 0 {
                    self.outline.push(text);
                }
            }
            Some(Raw::Title) if !self.titled => self.outline.title.push_str(text),
            Some(_) => {}
        }
    }

    #[inline]
    fn start(&mut self, tag: &Tag<'_>) -> Content {
        let element = Element::of(tag.name);
        self.hidden.starts(tag.name);
        self.chrome.starts(tag.name);
        if self.foreign > 0 && !matches!(element.role, Role::Foreign | Role::Anchor) {
            // These elements end foreign content.
            if matches!(element.role, Role::Block | Role::Heading | Role::Main | Role::Chrome) {
                self.foreign = 0;
            } else {
                if element.name == "image" {
                    self.media(tag, element);
                }
                return Content::Markup;
            }
        }
        if element.is_medium() {
            self.media(tag, element);
        }
        match element.role {
            Role::Inline => {}
            Role::Block | Role::Main | Role::Heading | Role::Chrome => {
                self.block(tag, element);
                self.background(tag);
                return Content::Markup;
            }
            Role::Space => self.outline.space(),
            Role::Hidden if is_open(tag, element) => self.part(BlockKind::Plain),
            Role::Hidden => self.hide(tag),
            Role::Anchor => self.anchor(tag),
            Role::Frame => self.frame(tag),
            Role::Head => self.head(tag, element),
            Role::Foreign => self.foreign += u32::from(!tag.self_closing),
            Role::Raw(raw) => return self.raw(tag, raw),
        }
        if tag.has_attributes && self.hidden.depth() == 0 && !element.is_void() && is_hidden(tag) {
            self.hide(tag);
        } else if matches!(element.role, Role::Inline | Role::Anchor) && !element.is_medium() {
            self.background(tag);
        }
        Content::Markup
    }

    #[inline]
    fn end(&mut self, name: Name) {
        if let Some(raw) = self.raw.take() {
            // Raw content is ended only by its own end tag.
            self.titled |= raw == Raw::Title;
            if raw == Raw::ShownArea {
                self.part(BlockKind::Plain);
            }
            return;
        }
        let element = Element::of(name);
        match element.role {
            Role::Block | Role::Heading | Role::Main | Role::Chrome => self.part(BlockKind::Plain),
            Role::Space => self.outline.space(),
            Role::Anchor if name == A => self.outline.end_link(),
            Role::Foreign => self.foreign = self.foreign.saturating_sub(1),
            _ => {}
        }
        if element.role == Role::Main {
            self.main = self.main.saturating_sub(1);
        }
        self.hidden.ends(name, element);
        if self.chrome.ends(name, element) {
            self.part(BlockKind::Plain);
        }
    }

    fn is_in_foreign(&self) -> bool {
        self.foreign > 0
    }
}

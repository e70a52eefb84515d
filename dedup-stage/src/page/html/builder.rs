//! What tags and text mean for the [`Outline`]: blocks, links, hidden parts, chrome, and what the head says.

use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{Tag, TokenSinkResult};
use html5ever::{LocalName, local_name};

use super::attributes::{attribute, has_word, hides, is_hidden, refresh_target};
use super::media;
use super::region::Regions;
use crate::page::hints::{Hint, Hints};
use crate::page::outline::{Outline, Shape};
use crate::page::signs::Signs;
use crate::page::tags::{Raw, Role, is_item, is_void, role};

/// Fills an outline, tag by tag.
pub struct Builder<'a> {
    outline: &'a mut Outline,
    hints: &'a mut Hints,
    /// Text is dropped inside.
    hidden: Regions<()>,
    /// What is marked as chrome, by all signs around.
    chrome: Regions<Signs>,
    /// Open `article` and `main` elements: a `header` within is content.
    main: u32,
    foreign: u32,
    raw: Option<Raw>,
    titled: bool,
}

impl<'a> Builder<'a> {
    /// Marked elements within one another that are told apart.
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
        }
    }

    /// Whether the content of a script or a style sheet comes next.
    pub fn expects_code(&self) -> bool {
        matches!(self.raw, Some(Raw::Script | Raw::Text))
    }

    /// Whether what comes next stands in foreign content.
    pub fn is_in_foreign(&self) -> bool {
        self.foreign > 0
    }

    /// Takes the end of the page.
    pub fn finish(mut self) {
        self.part(Shape::Plain);
        self.outline.end();
        self.outline.end_link();
    }

    /// Takes text between tags.
    pub fn text(&mut self, text: &str) {
        match self.raw {
            None | Some(Raw::Plain) => {
                if self.hidden.depth() == 0 && self.foreign == 0 && !text.is_empty() {
                    self.outline.push(text);
                }
            }
            Some(Raw::Title) if !self.titled => self.outline.title.push_str(text),
            Some(_) => {}
        }
    }

    fn part(&mut self, shape: Shape) {
        self.outline.part(self.signs(), shape);
    }

    /// The signs of chrome around this place.
    fn signs(&self) -> Signs {
        self.chrome.innermost().map_or(Signs::NONE, |(_, signs)| *signs)
    }

    /// Takes a start tag; how the tokenizer is to go on.
    pub fn start(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name = &tag.name;
        // After a tokenizer was abandoned, raw content has no end tag.
        self.raw = None;
        self.hidden.starts(name);
        self.chrome.starts(name);
        let role = role(name);
        if self.foreign > 0 && !matches!(role, Role::Foreign | Role::Anchor) {
            // Elements that break out of foreign content.
            if matches!(role, Role::Block | Role::Heading | Role::Main | Role::Chrome) {
                self.foreign = 0;
            } else {
                return TokenSinkResult::Continue;
            }
        }
        if media::shows(name) {
            self.media(tag);
        }
        match role {
            Role::Inline => {}
            Role::Block | Role::Main | Role::Heading | Role::Chrome => {
                self.enter(tag, role);
                self.part(match role {
                    Role::Heading => Shape::Heading,
                    _ if is_item(name) => Shape::Item,
                    _ => Shape::Plain,
                });
                return TokenSinkResult::Continue;
            }
            Role::Space => self.outline.space(),
            Role::Hidden => self.hide(tag),
            Role::Anchor => self.anchor(tag),
            Role::Frame => {
                if let Some(source) = attribute(tag, &local_name!("src")) {
                    self.outline.link(source, false, false, Signs::HEAD);
                }
            }
            Role::Head => self.head(tag),
            Role::Foreign => self.foreign += u32::from(!tag.self_closing),
            Role::Raw(raw) => return self.raw(tag, raw),
        }
        if !tag.attrs.is_empty() && self.hidden.depth() == 0 && !is_void(name) && is_hidden(tag) {
            self.hide(tag);
        }
        TokenSinkResult::Continue
    }

    /// Looks at the attributes of a block-level element for what it is.
    fn enter(&mut self, tag: &Tag, role: Role) {
        if is_void(&tag.name) {
            return;
        }
        let mut content = role == Role::Main;
        self.main += u32::from(content);
        let is_header = tag.name == local_name!("header") && self.main == 0;
        let mut signs = if role == Role::Chrome || is_header { Signs::of_role(&tag.name) } else { Signs::NONE };
        for attribute in &tag.attrs {
            match attribute.name.local {
                local_name!("class") | local_name!("id") if role == Role::Block => {
                    match self.hints.of(&attribute.value) {
                        Hint::Chrome(named) => signs |= named,
                        Hint::Content => content = true,
                        Hint::None => {}
                    }
                }
                local_name!("role") => match &*attribute.value {
                    "navigation" | "banner" | "contentinfo" | "complementary" | "search" | "menu" | "dialog" => {
                        signs |= Signs::of_role(&attribute.value);
                    }
                    "main" | "article" => content = true,
                    _ => {}
                },
                // Pages that hide their body show it by a script.
                local_name!("hidden") | local_name!("style") | local_name!("aria-hidden")
                    if self.hidden.depth() == 0
                        && tag.name != local_name!("body")
                        && hides(&attribute.name.local, &attribute.value) =>
                {
                    self.hide(tag);
                }
                _ => {}
            }
        }
        if content && role != Role::Chrome {
            return;
        }
        let all = self.signs() | signs;
        if all != self.signs() && tag.name != local_name!("body") && self.chrome.depth() < Self::MAX_DEPTH {
            self.chrome.open(&tag.name, all);
        }
    }

    fn media(&mut self, tag: &Tag) {
        if self.hidden.innermost().is_none_or(|(name, ())| media::stands_in(name))
            && !is_hidden(tag)
            && let Some(address) = media::address(tag)
        {
            self.outline.medium(address, self.signs());
        }
    }

    fn hide(&mut self, tag: &Tag) {
        if self.hidden.depth() == 0 {
            self.hidden.open(&tag.name, ());
        }
    }

    fn anchor(&mut self, tag: &Tag) {
        let has_text = tag.name == local_name!("a");
        if has_text {
            self.outline.end_link();
        }
        if let Some(href) = attribute(tag, &local_name!("href")) {
            let nofollow = attribute(tag, &local_name!("rel")).is_some_and(|rel| has_word(rel, "nofollow"));
            self.outline.link(href, nofollow, has_text, self.signs());
        }
    }

    fn head(&mut self, tag: &Tag) {
        match tag.name {
            local_name!("html") => {
                if let Some(language) = attribute(tag, &local_name!("lang"))
                    && self.outline.language.is_empty()
                {
                    self.outline.language.push_str(language.trim());
                }
            }
            local_name!("base") => {
                if self.outline.base.is_none() {
                    self.outline.base = attribute(tag, &local_name!("href")).map(str::to_owned);
                }
            }
            local_name!("link") => {
                if let (Some(rel), Some(href)) =
                    (attribute(tag, &local_name!("rel")), attribute(tag, &local_name!("href")))
                    && ["canonical", "alternate", "next", "prev"].iter().any(|kind| has_word(rel, kind))
                    && !has_word(rel, "stylesheet")
                {
                    self.outline.link(href, has_word(rel, "nofollow"), false, Signs::HEAD);
                }
            }
            local_name!("meta") => self.meta(tag),
            _ => {}
        }
    }

    fn meta(&mut self, tag: &Tag) {
        let Some(content) = attribute(tag, &local_name!("content")) else { return };
        if let Some(name) = attribute(tag, &local_name!("name"))
            && name.trim().eq_ignore_ascii_case("robots")
        {
            for word in content.split(|c: char| c == ',' || c.is_whitespace()) {
                let none = word.eq_ignore_ascii_case("none");
                self.outline.noindex |= none || word.eq_ignore_ascii_case("noindex");
                self.outline.nofollow |= none || word.eq_ignore_ascii_case("nofollow");
            }
        }
        if let Some(pragma) = attribute(tag, &local_name!("http-equiv"))
            && pragma.eq_ignore_ascii_case("refresh")
            && let Some(target) = refresh_target(content)
        {
            self.outline.link(target, false, false, Signs::HEAD);
        }
    }

    fn raw(&mut self, tag: &Tag, raw: Raw) -> TokenSinkResult<()> {
        if tag.name == local_name!("iframe")
            && let Some(source) = attribute(tag, &local_name!("src"))
        {
            self.outline.link(source, false, false, Signs::HEAD);
        }
        self.raw = Some(raw);
        match raw {
            Raw::Script => TokenSinkResult::RawData(RawKind::ScriptData),
            Raw::Text => TokenSinkResult::RawData(RawKind::Rawtext),
            Raw::Title | Raw::Area => TokenSinkResult::RawData(RawKind::Rcdata),
            Raw::Plain => {
                self.part(Shape::Plain);
                TokenSinkResult::Plaintext
            }
        }
    }

    /// Takes an end tag.
    pub fn end(&mut self, name: &LocalName) {
        if let Some(raw) = self.raw.take() {
            // Only its own end tag ends raw content.
            self.titled |= raw == Raw::Title;
            return;
        }
        let role = role(name);
        match role {
            Role::Block | Role::Heading | Role::Main | Role::Chrome => self.part(Shape::Plain),
            Role::Space => self.outline.space(),
            Role::Anchor if *name == local_name!("a") => self.outline.end_link(),
            Role::Foreign => self.foreign = self.foreign.saturating_sub(1),
            _ => {}
        }
        if role == Role::Main {
            self.main = self.main.saturating_sub(1);
        }
        self.hidden.ends(name);
        if self.chrome.ends(name) {
            self.part(Shape::Plain);
        }
    }
}

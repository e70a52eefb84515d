//! Reads attributes: whether they hide their element, which words a list has, where a meta refresh leads.

use std::borrow::Cow;

use crate::page::tags::Element;
use crate::page::tokenizer::{Attribute, Tag};

/// Whether an attribute of the element hides it.
pub fn is_hidden(tag: &Tag<'_>) -> bool {
    tag.value(Attribute::Hidden).is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
        || tag.value(Attribute::AriaHidden).is_some_and(|value| value == "true")
        || tag.value(Attribute::Style).is_some_and(|style| hides(&style))
}

/// Whether an element whose text is usually not shown says that it is: an open `dialog`, and a `template` whose content
/// belongs to the element around it (a declarative shadow root).
pub fn is_open(tag: &Tag<'_>, element: &Element) -> bool {
    match element.name {
        "dialog" => tag.has(Attribute::Open),
        "template" => tag.value(Attribute::ShadowRootMode).is_some_and(|mode| mode.eq_ignore_ascii_case("open")),
        _ => false,
    }
}

/// Whether a style hides its element.
fn hides(style: &str) -> bool {
    let style: Cow<'_, str> = match style.bytes().any(|b| b.is_ascii_uppercase() || b.is_ascii_whitespace()) {
        true if style.len() < 1024 => {
            Cow::Owned(style.split_ascii_whitespace().collect::<String>().to_ascii_lowercase())
        }
        _ => Cow::Borrowed(style),
    };
    style.contains("display:none") || style.contains("visibility:hidden")
}

/// Whether the space-separated list has this word. Case makes no difference.
pub fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|item| item.eq_ignore_ascii_case(word))
}

/// The URL in the content of a meta refresh: `5; url=next.html`.
pub fn refresh_target(content: &str) -> Option<&str> {
    let rest = content.trim_start().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let rest = rest.trim_start().trim_start_matches([';', ',']).trim_start();
    let rest = match rest.get(..3) {
        Some(word) if word.eq_ignore_ascii_case("url") => match rest[3..].trim_start().strip_prefix('=') {
            Some(value) => value.trim_start(),
            None => rest,
        },
        _ => rest,
    };
    let target = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next()?,
        _ => rest,
    };
    (!target.trim().is_empty()).then_some(target.trim())
}

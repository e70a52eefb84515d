//! What attributes say: whether they hide their element, which words a list has, where a meta refresh leads.

use std::borrow::Cow;

use html5ever::tokenizer::Tag;
use html5ever::{LocalName, local_name};

/// The value of an attribute.
pub fn attribute<'t>(tag: &'t Tag, name: &LocalName) -> Option<&'t str> {
    tag.attrs.iter().find(|attribute| attribute.name.local == *name).map(|attribute| &*attribute.value)
}

/// Whether an attribute of the element hides it.
pub fn is_hidden(tag: &Tag) -> bool {
    tag.attrs.iter().any(|attribute| hides(&attribute.name.local, &attribute.value))
}

/// Whether an attribute with this value hides its element.
pub fn hides(name: &LocalName, value: &str) -> bool {
    match *name {
        local_name!("hidden") => !value.eq_ignore_ascii_case("until-found"),
        local_name!("aria-hidden") => value == "true",
        local_name!("style") => {
            let style: Cow<'_, str> = match value.bytes().any(|b| b.is_ascii_uppercase() || b.is_ascii_whitespace()) {
                true if value.len() < 1024 => {
                    Cow::Owned(value.split_ascii_whitespace().collect::<String>().to_ascii_lowercase())
                }
                _ => Cow::Borrowed(value),
            };
            style.contains("display:none") || style.contains("visibility:hidden")
        }
        _ => false,
    }
}

/// Whether the space-separated list has this word, without regard to case.
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

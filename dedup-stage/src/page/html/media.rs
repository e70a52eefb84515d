//! The elements that show media, and the attributes that name the file: lazy loaders keep it away from `src`.

use html5ever::tokenizer::Tag;
use html5ever::{LocalName, local_name};

use super::attributes::attribute;
use crate::page::media::is_inline;

/// Attributes in which a script finds the picture that it puts in place of a placeholder, best first.
const LAZY: [&str; 4] = ["data-src", "data-original", "data-lazy-src", "data-original-src"];
/// Attributes that list one picture in several sizes.
const SETS: [&str; 3] = ["srcset", "data-srcset", "data-lazy-srcset"];
/// Pixels up to which a side of an image makes it a counter or a spacer.
const TRACKING: u32 = 2;
/// Length of a `data:` address, in bytes, below which it is a placeholder.
const PLACEHOLDER: usize = 256;

/// Whether an element may show media.
pub fn shows(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("img")
            | local_name!("source")
            | local_name!("video")
            | local_name!("audio")
            | local_name!("embed")
            | local_name!("object")
    )
}

/// Whether the content of an element stands in for media that are not shown, so that media within count although its text
/// does not.
pub fn stands_in(name: &LocalName) -> bool {
    matches!(*name, local_name!("video") | local_name!("audio") | local_name!("object") | local_name!("noscript"))
}

/// The address of what an element shows, as written. A `source` of a picture is another form of its `img`, and says
/// nothing of its own.
pub fn address(tag: &Tag) -> Option<&str> {
    let value = |name: &str| {
        let attribute = tag.attrs.iter().find(|attribute| &*attribute.name.local == name)?;
        Some(attribute.value.trim()).filter(|value| !value.is_empty())
    };
    let is_placeholder = |address: &&str| address.len() < PLACEHOLDER && is_inline(address);
    let first =
        |set: &'static str| value(set).and_then(|set| set.split([',', ' ', '\t', '\n']).find(|part| !part.is_empty()));
    let address = match tag.name {
        local_name!("img") if is_tiny(tag) => None,
        local_name!("img") => LAZY
            .into_iter()
            .find_map(value)
            .or_else(|| value("src").filter(|src| !is_placeholder(src)))
            .or_else(|| SETS.into_iter().find_map(first)),
        local_name!("object") => value("data"),
        local_name!("video") => value("src").or_else(|| value("poster")),
        _ => value("src"),
    };
    address.filter(|address| !is_placeholder(address))
}

/// Whether a side of the image is too short for anybody to see it.
fn is_tiny(tag: &Tag) -> bool {
    [local_name!("width"), local_name!("height")].iter().any(|side| {
        attribute(tag, side).is_some_and(|pixels| {
            let pixels = pixels.trim().trim_end_matches("px");
            pixels.parse().is_ok_and(|pixels: u32| pixels <= TRACKING)
        })
    })
}

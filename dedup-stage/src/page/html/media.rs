//! The elements that show media, and the attributes that name the file: lazy loaders keep it away from `src`.

use std::borrow::Cow;

use crate::page::media::is_inline;
use crate::page::tags::Element;
use crate::page::tokenizer::{Attribute, Tag};

/// Attributes in which a script finds the picture that it puts in place of a placeholder, best first.
const LAZY: [Attribute; 3] = [Attribute::DataSrc, Attribute::DataOriginal, Attribute::DataLazySrc];
/// Attributes that list one picture in several sizes.
const SETS: [Attribute; 3] = [Attribute::Srcset, Attribute::DataSrcset, Attribute::DataLazySrcset];
/// Pixels up to which a side of an image makes it a counter or a spacer.
const TRACKING: u32 = 2;
/// Length of a `data:` address, in bytes, below which it is a placeholder.
const PLACEHOLDER: usize = 256;

/// The address of what an element shows, as written. A `source` of a picture is another form of its `img`, and says
/// nothing of its own.
pub fn address<'t>(element: &Element, tag: &Tag<'t>) -> Option<Cow<'t, str>> {
    let value = |attribute| tag.value(attribute).filter(|value| !value.trim().is_empty());
    let source = || value(Attribute::Src).filter(|address| !is_placeholder(address));
    let address = match element.name {
        "img" if is_tiny(tag) => None,
        "img" => {
            LAZY.into_iter().find_map(value).or_else(source).or_else(|| SETS.into_iter().find_map(value).map(first))
        }
        "object" => value(Attribute::Data),
        "video" => value(Attribute::Src).or_else(|| value(Attribute::Poster)),
        _ => value(Attribute::Src),
    };
    address.filter(|address| !is_placeholder(address))
}

fn is_placeholder(address: &str) -> bool {
    address.len() < PLACEHOLDER && is_inline(address)
}

/// The first address of a list of one picture in several sizes.
fn first(set: Cow<'_, str>) -> Cow<'_, str> {
    let first = set.split([',', ' ', '\t', '\n']).find(|part| !part.is_empty());
    Cow::Owned(first.unwrap_or_default().to_owned())
}

/// Whether a side of the image is too short for anybody to see it.
fn is_tiny(tag: &Tag<'_>) -> bool {
    [Attribute::Width, Attribute::Height].into_iter().any(|side| {
        tag.value(side).is_some_and(|pixels| {
            let pixels = pixels.trim().trim_end_matches("px");
            pixels.parse().is_ok_and(|pixels: u32| pixels <= TRACKING)
        })
    })
}

//! The elements that show media, and the attributes that name the file. Lazy loaders do not write the file into `src`.

use std::borrow::Cow;

use crate::page::media::is_inline;
use crate::page::tags::Element;
use crate::page::tokenizer::{Attribute, Tag};

/// Attributes from which a script takes the picture that replaces a placeholder, the best first.
const LAZY: [Attribute; 3] = [Attribute::DataSrc, Attribute::DataOriginal, Attribute::DataLazySrc];
/// Attributes that list one picture in several sizes.
const SETS: [Attribute; 3] = [Attribute::Srcset, Attribute::DataSrcset, Attribute::DataLazySrcset];
/// An image with a side of at most this many pixels is a counter or a spacer.
const TRACKING: u32 = 2;
/// A `data:` address with fewer bytes than this is a placeholder.
const PLACEHOLDER: usize = 256;

/// The address of the medium that an element shows, as written. The `source` of a picture is another form of its `img`,
/// so it does not count.
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

/// Whether a side of the image is so short that nobody can see it.
fn is_tiny(tag: &Tag<'_>) -> bool {
    [Attribute::Width, Attribute::Height].into_iter().any(|side| {
        tag.value(side).is_some_and(|pixels| {
            let pixels = pixels.trim().trim_end_matches("px");
            pixels.parse().is_ok_and(|pixels: u32| pixels <= TRACKING)
        })
    })
}

//! The elements that show media, and the attributes that name the file. Lazy loaders do not write the file into `src`.

use std::borrow::Cow;

use crate::page::media::is_inline;
use crate::page::tags::Element;
use crate::page::tokenizer::{Attribute, Tag};

/// Attributes from which a script takes the picture that replaces a placeholder, the best first.
const LAZY: [Attribute; 7] = [
    Attribute::DataSrc,
    Attribute::DataOriginal,
    Attribute::DataLazySrc,
    Attribute::DataLazy,
    Attribute::DataLazyload,
    Attribute::DataCfsrc,
    Attribute::DataEcho,
];
/// Attributes from which a script takes the sizes of that picture.
const LAZY_SETS: [Attribute; 2] = [Attribute::DataSrcset, Attribute::DataLazySrcset];
/// Attributes from which a script takes the picture behind an element.
const LAZY_BACKGROUNDS: [Attribute; 2] = [Attribute::DataBg, Attribute::DataBackground];
/// Names of pictures that only keep the place for another one, sorted.
const PLACEHOLDERS: [&str; 18] = [
    "1x1",
    "blank",
    "clear",
    "dot",
    "dummy",
    "empty",
    "gray",
    "grey",
    "lazy",
    "loader",
    "loading",
    "pixel",
    "placeholder",
    "px",
    "shim",
    "spacer",
    "trans",
    "transparent",
];
/// An image with a side of at most this many pixels is a counter or a spacer.
const TRACKING: u32 = 2;
/// A `data:` address with fewer bytes than this is a placeholder.
const PLACEHOLDER: usize = 256;

/// Words in the paths of pages that only show a film or a sound, to be shown within other pages; sorted.
const PLAYERS: [&str; 10] =
    ["clip", "clips", "embed", "film", "movie", "player", "video", "videoembed", "videos", "watch"];

/// The address of the medium that an element shows, as written. The `source` of a picture is another form of its `img`.
/// So it counts only if the `img` itself names no file, or a placeholder. `offered` is the address of such a `source`.
pub fn address<'t>(element: &Element, tag: &Tag<'t>, offered: Option<String>) -> Option<Cow<'t, str>> {
    let value = |attribute| tag.value(attribute).filter(|value| !value.trim().is_empty());
    let set = |sets: &[Attribute]| sets.iter().copied().find_map(value).map(first);
    let source = || value(Attribute::Src).filter(|address| !is_placeholder(address));
    let shown = || source().filter(|address| !names_placeholder(address));
    let address = match element.name {
        "img" | "image" | "amp-img" | "amp-anim" if is_tiny(tag) => None,
        "img" | "amp-img" | "amp-anim" => {
            let lazy = || LAZY.into_iter().find_map(value).or_else(|| set(&LAZY_SETS));
            let own = lazy().or_else(shown).or_else(|| set(&[Attribute::Srcset]));
            own.or_else(|| offered.map(Cow::Owned)).or_else(source)
        }
        // Most frames show pages of other sites, which are links, or advertisements.
        "iframe" => value(Attribute::Src).or_else(|| value(Attribute::DataSrc)).filter(|address| is_player(address)),
        "object" => value(Attribute::Data),
        // In a drawing (SVG). Outside of drawings, `image` is an old name of `img`.
        "image" => value(Attribute::Href).or_else(|| value(Attribute::XlinkHref)).or_else(shown),
        "video" | "amp-video" => value(Attribute::Src).or_else(|| value(Attribute::Poster)),
        _ => value(Attribute::Src),
    };
    address.filter(|address| !is_placeholder(address))
}

/// The address of the picture that the `source` of a picture offers, as written.
pub fn offered(tag: &Tag<'_>) -> Option<String> {
    let sets = [Attribute::DataSrcset, Attribute::DataLazySrcset, Attribute::Srcset];
    let address = sets.into_iter().find_map(|set| tag.value(set).map(first))?;
    (!address.is_empty() && !is_placeholder(&address)).then(|| address.into_owned())
}

/// The address of the picture behind an element, as written.
pub fn background<'t>(tag: &Tag<'t>) -> Option<Cow<'t, str>> {
    let value = |attribute| tag.value(attribute).filter(|value| !value.trim().is_empty());
    let lazy = LAZY_BACKGROUNDS.into_iter().find_map(value).map(|value| in_style(&value).unwrap_or(value));
    let address = lazy.or_else(|| {
        let style = tag.value(Attribute::Style)?;
        let (_, declared) = style.split_once("background")?;
        in_style(declared)
    });
    address.filter(|address| !is_placeholder(address))
}

/// The first address in a style: `url("photo.jpg")`.
fn in_style<'s>(style: &str) -> Option<Cow<'s, str>> {
    let (_, rest) = style.split_once("url(")?;
    let (address, _) = rest.split_once(')')?;
    let address = address.trim().trim_matches(['"', '\'']).trim();
    (!address.is_empty()).then(|| Cow::Owned(address.to_owned()))
}

/// Whether a frame at this address shows a film or a sound.
fn is_player(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.split(['/', '.']).any(|part| PLAYERS.binary_search(&part.to_ascii_lowercase().as_str()).is_ok())
}

/// Whether the name of a picture says that it only keeps the place for another one.
fn names_placeholder(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    PLACEHOLDERS.binary_search(&stem.trim().to_ascii_lowercase().as_str()).is_ok()
}

fn is_placeholder(address: &str) -> bool {
    address.len() < PLACEHOLDER && is_inline(address)
}

/// The first address of a list of one picture in several sizes.
fn first(set: Cow<'_, str>) -> Cow<'_, str> {
    let first = set.split([',', ' ', '\t', '\n']).find(|part| !part.is_empty());
    Cow::Owned(first.unwrap_or_default().to_owned())
}

/// Whether a side of the image is so short that people cannot see the image.
fn is_tiny(tag: &Tag<'_>) -> bool {
    [Attribute::Width, Attribute::Height].into_iter().any(|side| {
        tag.value(side).is_some_and(|pixels| {
            let pixels = pixels.trim().trim_end_matches("px");
            pixels.parse().is_ok_and(|pixels: u32| pixels <= TRACKING)
        })
    })
}

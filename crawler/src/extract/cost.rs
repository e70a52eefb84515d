//! Estimates what the tree of a page would cost, from its tags alone.
//!
//! The tree building of the HTML standard is not linear. Each tag may look at all open elements, and each paragraph
//! repeats the formatting that an earlier one left open. So a page of a megabyte can cost minutes, or gigabytes. The
//! parser does not limit this, so one pass over the bytes finds such pages first.

use memchr::{memchr, memmem};

use super::MAX_DEPTH;

/// The most elements that formatting may add to a page.
const MAX_ADDED: usize = 500_000;

/// Elements that never have content.
const VOID: [&[u8]; 14] = [
    b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"param", b"source",
    b"track", b"wbr",
];
/// Elements that end when another of their kind begins. Several of them in a row do not nest.
const IMPLIED: [&[u8]; 16] = [
    b"p",
    b"li",
    b"dt",
    b"dd",
    b"tr",
    b"td",
    b"th",
    b"tbody",
    b"thead",
    b"tfoot",
    b"option",
    b"optgroup",
    b"rt",
    b"rp",
    b"colgroup",
    b"frame",
];
/// Formatting elements. If one is left open, it is opened again in the next paragraph.
const FORMATTING: [&[u8]; 14] =
    [b"a", b"b", b"big", b"code", b"em", b"font", b"i", b"nobr", b"s", b"small", b"strike", b"strong", b"tt", b"u"];
/// Elements whose content is no markup.
const RAW: [&[u8]; 8] = [b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes"];

/// Whether the tree of a page would cost too much.
pub fn is_too_much(html: &str) -> bool {
    let bytes = html.as_bytes();
    let (mut depth, mut formatting, mut added) = (0usize, 0usize, 0usize);
    let mut at = 0;
    while let Some(found) = memchr(b'<', &bytes[at..]) {
        at += found + 1;
        let rest = &bytes[at..];
        if rest.starts_with(b"!--") {
            at += memmem::find(rest, b"-->").map_or(rest.len(), |end| end + 3);
            continue;
        }
        let (is_end, name) = match rest.strip_prefix(b"/") {
            Some(rest) => (true, tag_name(rest)),
            None => (false, tag_name(rest)),
        };
        let mut lower = [0; 16];
        let Some(lower) = lower.get_mut(..name.len()) else {
            // No element of the standard has such a long name. An unknown element nests.
            depth = if is_end { depth.saturating_sub(1) } else { depth + 1 };
            continue;
        };
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        let name: &[u8] = lower;
        if name.is_empty() || VOID.contains(&name) {
            continue;
        }
        if RAW.contains(&name) && !is_end {
            let end = [b"</", name].concat();
            at += find_ignore_case(&bytes[at..], &end).unwrap_or(rest.len());
            continue;
        }
        let formats = FORMATTING.contains(&name);
        if is_end {
            depth = depth.saturating_sub(usize::from(!IMPLIED.contains(&name)));
            formatting = formatting.saturating_sub(usize::from(formats));
        } else {
            added += if formats { 0 } else { formatting };
            depth += usize::from(!IMPLIED.contains(&name));
            formatting += usize::from(formats);
        }
        if depth > 2 * MAX_DEPTH || added > MAX_ADDED {
            return true;
        }
    }
    false
}

/// The name that begins here; empty if none does.
fn tag_name(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'));
    let name = &bytes[..end.unwrap_or(bytes.len())];
    if name.first().is_some_and(u8::is_ascii_alphabetic) { name } else { &[] }
}

/// The first place of `needle`, which is in lower case.
fn find_ignore_case(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'<', bytes)
        .find(|at| bytes.get(*at..at + needle.len()).is_some_and(|found| found.eq_ignore_ascii_case(needle)))
}

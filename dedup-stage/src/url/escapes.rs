//! The normal form of percent-encoding (RFC 3986, section 6.2.2), in which each octet has one spelling.

/// The part of a URL that a text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A path.
    Path = 1,
    /// A query. In a query, `+` is a space, and characters that separate parts of a path are literal.
    Query = 2,
}

/// The treatment of an octet in the normal form, as bits.
#[derive(Clone, Copy)]
struct Class(u8);

impl Class {
    /// The octet stands for itself in a path, or in a query.
    const RAW: [u8; 3] = [0, 1, 2];
    /// The octet loses its escape in a path, or in a query.
    const BARE: [u8; 3] = [0, 4, 8];
}

/// In a path, these stand for themselves: unreserved characters, sub-delims, `:`, `@` and `/`. An octet loses its
/// escape if it means the same without it: letters, digits, and punctuation that separates nothing. Octets that
/// separate keep both meanings apart (`/` and `%2F` in a path, `&`, `=`, `;`, `+`, `#` and `%` everywhere). In a query,
/// forms escape more than they have to, so `/` and `?` separate nothing there. `'` is escaped in queries, as in the URL
/// standard.
const CLASSES: [Class; 256] = {
    let mut classes = [Class(0); 256];
    let mut octet = 0;
    while octet < 256 {
        let c = octet as u8;
        let unreserved = c.is_ascii_alphanumeric() || matches!(c, b'-' | b'.' | b'_' | b'~');
        let literal = unreserved || matches!(c, b'!' | b'$' | b'(' | b')' | b'*' | b',' | b':' | b'@');
        let delimiter = matches!(c, b'/' | b'&' | b'+' | b';' | b'=');
        if literal || delimiter || c == b'\'' {
            classes[octet].0 |= Class::RAW[Part::Path as usize];
        }
        if literal || delimiter || c == b'?' {
            classes[octet].0 |= Class::RAW[Part::Query as usize];
        }
        if literal || c == b'\'' {
            classes[octet].0 |= Class::BARE[Part::Path as usize];
        }
        if literal || matches!(c, b'/' | b'?') {
            classes[octet].0 |= Class::BARE[Part::Query as usize];
        }
        octet += 1;
    }
    classes
};

/// Whether an octet stands for itself. A text of such octets is its own normal form.
#[inline]
pub(super) fn is_raw(octet: u8, part: Part) -> bool {
    CLASSES[usize::from(octet)].0 & Class::RAW[part as usize] != 0
}

/// Appends the normal form of `text`. This is idempotent: a `%` that escapes nothing is itself escaped, so no escape
/// arises where there was none.
pub(super) fn normalize(text: &[u8], part: Part, out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|octet| !is_raw(*octet, part)) {
        out.extend_from_slice(&rest[..at]);
        let (octet, length) = match escape(&rest[at..]) {
            Some(octet) => (octet, 3),
            None => (rest[at], 1),
        };
        let bare = CLASSES[usize::from(octet)].0 & Class::BARE[part as usize] != 0;
        match octet {
            b' ' if part == Part::Query => out.push(b'+'),
            octet if bare && length == 3 => out.push(octet),
            octet => out.extend_from_slice(&[b'%', digit(octet >> 4), digit(octet & 15)]),
        }
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest);
}

/// The octet that `%XX` at the start of `text` stands for.
pub(super) fn escape(text: &[u8]) -> Option<u8> {
    let &[b'%', high, low, ..] = text else { return None };
    Some((value(high)? << 4) | value(low)?)
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn digit(value: u8) -> u8 {
    b"0123456789ABCDEF"[usize::from(value)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str, part: Part) -> String {
        let mut out = Vec::new();
        normalize(text.as_bytes(), part, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_octet_has_one_spelling() {
        for (text, path, query) in [
            ("%7euser/%41", "~user/A", "~user/A"),
            ("%c3%a4", "%C3%A4", "%C3%A4"),
            ("a|b%7cc", "a%7Cb%7Cc", "a%7Cb%7Cc"),
            ("%2F%3a", "%2F:", "/:"),
            ("%26%3D%2B%3B", "%26%3D%2B%3B", "%26%3D%2B%3B"),
            ("a%20b+c", "a%20b+c", "a+b+c"),
            ("'%27", "''", "%27%27"),
            ("100%", "100%25", "100%25"),
            ("%2%65", "%252e", "%252e"),
            ("%252e", "%252e", "%252e"),
            ("[]", "%5B%5D", "%5B%5D"),
        ] {
            assert_eq!(normal(text, Part::Path), path, "{text}");
            assert_eq!(normal(text, Part::Query), query, "{text}");
        }
    }
}

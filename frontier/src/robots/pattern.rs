//! Brings rules and URLs into one spelling, and compares them (RFC 9309, sections 2.2.2 and 2.2.3).
//!
//! Both sides get the same percent-encoding. An octet that can stand for itself does so, however it was written. Every
//! other octet is `%XX`. Octets that separate parts of a URL keep their two meanings apart (`&` and `%26`, in a path
//! `/` and `%2F`). So do `*` and `$`, which are special in a rule and literal in a URL.

use std::borrow::Cow;
use std::cmp::Reverse;

use memchr::memmem;

/// One `Allow` or `Disallow` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RobotsRule<'a> {
    /// The pattern in the common spelling. `*` stands for any octets, and `$` at the end for the end of the URL.
    pub pattern: Cow<'a, str>,
    /// Whether the rule allows or disallows.
    pub allow: bool,
}

impl RobotsRule<'_> {
    /// A rule. `None` if its value is empty, because such a rule matches nothing.
    pub fn new(value: &[u8], allow: bool) -> Option<Self> {
        (!value.is_empty()).then(|| Self { pattern: spell(value, true).into(), allow })
    }

    /// The order of rules, in which the first match decides: the longest rule comes first, and of equal rules the one
    /// that allows.
    pub fn precedence(&self) -> (Reverse<usize>, Reverse<bool>, &str) {
        (Reverse(self.pattern.len()), Reverse(self.allow), &*self.pattern)
    }

    /// Whether the rule matches this path and query, which must be spelled by [`path`].
    pub fn matches(&self, path: &[u8]) -> bool {
        self.compare(path).0
    }

    /// Like [`Self::matches`], with the number of octets of the path that were looked at. There are at most as many as
    /// path and pattern have together: the text between two `*` is searched from left to right, and the first place
    /// where it is found is as good as any later one.
    pub fn compare(&self, path: &[u8]) -> (bool, usize) {
        let pattern = self.pattern.as_bytes();
        let (pattern, anchored) = match pattern.strip_suffix(b"$") {
            Some(pattern) => (pattern, true),
            None => (pattern, false),
        };
        let mut parts = pattern.split(|octet| *octet == b'*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else { return (false, first.len().min(path.len())) };
        let Some(last) = parts.next_back() else { return (!anchored || rest.is_empty(), first.len()) };
        for part in parts {
            match find(rest, part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return (false, path.len()),
            }
        }
        (if anchored { rest.ends_with(last) } else { find(rest, last).is_some() }, path.len())
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    match part {
        [] => Some(0),
        [octet] => memchr::memchr(*octet, text),
        part => memmem::find(text, part),
    }
}

/// The path and query of a URL in the common spelling.
pub(super) fn path(path_and_query: &str) -> Cow<'_, str> {
    match path_and_query.bytes().any(|octet| matches!(octet, b'%' | b'*' | b'$')) {
        true => Cow::Owned(spell(path_and_query.as_bytes(), false)),
        false => Cow::Borrowed(path_and_query),
    }
}

fn spell(text: &[u8], is_pattern: bool) -> String {
    let mut spelled = String::with_capacity(text.len() + 1);
    // A slash is added to a rule that lacks it. A rule that begins with a wildcard needs none.
    if is_pattern && !matches!(text.first(), Some(b'/' | b'*')) && text != b"$" {
        spelled.push('/');
    }
    let mut in_query = false;
    let mut at = 0;
    while let Some(&octet) = text.get(at) {
        let escaped = if octet == b'%' { escaped(&text[at..]) } else { None };
        at += if escaped.is_some() { 3 } else { 1 };
        let octet = escaped.unwrap_or(octet);
        let is_special = match octet {
            b'*' => escaped.is_some() || !is_pattern,
            b'$' => escaped.is_some() || !is_pattern || at < text.len(),
            b'%' | b'#' | b'&' | b'=' | b'+' => escaped.is_some(),
            b'/' | b'?' => escaped.is_some() && !in_query,
            octet => !octet.is_ascii_graphic(),
        };
        in_query |= octet == b'?' && escaped.is_none();
        if is_special {
            push_escaped(&mut spelled, octet);
        } else {
            spelled.push(char::from(octet));
        }
    }
    spelled
}

/// The octet that `%XX` at the start of `text` stands for.
fn escaped(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    u8::try_from(digit(1)? * 16 + digit(2)?).ok()
}

fn push_escaped(text: &mut String, octet: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    text.extend(['%', char::from(DIGITS[usize::from(octet >> 4)]), char::from(DIGITS[usize::from(octet & 15)])]);
}

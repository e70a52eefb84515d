//! Character references (HTML standard, sections 13.2.5.72 to 13.2.5.80), by html5ever's table of names.

use std::borrow::Cow;

use html5ever::data::{C1_REPLACEMENTS, NAMED_ENTITIES};

/// The place of a reference, which decides how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceContext {
    Text,
    Attribute,
}

/// A reference: its number of bytes, including the ampersand, and the characters that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    pub length: usize,
    pub characters: [Option<char>; 2],
}

/// The length of the longest name that needs no semicolon, in bytes.
const LONGEST_BARE: usize = 6;

impl Reference {
    fn one(length: usize, character: char) -> Self {
        Self { length, characters: [Some(character), None] }
    }
}

/// The reference at the beginning of `text`, which is an ampersand. `None` if the ampersand is a plain character.
pub fn read(text: &str, place: ReferenceContext) -> Option<Reference> {
    let rest = &text.as_bytes()[1..];
    match *rest.first()? {
        b'#' => numeric(rest),
        byte if byte.is_ascii_alphanumeric() => named(&text[1..], place),
        _ => None,
    }
}

/// Reads `&#10;` or `&#xA;`, with or without the semicolon.
fn numeric(rest: &[u8]) -> Option<Reference> {
    let (digits, base) = match rest.get(1) {
        Some(b'x' | b'X') => (2, 16),
        _ => (1, 10),
    };
    let (mut number, mut end) = (0u32, digits);
    while let Some(digit) = rest.get(end).and_then(|byte| char::from(*byte).to_digit(base)) {
        // All numbers beyond the last character are treated alike.
        number = number.saturating_mul(base).saturating_add(digit).min(0x11_0000);
        end += 1;
    }
    if end == digits {
        return None;
    }
    end += usize::from(rest.get(end) == Some(&b';'));
    let character = match number {
        0 => None,
        0x80..=0x9F => C1_REPLACEMENTS[number as usize - 0x80].or(char::from_u32(number)),
        _ => char::from_u32(number),
    };
    Some(Reference::one(1 + end, character.unwrap_or(char::REPLACEMENT_CHARACTER)))
}

/// Reads `&amp;`. A few names are known without the semicolon; in text, even if more letters follow.
fn named(rest: &str, place: ReferenceContext) -> Option<Reference> {
    let bytes = rest.as_bytes();
    let run = bytes.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(bytes.len());
    let ended = bytes.get(run) == Some(&b';');
    let plain = match &rest[..run + usize::from(ended)] {
        "amp;" => Some('&'),
        "lt;" => Some('<'),
        "gt;" => Some('>'),
        "quot;" => Some('"'),
        "nbsp;" => Some('\u{A0}'),
        _ => None,
    };
    if let Some(character) = plain {
        return Some(Reference::one(run + 2, character));
    }
    if ended && let Some(found) = look_up(&rest[..=run]) {
        return Some(found);
    }
    match place {
        // This is a query that was written without references: `?a=1&copy=2`.
        ReferenceContext::Attribute if bytes.get(run) == Some(&b'=') => None,
        ReferenceContext::Attribute => look_up(&rest[..run]),
        ReferenceContext::Text => (2..=run.min(LONGEST_BARE)).rev().find_map(|length| look_up(&rest[..length])),
    }
}

/// Looks a name up, with its semicolon if it has one. The table also has beginnings of names, which stand for nothing.
fn look_up(name: &str) -> Option<Reference> {
    let &(first, second) = NAMED_ENTITIES.get(name)?;
    let character = |code: u32| char::from_u32(code).filter(|_| code != 0);
    character(first).map(|first| Reference { length: 1 + name.len(), characters: [Some(first), character(second)] })
}

/// The value of an attribute as written, with its references resolved. U+0000 becomes U+FFFD.
pub fn resolve(written: &str) -> Cow<'_, str> {
    let odd = |text: &str| memchr::memchr2(b'&', 0, text.as_bytes());
    let Some(mut at) = odd(written) else { return Cow::Borrowed(written) };
    let mut text = String::with_capacity(written.len());
    let mut rest = written;
    loop {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with('\0') {
            text.push(char::REPLACEMENT_CHARACTER);
            1
        } else if let Some(reference) = read(rest, ReferenceContext::Attribute) {
            text.extend(reference.characters.into_iter().flatten());
            reference.length
        } else {
            text.push('&');
            1
        };
        rest = &rest[length..];
        match odd(rest) {
            Some(next) => at = next,
            None => return Cow::Owned(text + rest),
        }
    }
}

//! Tells what each character is when a text is cut into words.

use std::sync::LazyLock;

/// The role of a character in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letter {
    /// Part of a word. Folded to lower case, it is this code point.
    Folded(u32),
    /// Part of a word. It folds to several code points, or is not in the table.
    Special,
    /// A character of a script without spaces.
    Dense,
    /// Neither part of a word nor its end: soft hyphens, joiners, variation selectors.
    Ignored,
    /// Between words.
    Other,
}

const OTHER: u16 = 0;
const DENSE: u16 = 1;
const IGNORED: u16 = 2;
const SPECIAL: u16 = 3;

/// For each character of the basic multilingual plane: one of the codes above, or the folded code point.
static TABLE: LazyLock<Vec<u16>> = LazyLock::new(|| {
    (0..0x10000u32)
        .map(|code| match char::from_u32(code).map_or(Letter::Other, find) {
            Letter::Other => OTHER,
            Letter::Dense => DENSE,
            Letter::Ignored => IGNORED,
            Letter::Special => SPECIAL,
            Letter::Folded(folded) => u16::try_from(folded).unwrap_or(SPECIAL),
        })
        .collect()
});

/// Looks a character up.
#[inline]
pub fn letter(c: char) -> Letter {
    match TABLE.get(c as usize) {
        Some(&OTHER) => Letter::Other,
        Some(&DENSE) => Letter::Dense,
        Some(&IGNORED) => Letter::Ignored,
        Some(&SPECIAL) => Letter::Special,
        Some(&folded) => Letter::Folded(u32::from(folded)),
        None => find(c),
    }
}

fn find(c: char) -> Letter {
    if is_ignored(c) {
        return Letter::Ignored;
    }
    if is_dense(c) {
        return Letter::Dense;
    }
    if !(c.is_alphanumeric() || c == '_' || is_mark(c)) {
        return Letter::Other;
    }
    let mut folded = c.to_lowercase();
    match (folded.next(), folded.next()) {
        (Some(folded), None) => Letter::Folded(folded as u32),
        _ => Letter::Special,
    }
}

/// Soft hyphen, Arabic tatweel, zero-width joiners, variation selectors.
fn is_ignored(c: char) -> bool {
    matches!(c as u32, 0xAD | 0x640 | 0x180B..=0x180D | 0x200C..=0x200D | 0x2060 | 0xFE00..=0xFE0F)
}

/// Scripts written without spaces between words: Han, Kana, Thai, Lao, Tibetan, Khmer, Myanmar, with their marks.
fn is_dense(c: char) -> bool {
    matches!(c as u32,
        0x0E01..=0x0E3A | 0x0E40..=0x0E4E | 0x0E81..=0x0ECD | 0x0F40..=0x0FBC | 0x1000..=0x103F | 0x1050..=0x108F
        | 0x1780..=0x17D3 | 0x3005..=0x3007 | 0x3041..=0x3096 | 0x3099..=0x309A | 0x309D..=0x309F | 0x30A1..=0x30FA
        | 0x30FC..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0xFF66..=0xFF9F
        | 0x20000..=0x3FFFF)
}

/// Combining marks that are no letters to `char::is_alphanumeric`: Latin and Cyrillic accents, Hebrew and Arabic
/// points, viramas and nuktas of the Indic scripts.
fn is_mark(c: char) -> bool {
    matches!(c as u32,
        0x0300..=0x036F | 0x0483..=0x0489 | 0x0591..=0x05BD | 0x05BF | 0x05C1..=0x05C2 | 0x05C4..=0x05C5 | 0x05C7
        | 0x0610..=0x061A | 0x064B..=0x065F | 0x0670 | 0x06D6..=0x06DC | 0x06DF..=0x06E8 | 0x06EA..=0x06ED
        | 0x0711 | 0x0730..=0x074A | 0x0900..=0x0903 | 0x093A..=0x094F | 0x0951..=0x0957 | 0x0962..=0x0963
        | 0x0981..=0x0983 | 0x09BC..=0x09CD | 0x0A01..=0x0A03 | 0x0A3C..=0x0A51 | 0x0A81..=0x0A83 | 0x0ABC..=0x0ACD
        | 0x0B01..=0x0B03 | 0x0B3C..=0x0B57 | 0x0B82 | 0x0BBE..=0x0BCD | 0x0C00..=0x0C04 | 0x0C3C..=0x0C56
        | 0x0C81..=0x0C83 | 0x0CBC..=0x0CD6 | 0x0D00..=0x0D03 | 0x0D3B..=0x0D4D | 0x0D81..=0x0D83 | 0x0DCA..=0x0DDF
        | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF | 0xFE20..=0xFE2F)
}

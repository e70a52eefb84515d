//! Words of a text, as hashes: maximal runs of letters, digits, marks and underscores (`\w+` of UTS #18), folded to lower
//! case; scripts that are written without spaces give the bigrams of their characters.

use std::sync::LazyLock;

use xxhash_rust::xxh3::xxh3_64;

/// The hash of a word. Numbers are one word to whoever masks them: see [`Words::NUMBER`].
pub type WordHash = u64;

/// Segments text; keeps only scratch memory.
#[derive(Debug, Default)]
pub struct Words {
    folded: Vec<u8>,
}

/// What a character is to the segmentation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Between words.
    Other,
    /// Part of a word, already in folded form.
    Letter,
    /// Part of a word; folding changes it.
    Upper,
    /// Of a script without spaces.
    Dense,
}

impl Words {
    /// The hash of every word that consists of ASCII digits only.
    pub const NUMBER: WordHash = 0x9E37_79B9_7F4A_7C15;

    /// Appends the hashes of the words of `text` to `out`.
    pub fn hashes(&mut self, text: &str, out: &mut Vec<WordHash>) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if !WORD_BYTE[bytes[at] as usize] {
                at += 1;
                continue;
            }
            let start = at;
            let mut ascii = true;
            while at < bytes.len() && WORD_BYTE[bytes[at] as usize] {
                ascii &= bytes[at] < 0x80;
                at += 1;
            }
            if ascii {
                self.folded.clear();
                self.folded.extend(bytes[start..at].iter().map(u8::to_ascii_lowercase));
                out.push(word_hash(&self.folded));
            } else {
                self.unicode(&text[start..at], out);
            }
        }
    }

    /// The words of a run that has other than ASCII characters.
    fn unicode(&mut self, run: &str, out: &mut Vec<WordHash>) {
        self.folded.clear();
        let mut previous: Option<char> = None;
        let mut paired = false;
        for c in run.chars() {
            let class = class(c);
            if class != Class::Dense {
                if let Some(single) = previous.take()
                    && !paired
                {
                    out.push(pair_hash(single, '\0'));
                }
                paired = false;
            }
            match class {
                Class::Letter => self.folded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Class::Upper => {
                    for c in c.to_lowercase() {
                        self.folded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                }
                Class::Other => self.flush(out),
                Class::Dense => {
                    self.flush(out);
                    if let Some(first) = previous {
                        out.push(pair_hash(first, c));
                        paired = true;
                    }
                    previous = Some(c);
                }
            }
        }
        if let Some(single) = previous
            && !paired
        {
            out.push(pair_hash(single, '\0'));
        }
        self.flush(out);
    }

    fn flush(&mut self, out: &mut Vec<WordHash>) {
        if !self.folded.is_empty() {
            out.push(word_hash(&self.folded));
            self.folded.clear();
        }
    }
}

const K: [u64; 4] = [0x2D35_8DCC_AA6C_78A5, 0x8BB8_4B93_962E_ACC9, 0x4B33_A62E_D433_D4A3, 0x4D5A_2DA5_1DE1_AA47];

/// Both halves of a product, folded (the mixing step of wyhash).
#[inline]
pub fn fold_multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// The hash of a word in folded form.
#[inline]
pub fn word_hash(word: &[u8]) -> WordHash {
    if word.len() > 16 {
        return xxh3_64(word);
    }
    if word.iter().all(u8::is_ascii_digit) {
        return Words::NUMBER;
    }
    let mut padded = [0; 16];
    padded[..word.len()].copy_from_slice(word);
    let low = u64::from_le_bytes(padded[..8].try_into().expect("eight bytes"));
    let high = u64::from_le_bytes(padded[8..].try_into().expect("eight bytes"));
    short_hash(low, high, word.len())
}

#[inline]
fn short_hash(low: u64, high: u64, length: usize) -> WordHash {
    fold_multiply(fold_multiply(low ^ K[0], high ^ K[1] ^ length as u64) ^ K[2], K[3])
}

#[inline]
fn pair_hash(first: char, second: char) -> WordHash {
    short_hash(first as u64 | (second as u64) << 32, 0, 32)
}

/// Bytes that a word may hold: ASCII letters, digits, underscore, and everything beyond ASCII, to be looked at.
static WORD_BYTE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte >= 0x80 || (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    table
};

/// Classes of the basic multilingual plane.
static CLASSES: LazyLock<Vec<Class>> =
    LazyLock::new(|| (0..0x10000u32).map(|code| char::from_u32(code).map_or(Class::Other, find_class)).collect());

#[inline]
fn class(c: char) -> Class {
    match CLASSES.get(c as usize) {
        Some(class) => *class,
        None => find_class(c),
    }
}

fn find_class(c: char) -> Class {
    if is_dense(c) {
        Class::Dense
    } else if c.is_alphanumeric() || c == '_' || is_mark(c) {
        if c.to_lowercase().eq([c]) { Class::Letter } else { Class::Upper }
    } else {
        Class::Other
    }
}

/// Scripts written without spaces between words: Han, Kana, Thai, Lao, Khmer, Myanmar and their marks.
fn is_dense(c: char) -> bool {
    matches!(c as u32,
        0x0E01..=0x0E3A | 0x0E40..=0x0E4E | 0x0E81..=0x0ECD | 0x1000..=0x103F | 0x1050..=0x108F | 0x1780..=0x17D3
        | 0x3005..=0x3007 | 0x3041..=0x3096 | 0x3099..=0x309F | 0x30A1..=0x30FA | 0x30FC..=0x30FF | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0xFF66..=0xFF9F | 0x20000..=0x3FFFF)
}

/// Combining marks that `char::is_alphanumeric` leaves out (viramas, nuktas, Hebrew and Arabic points, Latin accents).
fn is_mark(c: char) -> bool {
    matches!(c as u32,
        0x0300..=0x036F | 0x0483..=0x0489 | 0x0591..=0x05BD | 0x05BF | 0x05C1..=0x05C2 | 0x05C4..=0x05C5 | 0x05C7
        | 0x0610..=0x061A | 0x064B..=0x065F | 0x0670 | 0x06D6..=0x06DC | 0x06DF..=0x06E8 | 0x06EA..=0x06ED
        | 0x0711 | 0x0730..=0x074A | 0x0900..=0x0903 | 0x093A..=0x094F | 0x0951..=0x0957 | 0x0962..=0x0963
        | 0x0981..=0x0983 | 0x09BC..=0x09CD | 0x0A01..=0x0A03 | 0x0A3C..=0x0A51 | 0x0A81..=0x0A83 | 0x0ABC..=0x0ACD
        | 0x0B01..=0x0B03 | 0x0B3C..=0x0B57 | 0x0B82 | 0x0BBE..=0x0BCD | 0x0C00..=0x0C04 | 0x0C3C..=0x0C56
        | 0x0C81..=0x0C83 | 0x0CBC..=0x0CD6 | 0x0D00..=0x0D03 | 0x0D3B..=0x0D4D | 0x0D81..=0x0D83 | 0x0DCA..=0x0DDF
        | 0x0F18..=0x0F19 | 0x0F35..=0x0F39 | 0x0F71..=0x0F84 | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF
        | 0x200C..=0x200D | 0xFE00..=0xFE0F | 0xFE20..=0xFE2F)
}

//! Finds the language of a page: by the tag that names it, by its script, or by its function words.
//!
//! The words of a page are hashed already, so looking at the first few hundred takes next to no time. Models of
//! trigrams would have to read the text once more.

use std::sync::LazyLock;

use super::head;
use crate::words::{WordHash, Words};

/// The number of words, and of characters, that are looked at.
const WORDS: usize = 300;
const CHARACTERS: usize = 600;
/// This many bytes are looked at together.
const PART: usize = 64;

/// Frequent short words of languages in Latin and Cyrillic script.
const FUNCTION_WORDS: [(&str, &str); 16] = [
    ("cs", "je se na že jsou jako pro není který nebo"),
    ("de", "der die und das nicht mit ist von dem eine"),
    ("en", "the of and to in is that for with was"),
    ("es", "los las el que por una para con del como"),
    ("fr", "les des est dans une pour que sur avec pas"),
    ("hu", "és hogy nem egy ez az volt csak mint meg"),
    ("id", "yang dan di dengan untuk dari ini pada tidak itu"),
    ("it", "il che di della per non una sono con gli"),
    ("nl", "het een van en niet voor met zijn op aan"),
    ("pl", "nie się jest na do że przez jak oraz od"),
    ("pt", "não uma para com os do da em mais como"),
    ("ru", "и в не на что с как по это из"),
    ("sv", "och att det som inte är för på med den"),
    ("tr", "bir ve bu için ile olarak olan daha çok gibi"),
    ("uk", "і в не на що з як та це до"),
    ("vi", "của và là các một được cho trong không với"),
];

/// A set of languages, one bit each.
type Languages = u16;

/// A table from words to the languages that have them. The processor cannot predict whether a word of a text is in the
/// table, so no branch depends on it: a bucket has two places, and both are read.
#[derive(Debug)]
struct Table {
    /// This factor was chosen so that no bucket overflows.
    factor: u64,
    buckets: Vec<[(WordHash, Languages); 2]>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut words: Vec<(WordHash, Languages)> = Vec::new();
    let (mut segmenter, mut hashes) = (Words::default(), Vec::new());
    for (language, (_, of_language)) in FUNCTION_WORDS.iter().enumerate() {
        hashes.clear();
        segmenter.hashes(of_language, &mut hashes);
        for hash in &hashes {
            match words.iter_mut().find(|(word, _)| word == hash) {
                Some((_, languages)) => *languages |= 1 << language,
                None => words.push((*hash, 1 << language)),
            }
        }
    }
    (1..).step_by(2).find_map(|factor| Table::new(&words, factor)).expect("some factor parts the words")
});

impl Table {
    const BITS: u32 = 9;

    /// The table of these words; `None` if three of them meet in one bucket.
    fn new(words: &[(WordHash, Languages)], factor: u64) -> Option<Self> {
        let mut table = Self { factor, buckets: vec![[(0, 0); 2]; 1 << Self::BITS] };
        for word in words {
            let bucket = table.bucket(word.0);
            *table.buckets[bucket].iter_mut().find(|(_, languages)| *languages == 0)? = *word;
        }
        Some(table)
    }

    #[inline]
    fn bucket(&self, word: WordHash) -> usize {
        (word.wrapping_mul(self.factor) >> (u64::BITS - Self::BITS)) as usize
    }

    /// The languages that have this word.
    #[inline]
    fn get(&self, word: WordHash) -> Languages {
        let of = |(other, languages): (WordHash, Languages)| languages * Languages::from(other == word);
        let [first, second] = self.buckets[self.bucket(word)];
        of(first) | of(second)
    }
}

/// The language of a text with these words, as a two-letter code; empty if it cannot be told.
pub fn detect(text: &str, words: &[WordHash]) -> &'static str {
    by_script(text).unwrap_or_else(|| by_function_words(words))
}

/// The language of a script that is mostly used by one language.
fn by_script(text: &str) -> Option<&'static str> {
    let mut counts: [(&str, usize); 14] = [
        ("ja", 0),
        ("zh", 0),
        ("ko", 0),
        ("th", 0),
        ("fa", 0),
        ("ar", 0),
        ("he", 0),
        ("el", 0),
        ("hi", 0),
        ("bn", 0),
        ("ta", 0),
        ("ka", 0),
        ("hy", 0),
        ("my", 0),
    ];
    let (mut letters, mut rest) = (0, text);
    while letters < CHARACTERS && !rest.is_empty() {
        let part = head(rest, PART);
        rest = &rest[part.len()..];
        if part.is_ascii() {
            // These bytes belong to no script above. So it does not matter if there are more of them than are looked
            // at.
            letters += part.bytes().map(|byte| usize::from(byte.is_ascii_alphabetic())).sum::<usize>();
            continue;
        }
        for c in part.chars().filter(|c| c.is_alphabetic()).take(CHARACTERS - letters) {
            letters += 1;
            let script = match c as u32 {
                ..0x0370 => continue,
                0x3041..=0x30FF => 0,
                0x3400..=0x9FFF => 1,
                0xAC00..=0xD7A3 => 2,
                0x0E00..=0x0E7F => 3,
                0x067E | 0x0686 | 0x0698 | 0x06A9 | 0x06AF | 0x06CC => 4,
                0x0600..=0x06FF => 5,
                0x0590..=0x05FF => 6,
                0x0370..=0x03FF => 7,
                0x0900..=0x097F => 8,
                0x0980..=0x09FF => 9,
                0x0B80..=0x0BFF => 10,
                0x10A0..=0x10FF => 11,
                0x0530..=0x058F => 12,
                0x1000..=0x109F => 13,
                _ => continue,
            };
            counts[script].1 += 1;
        }
    }
    let letters = letters.min(CHARACTERS);
    let of = |language| counts.iter().find(|(name, _)| *name == language).map_or(0, |(_, count)| *count);
    if letters == 0 {
        return None;
    }
    // A text with Kana among Han is Japanese. A text with Persian letters among Arabic ones is Persian.
    if (of("ja") + of("zh")) * 3 > letters {
        return Some(if of("ja") * 10 > letters { "ja" } else { "zh" });
    }
    if (of("fa") + of("ar")) * 3 > letters {
        return Some(if of("fa") * 20 > letters { "fa" } else { "ar" });
    }
    counts.iter().find(|(_, count)| *count * 3 > letters).map(|(language, _)| *language)
}

/// The language whose function words are most frequent among the first words, if it stands out.
fn by_function_words(words: &[WordHash]) -> &'static str {
    let words = &words[..words.len().min(WORDS)];
    let table = &*TABLE;
    let mut counts = [0u16; FUNCTION_WORDS.len()];
    for word in words {
        let languages = table.get(*word);
        for (language, count) in counts.iter_mut().enumerate() {
            *count += languages >> language & 1;
        }
    }
    let counts = counts.map(usize::from);
    let best = (0..counts.len()).max_by_key(|i| counts[*i]).unwrap_or(0);
    let second = (0..counts.len()).filter(|i| *i != best).map(|i| counts[i]).max().unwrap_or(0);
    if counts[best] >= 3 && counts[best] * 12 >= words.len() && counts[best] * 4 >= second * 5 {
        FUNCTION_WORDS[best].0
    } else {
        ""
    }
}

/// The language of a tag, such as `en` for `en-GB`. Empty if it is no language tag.
pub fn primary(tag: &str) -> String {
    let primary = tag.split(['-', '_']).next().unwrap_or_default();
    if (2..=3).contains(&primary.len()) && primary.bytes().all(|b| b.is_ascii_alphabetic()) {
        primary.to_ascii_lowercase()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told() {
        for (language, text) in [
            (
                "en",
                "The river rises in the mountains and flows through three lakes, and the old bridge is to the east of it.",
            ),
            (
                "de",
                "Der Fluss entspringt in den Bergen und fließt durch drei Seen, die Brücke ist nicht weit von der Stadt.",
            ),
            (
                "fr",
                "Le fleuve prend sa source dans les montagnes et traverse des lacs pour une plaine avec un pont sur la rive.",
            ),
            ("ru", "Река берёт начало в горах и течёт по равнине, и это не всё, что известно из книг."),
            ("zh", "这条河发源于高山，流经三个湖泊，最后到达平原。"),
            ("ja", "この川は山々に源を発し、三つの湖を通って平野に流れ込みます。"),
            ("ar", "ينبع النهر من الجبال ويمر بثلاث بحيرات قبل أن يصل إلى السهل"),
            ("hi", "यह नदी पहाड़ों से निकलती है और मैदान तक पहुँचती है"),
            ("", "Lorem ipsum dolor sit amet consectetur adipiscing elit"),
            ("", ""),
        ] {
            let mut words = Vec::new();
            Words::default().hashes(text, &mut words);
            assert_eq!(detect(text, &words), language, "{text}");
        }
    }
}

//! Generated prose. The sentences come from a small grammar, and the frequencies of words fall roughly as in Zipf's
//! law. Each section has a vocabulary of its own, and each article has coined names. So two articles share words, but
//! hardly ever five in a row.

use super::rng::Rng;
use super::words::{ADJECTIVES, ADVERBS, CODAS, NOUNS, ONSETS, VERBS, VOWELS};

/// The source of the words of one article.
#[derive(Clone, Debug)]
pub(super) struct Voice {
    /// The seed of the vocabulary that the articles of a section share.
    topic: u64,
    /// The seed of the coined words of this article.
    own: u64,
    rng: Rng,
}

/// Openings, clauses and joints. `$n` is a noun, `$p` a plural, `$a` an adjective, `$v` a verb, `$d` a verb in the
/// past, `$r` an adverb, `$t` a coined name, `$y` a year, `$k` a number.
const OPENINGS: &[&str] =
    &["", "", "", "", "however, ", "in $y, ", "near $t, ", "by then ", "for $k days ", "as $t $d, "];
const CLAUSES: &[&str] = &[
    "the $a $n $d the $n of $t",
    "$t $d $k $p $r",
    "a $n $v the $a $p $r",
    "every $n of the $a $n $v $t",
    "$t and $t $d a $a $n",
    "the $p $d $t with $a $p",
    "no $n $v its $n $r",
    "$k of the $p $d $r",
    "the $n, $a and $a, $v $t",
    "what $t $d was a $n",
    "a $a $n near $t $v the $n",
    "$p from $t $d the $n $r",
    "its $n $v a $n in $t",
    "the $n that $t $d $v $p",
    "$a $p $d one $n after another",
    "this $n $d neither $t nor the $n",
];
const JOINTS: &[&str] = &[", and ", ", but ", "; ", " while ", " because ", ", so ", " until ", ", although "];

impl Voice {
    /// The voice of an article. `topic` is the seed of its section, and `own` that of the article. `part` gives each
    /// part of a page different words.
    pub(super) fn new(topic: u64, own: u64, part: u64) -> Self {
        Self { topic, own, rng: Rng::new(own, &[part]) }
    }

    /// Writes a title of two to four words.
    pub(super) fn title(&mut self, out: &mut String) {
        let start = out.len();
        let pattern = self.rng.pick(&["the $a $n of $t", "$t and the $n", "$a $p of $t", "a $n in $t", "$t: $a $p"]);
        self.fill(pattern, out);
        capitalise(out, start);
    }

    /// Writes one sentence with its full stop.
    pub(super) fn sentence(&mut self, out: &mut String) {
        let start = out.len();
        let opening = self.rng.pick(OPENINGS);
        self.fill(opening, out);
        let clause = self.rng.pick(CLAUSES);
        self.fill(clause, out);
        if self.rng.chance(0.55) {
            out.push_str(self.rng.pick(JOINTS));
            let clause = self.rng.pick(CLAUSES);
            self.fill(clause, out);
        }
        out.push('.');
        capitalise(out, start);
    }

    /// A random number, to vary the structure of a page.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.rng.below(n)
    }

    fn fill(&mut self, pattern: &str, out: &mut String) {
        let mut rest = pattern;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            let start = out.len();
            self.slot(rest.as_bytes()[at + 1], out);
            if (rest[..at].ends_with(" a ") || &rest[..at] == "a ")
                && out[start..].starts_with(['a', 'e', 'i', 'o', 'u'])
            {
                out.insert(start - 1, 'n');
            }
            rest = &rest[at + 2..];
        }
        out.push_str(rest);
    }

    fn slot(&mut self, slot: u8, out: &mut String) {
        match slot {
            b'n' => self.noun(out),
            b'p' => {
                self.noun(out);
                out.push('s');
            }
            b'a' => out.push_str(self.word(ADJECTIVES)),
            b'v' => {
                out.push_str(self.word(VERBS));
                out.push('s');
            }
            b'd' => {
                out.push_str(self.word(VERBS));
                out.push_str("ed");
            }
            b'r' => out.push_str(self.word(ADVERBS)),
            b't' => {
                let start = out.len();
                self.own_name(out);
                capitalise(out, start);
            }
            b'y' => push_number(1500 + self.rng.skewed(520) as u64, out),
            _ => push_number(2 + self.rng.skewed(900) as u64, out),
        }
    }

    /// Writes a noun: a common one, one of the section, or one of the article.
    fn noun(&mut self, out: &mut String) {
        match self.rng.below(10) {
            0..=4 => out.push_str(self.word(NOUNS)),
            5..=6 => coin(Rng::new(self.topic, &[self.rng.skewed(40) as u64]).next(), out),
            _ => self.own_name(out),
        }
    }

    fn own_name(&mut self, out: &mut String) {
        coin(Rng::new(self.own, &[self.rng.skewed(16) as u64]).next(), out);
    }

    /// A word of a list. The section decides which words of the list are frequent.
    fn word(&mut self, list: &[&'static str]) -> &'static str {
        let rank = self.rng.skewed(list.len());
        let shift = (self.topic >> 8) as usize % list.len();
        list[(rank * 17 + shift) % list.len()]
    }
}

/// Writes a coined word of two or three syllables. There are about 10^8 of them.
pub(super) fn coin(mut bits: u64, out: &mut String) {
    let syllables = 2 + (bits & 1) as usize;
    bits >>= 1;
    for syllable in 0..syllables {
        out.push_str(ONSETS[(bits & 31) as usize]);
        out.push_str(VOWELS[(bits >> 5 & 7) as usize]);
        if syllable + 1 == syllables {
            out.push_str(CODAS[(bits >> 8 & 15) as usize]);
        }
        bits >>= 12;
    }
}

pub(super) fn push_number(number: u64, out: &mut String) {
    use std::fmt::Write;
    write!(out, "{number}").expect("a String takes everything");
}

fn capitalise(out: &mut str, at: usize) {
    if let Some(first) = out.get_mut(at..at + 1) {
        first.make_ascii_uppercase();
    }
}

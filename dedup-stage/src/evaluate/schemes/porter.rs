//! Stems of English words: Porter, "An Algorithm for Suffix Stripping" (Program 14(3), 1980). The steps are those of
//! the paper. Words of one or two letters are not changed, as in the author's own programs.

/// The stem of a word in lower case. A word with characters other than a–z is its own stem.
///
/// # Examples
/// ```
/// # use dedup_stage::evaluate::schemes::porter::stem;
/// assert_eq!(stem("generalizations"), "gener");
/// ```
pub fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    if word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase()) {
        plural(&mut stem);
        participle(&mut stem);
        if let Some(rest) = stem.strip_suffix('y')
            && has_vowel(rest)
        {
            replace(&mut stem, 1, "i");
        }
        derivation(&mut stem, &DOUBLE, |stem| measure(stem) > 0);
        derivation(&mut stem, &SINGLE, |stem| measure(stem) > 0);
        derivation(&mut stem, &LAST, |stem| measure(stem) > 1);
        tidy(&mut stem);
    }
    stem
}

/// Step 2: double suffixes become single ones.
const DOUBLE: [(&str, &str); 20] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

/// Step 3.
const SINGLE: [(&str, &str); 7] =
    [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

/// Step 4. The suffix "ion" is removed only behind s or t.
const LAST: [(&str, &str); 20] = [
    ("al", ""),
    ("ance", ""),
    ("ence", ""),
    ("er", ""),
    ("ic", ""),
    ("able", ""),
    ("ible", ""),
    ("ant", ""),
    ("ement", ""),
    ("ment", ""),
    ("ent", ""),
    ("sion", "s"),
    ("tion", "t"),
    ("ou", ""),
    ("ism", ""),
    ("ate", ""),
    ("iti", ""),
    ("ous", ""),
    ("ive", ""),
    ("ize", ""),
];

/// Step 1a.
fn plural(word: &mut String) {
    if word.ends_with("sses") || word.ends_with("ies") {
        replace(word, 2, "");
    } else if word.ends_with('s') && !word.ends_with("ss") {
        replace(word, 1, "");
    }
}

/// Step 1b.
fn participle(word: &mut String) {
    if let Some(rest) = word.strip_suffix("eed") {
        if measure(rest) > 0 {
            replace(word, 1, "");
        }
        return;
    }
    let Some(rest) = word.strip_suffix("ed").or_else(|| word.strip_suffix("ing")).filter(|rest| has_vowel(rest)) else {
        return;
    };
    word.truncate(rest.len());
    if ["at", "bl", "iz"].iter().any(|end| word.ends_with(end)) {
        word.push('e');
    } else if ends_doubled(word) && !word.ends_with(['l', 's', 'z']) {
        replace(word, 1, "");
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

/// Steps 2 to 4. The longest suffix of the word decides. It is replaced if the part before it may stay.
fn derivation(word: &mut String, suffixes: &[(&str, &str)], may_stay: impl Fn(&str) -> bool) {
    let longest = suffixes.iter().filter(|(suffix, _)| word.ends_with(suffix)).max_by_key(|(suffix, _)| suffix.len());
    if let Some((suffix, by)) = longest {
        // The "s" or "t" before "ion" belongs to the stem.
        let kept = if by.len() == 1 && suffix.ends_with("ion") { 1 } else { 0 };
        if may_stay(&word[..word.len() - suffix.len() + kept]) {
            replace(word, suffix.len(), by);
        }
    }
}

/// Step 5.
fn tidy(word: &mut String) {
    if let Some(rest) = word.strip_suffix('e') {
        let m = measure(rest);
        if m > 1 || m == 1 && !ends_short(rest) {
            replace(word, 1, "");
        }
    }
    if word.ends_with("ll") && measure(word) > 1 {
        replace(word, 1, "");
    }
}

fn replace(word: &mut String, last: usize, by: &str) {
    word.truncate(word.len() - last);
    word.push_str(by);
}

/// For each letter, whether it is a consonant. A y is a consonant at the beginning and behind a vowel.
fn consonants(word: &str) -> impl Iterator<Item = bool> + '_ {
    word.bytes().scan(false, |previous, letter| {
        *previous = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => !*previous,
            _ => true,
        };
        Some(*previous)
    })
}

/// The m in `[C](VC)^m[V]`: how often a vowel is followed by a consonant.
fn measure(word: &str) -> usize {
    consonants(word).zip(consonants(word).skip(1)).filter(|pair| *pair == (false, true)).count()
}

fn has_vowel(word: &str) -> bool {
    consonants(word).any(|consonant| !consonant)
}

/// `*d`: whether the word ends with a double consonant.
fn ends_doubled(word: &str) -> bool {
    let letters = word.as_bytes();
    letters.len() > 1
        && letters[letters.len() - 2] == letters[letters.len() - 1]
        && consonants(word).last() == Some(true)
}

/// `*o`: whether the word ends with consonant, vowel, consonant, and the last letter is not w, x or y.
fn ends_short(word: &str) -> bool {
    let pattern: Vec<bool> = consonants(word).collect();
    pattern.ends_with(&[true, false, true]) && !word.ends_with(['w', 'x', 'y'])
}

#[cfg(test)]
mod tests {
    use super::stem;

    /// The words that the paper gives as examples of its steps, with their stems by the whole algorithm.
    const OF_THE_PAPER: &str = "
        caresses caress, ponies poni, ties ti, caress caress, cats cat, feed feed, agreed agre, plastered plaster,
        bled bled, motoring motor, sing sing, conflated conflat, troubled troubl, sized size, hopping hop, tanned tan,
        falling fall, hissing hiss, fizzed fizz, failing fail, filing file, happy happi, sky sky, relational relat,
        conditional condit, rational ration, valenci valenc, hesitanci hesit, digitizer digit, conformabli conform,
        radicalli radic, differentli differ, vileli vile, analogousli analog, vietnamization vietnam,
        predication predic, operator oper, feudalism feudal, decisiveness decis, hopefulness hope,
        callousness callous, formaliti formal, sensitiviti sensit, sensibiliti sensibl, triplicate triplic,
        formative form, formalize formal, electriciti electr, electrical electr, hopeful hope, goodness good,
        revival reviv, allowance allow, inference infer, airliner airlin, gyroscopic gyroscop, adjustable adjust,
        defensible defens, irritant irrit, replacement replac, adjustment adjust, dependent depend, adoption adopt,
        homologou homolog, communism commun, activate activ, angulariti angular, homologous homolog,
        effective effect, bowdlerize bowdler, probate probat, rate rate, cease ceas, controll control, roll roll,
        generalizations gener, oscillators oscil";

    #[test]
    fn words_of_the_paper() {
        for pair in OF_THE_PAPER.split(',') {
            let (word, expected) = pair.trim().split_once(' ').unwrap();
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn forms_of_one_word_are_one() {
        for forms in ["connect connected connecting connection connections", "relate related relating", "ion ions"] {
            let stems: std::collections::HashSet<String> = forms.split(' ').map(stem).collect();
            assert_eq!(stems.len(), 1, "{forms}: {stems:?}");
        }
    }

    #[test]
    fn other_words_are_left_alone() {
        for word in ["is", "as", "s", "", "café's", "x86s", "straßen", "漢字"] {
            assert_eq!(stem(word), word);
        }
    }
}

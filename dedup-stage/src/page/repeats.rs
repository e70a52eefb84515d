//! Passages that stand on a page several times, such as a text for wide and one for narrow screens. In an odd sketch, two
//! equal passages cancel each other out, so a page that shows all of its text twice would seem to say nothing. Passages
//! are equal here if they flip the same bits of the sketch, so numbers that count as one number do not tell them apart.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::joined_numbers::JoinedNumbers;
use super::numbering::numbers;
use super::outline::{Block, Outline};
use crate::signature::{Numbers, OddSketch, Passage};
use crate::words::{WordHash, fold_multiply, is_number};

/// A repeated passage with fewer words than this counts each time: the cells of a table are often equal.
const LEAST: usize = 4;

/// The words of each passage with the numbers that count as one, without passages that stand on the page before. Lists
/// of links stay, because the links that come and go are taken out of the sketch one by one.
pub fn distinct<'p>(
    passages: impl Iterator<Item = (&'p Passage, &'p Block)>,
    Outline { text, .. }: &Outline,
    words: &'p [WordHash],
) -> impl Iterator<Item = (Cow<'p, [WordHash]>, Numbers)> {
    let (mut met, mut joined_numbers) = (HashSet::new(), JoinedNumbers::default());
    passages.filter_map(move |(passage, block)| {
        let numbers = numbers(block, text);
        let words = joined_numbers.words(block, text, &words[passage.words.clone()]);
        let counts = words.len() < LEAST || block.is_list() || met.insert(hash(&words, numbers));
        counts.then_some((words, numbers))
    })
}

/// Gives repeated passages words of their own, so that they do not cancel each other out. The second passage of a kind
/// has other words than the first one, and so on. For pages with little text, on which each repetition counts.
pub fn tell_apart(passages: &mut [(Vec<WordHash>, Numbers)]) {
    let mut met = HashMap::<u64, u64>::new();
    for (words, numbers) in passages {
        let times = met.entry(hash(words, *numbers)).or_default();
        if *times > 0 {
            // A number stays a number.
            let others = words.iter_mut().filter(|word| !is_number(**word));
            others.for_each(|word| *word = fold_multiply(*word, 2 * *times + 1) >> 1);
        }
        *times += 1;
    }
}

/// A hash of the bits that a passage flips.
fn hash(words: &[WordHash], numbers: Numbers) -> u64 {
    let mut hash = words.len() as u64;
    OddSketch::flips(words, numbers, |bit| {
        hash = fold_multiply(hash.rotate_left(23) ^ u64::from(bit), 0x9E37_79B9_7F4A_7C15);
    });
    hash
}

#[cfg(test)]
mod tests {
    use super::super::tests::read;

    fn text(seed: u64, words: usize) -> String {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..words).map(|_| (0..6).map(|_| random.lowercase()).chain([' ']).collect::<String>()).collect()
    }

    fn is_same(before: &str, after: &str) -> bool {
        let odd = |html: &str| read(html).odd.expect("there are words");
        odd(before).is_same(&odd(after))
    }

    #[test]
    fn a_text_that_stands_several_times_is_one_text() {
        let page = |text: &str, times: usize| format!("<h1>News</h1>{}", format!("<p>{text}</p>").repeat(times));
        let (one, other) = (text(1, 60), text(2, 60));
        for times in 1..5 {
            assert!(!is_same(&page(&one, times), &page(&other, times)), "{times} times, all is replaced");
            assert!(is_same(&page(&one, 1), &page(&one, times)), "once, and {times} times");
        }
        let numbered = |text: &str| format!("<p>Part 1 {text}</p><p>Part 2 {text}</p>");
        assert!(!is_same(&numbered(&one), &numbered(&other)), "in prose, the numbers count as one number");
        let beside = |part: &str| format!("<p>{}</p>{}", text(3, 150), format!("<p>{part}</p>").repeat(2));
        assert!(!is_same(&beside(&text(4, 40)), &beside(&text(5, 40))), "a part that stands twice is replaced");
    }

    #[test]
    fn on_a_short_page_each_repetition_counts() {
        let odd = |html: &str| read(html).odd;
        let twice = |text: &str| format!("<p>{text}</p>").repeat(2);
        assert_ne!(odd(&twice("Road closed.")), odd(&twice("Road open.")));
        let rooms = |text: &str| format!("<p>Room 5 is {text}.</p><p>Room 6 is {text}.</p>");
        assert_ne!(odd(&rooms("open")), odd(&rooms("closed")));
        let board = |states: [&str; 3]| states.map(|state| format!("<p>{state} today</p>")).concat();
        assert_ne!(odd(&board(["open", "open", "closed"])), odd(&board(["open", "closed", "closed"])));
        assert_eq!(odd(&board(["open", "open", "closed"])), odd(&board(["open", "open", "closed"])));
        assert_eq!(odd(&twice("Road closed 3 March.")), odd(&twice("Road closed 4 May.")), "dates do not count");
    }
}

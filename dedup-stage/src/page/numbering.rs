//! Numbers of chapters, sections and entries at the start of a block: `57.1.2. Concepts`, `Chapter 57. Native Language
//! Support`, `3) Rinse`. If a chapter is inserted, the later ones get new numbers and say the same as before.

use super::outline::Block;
use crate::signature::Numbers;

/// The numbers of a block that count as one number. In prose these are all numbers, because dates, counters and
/// versions change while the page stays the same. In an item of a list, a cell of a table or preformatted text, numbers
/// are content. There only a number that counts sections or entries is none.
pub(super) fn numbers(block: &Block, text: &str) -> Numbers {
    if block.is_prose() {
        Numbers::All
    } else if is_numbered(&text[block.range()]) {
        Numbers::First
    } else {
        Numbers::None
    }
}

/// Whether a text begins with the number of a section or an entry, and goes on after it. At most one word stands before
/// the number. The number ends with a dot, a colon or a bracket (`53.32.`), or has at least three parts (`4.7.2`).
/// Otherwise it may be a quantity (`1.5 kg`).
fn is_numbered(text: &str) -> bool {
    let text = text.trim_start();
    let word = text.trim_start_matches(char::is_alphabetic);
    let number = word.trim_start();
    if word.len() < text.len() && number.len() == word.len() {
        return false;
    }
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let (number, ended) = (&number[..number.len() - rest.len()], rest.trim_start_matches([':', ')']));
    let is_whole = number.ends_with('.') || ended.len() < rest.len() || number.matches('.').count() > 1;
    let after = ended.trim_start();
    number.starts_with(|c: char| c.is_ascii_digit())
        && is_whole
        && after.len() < ended.len()
        && after.starts_with(|c: char| !c.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::read;

    #[test]
    fn numbers_of_sections_are_known_by_their_form() {
        for text in [
            "57.1.2. Concepts",
            "57. Native Language Support",
            " 4.7.2 Keywords",
            "Chapter\u{a0}57.\u{a0}Languages",
            "Глава 3. Правила",
            "3) Rinse",
            "Step 4: rinse",
            "53.31. \u{201c}pg_language\u{201d}",
        ] {
            assert!(is_numbered(text), "{text}");
        }
        for text in [
            "",
            "57",
            "57.",
            "1.5 kg of flour",
            "250 g of sugar",
            "12.03. 2026",
            "12.03.2026",
            "FC 3:1",
            "a big house 3. b",
            "x86. An architecture",
            ". . .",
            "3.x",
        ] {
            assert!(!is_numbered(text), "{text}");
        }
    }

    #[test]
    fn an_item_with_a_new_number_says_the_same_and_one_with_a_new_quantity_does_not() {
        let list = |chapter: u32, kilograms: u32| {
            let items: String =
                (1..30).map(|at| format!("<li>{chapter}.{at}. Part {at} on rocks<li>{kilograms}.{at} kg")).collect();
            read(&format!("<h1>Rocks of the old mountains</h1><ul>{items}</ul>")).odd.unwrap()
        };
        assert_eq!(list(3, 4), list(5, 4));
        assert!(!list(3, 4).is_same(&list(3, 5)));
    }
}

//! The passages of a page, as its odd sketch has them. If a page differs from its earlier content, they tell which
//! passages came ([`crate::judge`]).

use config::bounds;
use serde::{Deserialize, Serialize};

use super::link_texts::in_sketch;
use super::repeats::distinct;
use super::{Page, Reader};
use crate::signature::OddSketch;

/// The bits of the odd sketch that each passage of the content flips.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passages {
    #[serde(with = "serde_bytes")]
    flips: Vec<u8>,
    /// For each passage, the end of its flips.
    ends: Vec<u32>,
}

impl Passages {
    /// A page with more passages than this has none here. To look for those that came takes time for each of them.
    const MOST: usize = 512;

    /// The bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        self.flips.capacity() + 4 * self.ends.capacity()
    }

    /// The flips of each passage, in the order of the page ([`OddSketch::flips`]).
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut from = 0;
        self.ends
            .iter()
            .filter_map(move |&end| self.flips.get(std::mem::replace(&mut from, end) as usize..end as usize))
    }
}

impl Reader {
    /// The passages of `page`, which must be the page that was read last. None if there are very many, or if they have
    /// very many words.
    pub fn passages(&self, page: &Page) -> Passages {
        let mut passages = Passages::default();
        if page.odd.is_none() {
            return passages;
        }
        for (words, numbers) in distinct(in_sketch(&self.content, &self.outline.blocks), &self.outline, &self.hashes) {
            OddSketch::flips(&words, numbers, |bit| passages.flips.push(bit));
            passages.ends.push(passages.flips.len() as u32);
            if passages.flips.len() > bounds::LINK_WORDS || passages.ends.len() > Passages::MOST {
                return Passages::default();
            }
        }
        passages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Input;
    use crate::signature::Difference;

    fn passages(body: &str) -> (Page, Passages) {
        let url = "http://a.test/x".parse().unwrap();
        let mut reader = Reader::default();
        let page =
            reader.read(&Input { url: &url, status: 200, content_type: Some("text/html"), body: body.as_bytes() });
        let passages = reader.passages(&page);
        (page, passages)
    }

    #[test]
    fn the_passages_make_up_the_odd_sketch_and_very_many_are_none() {
        let text = |count: usize| -> String {
            let name = |at: usize| -> String { format!("{at}").bytes().map(|digit| char::from(digit + 49)).collect() };
            (0..count)
                .map(|at| format!("<p>The old bridge over the river {0} in {0} still stands.</p>", name(at)))
                .collect()
        };
        let list = "<ul><li><a href=/a>one of the links</a></li><li><a href=/b>another of them</a></li></ul>";
        let (page, passages_of_page) = passages(&format!("<h1>Bridges</h1>{}{list}", text(9)));
        assert_eq!(passages_of_page.iter().count(), 10, "the lists of a page of text are no part of its sketch");
        let odd = page.odd.unwrap();
        let pair = |flips: &[u8], bit: u8| flips.iter().filter(|flip| **flip == bit).count();
        let nothing = odd.difference(&odd);
        let rest = passages_of_page.iter().fold(nothing, |sum, flips| sum.without_passage(flips));
        let flipped = |bit: &u8| passages_of_page.iter().map(|flips| pair(flips, *bit)).sum::<usize>() % 2 == 1;
        assert_eq!(rest.odd() as usize, (0..=u8::MAX).filter(flipped).count());
        assert_eq!(rest, nothing.without(&Difference::of_passage(&passages_of_page.flips)));
        assert!(odd.is_same(&passages(&format!("<h1>Bridges</h1>{}", text(9))).0.odd.unwrap()));
        assert_eq!(passages(&text(Passages::MOST)).1.iter().count(), Passages::MOST);
        assert_eq!(passages(&text(Passages::MOST + 1)).1, Passages::default());
    }
}

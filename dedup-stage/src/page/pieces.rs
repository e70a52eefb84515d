//! The pieces of a page: what it says, cut into parts that may stand on other pages, too. A site without end often
//! arranges the same pieces in ever new ways: the events of a calendar, headlines, links to related pages. As a whole,
//! each of its pages has a text that no other page has. Whoever remembers pieces sees that such a page says nothing
//! new.
//!
//! A piece is the text of a block. If a block is a list of several links, each link is a piece, and so is the rest of
//! the block. A medium is a piece, too, and so is the title of a page with few words. Chrome has no pieces. The order
//! of the words of a piece does not count. Numbers and the names of months and days do not count where they stand among
//! many other words ("you are visitor 4711"). Where they do not (a cell of a table), they are what the piece says. The
//! words of the page's own URL say nothing ("Events on 5/3/2031" at `/calendar/2031/3/5`).

use std::borrow::Cow;
use std::ops::Sub;

use ::url::Url;

use super::filling::{Filling, is_date_word};
use super::joined_numbers::JoinedNumbers;
use super::{Page, Reader};
use crate::words::{WordHash, fold_multiply, is_number};

/// A piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// A hash of what it says.
    pub hash: u64,
    /// Number of its words. A medium has [`Piece::MEDIUM`].
    pub words: u32,
}

impl Piece {
    /// A page with more pieces than this is not cut. Traps have small pages, and the pieces of a large one cost time.
    pub const MOST: usize = 256;
    /// A medium counts as a sentence of this many words.
    pub const MEDIUM: u32 = 8;
}

/// Sums over the words of a text. A sum does not depend on the order, and the words of a part can be taken out of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    /// The sum of the words that are neither numbers nor words of the URL.
    words: u64,
    /// The sum of the numbers that are not in the URL.
    numbers: u64,
    /// The number of all words.
    count: u32,
    /// The number of the words that are numbers, or names of months and days.
    numbers_count: u32,
    /// The number of the words that are words of the URL, and no numbers.
    of_url: u32,
}

impl Sums {
    /// Numbers do not count in a piece that has at least this many other words, and as many as numbers.
    const AMONG: u32 = 4;

    fn of(words: &[WordHash], filling: &Filling) -> Self {
        let mut sums = Self { count: words.len() as u32, ..Self::default() };
        for &word in words {
            let (is_number, is_of_url) = (is_number(word) || is_date_word(word), filling.is_of_url(word));
            sums.numbers_count += u32::from(is_number);
            sums.of_url += u32::from(is_of_url && !is_number);
            if !is_of_url {
                let sum = if is_number { &mut sums.numbers } else { &mut sums.words };
                *sum = sum.wrapping_add(word);
            }
        }
        sums
    }

    /// Whether its numbers stand among other words.
    fn has_words(self) -> bool {
        let others = self.count.saturating_sub(self.numbers_count).saturating_sub(self.of_url);
        others >= Self::AMONG && others >= self.numbers_count
    }

    /// The piece with these words; `None` if there are none.
    fn piece(self) -> Option<Piece> {
        let numbers = if self.has_words() { 0 } else { self.numbers };
        let counts = u64::from(self.numbers_count) << 32 | u64::from(self.of_url);
        let hash = fold_multiply(self.words ^ 0x9E37_79B9_7F4A_7C15, numbers ^ 0xD6E8_FEB8_6659_FD93);
        let hash = fold_multiply(hash ^ 0xE703_7ED1_A0B4_28DB, counts ^ 0x8EBC_6AF0_9C88_C6E3);
        (self.count > 0).then_some(Piece { hash, words: self.count })
    }
}

impl Sub for Sums {
    type Output = Self;

    fn sub(self, part: Self) -> Self {
        Self {
            words: self.words.wrapping_sub(part.words),
            numbers: self.numbers.wrapping_sub(part.numbers),
            count: self.count.saturating_sub(part.count),
            numbers_count: self.numbers_count.saturating_sub(part.numbers_count),
            of_url: self.of_url.saturating_sub(part.of_url),
        }
    }
}

impl Reader {
    /// The pieces of `page`, which must be the page that was read last, from `url`. Empty if it has more than
    /// [`Piece::MOST`].
    pub fn pieces(&mut self, page: &Page, url: &Url) -> Vec<Piece> {
        let Self { outline, spans, hashes, words, believed, .. } = self;
        let shown = outline.blocks.iter().zip(&*spans);
        let shown = shown.filter(|(block, span)| !block.signs.meet(*believed) && !span.is_empty());
        let room = Piece::MOST.saturating_sub(page.media.len());
        let count = shown.clone().take(room + 1).count();
        let (mut pieces, mut scratch) = (Vec::with_capacity(count + page.media.len()), Vec::new());
        if count > room {
            return Vec::new();
        }
        let (filling, mut joined_numbers) = (Filling::of(url, words), JoinedNumbers::default());
        let mut links = &outline.links[..];
        for (block, span) in shown {
            let said = &hashes[span.clone()];
            let mut rest = Sums::of(said, &filling);
            if let Cow::Owned(joined) = joined_numbers.words(block, &outline.text, said) {
                let joined = Sums::of(&joined, &filling);
                // Beside few words, the number may be a date whose parts the URL has. They are read one by one.
                rest = if joined.has_words() { joined } else { rest };
            }
            if block.is_list() {
                links = &links[links.partition_point(|link| link.anchor.0 < block.start)..];
                let within = links.iter().take_while(|link| link.anchor.0 < block.end);
                let within = within.filter(|link| link.anchor.0 < link.anchor.1 && link.anchor.1 <= block.end);
                let several = within.clone().nth(1).is_some();
                for link in within.filter(|_| several) {
                    scratch.clear();
                    words.hashes(outline.anchor(link), &mut scratch);
                    let sums = Sums::of(&scratch, &filling);
                    rest = rest - sums;
                    pieces.extend(sums.piece());
                }
            }
            pieces.extend(rest.piece());
        }
        if pieces.len() > room {
            return Vec::new();
        }
        if page.signature.is_none() {
            scratch.clear();
            words.hashes(&page.title, &mut scratch);
            pieces.extend(Sums::of(&scratch, &filling).piece());
        }
        pieces.extend(page.media.iter().map(|medium| Piece { hash: *medium, words: Piece::MEDIUM }));
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Input;

    fn of(body: &str) -> Vec<Piece> {
        at("/x", body)
    }

    fn at(path: &str, body: &str) -> Vec<Piece> {
        let url = Url::parse("http://a.test").unwrap().join(path).unwrap();
        let mut reader = Reader::default();
        let input = Input { url: &url, status: 200, content_type: Some("text/html"), body: body.as_bytes() };
        let page = reader.read(&input);
        reader.pieces(&page, &url)
    }

    #[test]
    fn the_title_counts_beside_few_words() {
        let many: String = (0..40).map(|number| format!("word{number} ")).collect();
        let [short, long] =
            ["an ant", &many].map(|text| ["One", "Two"].map(|title| of(&format!("<title>{title}</title><p>{text}"))));
        assert_eq!((short[0].len(), long[0].len()), (2, 1));
        assert!(short[0] != short[1] && long[0] == long[1]);
    }

    #[test]
    fn blocks_are_pieces_wherever_they_stand_and_chrome_is_none() {
        let text = "<p>the old bridge over the river was built by the town a hundred years ago and still stands</p>";
        let (ant, bee) = ("<td>ant fair</td>", "<td>bee fair at the town hall</td>");
        let mut one = of(&format!("<nav>Home News</nav>{text}<table><tr>{ant}{bee}</table>"));
        let mut other = of(&format!("<table><tr>{bee}{ant}</table>{text}<nav>Sports</nav>"));
        [&mut one, &mut other].into_iter().for_each(|pieces| pieces.sort_by_key(|piece| piece.words));
        assert_eq!(one, other);
        assert_eq!(one.iter().map(|piece| piece.words).collect::<Vec<_>>(), [2, 6, 18]);
    }

    #[test]
    fn each_link_of_a_row_of_links_is_a_piece_and_links_in_prose_are_not() {
        let row = |links: &[&str]| {
            let links: String = links.iter().map(|text| format!("<a href=/{}>{text}</a> ", text.len())).collect();
            of(&format!("<p>See {links}"))
        };
        let (one, other) = (row(&["ant bee", "cat dog eel"]), row(&["cat dog eel", "fox gnu hen", "ant bee"]));
        assert_eq!((one.len(), other.len()), (3, 4));
        assert!(one.iter().all(|piece| other.contains(piece)), "{one:?} {other:?}");
        assert_eq!(
            of("<p>an ant and a bee met <a href=/1>at the river</a> and <a href=/2>a lake</a> one day").len(),
            1
        );
    }

    #[test]
    fn numbers_count_where_little_else_stands() {
        let hash = |body: &str| of(body)[0].hash;
        assert_eq!(hash("<p>you are visitor 17 of this site"), hash("<p>you are visitor 4711 of this site"));
        assert_ne!(hash("<p>you are visitor 17 of this site"), hash("<p>you are visitor of this site"));
        assert_ne!(hash("<p>17"), hash("<p>18"));
        assert_ne!(hash("<p>12 degrees at noon"), hash("<p>13 degrees at noon"), "three other words");
        assert_ne!(hash("<p>rain 1 2 sun 3 4 wind 5 fog 6"), hash("<p>rain 1 2 sun 3 4 wind 5 fog 7"));
    }

    #[test]
    fn words_of_the_url_do_not_count() {
        let day = |path: &str, date: &str| at(path, &format!("<h1>Events on {date}</h1><p>Nothing happens"));
        let one = day("/calendar/2031/03/05", "5/3/2031");
        assert_eq!(one, day("/calendar?date=20321224", "24/12/2032"));
        assert_ne!(one, day("/calendar/2031/03/05", "6/3/2031"), "the date of another page");
        assert_eq!(day("/x/1", "5 March 2031 in all our cities"), day("/x/1", "6 April 2032 in all our cities"));
        let found = |path: &str, word: &str| at(path, &format!("<p>Nothing was found for {word}"));
        assert_eq!(found("/?q=ant", "ant"), found("/?q=bee", "bee"));
    }

    #[test]
    fn a_status_line_is_one_piece_whatever_it_shows() {
        let line = |time: &str, seen: u32, request: &str| {
            of(&format!("<p>Rendered {time}, {seen} visitors online, request {request}"))
        };
        assert_eq!(line("10:15:02", 311, "8f3a77bc0e12"), line("23:04:59", 7, "a00b1c2d3e4f"));
        let at = |path: &str| at(path, "<p>Rendered 10:15:02, 311 visitors online, request 8f3a77bc");
        assert_eq!(at("/story/311"), at("/story/8"), "a number that the URL has by chance");
    }

    #[test]
    fn media_are_pieces() {
        let [one, other] = ["a", "b"].map(|name| of(&format!("<p>a photo</p><img src=/{name}.jpg>")));
        assert_eq!((one.len(), one[0] == other[0], one[1] == other[1]), (2, true, false));
    }

    #[test]
    fn a_page_with_very_many_pieces_has_none() {
        let page = |pieces: usize| of(&"<p>a line".repeat(pieces));
        assert_eq!((page(Piece::MOST).len(), page(Piece::MOST + 1).len()), (Piece::MOST, 0));
    }
}

//! Pages that say a few words of their own beside a long text that is the same on all of them: the paragraphs of a law
//! under its preamble, entries of a list without pages of their own under terms of sale.

use fastrand::Rng;
use url::Url;

use super::front;
use crate::gate::draw::{Address, prose, target};
use crate::gate::{Page, Reply, Site};

/// The site.
pub(super) struct Plain {
    pages: u64,
    address: Address,
    /// The equal text: 150 to 2,000 words.
    text: String,
    /// The number of entries on a page, and the words of each.
    each: u64,
    words: usize,
    place: Place,
    /// The front page links to one page in this many.
    chapters: u64,
}

/// Where the entries stand.
#[derive(Clone, Copy, Debug)]
enum Place {
    Before,
    After,
    List,
    /// In the middle of the paragraph with the equal text.
    Within,
}

impl Plain {
    pub(super) fn draw(random: &mut Rng) -> Self {
        let words = [150, 300, 800, 2_000][random.usize(..4)];
        let place = [Place::Before, Place::After, Place::List, Place::Within][random.usize(..4)];
        Self {
            pages: random.u64(80..=200),
            address: Address::draw(random),
            text: prose(random.u64(..), words),
            each: random.u64(1..=4),
            words: random.usize(3..=20),
            place,
            chapters: [25, 1_000][random.usize(..2)],
        }
    }

    fn page(&self, number: u64) -> Page {
        let entries = || (number * self.each..).take(self.each as usize);
        let written = |entry: u64| prose(entry, self.words);
        let own = |page: Page, before: &str, after: &str| {
            entries().fold(page, |page, entry| page.own(entry, &format!("{before}{}{after}", written(entry))))
        };
        let page = Page::new("The list");
        let page = match self.place {
            Place::Before => own(page, "<p>", "</p>").paragraph(&self.text),
            Place::After => own(page.paragraph(&self.text), "<p>", "</p>"),
            Place::List => own(page.paragraph(&self.text).html("<ul>"), "<li>", "").html("</ul>"),
            Place::Within => {
                let middle = self.text[..self.text.len() / 2].rfind(' ').unwrap_or(0);
                let (start, end) = self.text.split_at(middle);
                own(page.html(&format!("<p>{start}")), "", "").html(&format!("{end}</p>"))
            }
        };
        if number + 1 < self.pages { page.link(&self.address.write(number + 1), "Next") } else { page }
    }
}

impl Site for Plain {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        if target == "/" {
            let page = Page::new("Home").text(1 << 20, 60);
            let chapters = (0..self.pages).step_by(self.chapters as usize);
            return Reply::Page(chapters.fold(page, |page, number| page.link(&self.address.write(number), "Read")));
        }
        self.address.read(target, self.pages).map_or(Reply::Missing, |number| Reply::Page(self.page(number)))
    }
}

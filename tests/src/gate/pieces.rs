//! Sites whose pages arrange pieces: a calendar of events, articles between headlines, a tree of folders with a quotation
//! on each page. If the pieces come from a pool, the pages have no end, and each of them has another text, but soon they
//! say nothing new: a trap. If each page has pieces of its own, the site is honest, and comes to an end.

use fastrand::Rng;
use url::Url;

use super::draw::{Articles, hash, prose, target, word};
use super::{Page, Reply, Site};

/// The shape of the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arranged {
    /// Months with events, as a table. Each month links to the next one and to the one before.
    Calendar,
    /// A text that few or no pages share, between three headlines. Each link has a random parameter.
    Headlines,
    /// Folders with a quotation. Each leads to folders within, and to some articles.
    Tree,
}

impl Arranged {
    /// All shapes.
    pub const ALL: [Arranged; 3] = [Arranged::Calendar, Arranged::Headlines, Arranged::Tree];
}

/// A site of articles, and of pages that arrange pieces.
pub struct Pieces {
    shape: Arranged,
    articles: Articles,
    name: String,
    /// A text on every page that arranges pieces.
    text: String,
    from: From,
    /// The folders that each folder of a tree leads to, or the pages that each page with headlines leads to.
    links: u64,
}

/// The origin of the pieces.
#[derive(Clone, Copy, Debug)]
enum From {
    /// They are drawn from this many.
    Pool(u64),
    /// Each of this many pages has its own.
    Page(u64),
}

impl Pieces {
    /// A trap. The honest part of the site are its articles.
    pub fn trap(seed: u64, shape: Arranged) -> Self {
        Self::draw(seed, shape, |random| {
            From::Pool(match shape {
                Arranged::Calendar => random.u64(8..=30),
                Arranged::Headlines => random.u64(20..=80),
                Arranged::Tree => random.u64(30..=120),
            })
        })
    }

    /// An honest site: each page has pieces of its own.
    pub fn honest(seed: u64, shape: Arranged) -> Self {
        Self::draw(seed, shape, |random| From::Page(random.u64(300..=600)))
    }

    fn draw(seed: u64, shape: Arranged, from: impl FnOnce(&mut Rng) -> From) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x7069_6563_6573);
        let random = &mut random;
        Self {
            shape,
            articles: Articles::draw(random.u64(60..=100), 1 << 24, random),
            name: word(random),
            text: prose(random.u64(..), random.usize(0..=120)),
            from: from(random),
            links: random.u64(2..=3),
        }
    }

    /// The path and query of a page that arranges pieces. `from` is the page that links to it.
    fn write(&self, number: u64, from: u64) -> String {
        let name = &self.name;
        match self.shape {
            Arranged::Calendar => format!("/{name}/{}/{}", 2_000 + number / 12, 1 + number % 12),
            Arranged::Headlines => {
                let page = if let From::Pool(_) = self.from { number % 40 } else { number };
                let drawn = hash(&from.to_string(), number) % 1_000_000_007;
                format!("/{name}/{page}?t={}", if let From::Pool(_) = self.from { drawn } else { number })
            }
            Arranged::Tree => {
                let mut path = String::new();
                let mut at = number;
                // The path of a folder leads over the folders that it lies in.
                while at > 0 {
                    path = format!("{:x}/{path}", hash(&at.to_string(), 3) & 0xff_ffff);
                    at = (at - 1) / self.links;
                }
                format!("/{name}/{path}")
            }
        }
    }

    /// The number of the page at a target. In a trap, any target has one.
    fn read(&self, target: &str) -> Option<u64> {
        let rest = target.strip_prefix(&format!("/{}/", self.name))?;
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u64>().ok());
        match (self.shape, self.from) {
            (Arranged::Calendar, _) => {
                let years = numbers.next()?.checked_sub(2_000)?;
                years.checked_mul(12)?.checked_add(numbers.next()?.checked_sub(1)?)
            }
            (_, From::Page(count)) => (0..count).find(|number| self.write(*number, 0) == target),
            (_, From::Pool(_)) => Some(hash(target, 8)),
        }
    }

    /// Adds a piece to a page, at a place among its pieces.
    fn piece(&self, page: Page, number: u64, place: u64, words: usize, tag: &str) -> Page {
        let (own, drawn) = ((1 << 32) + number * 64 + place, hash(&number.to_string(), 100 + place));
        match self.from {
            From::Pool(count) => page.html(&format!("<{tag}>{}</{tag}>", prose((1 << 40) + drawn % count, words))),
            From::Page(_) => page.own(own, &format!("<{tag}>{}</{tag}>", prose(own, words))),
        }
    }

    fn arranged(&self, number: u64, target: &str) -> Page {
        let mut page = Page::new("Here").paragraph(&self.text);
        match self.shape {
            Arranged::Calendar => {
                page = page.html("<table>");
                for day in 1..=30 {
                    page = page.html(&format!("<tr><td>{day}</td>"));
                    if hash(&number.to_string(), day).is_multiple_of(3) {
                        page = self.piece(page, number, day, 5, "td");
                    }
                }
                page = page.html("</table>");
                if number + 1 < self.count() {
                    page = page.link(&self.write(number + 1, 0), "Next month");
                }
                if number > 0 { page.link(&self.write(number - 1, 0), "Previous month") } else { page }
            }
            Arranged::Headlines => {
                let of = hash(target, 9);
                page = page.paragraph(&format!("It is {}:{} now, and you are visitor {of}.", of % 24, of % 60));
                page = match self.from {
                    From::Pool(_) => page.paragraph(&prose((1 << 41) + number % 40, 60)),
                    From::Page(_) => page.text((1 << 41) + number, 60),
                };
                page = (0..3).fold(page, |page, place| self.piece(page, number, place, 7, "p"));
                self.next(number).fold(page, |page, next| page.link(&self.write(next, of), "More"))
            }
            Arranged::Tree => {
                page =
                    self.piece(page.paragraph("Sorry, there is no such page any more."), number, 0, 20, "blockquote");
                for next in self.next(number) {
                    let href = match self.from {
                        From::Pool(_) => format!("{:x}/", next & 0xff_ffff),
                        From::Page(_) => self.write(next, 0),
                    };
                    page = page.link(&href, "Perhaps here");
                }
                (0..3).fold(page, |page, at| {
                    let article = hash(target, 40 + at) % self.articles.count;
                    page.link(&self.articles.write(article), &prose(self.articles.first + article, 3))
                })
            }
        }
    }

    /// The pages to which a page links.
    fn next(&self, number: u64) -> impl Iterator<Item = u64> {
        let next = move |at| match self.from {
            From::Pool(_) => hash(&number.to_string(), at),
            From::Page(_) => number * self.links + at,
        };
        (1..=self.links).map(next).filter(|next| matches!(self.from, From::Pool(_)) || *next < self.count())
    }

    /// The number of pages, if they have pieces of their own.
    fn count(&self) -> u64 {
        if let From::Page(count) = self.from { count } else { u64::MAX }
    }
}

impl Site for Pieces {
    fn seeds(&self) -> Vec<String> {
        vec!["http://pieces.test/".into()]
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        if let Some(number) = self.articles.read(target) {
            let page = self.articles.page(number);
            return Reply::Page(if number % 4 == 0 { page.link(&self.write(0, number), "See also") } else { page });
        }
        let number = self.read(target).filter(|number| *number < self.count());
        number.map_or(Reply::Missing, |number| Reply::Page(self.arranged(number, target)))
    }
}

//! Names, prose and styles of URLs, drawn from seeds. Each seed has other names, so that a crawler cannot recognise
//! anything by its name.

use fastrand::Rng;
use url::{Position, Url};
use xxhash_rust::xxh3::xxh3_64_with_seed;

const SYLLABLES: [&str; 20] = [
    "ba", "ke", "lo", "mi", "nu", "ra", "sto", "ve", "wy", "zan", "pel", "dro", "fi", "gu", "hes", "tri", "ono", "ul",
    "cam", "der",
];

/// A word that is in no language.
pub(super) fn word(random: &mut Rng) -> String {
    (0..random.usize(2..5)).map(|_| SYLLABLES[random.usize(..SYLLABLES.len())]).collect()
}

/// This many words that are in no language, different ones for each number.
pub(super) fn prose(number: u64, words: usize) -> String {
    let mut random = Rng::with_seed(number ^ 0x7465_7874);
    (0..words).map(|_| word(&mut random)).collect::<Vec<_>>().join(" ")
}

/// A number that looks random and is always the same for the same text and salt.
pub(super) fn hash(text: &str, salt: u64) -> u64 {
    xxh3_64_with_seed(text.as_bytes(), salt)
}

/// The path and query of a URL.
pub(super) fn target(url: &Url) -> &str {
    &url[Position::BeforePath..Position::AfterQuery]
}

/// The way in which the URLs of one kind of page contain the number of the page.
#[derive(Clone, Debug)]
pub(super) struct Address {
    name: String,
    key: String,
    style: Style,
    /// The factor between the number of a page and the number in its URL.
    step: u64,
}

#[derive(Clone, Copy, Debug)]
enum Style {
    /// `/name/17`
    Segment,
    /// `/name/17/`
    Folder,
    /// `/name-17.html`
    File,
    /// `/name?key=17`
    Query,
    /// `/name/7898d81e`
    Hex,
    /// `/name/7898d81e/view`
    View,
    /// `/name/kelobami`
    Word,
    /// `/kelobami`
    Root,
}

impl Address {
    const STYLES: [Style; 4] = [Style::Segment, Style::Folder, Style::File, Style::Query];

    /// An address with a name and a style of its own.
    pub(super) fn draw(random: &mut Rng) -> Self {
        let style = Self::STYLES[random.usize(..4)];
        Self { name: word(random), key: word(random), style, step: 1 }
    }

    /// An address with a name of its own, and with a style that does not show the number.
    pub(super) fn hidden(random: &mut Rng) -> Self {
        let style = [Style::Hex, Style::View, Style::Word, Style::Root][random.usize(..4)];
        Self { name: word(random), key: word(random), style, step: 1 }
    }

    /// An address for the pages of a list, whose number is in a parameter or a path segment: `/name?key=30` may be the
    /// fourth page of ten entries each.
    pub(super) fn pages(random: &mut Rng, entries: u64) -> Self {
        let step = if random.bool() { 1 } else { entries };
        let style = if random.bool() { Style::Query } else { Style::Segment };
        Self { name: word(random), key: word(random), style, step }
    }

    /// The path and query of page `number`.
    pub(super) fn write(&self, number: u64) -> String {
        let Self { name, key, .. } = self;
        let number = number * self.step;
        match self.style {
            Style::Segment => format!("/{name}/{number}"),
            Style::Folder => format!("/{name}/{number}/"),
            Style::File => format!("/{name}-{number}.html"),
            Style::Query => format!("/{name}?{key}={number}"),
            Style::Hex => format!("/{name}/{:08x}", hash(key, number) as u32),
            Style::View => format!("/{name}/{:08x}/view", hash(key, number) as u32),
            Style::Word => format!("/{name}/{}", self.word(number)),
            Style::Root => format!("/{}", self.word(number)),
        }
    }

    /// The word that stands for a number.
    fn word(&self, number: u64) -> String {
        let number = hash(&self.key, number) as usize;
        (0..5).map(|place| SYLLABLES[number / 20_usize.pow(place) % 20]).collect()
    }

    /// The number of the page at this path and query, if it is below `end`.
    pub(super) fn read(&self, target: &str, end: u64) -> Option<u64> {
        if matches!(self.style, Style::Hex | Style::View | Style::Word | Style::Root) {
            return (0..end).find(|number| self.write(*number) == target);
        }
        let digits = target.rsplit(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?;
        let number = digits.parse::<u64>().ok()? / self.step;
        (number < end && self.write(number) == target).then_some(number)
    }
}

/// Articles with texts of their own that link to each other. They are the honest part of a site.
#[derive(Clone, Debug)]
pub(super) struct Articles {
    /// The number of articles.
    pub count: u64,
    /// The number of the text of the first article.
    pub first: u64,
    address: Address,
}

impl Articles {
    pub(super) fn draw(count: u64, first: u64, random: &mut Rng) -> Self {
        Self { count, first, address: Address::draw(random) }
    }

    /// The path and query of an article.
    pub(super) fn write(&self, number: u64) -> String {
        self.address.write(number)
    }

    /// The number of the article at this target. The front page is the first article.
    pub(super) fn read(&self, target: &str) -> Option<u64> {
        if target == "/" { Some(0) } else { self.address.read(target, self.count) }
    }

    /// The articles to which an article links: its children in a tree, and one elsewhere.
    pub(super) fn next(&self, number: u64) -> impl Iterator<Item = u64> + use<> {
        let count = self.count;
        [2 * number + 1, 2 * number + 2, (7 * number + 3) % count].into_iter().filter(move |next| *next < count)
    }

    /// The page of an article, with its links.
    pub(super) fn page(&self, number: u64) -> super::Page {
        let own = self.first + number;
        let page = super::Page::new(prose(own ^ 0x5469, 4)).text(own, 150);
        self.next(number).fold(page, |page, next| page.link(&self.write(next), &prose(self.first + next, 3)))
    }
}

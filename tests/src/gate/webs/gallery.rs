//! A gallery: each page has the same paragraph, a file of its own, and a link to the next page. All pages may show
//! the same pictures beside it.

use fastrand::Rng;
use url::Url;

use super::front;
use crate::gate::draw::{Address, prose, target, word};
use crate::gate::{Page, Reply, Site};

/// A gallery.
pub(super) struct Gallery {
    count: u64,
    address: Address,
    /// The paragraph that is on every page.
    paragraph: String,
    /// The HTML element of a file. `{}` stands for the path of the file without its extension.
    element: &'static str,
    files: String,
    /// Whether pages link to the previous page, whether they link to the front page, and whether they have their number
    /// in the title.
    before: bool,
    up: bool,
    numbered: bool,
    /// The number of pictures that all pages show.
    shared: u64,
}

const ELEMENTS: [&str; 7] = [
    "<img src=\"{}.jpg\" alt=\"\">",
    "<figure><img src=\"{}-small.jpg\" srcset=\"{}-small.jpg 480w, {}-large.jpg 1200w\" alt=\"photo\"></figure>",
    "<picture><source srcset=\"{}.webp\" type=\"image/webp\"><img src=\"{}.png\" alt=\"\"></picture>",
    "<video controls><source src=\"{}.mp4\" type=\"video/mp4\"></video>",
    "<audio controls src=\"{}.mp3\"></audio>",
    "<object data=\"{}.pdf\" type=\"application/pdf\"></object>",
    "<embed src=\"{}.svg\" type=\"image/svg+xml\">",
];

impl Gallery {
    pub(super) fn draw(random: &mut Rng) -> Self {
        Self {
            count: random.u64(150..=300),
            address: Address::draw(random),
            paragraph: prose(random.u64(..), random.usize(10..=120)),
            element: ELEMENTS[random.usize(..ELEMENTS.len())],
            files: word(random),
            before: random.bool(),
            up: random.bool(),
            numbered: random.bool(),
            shared: random.u64(0..=3),
        }
    }

    fn page(&self, number: u64) -> Page {
        let file = format!("/{}/{}", self.files, 7_000 + number * 3);
        let title = if self.numbered { format!("Plate {number}") } else { "Plate".into() };
        let mut page = Page::new(title).picture(number, &self.element.replace("{}", &file)).paragraph(&self.paragraph);
        for shared in 0..self.shared {
            page = page.html(&format!("<img src=\"/look/{shared}.png\" alt=\"\">"));
        }
        if self.before && number > 0 {
            page = page.link(&self.address.write(number - 1), "Previous");
        }
        if number + 1 < self.count {
            page = page.link(&self.address.write(number + 1), "Next");
        }
        if self.up { page.link("/", "Up") } else { page }
    }
}

impl Site for Gallery {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        if target(url) == "/" {
            return Reply::Page(Page::new("Plates").text(1 << 20, 80).link(&self.address.write(0), "Begin"));
        }
        self.address.read(target(url), self.count).map_or(Reply::Missing, |number| Reply::Page(self.page(number)))
    }
}

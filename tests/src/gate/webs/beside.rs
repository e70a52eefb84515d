//! Pages that say what is their own beside their content: in an aside, a side bar, a header or a footer. The content
//! has the same words on all pages.

use fastrand::Rng;
use url::Url;

use super::front;
use crate::gate::draw::{Address, prose, target};
use crate::gate::{Page, Reply, Site};

/// The site.
pub(super) struct Beside {
    count: u64,
    address: Address,
    /// The words of the content.
    content: String,
    /// The start tag and the end tag of the element with the text of the page.
    element: (&'static str, &'static str),
    /// The number of words of that text.
    words: usize,
    /// A text in the same place that all pages have; it may be empty.
    about: String,
    /// Whether the text stands before the content.
    first: bool,
}

const ELEMENTS: [(&str, &str); 8] = [
    ("<aside>", "</aside>"),
    ("<nav>", "</nav>"),
    ("<footer>", "</footer>"),
    ("<header>", "</header>"),
    ("<div class=\"sidebar\">", "</div>"),
    ("<div id=\"left-sidebar\">", "</div>"),
    ("<section role=\"complementary\">", "</section>"),
    ("<aside class=\"site-sidebar\">", "</aside>"),
];

impl Beside {
    pub(super) fn draw(random: &mut Rng) -> Self {
        let content = random.usize(30..=200);
        Self {
            count: random.u64(100..=200),
            address: Address::draw(random),
            content: prose(random.u64(..), content),
            element: ELEMENTS[random.usize(..ELEMENTS.len())],
            words: random.usize(content / 3 + 20..=content + 100),
            about: if random.bool() { prose(random.u64(..), 30) } else { String::new() },
            first: random.bool(),
        }
    }

    fn beside(&self, page: Page, number: u64) -> Page {
        page.html(self.element.0).paragraph(&self.about).text(number, self.words).html(self.element.1)
    }

    fn page(&self, number: u64) -> Page {
        let page = Page::new("A page");
        let page = if self.first { self.beside(page, number) } else { page };
        let page = page.html("<div>").paragraph(&self.content);
        let page = if number + 1 < self.count { page.link(&self.address.write(number + 1), "Next") } else { page }
            .html("</div>");
        if self.first { page } else { self.beside(page, number) }
    }
}

impl Site for Beside {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        if target(url) == "/" {
            return Reply::Page(Page::new("Begin").text(1 << 20, 80).link(&self.address.write(0), "Begin"));
        }
        self.address.read(target(url), self.count).map_or(Reply::Missing, |number| Reply::Page(self.page(number)))
    }
}

//! Traps with pictures that are not content: an image whose URL has a random parameter, and advertisements. In place of
//! a picture, a page may have a saying from a stock.

use fastrand::Rng;
use url::Url;

use super::{front, honest};
use crate::gate::draw::{Address, Articles, hash, prose, target, word};
use crate::gate::{Page, Reply, Site};

/// A site with an endless number of equal pages, each with images.
pub(super) struct Pictures {
    articles: Articles,
    views: Address,
    text: String,
    files: String,
    links: u64,
    images: Images,
}

/// The images on the pages, or what stands in their place.
#[derive(Clone, Copy, Debug)]
enum Images {
    /// One image, with a random parameter.
    Parameter,
    /// An advertisement of another site.
    Foreign,
    /// An advertisement of the same site, in an element whose class says so.
    Marked,
    /// An advertisement of the same site, between the pictures that all pages have.
    Beside,
    /// No image, but a saying with this many words.
    Saying(usize),
}

/// The number of different advertisements, and of sayings.
const ADS: u64 = 23;
const ENDLESS: u64 = 1_000_000;

impl Pictures {
    pub(super) fn random(random: &mut Rng) -> Self {
        Self::draw(Images::Parameter, random)
    }

    pub(super) fn ads(random: &mut Rng) -> Self {
        let images = [Images::Foreign, Images::Marked, Images::Beside][random.usize(..3)];
        Self::draw(images, random)
    }

    pub(super) fn sayings(random: &mut Rng) -> Self {
        let (words, text) = (random.usize(4..=20), random.usize(200..=600));
        Self { text: prose(random.u64(..), text), ..Self::draw(Images::Saying(words), random) }
    }

    fn draw(images: Images, random: &mut Rng) -> Self {
        Self {
            articles: honest(random),
            views: Address::draw(random),
            text: prose(random.u64(..), random.usize(15..=120)),
            files: word(random),
            links: random.u64(1..=5),
            images,
        }
    }

    fn view(&self, view: u64) -> Page {
        let (files, drawn) = (&self.files, hash(&view.to_string(), 9));
        let ad = drawn % ADS;
        let images = match self.images {
            Images::Parameter => format!("<img src=\"/{files}.png?r={drawn:x}\">"),
            Images::Foreign => format!("<img src=\"http://ads.example/{files}/{ad}.gif\">"),
            Images::Marked => format!("<div class=\"advertisement ad\"><img src=\"/{files}/{ad}.gif\"></div>"),
            Images::Saying(words) => format!("<p>{}</p>", prose(ad, words)),
            Images::Beside => {
                format!("<img src=\"/{files}/top.jpg\"><img src=\"/{files}/{ad}.gif\"><img src=\"/{files}/map.jpg\">")
            }
        };
        let page = Page::new("View").html(&images).paragraph(&self.text).link("/", "Home");
        let next = |at| if at == 0 { view + 1 } else { hash(&view.to_string(), at) % ENDLESS };
        (0..self.links).fold(page, |page, at| page.link(&self.views.write(next(at)), "Another view"))
    }
}

impl Site for Pictures {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        if let Some(number) = self.articles.read(target) {
            let page = self.articles.page(number);
            return Reply::Page(if number % 5 == 0 { page.link(&self.views.write(number * 7), "View") } else { page });
        }
        self.views.read(target, ENDLESS).map_or(Reply::Missing, |view| Reply::Page(self.view(view)))
    }
}

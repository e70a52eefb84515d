//! A shop: a list in parts shows every third product. A product has a picture, a few words of its own among many that
//! all products have, and links to two other products, which may be in no list.

use fastrand::Rng;
use url::Url;

use super::front;
use crate::gate::draw::{Address, prose, target, word};
use crate::gate::{Page, Reply, Site};

/// A shop.
pub(super) struct Shop {
    /// The number of products in a part of the list.
    each: u64,
    parts: u64,
    list: Address,
    product: Address,
    files: String,
    /// The text on every product: 60 to 150 words.
    terms: String,
    /// The number of words of its own that a product has.
    own: usize,
}

impl Shop {
    pub(super) fn draw(random: &mut Rng) -> Self {
        let each = random.u64(2..=12);
        Self {
            each,
            parts: 72 / each,
            list: Address::pages(random, each),
            product: Address::draw(random),
            files: word(random),
            terms: prose(random.u64(..), random.usize(60..=150)),
            own: random.usize(1..=25),
        }
    }

    fn count(&self) -> u64 {
        self.each * self.parts * 3
    }

    fn image(&self, product: u64) -> String {
        format!("<img src=\"/{}/{product}.webp\" alt=\"product\">", self.files)
    }

    fn part(&self, part: u64) -> Page {
        let listed = (0..self.each).map(|at| 3 * (part * self.each + at));
        let page = listed.fold(Page::new("Products").paragraph(&self.terms), |page, product| {
            page.html(&self.image(product)).item(product, &self.product.write(product), "Look closer")
        });
        if part + 1 < self.parts { page.link(&self.list.write(part + 1), "Next") } else { page }
    }

    fn product(&self, product: u64) -> Page {
        let others = [product + 1, product + 2].into_iter().filter(|other| *other < self.count());
        let page = Page::new("Product").picture(product, &self.image(product)).text(product, self.own);
        others
            .fold(page.paragraph(&self.terms), |page, other| page.link(&self.product.write(other), "Goes well with it"))
    }
}

impl Site for Shop {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        if target == "/" {
            return Reply::Page(Page::new("Shop").text(1 << 20, 60).link(&self.list.write(0), "Products"));
        }
        let part = self.list.read(target, self.parts).map(|part| self.part(part));
        let product = || self.product.read(target, self.count()).map(|product| self.product(product));
        part.or_else(product).map_or(Reply::Missing, Reply::Page)
    }
}

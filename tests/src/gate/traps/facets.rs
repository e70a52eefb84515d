//! A product list with filters: each combination of filters is a URL of its own.

use fastrand::Rng;
use url::Url;

use super::{front, honest};
use crate::gate::draw::{Articles, hash, prose, target, word};
use crate::gate::{Page, Reply, Site};

/// A shop with filters. Its products are articles.
pub(super) struct Facets {
    products: Articles,
    list: String,
    facets: Vec<String>,
    values: u64,
    /// The largest number of products on a list.
    shown: usize,
    text: String,
}

impl Facets {
    pub(super) fn draw(random: &mut Rng) -> Self {
        Self {
            products: honest(random),
            list: word(random),
            facets: (0..random.usize(3..=5)).map(|_| word(random)).collect(),
            values: random.u64(3..=5),
            shown: random.usize(6..=20),
            text: prose(random.u64(..), random.usize(20..=200)),
        }
    }

    /// The value of each facet; `None` if it is not chosen.
    fn choice(&self, url: &Url) -> Vec<Option<u64>> {
        let value = |facet: &String| {
            let (_, value) = url.query_pairs().find(|(name, _)| name == facet.as_str())?;
            value.parse().ok().filter(|value| *value < self.values)
        };
        self.facets.iter().map(value).collect()
    }

    fn write(&self, choice: &[Option<u64>]) -> String {
        let chosen = self.facets.iter().zip(choice).filter_map(|(facet, value)| Some(format!("{facet}={}", (*value)?)));
        let query: Vec<String> = chosen.collect();
        if query.is_empty() { format!("/{}", self.list) } else { format!("/{}?{}", self.list, query.join("&")) }
    }

    fn list(&self, url: &Url) -> Page {
        let choice = self.choice(url);
        let fits = |product: &u64| {
            let value = |facet: usize| hash(&product.to_string(), facet as u64) % self.values;
            choice.iter().enumerate().all(|(facet, wanted)| wanted.is_none_or(|wanted| value(facet) == wanted))
        };
        let found = (0..self.products.count).filter(fits).take(self.shown);
        let mut page = Page::new("Products").paragraph(&self.text);
        for product in found {
            page = page.link(&self.products.write(product), "A product");
        }
        for facet in 0..self.facets.len() {
            for value in (0..self.values).map(Some).chain([None]).filter(|value| *value != choice[facet]) {
                let mut other = choice.clone();
                other[facet] = value;
                page = page.link(&self.write(&other), "Filter");
            }
        }
        page
    }
}

impl Site for Facets {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        if let Some(product) = self.products.read(target(url)) {
            return Reply::Page(self.products.page(product).link(&format!("/{}", self.list), "All products"));
        }
        if url.path().trim_start_matches('/') == self.list { Reply::Page(self.list(url)) } else { Reply::Missing }
    }
}

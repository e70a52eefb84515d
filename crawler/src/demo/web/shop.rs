//! A shop with filters: a few hundred products behind a million combinations of filters. Each combination has pages of
//! its own.

use super::rng::{Rng, derive};
use super::words;

/// A shop on a site.
#[derive(Clone, Debug)]
pub(super) struct Shop {
    pub folder: &'static str,
    pub facets: [&'static str; FACETS],
    pub page_parameter: &'static str,
    pub products: u32,
    seed: u64,
}

const FACETS: usize = 6;

/// The number of values of a facet. With "any" there are ten choices, so there are 10^6 combinations.
const VALUES: u32 = 9;

impl Shop {
    /// The number of products on a page of a shelf.
    pub const SHELF: u32 = 20;

    pub fn new(seed: u64, products: u32) -> Self {
        let mut rng = Rng::new(seed, &[20]);
        let mut names = words::FACETS.to_vec();
        let facets = [(); FACETS].map(|()| names.swap_remove(rng.below(names.len())));
        Self { folder: rng.pick(words::SHOPS), facets, page_parameter: rng.pick(words::PAGES), products, seed }
    }

    /// The products that pass a filter. A filter has one decimal digit for each facet; 0 means any value.
    pub fn matching(&self, filter: u32) -> Vec<u32> {
        let digits = digits(filter);
        (0..self.products)
            .filter(|product| {
                let traits = derive(self.seed, &[21, u64::from(*product)]);
                digits.iter().enumerate().all(|(facet, digit)| {
                    *digit == 0 || u64::from(*digit) == 1 + (traits >> (10 * facet)) % u64::from(VALUES)
                })
            })
            .collect()
    }

    /// The filters one step away: one more facet is set to one of three values, or one facet is not filtered any more.
    pub fn neighbours(&self, filter: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut place = 1;
        for (facet, digit) in digits(filter).into_iter().enumerate() {
            if digit > 0 {
                found.push(filter - digit * place);
            } else {
                let first = derive(self.seed, &[22, u64::from(filter), facet as u64]) as u32 % VALUES;
                found.extend((0..3).map(|step| filter + place * (1 + (first + 3 * step) % VALUES)));
            }
            place *= 10;
        }
        found
    }

    /// The query of a shelf, with its question mark; empty for the first page of all products.
    pub fn query(&self, filter: u32, page: u32) -> String {
        let set = digits(filter).into_iter().zip(self.facets).filter(|(digit, _)| *digit > 0);
        let mut pairs: Vec<String> = set.map(|(digit, facet)| format!("{facet}={digit}")).collect();
        if page > 0 {
            pairs.push(format!("{}={}", self.page_parameter, page + 1));
        }
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }

    /// The filter and the page that a query names.
    pub fn shelf(&self, query: &str) -> Option<(u32, u32)> {
        let (mut filter, mut page) = (0, 0);
        for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let value: u32 = value.parse().ok()?;
            if key == self.page_parameter {
                page = value.checked_sub(1)?;
            } else {
                let facet = self.facets.iter().position(|facet| *facet == key)?;
                filter += value.min(VALUES) * 10u32.pow(facet as u32);
            }
        }
        Some((filter, page))
    }

    /// The number of pages of a shelf; 1 if the shelf is empty.
    pub fn shelf_pages(&self, filter: u32) -> u32 {
        (self.matching(filter).len() as u32).div_ceil(Self::SHELF).max(1)
    }
}

fn digits(filter: u32) -> [u32; FACETS] {
    let mut rest = filter;
    [(); FACETS].map(|()| {
        let digit = rest % 10;
        rest /= 10;
        digit
    })
}

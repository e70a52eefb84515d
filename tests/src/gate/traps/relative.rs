//! Two traps of relative links: apologies for missing pages that are sent with status 200, and paths that grow with
//! each step.

use fastrand::Rng;
use url::Url;

use super::{front, honest};
use crate::gate::draw::{Articles, hash, prose, target, word};
use crate::gate::{Page, Reply, Site};

/// A site that answers every URL with a page.
pub(super) struct Relative {
    articles: Articles,
    text: String,
    /// The number of links on each page of the trap.
    links: u64,
    /// Whether its pages are apologies. If so, their links lead anywhere; else, they only lead deeper.
    apology: bool,
    /// Whether links also have a parameter.
    query: bool,
    /// The words for the names of folders.
    names: Vec<String>,
}

impl Relative {
    pub(super) fn apologies(random: &mut Rng) -> Self {
        Self::draw(true, random.u64(2..=8), random)
    }

    pub(super) fn growing(random: &mut Rng) -> Self {
        Self::draw(false, random.u64(1..=3), random)
    }

    fn draw(apology: bool, links: u64, random: &mut Rng) -> Self {
        Self {
            articles: honest(random),
            text: prose(random.u64(..), random.usize(15..=150)),
            links,
            apology,
            query: random.bool(),
            names: (0..40).map(|_| word(random)).collect(),
        }
    }

    fn link(&self, target: &str, at: u64) -> String {
        let drawn = hash(target, at);
        let name = &self.names[(drawn % 40) as usize];
        let query = if self.query { format!("?from={}", drawn % 97) } else { String::new() };
        match (self.apology, drawn % 3) {
            (true, 0) => format!("/{name}/{}{query}", drawn % 10_007),
            (true, 1) => format!("../{name}-{}/{query}", drawn % 10_007),
            (true, _) => format!("{name}/{query}"),
            (false, _) => format!("{name}-{at}/{query}"),
        }
    }
}

impl Site for Relative {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        if let Some(number) = self.articles.read(target) {
            let page = self.articles.page(number);
            // Every fourth article has a link that leads into the trap.
            return Reply::Page(if number % 4 == 1 {
                page.link(&format!("/{}/", self.names[0]), "See also")
            } else {
                page
            });
        }
        let page = Page::new(if self.apology { "Sorry" } else { "Index" }).paragraph(&self.text).link("/", "Home");
        Reply::Page((0..self.links).fold(page, |page, at| page.link(&self.link(target, at), "See also")))
    }
}

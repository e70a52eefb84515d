//! Two archives on hosts of one domain. Each is a chain of lists, and a list names some articles and the next list. An
//! article names three others. The front pages and most lists are the same, so at first a crawler knows only the links
//! of the front page of the second archive. The articles that only the second one has come at the end of the chain. If
//! a crawler tries a sample of what it knows, it may meet none of them. It must not say then that hardly anything is
//! lost.

use std::collections::BTreeSet;

use fastrand::Rng;
use url::Url;

use super::draw::{hash, prose, target, word};
use super::{Page, Reply, Site, Thing};

/// Two archives.
#[derive(Clone, Debug)]
pub struct Archives {
    hosts: [String; 2],
    /// The number of articles of each archive.
    articles: u64,
    /// How many of them, the last ones, differ between the two.
    own: u64,
    /// The folder of the articles.
    folder: String,
    salt: u64,
}

/// The number of articles on one list.
const LIST: u64 = 25;

impl Archives {
    /// Two archives with this many articles each, of which `own` differ.
    pub fn draw(seed: u64, articles: u64, own: u64) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x6172_6368);
        let domain = word(&mut random);
        Self {
            hosts: [format!("a.{domain}1.test"), format!("b.{domain}1.test")],
            articles,
            own,
            folder: word(&mut random),
            salt: random.u64(..),
        }
    }

    /// The articles that only this archive has.
    pub fn own(&self, host: usize) -> BTreeSet<Thing> {
        (self.articles - self.own..self.articles).map(|at| Thing::Text(self.text(host, at))).collect()
    }

    /// The number of the text of an article.
    fn text(&self, host: usize, at: u64) -> u64 {
        let is_own = at >= self.articles - self.own;
        self.salt ^ (if is_own { 1 + host as u64 } else { 0 } << 32) ^ at
    }

    fn write(&self, at: u64) -> String {
        format!("/{}/{:06x}.html", self.folder, self.name(at))
    }

    fn name(&self, at: u64) -> u64 {
        hash(&at.to_string(), self.salt) & 0xFF_FFFF
    }

    fn page(&self, host: usize, target: &str) -> Option<Page> {
        let list =
            if target == "/" { Some(0) } else { target.strip_prefix("/?part=").and_then(|part| part.parse().ok()) };
        if let Some(part) = list {
            let listed = part * LIST..((part + 1) * LIST).min(self.articles);
            let page = listed.clone().fold(Page::new("Archive").paragraph(&prose(self.salt, 60)), |page, at| {
                page.link(&self.write(at), &prose(self.text(host, at) ^ 0x5469, 4))
            });
            let goes_on = listed.end < self.articles;
            let page = if goes_on { page.link(&format!("/?part={}", part + 1), "Older") } else { page };
            return (!listed.is_empty()).then_some(page);
        }
        let at = (0..self.articles).find(|at| self.write(*at) == target)?;
        let others = [at + 1, at * 7 + 3, at * 13 + 5].map(|other| other % self.articles);
        let page = Page::new("Article").text(self.text(host, at), 120);
        Some(others.into_iter().fold(page, |page, other| page.link(&self.write(other), "See also")))
    }
}

impl Site for Archives {
    fn seeds(&self) -> Vec<String> {
        self.hosts.iter().map(|host| format!("http://{host}/")).collect()
    }

    fn reply(&self, url: &Url) -> Reply {
        let host = self.hosts.iter().position(|host| url.host_str() == Some(host));
        host.and_then(|host| self.page(host, target(url))).map_or(Reply::Missing, Reply::Page)
    }
}

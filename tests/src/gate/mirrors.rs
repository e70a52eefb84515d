//! Partial mirrors: two sites that share some of their articles. A crawler that takes the second for a mirror of the
//! first loses the articles that only the second has. A crawler that does not fetches the shared articles twice.

use std::collections::BTreeSet;

use fastrand::Rng;
use url::Url;

use super::draw::{hash, prose, target, word};
use super::{Page, Reply, Site, Thing};

/// Two sites that share articles.
#[derive(Clone, Debug)]
pub struct Partial {
    articles: u64,
    /// The percentage of the articles that both sites have.
    shared: u64,
    own: Own,
    pace: Pace,
    hosts: [String; 2],
    /// The folder of the articles of each site.
    folders: [String; 2],
    /// The folder of the articles that only one site has, if they have a folder of their own.
    apart: String,
    index: String,
    /// Whether articles link to other articles of their site.
    related: bool,
    salt: u64,
}

/// The place of the articles that only one of the sites has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// Under paths that the other site does not have, beside the shared ones.
    OtherPaths,
    /// Under paths that the other site has for other articles, beside the shared ones: the URLs do not show which
    /// articles are shared.
    SamePaths,
    /// Under paths that the other site has for other articles, in a folder without shared ones.
    OtherFolder,
}

/// The site that is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// No site.
    Alike,
    /// The site that is the first seed.
    FirstSlow,
    /// The other one.
    SecondSlow,
}

/// The number of links on one page of the index.
const INDEX: u64 = 20;
/// The delay between requests that a slow site asks for, in seconds.
const SLOW: u32 = 10;

impl Partial {
    /// Two sites with this many articles each. If `moved` is true, the folder of the articles has another name on the
    /// second site.
    pub fn draw(seed: u64, articles: u64, shared: u64, own: Own, moved: bool, pace: Pace) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x7061_7274);
        let folders = [word(&mut random), word(&mut random)];
        let folders = if moved { folders } else { [folders[0].clone(), folders[0].clone()] };
        Self {
            articles,
            shared,
            own,
            pace,
            hosts: [format!("www.{}1.test", word(&mut random)), format!("{}2.test", word(&mut random))],
            folders,
            apart: format!("{}9", word(&mut random)),
            index: format!("{}8", word(&mut random)),
            related: random.bool(),
            salt: random.u64(..),
        }
    }

    /// The articles that only this site has.
    pub fn own(&self, host: usize) -> BTreeSet<Thing> {
        let own = (0..self.articles).filter(|at| !self.is_shared(*at));
        own.map(|at| Thing::Text(self.text(host, at))).collect()
    }

    /// The articles that both sites have.
    pub fn both(&self) -> BTreeSet<Thing> {
        (0..self.articles).filter(|at| self.is_shared(*at)).map(|at| Thing::Text(self.text(0, at))).collect()
    }

    /// The number of fetches of an ideal crawler, which fetches nothing twice that it can know to be a copy: the front
    /// page and the index of both sites, each article that only one of them has, and each shared article once. If
    /// shared articles and others are side by side under the same paths on both sites, they cannot be told apart
    /// without a fetch; then the ideal is each page of both sites once.
    pub fn ideal(&self) -> u64 {
        let lists = 2 * (1 + self.articles.div_ceil(INDEX));
        let (own, both) = (self.own(0).len() as u64, self.both().len() as u64);
        match self.own {
            Own::SamePaths => lists + 2 * self.articles,
            Own::OtherPaths | Own::OtherFolder => lists + 2 * own + both,
        }
    }

    fn is_shared(&self, at: u64) -> bool {
        hash(&at.to_string(), self.salt) % 100 < self.shared
    }

    /// The number of the text of an article.
    fn text(&self, host: usize, at: u64) -> u64 {
        let site = if self.is_shared(at) { 0 } else { 1 + host as u64 };
        self.salt ^ (site << 32) ^ at
    }

    fn write(&self, host: usize, at: u64) -> String {
        let shared = self.is_shared(at);
        match self.own {
            Own::OtherPaths if !shared => format!("/{}/{}", self.folders[host], (1 + host as u64) * 1_000_000 + at),
            Own::OtherFolder if !shared => format!("/{}/{at}", self.apart),
            _ => format!("/{}/{at}", self.folders[host]),
        }
    }

    fn article(&self, host: usize, target: &str) -> Option<u64> {
        let number: u64 = target.rsplit('/').next()?.parse().ok()?;
        let at = number % 1_000_000;
        (at < self.articles && self.write(host, at) == target).then_some(at)
    }

    fn page(&self, host: usize, target: &str) -> Option<Page> {
        let title = |at| prose(self.text(host, at) ^ 0x5469, 4);
        let parts = self.articles.div_ceil(INDEX);
        if target == "/" {
            let page = Page::new(format!("Site {host}")).paragraph(&prose(self.salt ^ host as u64, 80));
            return Some((0..parts).fold(page, |page, part| page.link(&format!("/{}/{part}", self.index), "Articles")));
        }
        if let Some(part) = target.strip_prefix(&format!("/{}/", self.index)) {
            let part: u64 = part.parse().ok().filter(|part| *part < parts)?;
            let listed = part * INDEX..((part + 1) * INDEX).min(self.articles);
            return Some(listed.fold(Page::new("Articles"), |page, at| page.link(&self.write(host, at), &title(at))));
        }
        let at = self.article(host, target)?;
        let page = Page::new(title(at)).text(self.text(host, at), 200).link("/", "Home");
        let related = [at + 1, at * 3 + 1].into_iter().filter(|other| self.related && *other < self.articles);
        Some(related.fold(page, |page, other| page.link(&self.write(host, other), "See also")))
    }
}

impl Site for Partial {
    fn seeds(&self) -> Vec<String> {
        self.hosts.iter().map(|host| format!("http://{host}/")).collect()
    }

    fn reply(&self, url: &Url) -> Reply {
        let host = self.hosts.iter().position(|host| url.host_str() == Some(host));
        host.and_then(|host| self.page(host, target(url))).map_or(Reply::Missing, Reply::Page)
    }

    fn crawl_delay(&self, host: &str) -> u32 {
        let slow = match self.pace {
            Pace::Alike => false,
            Pace::FirstSlow => host == self.hosts[0],
            Pace::SecondSlow => host == self.hosts[1],
        };
        if slow { SLOW } else { 0 }
    }
}

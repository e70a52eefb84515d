//! The truth about the web: which URL shows which content, and what the best crawls would fetch.

use std::collections::{BTreeSet, VecDeque};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::address::{Address, Node};
use super::site::Site;
use super::{Names, Web};

/// The truth about what a URL shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Truth {
    /// A content, by its number.
    Content(u64),
    /// A page that is worth its links: a page of a list.
    List,
    /// A page that is worth nothing: a month of an endless calendar, a soft 404, a filter of a shop.
    Nothing,
    /// A redirect.
    Redirect,
    /// A page that robots.txt forbids.
    Forbidden,
    /// An error.
    Missing,
}

/// The fetches of a crawl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetches {
    /// The number of answers, including redirects, without robots.txt.
    pub pages: u64,
    /// The number of distinct contents among them.
    pub contents: u64,
}

impl Web {
    /// The URLs of all articles, copies included.
    pub fn urls(&self) -> Vec<String> {
        let mut urls = Vec::with_capacity(self.options.pages);
        for host in 0..self.hosts.len() {
            let site = self.site(host);
            let mut add = |article, zone| {
                urls.push(format!("http://{}{}", self.authority(host), site.path(Node::Article(article), zone)));
            };
            (0..site.articles).for_each(|article| add(article, None));
            for (index, zone) in site.zones.iter().enumerate() {
                zone.range.clone().for_each(|article| add(article, Some(index)));
            }
        }
        urls
    }

    /// The number of contents. They are numbered from 0.
    pub fn contents(&self) -> u64 {
        self.sites.iter().map(Site::contents).sum()
    }

    /// The truth about `url`; `None` if it is not part of this web.
    pub fn shown(&self, url: &str) -> Option<Truth> {
        let rest = url.strip_prefix("http://")?;
        let rest = rest.split('#').next()?;
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let name = match self.options.names {
            Names::Coined => authority,
            Names::Loopback { port } => authority.strip_suffix(&format!(":{port}"))?,
        };
        self.shown_at(name, if path.is_empty() { "/" } else { path })
    }

    /// The truth about `target` (path and query) on `host` (without the port); `None` if there is no such host.
    pub fn shown_at(&self, host: &str, target: &str) -> Option<Truth> {
        let site = self.site(self.host(host)?);
        Some(site.shows(site.find(target).0))
    }

    /// The number of the content that `url` shows. All copies of a content have the same number. `None` for a URL that
    /// shows none.
    pub fn content_id(&self, url: &str) -> Option<u64> {
        match self.shown(url)? {
            Truth::Content(content) => Some(content),
            _ => None,
        }
    }

    /// A number that is equal for all URLs that show the same and lead to the same contents, even if they show no
    /// content.
    pub fn class_at(&self, host: &str, target: &str) -> Option<u64> {
        let host = self.host(host)?;
        let class = class_of(self.site(host).find(target).0);
        Some(xxh3_64_with_seed(format!("{class:?}").as_bytes(), self.original(host) as u64))
    }

    /// The fetches of a crawler that knows everything: each content once, and the lists without which some contents
    /// would not be found.
    pub fn oracle(&self) -> Fetches {
        let lists = |site: &Site| {
            (0..site.sections.len() as u32).map(|section| u64::from(site.list_pages(section))).sum::<u64>()
        };
        let shelves = |site: &Site| site.shop.as_ref().map_or(0, |shop| u64::from(shop.shelf_pages(0)));
        let boards = |site: &Site| site.forum.as_ref().map_or(0, |forum| u64::from(forum.board_pages()));
        let lists: u64 = self.sites.iter().map(|site| lists(site) + shelves(site) + boards(site)).sum();
        Fetches { pages: self.contents() + lists, contents: self.contents() }
    }

    /// The fetches of a breadth-first crawl from all front pages with the ideal gate. After each fetch, this gate knows
    /// whether the page shows what was shown before, and then it follows no link of the page. The crawl obeys
    /// robots.txt.
    pub fn ideal_gate(&self) -> Fetches {
        let mut seen_nodes = BTreeSet::new();
        self.breadth_first(u64::MAX, |at| seen_nodes.insert((self.original(at.host), class_of(at.node))))
    }

    /// The fetches of a breadth-first crawl from all front pages without a gate, at most `limit` of them. It obeys
    /// robots.txt.
    pub fn no_gate(&self, limit: u64) -> Fetches {
        self.breadth_first(limit, |_| true)
    }

    fn breadth_first(&self, limit: u64, mut expand: impl FnMut(Address) -> bool) -> Fetches {
        let front = |host| Address { host, node: Node::Article(0), zone: None };
        let mut queue: VecDeque<Address> = (0..self.hosts.len()).map(front).collect();
        let mut queued: BTreeSet<Address> = queue.iter().copied().collect();
        let mut contents = BTreeSet::new();
        let mut pages = 0;
        while let Some(at) = queue.pop_front().filter(|_| pages < limit) {
            pages += 1;
            let site = self.site(at.host);
            if let Truth::Content(content) = site.shows(at.node) {
                contents.insert(content);
            }
            let redirect = |node| vec![Address { node, ..at }];
            let next = match at.node {
                Node::Hop { left: 0, article } => redirect(Node::Article(article)),
                Node::Hop { left, article } => redirect(Node::Hop { left: left - 1, article }),
                Node::Loop(half) => redirect(Node::Loop(1 - half)),
                Node::Missing(_) if !site.soft_404 => Vec::new(),
                _ if expand(at) => self.links(at).into_iter().map(|link| link.to).collect(),
                _ => Vec::new(),
            };
            for to in next {
                if !matches!(to.node, Node::Private(_)) && queued.insert(to) {
                    queue.push_back(to);
                }
            }
        }
        Fetches { pages, contents: contents.len() as u64 }
    }
}

/// The class of a node. Nodes that show the same have the same class.
fn class_of(node: Node) -> Node {
    match node {
        Node::Month(_) => Node::Month(0),
        Node::Missing(_) => Node::Missing(0),
        Node::Shelf { filter, .. } if filter > 0 => Node::Shelf { filter: 1, page: 0 },
        Node::Post { post, .. } => Node::Post { post, form: 0 },
        other => other,
    }
}

impl Site {
    fn shows(&self, node: Node) -> Truth {
        match node {
            Node::Article(article) => Truth::Content(self.first_content + u64::from(article)),
            Node::Product(product) => Truth::Content(self.first_content + u64::from(self.articles + product)),
            Node::Post { post, .. } => Truth::Content(self.first_content + self.contents() - 1 - u64::from(post)),
            Node::List { .. } | Node::Board(_) | Node::Shelf { filter: 0, .. } => Truth::List,
            // The unfiltered pages show everything that a filter shows.
            Node::Shelf { .. } => Truth::Nothing,
            Node::Month(_) => Truth::Nothing,
            Node::Missing(_) if self.soft_404 => Truth::Nothing,
            Node::Missing(_) => Truth::Missing,
            Node::Hop { .. } | Node::Loop(_) => Truth::Redirect,
            Node::Private(_) => Truth::Forbidden,
        }
    }
}

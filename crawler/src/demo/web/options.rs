//! The options of a synthetic web, and the webs that the project uses.

use std::time::Duration;

/// The names of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Coined names under `.test`, which are reached with `--connect-to`.
    Coined,
    /// `127.0.0.1`, `127.0.0.2` … They are reached directly. Links carry the port.
    Loopback {
        /// The port on which all of them listen.
        port: u16,
    },
}

/// The things that a web has besides articles. If a feature is on, some of the sites have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Copies of subtrees under a prefix such as `/archive/`, byte for byte.
    pub archives: bool,
    /// Subtrees in another template, under a prefix such as `/print/`.
    pub prints: bool,
    /// Subtrees whose links carry a session.
    pub sessions: bool,
    /// An advertisement, a counter and a timestamp that differ between URLs.
    pub volatile: bool,
    /// A calendar without end.
    pub calendar: bool,
    /// Broken links. Some sites answer them with 200 and an apology, the others with 404.
    pub broken_links: bool,
    /// Articles that are linked only from paginated lists. The pages of a list have equal text and different links.
    pub pagination: bool,
    /// Redirects: chains of up to three hops, and loops.
    pub redirects: bool,
    /// robots.txt with a forbidden folder on all sites, and a Crawl-delay on some.
    pub robots: bool,
    /// The delay of one slow host.
    pub slow_host: Option<Duration>,
    /// The number of products of a shop. It shows them behind 10^6 combinations of filters.
    pub shop: Option<u32>,
    /// The number of posts of a forum. Each post has three URLs.
    pub forum: Option<u32>,
    /// The number of templates. Each template has more words of its own than a page has, and its pages share these
    /// words.
    pub templates: Option<u32>,
}

impl Features {
    /// Only articles.
    pub const NONE: Self = Self {
        archives: false,
        prints: false,
        sessions: false,
        volatile: false,
        calendar: false,
        broken_links: false,
        pagination: false,
        redirects: false,
        robots: false,
        slow_host: None,
        shop: None,
        forum: None,
        templates: None,
    };

    /// Everything for which a small web has room.
    pub const ALL: Self = Self {
        archives: true,
        prints: true,
        sessions: true,
        volatile: true,
        calendar: true,
        broken_links: true,
        pagination: true,
        redirects: true,
        robots: true,
        slow_host: Some(Duration::from_millis(15)),
        ..Self::NONE
    };

    /// Only duplicates: every URL of such a web is an article or a copy of one.
    pub const COPIES: Self = Self { archives: true, prints: true, sessions: true, volatile: true, ..Self::NONE };
}

/// The options of a synthetic web.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The seed. It decides everything that is left open: the names of hosts, folders and parameters, the text, the
    /// links.
    pub seed: u64,
    /// The number of URLs of articles, copies included.
    pub pages: usize,
    /// The share of `pages` that are copies, 0..1.
    pub duplicates: f64,
    /// The number of hosts, mirrors included.
    pub hosts: usize,
    /// The number of hosts that are mirrors of others.
    pub mirrors: usize,
    /// The average number of bytes of a page.
    pub page_bytes: usize,
    /// The approximate number of links of a page.
    pub links: usize,
    /// The share of the copied articles that link to their copy. Other copies are reached only through copies.
    pub copy_links: f64,
    /// The names of the hosts.
    pub names: Names,
    /// The other features.
    pub features: Features,
}

impl Options {
    /// The web of `crawler demo`: small, with everything in it, and more copies than contents.
    pub fn demo(seed: u64) -> Self {
        Self {
            seed,
            pages: 2_400,
            duplicates: 0.6,
            hosts: 16,
            mirrors: 4,
            page_bytes: 8_000,
            links: 16,
            copy_links: 0.2,
            names: Names::Coined,
            features: Features::ALL,
        }
    }

    /// The web of the benchmarks: 20,000 pages of about 14 KB with about 21 links, on 20 hosts. 30 % of them are
    /// copies. Every page is an article, so crawlers of any kind can be compared on it.
    pub fn benchmark(seed: u64) -> Self {
        Self {
            seed,
            pages: 20_000,
            duplicates: 0.3,
            hosts: 20,
            mirrors: 2,
            page_bytes: 14_000,
            links: 21,
            copy_links: 0.35,
            names: Names::Coined,
            features: Features::COPIES,
        }
    }

    /// A web of traps: a shop behind filters, a calendar without end, a forum with three URLs for each post.
    pub fn traps(seed: u64) -> Self {
        let features =
            Features { calendar: true, pagination: true, shop: Some(500), forum: Some(900), ..Features::NONE };
        Self {
            pages: 900,
            duplicates: 0.0,
            hosts: 3,
            mirrors: 0,
            page_bytes: 8_000,
            links: 16,
            features,
            ..Self::benchmark(seed)
        }
    }

    /// A web without duplicates: 200 templates with many words of their own, and a different content in each page.
    pub fn templates(seed: u64) -> Self {
        let features = Features { templates: Some(200), ..Features::NONE };
        Self {
            pages: 4_000,
            duplicates: 0.0,
            hosts: 5,
            mirrors: 0,
            page_bytes: 9_000,
            features,
            ..Self::benchmark(seed)
        }
    }

    /// The same web with `pages` pages.
    pub fn with_pages(mut self, pages: usize) -> Self {
        self.pages = pages;
        self
    }

    /// The same web on the loopback addresses from `127.0.0.1` up.
    pub fn on_loopback(mut self, port: u16) -> Self {
        self.names = Names::Loopback { port };
        self
    }
}

//! What a synthetic web is to look like, and the webs that the project uses.

use std::time::Duration;

/// How hosts are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Coined names under `.test`, reached with `--connect-to`.
    Coined,
    /// `127.0.0.1`, `127.0.0.2` …, reached as they are; links carry the port.
    Loopback {
        /// Port that all of them listen on.
        port: u16,
    },
}

/// What besides articles the web contains. Where a feature is on, some of the sites have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Copies of subtrees under a prefix such as `/archive/`, byte for byte.
    pub archives: bool,
    /// Subtrees in another template under a prefix such as `/print/`.
    pub prints: bool,
    /// Subtrees whose links carry a session.
    pub sessions: bool,
    /// An advertisement, a counter and a timestamp that differ from URL to URL.
    pub volatile: bool,
    /// A calendar without end.
    pub calendar: bool,
    /// Broken links, answered with 200 and an apology on some sites, with 404 on the others.
    pub broken_links: bool,
    /// Articles that only paginated lists lead to; the pages of a list have equal text and other links.
    pub pagination: bool,
    /// Redirects: chains of up to three hops, and loops.
    pub redirects: bool,
    /// robots.txt with a forbidden folder on all sites, and a Crawl-delay on some.
    pub robots: bool,
    /// One host that takes its time.
    pub slow_host: Option<Duration>,
    /// A shop with so many products, behind 10^6 combinations of filters.
    pub shop: Option<u32>,
    /// A forum with so many posts, three URLs each.
    pub forum: Option<u32>,
    /// So many templates, each with more words of its own than a page has; pages of one template share them.
    pub templates: Option<u32>,
}

impl Features {
    /// Articles alone.
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

    /// All that a small web has room for.
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

    /// Duplicates only: every URL of such a web is an article or a copy of one.
    pub const COPIES: Self = Self { archives: true, prints: true, sessions: true, volatile: true, ..Self::NONE };
}

/// What a synthetic web is to look like.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Decides everything that is left open: names of hosts, folders and parameters, the text, the links.
    pub seed: u64,
    /// URLs of articles, copies included.
    pub pages: usize,
    /// Share of `pages` that are copies, 0..1.
    pub duplicates: f64,
    /// Hosts, mirrors included.
    pub hosts: usize,
    /// Hosts that are mirrors of others.
    pub mirrors: usize,
    /// Bytes of a page, on average.
    pub page_bytes: usize,
    /// Links of a page, about.
    pub links: usize,
    /// Share of the articles with a copy that link to it; the other copies are reached through copies alone.
    pub copy_links: f64,
    /// How hosts are called.
    pub names: Names,
    /// What else there is.
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

    /// The web of the benchmarks: 20,000 pages of about 14 KB with about 21 links on 20 hosts, 30 % of them copies, every
    /// page an article, so that crawlers of any kind can be compared on it.
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

    /// An honest web: 200 templates with many words of their own, and in each page another content.
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

    /// The same with `pages` pages.
    pub fn with_pages(mut self, pages: usize) -> Self {
        self.pages = pages;
        self
    }

    /// The same on the loopback addresses `127.0.0.1` and up.
    pub fn on_loopback(mut self, port: u16) -> Self {
        self.names = Names::Loopback { port };
        self
    }
}

//! A site: its articles, its folders, and its copies of itself.

use std::ops::Range;
use std::time::Duration;

use super::forum::Forum;
use super::options::{Features, Options};
use super::rng::{Rng, derive};
use super::shop::Shop;
use super::words;

/// The contents of one host and its mirror.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub seed: u64,
    /// The number of its first content among the contents of the web.
    pub first_content: u64,
    /// The number of articles. Article 0 is the front page.
    pub articles: u32,
    /// The number of articles, counted from the last, that only lists link to.
    pub listed: u32,
    /// The copies of parts of the site. Their ranges of articles do not overlap, except those of sessions.
    pub zones: Vec<Zone>,
    pub sections: Vec<&'static str>,
    pub style: Style,
    pub page_parameter: &'static str,
    pub calendar: Option<&'static str>,
    pub hops: Option<&'static str>,
    pub private: Option<&'static str>,
    pub crawl_delay: Option<u32>,
    pub shop: Option<Shop>,
    pub forum: Option<Forum>,
    pub broken_links: bool,
    /// Whether missing pages are answered with 200.
    pub soft_404: bool,
    pub volatile: bool,
    pub delay: Duration,
}

/// The form of the paths of articles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `/news/the-old-river-17.html`
    Page,
    /// `/news/the-old-river/17/`
    Folder,
    /// `/news/17/the-old-river`
    Slug,
    /// `/news/index.php?id=17`
    Query,
}

/// A copy of a range of articles.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    pub kind: Kind,
    pub range: Range<u32>,
    /// The name of the folder or parameter.
    pub word: &'static str,
    /// The value of a session's parameter.
    pub value: String,
}

/// The kinds of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Archive,
    Print,
    Session,
}

impl Zone {
    /// The members of the zone to which the copy of an article links. These links form a tree over the whole range.
    pub fn children(&self, article: u32) -> Range<u32> {
        let rank = article - self.range.start;
        let from = self.range.start + (3 * rank + 1).min(self.range.len() as u32);
        from..(from + 3).min(self.range.end)
    }
}

impl Site {
    /// The number of articles on one page of a list.
    pub const LIST: u32 = 10;

    /// The number of contents: articles, products, posts.
    pub fn contents(&self) -> u64 {
        let products = self.shop.as_ref().map_or(0, |shop| shop.products);
        let posts = self.forum.as_ref().map_or(0, |forum| forum.posts);
        u64::from(self.articles) + u64::from(products) + u64::from(posts)
    }

    /// The shop. Call this only for a site that has one.
    pub fn shop(&self) -> &Shop {
        self.shop.as_ref().expect("only sites with a shop show products")
    }

    /// The forum. Call this only for a site that has one.
    pub fn forum(&self) -> &Forum {
        self.forum.as_ref().expect("only sites with a forum show posts")
    }

    /// The number of articles to which other articles link.
    pub fn linked(&self) -> u32 {
        self.articles - self.listed
    }

    /// The section of an article.
    pub fn section(&self, article: u32) -> u32 {
        (u64::from(article) * self.sections.len() as u64 / u64::from(self.articles)) as u32
    }

    /// The zone that an article belongs to and that has a folder of its own.
    pub fn folder_zone(&self, article: u32) -> Option<usize> {
        self.zones.iter().position(|zone| zone.kind != Kind::Session && zone.range.contains(&article))
    }

    /// The number of pages of the list of a section.
    pub fn list_pages(&self, section: u32) -> u32 {
        self.listed_in(section).len().div_ceil(Self::LIST as usize) as u32
    }

    /// The articles that the list of a section names.
    pub fn listed_in(&self, section: u32) -> Range<u32> {
        let (articles, sections) = (u64::from(self.articles), self.sections.len() as u64);
        let start = |section: u64| (section * articles).div_ceil(sections) as u32;
        start(u64::from(section)).max(self.linked())..start(u64::from(section) + 1).max(self.linked())
    }
}

/// Plans the sites of a web: first those with mirrors, which have no other copies, then the rest.
pub(super) fn plan(options: &Options) -> Vec<Site> {
    let copies = (options.pages as f64 * options.duplicates).round() as usize;
    let sites = options.hosts - options.mirrors;
    assert!(options.mirrors * 2 <= options.hosts && sites > 0, "a mirror needs a host to mirror");
    let share = |total: usize, parts: usize, index: usize| total / parts + usize::from(index < total % parts);
    let contents = options.pages - copies;
    let mirrored: usize = (0..options.mirrors).map(|index| share(contents, sites, index)).sum();
    let kinds = kinds(&options.features);
    let inner = copies.saturating_sub(mirrored);
    let with_zones = if kinds.is_empty() { 0 } else { sites - options.mirrors };
    let mut first_content = 0;
    (0..sites)
        .map(|index| {
            let articles = share(contents, sites, index) as u32;
            let mut site = layout(options, index, articles, first_content);
            if index >= options.mirrors && with_zones > 0 {
                site.zones = zones(&site, &kinds, share(inner, with_zones, index - options.mirrors) as u32);
            }
            first_content += site.contents();
            site
        })
        .collect()
}

fn kinds(features: &Features) -> Vec<Kind> {
    let on = [(features.archives, Kind::Archive), (features.prints, Kind::Print), (features.sessions, Kind::Session)];
    on.into_iter().filter(|(on, _)| *on).map(|(_, kind)| kind).collect()
}

fn layout(options: &Options, index: usize, articles: u32, first_content: u64) -> Site {
    let features = &options.features;
    let sites = options.hosts - options.mirrors;
    let seed = derive(options.seed, &[1, index as u64]);
    let mut rng = Rng::new(seed, &[]);
    let every = |on: bool, n: usize, rest: usize| on && index % n == rest % n;
    let mut sections = words::SECTIONS.to_vec();
    let wanted = (articles as usize / 40).clamp(3, 12);
    for at in 0..wanted {
        let other = at + rng.below(sections.len() - at);
        sections.swap(at, other);
    }
    sections.truncate(wanted);
    Site {
        seed,
        first_content,
        articles,
        listed: if every(features.pagination, 3, 2) { articles / 2 } else { 0 },
        zones: Vec::new(),
        sections,
        style: rng.pick(&[Style::Page, Style::Folder, Style::Slug, Style::Query]),
        page_parameter: rng.pick(words::PAGES),
        calendar: every(features.calendar, 4, 1).then(|| rng.pick(words::CALENDARS)),
        hops: every(features.redirects, 2, 1).then(|| rng.pick(words::HOPS)),
        private: features.robots.then(|| rng.pick(words::PRIVATE)),
        crawl_delay: every(features.robots, 5, 4).then_some(1),
        shop: features.shop.filter(|_| index == 0).map(|products| Shop::new(seed, products)),
        forum: features.forum.filter(|_| index + 1 == sites).map(|posts| Forum::new(seed, posts)),
        broken_links: every(features.broken_links, 2, 0),
        soft_404: every(features.broken_links, 4, 0),
        volatile: every(features.volatile, 2, 1),
        delay: features.slow_host.filter(|_| index + 1 == sites).unwrap_or_default(),
    }
}

/// Distributes `copies` over the kinds: one archive and one print zone at most, and as many sessions as are needed.
fn zones(site: &Site, kinds: &[Kind], copies: u32) -> Vec<Zone> {
    let room = (site.linked() - 1) / kinds.len() as u32;
    let mut rng = Rng::new(site.seed, &[2]);
    let mut zones: Vec<Zone> = Vec::new();
    let mut left = copies;
    let mut sessions = 0;
    for (index, kind) in kinds.iter().enumerate() {
        let start = 1 + room * index as u32;
        let fair = left / (kinds.len() - index) as u32;
        let mut wanted = if index + 1 == kinds.len() { left } else { fair };
        loop {
            let len = wanted.min(room);
            let word = match kind {
                Kind::Archive => rng.pick(words::ARCHIVES),
                Kind::Print => rng.pick(words::PRINTS),
                Kind::Session if sessions > 0 => zones[zones.len() - 1].word,
                Kind::Session => rng.pick(words::SESSIONS),
            };
            let value = format!("{:016x}", rng.next());
            if len > 0 {
                zones.push(Zone { kind: *kind, range: start..start + len, word, value });
            }
            left -= len;
            wanted -= len;
            sessions += u32::from(*kind == Kind::Session);
            if wanted == 0 || *kind != Kind::Session {
                break;
            }
        }
    }
    zones
}

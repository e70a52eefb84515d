//! The links between nodes. Links belong to a content, and not to one copy of it. Whichever copy of an article is read
//! first, the same contents become reachable. So a crawl that expands each content once loses none.

use super::Web;
use super::address::{Address, Node, THIS_MONTH, relative};
use super::forum::{FORMS, Forum};
use super::rng::Rng;
use super::shop::Shop;
use super::site::{Kind, Site};

/// The place and purpose of a link on its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A link in the navigation. Printed pages have no navigation.
    Navigation,
    /// A link in the text or below it.
    Story,
    /// A link to another copy of the same page.
    Copy,
    /// A link to another host.
    Elsewhere,
}

/// A link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub to: Address,
    pub role: Role,
}

/// The number of children of an article in the tree that makes every linked article reachable.
const FAN: u32 = 4;

/// The approximate number of links of a page outside of its story.
const NAVIGATION: usize = 7;

impl Web {
    /// The links of the page at an address.
    pub(super) fn links(&self, at: Address) -> Vec<Link> {
        let site = self.site(at.host);
        let mut links = Collector { at, site, links: Vec::with_capacity(self.options.links + 8) };
        let printed = at.zone.is_some_and(|zone| site.zones[zone].kind == Kind::Print);
        if !printed {
            links.navigation();
        }
        match at.node {
            Node::Article(article) => self.article_links(article, &mut links),
            Node::List { section, page } => {
                let named = site.listed_in(section);
                let from = named.start + page * Site::LIST;
                (from..(from + Site::LIST).min(named.end)).for_each(|article| links.story(Node::Article(article)));
                if page + 1 < site.list_pages(section) {
                    links.story(Node::List { section, page: page + 1 });
                }
            }
            Node::Month(month) => {
                links.story(Node::Month(month.saturating_sub(1)));
                links.story(Node::Month(month + 1));
            }
            Node::Product(product) => {
                let products = site.shop().products;
                (1..=3).for_each(|step| links.story(Node::Product((product + step * 37) % products)));
            }
            Node::Shelf { filter, page } => {
                let shop = site.shop();
                let shelf = shop.matching(filter);
                let (from, to) = (page * Shop::SHELF, ((page + 1) * Shop::SHELF).min(shelf.len() as u32));
                shelf[from as usize..to as usize].iter().for_each(|product| links.story(Node::Product(*product)));
                if page + 1 < shop.shelf_pages(filter) {
                    links.story(Node::Shelf { filter, page: page + 1 });
                }
                shop.neighbours(filter).into_iter().for_each(|filter| links.story(Node::Shelf { filter, page: 0 }));
            }
            Node::Post { post, form } => {
                let last = (post / Forum::TOPIC * Forum::TOPIC + Forum::TOPIC).min(site.forum().posts) - 1;
                if post < last {
                    links.story(Node::Post { post: post + 1, form });
                }
                let host = at.host;
                (0..FORMS).for_each(|form| links.copy(host, Node::Post { post, form }, None));
            }
            Node::Board(page) => {
                site.forum().topics(page).for_each(|post| {
                    (0..FORMS).for_each(|form| links.story(Node::Post { post, form }));
                });
                if page + 1 < site.forum().board_pages() {
                    links.story(Node::Board(page + 1));
                }
            }
            Node::Private(number) => links.story(Node::Private(number + 1)),
            Node::Hop { .. } | Node::Loop(_) | Node::Missing(_) => {}
        }
        links.links
    }

    fn article_links(&self, article: u32, links: &mut Collector<'_>) {
        let site = links.site;
        let host = links.at.host;
        let mut rng = Rng::new(site.seed, &[5, u64::from(article)]);
        if article < site.linked() {
            let children = (FAN * article + 1).min(site.linked())..(FAN * article + 1 + FAN).min(site.linked());
            children.for_each(|child| links.story(Node::Article(child)));
        }
        for (index, zone) in site.zones.iter().enumerate() {
            if zone.range.contains(&article) {
                zone.children(article).for_each(|child| links.story(Node::Article(child)));
                if rng.chance(self.options.copy_links) {
                    links.copy(host, Node::Article(article), Some(index));
                }
            } else if article == 0 {
                links.copy(host, Node::Article(zone.range.start), Some(index));
            }
        }
        if links.at.zone.is_some_and(|zone| site.zones[zone].kind == Kind::Print) {
            links.copy(host, Node::Article(article), None);
        }
        self.other_hosts(article, &mut rng, links);
        self.oddities(article, &mut rng, links);
        // The navigation does not count: a printed page has none, and must tell the same story.
        let wanted = self.options.links.saturating_sub(NAVIGATION).max(4);
        for _ in 0..3 * wanted {
            if links.links.iter().filter(|link| link.role == Role::Story).count() >= wanted {
                break;
            }
            links.story(Node::Article(rng.below(site.linked() as usize) as u32));
        }
    }

    fn other_hosts(&self, article: u32, rng: &mut Rng, links: &mut Collector<'_>) {
        let original = self.original(links.at.host);
        if let Some(mirror) = self.mirror_of(original)
            && (article == 0 || rng.chance(0.02))
        {
            links.elsewhere(mirror, Node::Article(article));
        }
        let other = rng.below(self.sites.len());
        if rng.chance(0.15) && other != original {
            let reachable = self.sites[other].linked() as usize;
            let target = if rng.chance(0.5) { 0 } else { rng.below(reachable) as u32 };
            links.elsewhere(other, Node::Article(target));
        }
    }

    fn oddities(&self, article: u32, rng: &mut Rng, links: &mut Collector<'_>) {
        let site = links.site;
        if site.broken_links && rng.chance(0.15) {
            links.story(Node::Missing(article));
        }
        if site.private.is_some() && rng.chance(0.05) {
            links.story(Node::Private(article));
        }
        if site.hops.is_some() {
            if rng.chance(0.15) {
                let target = rng.below(site.linked() as usize) as u32;
                links.story(Node::Hop { left: rng.below(3) as u32, article: target });
            }
            if article == 0 {
                links.story(Node::Loop(0));
            }
        }
    }

    /// The form in which `link` is written on the page at `from`.
    pub(super) fn spelling(&self, from: Address, from_path: &str, link: &Link) -> String {
        let to = link.to;
        let site = self.site(to.host);
        let path = site.path(to.node, to.zone);
        if to.host != from.host || link.role == Role::Elsewhere {
            return format!("http://{}{path}", self.authority(to.host));
        }
        // A copy under a folder has the same bytes as its original only if links between two of its members are
        // relative to the page, and links out of it are not.
        let both_in_folder = match (from.node, to.node) {
            (Node::Article(a), Node::Article(b)) => {
                let folder = site.folder_zone(a);
                folder.is_some() && folder == site.folder_zone(b)
            }
            _ => false,
        };
        if link.role != Role::Copy && both_in_folder { relative(from_path, &path) } else { path }
    }
}

struct Collector<'a> {
    at: Address,
    site: &'a Site,
    links: Vec<Link>,
}

impl Collector<'_> {
    /// Adds links to the front page, to the sections (all lists; the first articles of the first sections without a
    /// list), to the shop and the forum, and to the calendar.
    fn navigation(&mut self) {
        self.push(Node::Article(0), Role::Navigation);
        let site = self.site;
        for section in 0..site.sections.len() as u32 {
            if site.list_pages(section) > 0 {
                self.push(Node::List { section, page: 0 }, Role::Navigation);
            } else if section < 6 {
                let head = (u64::from(section) * u64::from(site.articles)).div_ceil(site.sections.len() as u64);
                self.push(Node::Article(head as u32), Role::Navigation);
            }
        }
        if site.shop.is_some() {
            self.push(Node::Shelf { filter: 0, page: 0 }, Role::Navigation);
        }
        if site.forum.is_some() {
            self.push(Node::Board(0), Role::Navigation);
        }
        if site.calendar.is_some() {
            self.push(Node::Month(THIS_MONTH), Role::Navigation);
        }
    }

    fn story(&mut self, node: Node) {
        self.push(node, Role::Story);
    }

    /// Adds a link to a node. It stays in the zone of its page if the zone has the node.
    fn push(&mut self, node: Node, role: Role) {
        let zone = match node {
            Node::Article(article) => self.at.zone.filter(|zone| self.site.zones[*zone].range.contains(&article)),
            _ => None,
        };
        self.add(Address { host: self.at.host, node, zone }, role);
    }

    fn copy(&mut self, host: usize, node: Node, zone: Option<usize>) {
        self.add(Address { host, node, zone }, Role::Copy);
    }

    fn elsewhere(&mut self, host: usize, node: Node) {
        self.add(Address { host, node, zone: None }, Role::Elsewhere);
    }

    fn add(&mut self, to: Address, role: Role) {
        let oneself = role == Role::Story && to == self.at;
        if !oneself && !self.links.iter().any(|link| link.to == to && link.role == role) {
            self.links.push(Link { to, role });
        }
    }
}

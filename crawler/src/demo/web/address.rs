//! Addresses of the synthetic web: which node is shown under which path. A path is answered only in the spelling that
//! the links of the web use.

use super::prose::Voice;
use super::rng::derive;
use super::site::{Kind, Site, Style};

/// A page of a site, or another resource that it can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Node {
    Article(u32),
    /// A page of a section's list. Pages count from 0.
    List {
        section: u32,
        page: u32,
    },
    /// A month of the calendar, counted from January of year 0.
    Month(u32),
    /// A redirect. `left` is the number of hops after this one.
    Hop {
        left: u32,
        article: u32,
    },
    /// One half of a redirect loop.
    Loop(u32),
    /// A page that robots.txt forbids.
    Private(u32),
    /// A product of the shop.
    Product(u32),
    /// A page of the products that pass a filter of the shop.
    Shelf {
        filter: u32,
        page: u32,
    },
    /// A post of the forum, at one of its URLs (`form`).
    Post {
        post: u32,
        form: u32,
    },
    /// A page of the forum's board.
    Board(u32),
    /// No page.
    Missing(u32),
}

/// A node on a host, in its original form or in one of the site's zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Address {
    pub host: usize,
    pub node: Node,
    pub zone: Option<usize>,
}

/// The month to which the navigation links.
pub(super) const THIS_MONTH: u32 = 2026 * 12;

impl Site {
    /// The source of an article's words.
    pub fn voice(&self, article: u32, part: u64) -> Voice {
        let topic = derive(self.seed, &[3, u64::from(self.section(article))]);
        Voice::new(topic, derive(self.seed, &[4, u64::from(article)]), part)
    }

    /// The title of an article.
    pub fn title(&self, article: u32) -> String {
        let mut title = String::with_capacity(48);
        self.voice(article, 1).title(&mut title);
        title
    }

    /// The path and query of a node.
    pub fn path(&self, node: Node, zone: Option<usize>) -> String {
        let path = self.plain_path(node);
        let Some(zone) = zone.map(|index| &self.zones[index]) else { return path };
        match zone.kind {
            Kind::Archive | Kind::Print => format!("/{}{path}", zone.word),
            Kind::Session => {
                let joint = if path.contains('?') { '&' } else { '?' };
                format!("{path}{joint}{}={}", zone.word, zone.value)
            }
        }
    }

    /// The node under a path and query; `Missing` if the site has no such spelling.
    pub fn find(&self, path: &str) -> (Node, Option<usize>) {
        let found = self.guess(path);
        match found {
            Some((node, zone)) if self.path(node, zone) == path => (node, zone),
            _ => (Node::Missing(0), None),
        }
    }

    fn plain_path(&self, node: Node) -> String {
        match node {
            Node::Article(0) => "/".into(),
            Node::Article(article) => {
                let section = self.sections[self.section(article) as usize];
                match self.style {
                    Style::Page => format!("/{section}/{}-{article}.html", self.slug(article)),
                    Style::Folder => format!("/{section}/{}/{article}/", self.slug(article)),
                    Style::Slug => format!("/{section}/{article}/{}", self.slug(article)),
                    Style::Query => format!("/{section}/index.php?id={article}"),
                }
            }
            Node::List { section, page: 0 } => format!("/{}/", self.sections[section as usize]),
            Node::List { section, page } => {
                format!("/{}/?{}={}", self.sections[section as usize], self.page_parameter, page + 1)
            }
            Node::Month(month) => {
                format!("/{}/{}/{:02}/", self.calendar.unwrap_or("-"), month / 12, month % 12 + 1)
            }
            Node::Hop { left, article } => format!("/{}/{left}/{article}", self.hops.unwrap_or("-")),
            Node::Loop(half) => format!("/{}/round/{half}", self.hops.unwrap_or("-")),
            Node::Private(number) => format!("/{}/{number}.html", self.private.unwrap_or("-")),
            Node::Product(product) => format!("/{}/item/{product}", self.shop().folder),
            Node::Shelf { filter, page } => format!("/{}/{}", self.shop().folder, self.shop().query(filter, page)),
            Node::Post { post, form } => self.forum().post_path(post, form),
            Node::Board(page) => self.forum().board_path(page),
            Node::Missing(number) => format!("/{}/gone-{number}.html", self.sections[0]),
        }
    }

    fn slug(&self, article: u32) -> String {
        let mut slug = String::with_capacity(40);
        for word in self.title(article).split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
            if !slug.is_empty() {
                slug.push('-');
            }
            slug.push_str(word);
        }
        slug.make_ascii_lowercase();
        slug
    }

    /// Reads the node from the parts of a path that matter. [`Site::find`] checks the spelling of the rest.
    fn guess(&self, path: &str) -> Option<(Node, Option<usize>)> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let parameter = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let mut segments = path.strip_prefix('/')?.split('/').peekable();
        let folder = segments
            .peek()
            .and_then(|first| self.zones.iter().position(|zone| zone.kind != Kind::Session && zone.word == *first));
        let session = self
            .zones
            .iter()
            .position(|zone| zone.kind == Kind::Session && parameter(zone.word) == Some(zone.value.as_str()));
        if folder.is_some() {
            segments.next();
        }
        let zone = folder.or(session);
        let first = segments.next()?;
        let rest: Vec<&str> = segments.collect();
        let node = if first.is_empty() {
            Node::Article(0)
        } else if self.calendar == Some(first) && rest.len() == 3 {
            Node::Month(rest[0].parse::<u32>().ok()?.min(9999) * 12 + rest[1].parse::<u32>().ok()?.checked_sub(1)?)
        } else if self.hops == Some(first) && rest.len() == 2 {
            let number = rest[1].parse().ok()?;
            if rest[0] == "round" {
                Node::Loop(number)
            } else {
                Node::Hop { left: rest[0].parse().ok()?, article: number }
            }
        } else if self.private == Some(first) && rest.len() == 1 {
            Node::Private(number(rest[0])?)
        } else if let Some(shop) = self.shop.as_ref().filter(|shop| shop.folder == first) {
            match rest.as_slice() {
                ["item", product] => Node::Product(product.parse().ok()?),
                [""] => shop.shelf(query).map(|(filter, page)| Node::Shelf { filter, page })?,
                _ => return None,
            }
        } else if let Some(forum) = self.forum.as_ref().filter(|forum| forum.folder == first) {
            match forum.find(&rest, query)? {
                Ok((post, form)) => Node::Post { post, form },
                Err(page) => Node::Board(page),
            }
        } else {
            let section = self.sections.iter().position(|section| *section == first)? as u32;
            match (self.style, rest.as_slice()) {
                (_, [""]) if self.list_pages(section) > 0 => {
                    let page = parameter(self.page_parameter).map_or(Some(1), |page| page.parse::<u32>().ok())?;
                    Node::List { section, page: page.checked_sub(1)? }
                }
                (Style::Query, ["index.php"]) => Node::Article(parameter("id")?.parse().ok()?),
                (Style::Page, [name]) => Node::Article(number(name)?),
                (Style::Folder, [_, id, ""]) | (Style::Slug, [id, _]) => Node::Article(id.parse().ok()?),
                _ => return None,
            }
        };
        self.exists(node, zone).then_some((node, zone))
    }

    fn exists(&self, node: Node, zone: Option<usize>) -> bool {
        let in_zone = |article: &u32| zone.is_none_or(|index| self.zones[index].range.contains(article));
        match node {
            Node::Article(article) => article < self.articles && in_zone(&article),
            _ if zone.is_some() => false,
            Node::List { section, page } => page < self.list_pages(section),
            Node::Hop { left, article } => left < 3 && article < self.articles,
            Node::Loop(half) => half < 2,
            Node::Product(product) => product < self.shop().products,
            Node::Shelf { filter, page } => page < self.shop().shelf_pages(filter),
            Node::Post { post, .. } => post < self.forum().posts,
            Node::Board(page) => page < self.forum().board_pages(),
            Node::Month(_) | Node::Private(_) => true,
            Node::Missing(_) => false,
        }
    }
}

/// The number at the end of a file name.
fn number(name: &str) -> Option<u32> {
    let stem = name.strip_suffix(".html")?;
    stem[stem.rfind('-').map_or(0, |at| at + 1)..].parse().ok()
}

/// The reference `to`, written relative to the folder of the page at `from` on the same host.
pub(super) fn relative(from: &str, to: &str) -> String {
    let folder = &from[..from.split('?').next().unwrap_or(from).rfind('/').map_or(0, |at| at + 1)];
    let to_folder = &to[..to.split('?').next().unwrap_or(to).rfind('/').map_or(0, |at| at + 1)];
    let shared = folder
        .bytes()
        .zip(to_folder.bytes())
        .take_while(|(a, b)| a == b)
        .enumerate()
        .filter(|(_, (byte, _))| *byte == b'/')
        .last()
        .map_or(0, |(at, _)| at + 1);
    let ups = folder[shared..].matches('/').count();
    let rest = &to[shared..];
    let mut written = "../".repeat(ups);
    if ups == 0 && (rest.is_empty() || rest.starts_with('?')) {
        written.push_str("./");
    }
    written.push_str(rest);
    written
}

//! Sites most of whose pages are equal menus, and whose articles can be reached only through these menus. Each menu has
//! its own folder, word or host in its URL. Therefore, a rule that a crawler learns about one menu does not apply to
//! the next, unless it recognises that they are alike.

use fastrand::Rng;
use url::Url;

use super::draw::{hash, prose, target, word};
use super::{Page, Reply, Site};

/// A site of menus.
#[derive(Clone, Debug)]
pub struct Menus {
    kind: Menu,
    host: String,
    /// The words of each menu.
    text: String,
    /// The number of menus that lead to articles; in a tree, the number of its levels.
    size: u64,
    /// In [`Menu::Makes`], the number of menus from an index to an article.
    levels: usize,
    /// In [`Menu::Makes`], the number of links of each menu.
    links: u64,
    salt: u64,
}

/// The kind of the menus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    /// Days of a calendar, all with the same sentence, each with a link to a story. There are more of them than a
    /// folder may have duplicates.
    Days,
    /// `/someone/latest`: everyone has a folder, with links to their texts.
    People,
    /// Hosts of one domain, each with the same front page and a page of its own.
    Hosts,
    /// `/country/region/town`: a tree whose leaves are articles.
    Regions,
    /// `/node/17`: the same tree.
    Nodes,
    /// `/berlin-17`: the same tree.
    Towns,
    /// `/make/17`, `/model/17-0`, `/year/17-0-1`: an index of small trees of menus, each level with its own folder. The
    /// leaves are articles.
    Makes,
}

impl Menus {
    /// All kinds.
    pub const ALL: [Menu; 7] =
        [Menu::Days, Menu::People, Menu::Hosts, Menu::Regions, Menu::Nodes, Menu::Towns, Menu::Makes];
    /// The folders of the menus and articles of [`Menu::Makes`], by level.
    const FOLDERS: [&str; 6] = ["make", "model", "year", "engine", "colour", "car"];

    /// A site of this kind.
    pub fn draw(seed: u64, kind: Menu) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x6d65_6e75);
        let size = match kind {
            Menu::Days => random.u64(1_100..1_500),
            Menu::People | Menu::Hosts => random.u64(100..300),
            Menu::Regions | Menu::Nodes | Menu::Towns => random.u64(6..9),
            Menu::Makes => random.u64(40..80),
        };
        let levels = random.usize(2..Self::FOLDERS.len());
        let links = if levels > 3 { random.u64(1..3) } else { random.u64(1..4) };
        let host = format!("{}7.test", word(&mut random));
        let text = prose(random.u64(..), random.usize(40..120));
        Self { kind, host, text, size, levels, links, salt: random.u64(..) }
    }

    /// A name for a number. It does not show the number.
    fn name(&self, number: u64) -> String {
        word(&mut Rng::with_seed(number ^ self.salt)) + &word(&mut Rng::with_seed(!number ^ self.salt))
    }

    fn menu(&self) -> Page {
        Page::new("Menu").paragraph(&self.text)
    }

    fn article(&self, url: &str) -> Page {
        let text = hash(url, self.salt);
        Page::new(prose(text ^ 1, 3)).text(text, 130)
    }

    /// A page of a list with a text of its own that links to menus, 25 on a page.
    fn index(&self, part: u64, of: u64, link: &dyn Fn(u64) -> String) -> Page {
        let page = Page::new(format!("Index {part}")).text(self.salt ^ part, 90);
        let page = (part * 25..((part + 1) * 25).min(of)).fold(page, |page, at| page.link(&link(at), "More"));
        if (part + 1) * 25 < of { page.link(&format!("/index/{}", part + 1), "Next") } else { page }
    }

    /// The path of a node of the tree. The root is 1, and the children of `n` are `2n` and `2n + 1`.
    fn path(&self, place: u64) -> String {
        match self.kind {
            Menu::Regions => {
                let above = if place > 1 { self.path(place / 2) } else { return String::new() };
                format!("{above}/{}", self.name(place))
            }
            Menu::Nodes => format!("/node/{place}"),
            _ => format!("/{}-{place}", self.name(place)),
        }
    }

    fn place(&self, path: &str) -> Option<u64> {
        let place = match self.kind {
            // The name of a node decides which of the two children it is.
            Menu::Regions => path.split('/').skip(1).filter(|name| !name.is_empty()).try_fold(1, |above, name| {
                [2 * above, 2 * above + 1].into_iter().find(|place| self.name(*place) == name)
            })?,
            _ => path.rsplit(['/', '-']).next()?.parse().ok()?,
        };
        (place < 2 << self.size && (place == 1 || self.path(place) == path)).then_some(place)
    }

    /// The folder of the menus, or articles, that are so many links below an index.
    fn folder(&self, below: usize) -> &'static str {
        Self::FOLDERS[if below > self.levels { Self::FOLDERS.len() - 1 } else { below - 1 }]
    }

    fn tree(&self, path: &str) -> Option<Page> {
        let place = if path == "/" { 1 } else { self.place(path)? };
        if place >= 1 << self.size {
            return Some(self.article(path));
        }
        Some([2 * place, 2 * place + 1].into_iter().fold(self.menu(), |page, next| page.link(&self.path(next), "Go")))
    }

    fn flat(&self, path: &str, of_host: &str) -> Option<Page> {
        let menus = |part| {
            self.index(part, self.size, &|at| match self.kind {
                Menu::Days => format!("/day/{at}"),
                Menu::People => format!("/{}/latest", self.name(at)),
                Menu::Makes => format!("/make/{at}"),
                _ => format!("http://{}.{}/", self.name(at), self.host),
            })
        };
        let is_index = of_host.is_empty();
        if is_index && path == "/" {
            return Some(menus(0));
        }
        if let Some(part) = path.strip_prefix("/index/").filter(|_| is_index) {
            return part.parse().ok().filter(|part| part * 25 < self.size).map(menus);
        }
        let names = |name: &str| (0..self.size).any(|at| self.name(at) == name);
        match self.kind {
            Menu::Days => {
                let (kind, at) = path.strip_prefix('/')?.split_once('/')?;
                let at: u64 = at.parse().ok().filter(|at| *at < self.size)?;
                match kind {
                    "day" => Some(self.menu().link(&format!("/story/{at}"), "Story")),
                    "story" => Some(self.article(path)),
                    _ => None,
                }
            }
            Menu::People => {
                let (name, page) = path.strip_prefix('/')?.split_once('/')?;
                match page {
                    _ if !names(name) => None,
                    "latest" => Some(self.menu().link(&format!("/{name}/first-steps"), "First")),
                    "first-steps" => Some(self.article(path)),
                    _ => None,
                }
            }
            Menu::Makes => {
                let (folder, name) = path.strip_prefix('/')?.split_once('/')?;
                let way = name.split('-').map(|at| at.parse().ok()).collect::<Option<Vec<u64>>>()?;
                let below = way.len();
                let is_there = way[0] < self.size && way[1..].iter().all(|at| *at < self.links);
                if !is_there || below > self.levels + 1 || folder != self.folder(below) {
                    return None;
                }
                if below > self.levels {
                    return Some(self.article(path));
                }
                let link = |at| format!("/{}/{name}-{at}", self.folder(below + 1));
                Some((0..self.links).fold(self.menu(), |page, at| page.link(&link(at), "Go")))
            }
            _ if !names(of_host) => None,
            _ if path == "/" => Some(self.menu().link("/about-us", "About")),
            _ if path == "/about-us" => Some(self.article(of_host)),
            _ => None,
        }
    }
}

impl Site for Menus {
    fn seeds(&self) -> Vec<String> {
        vec![format!("http://{}/", self.host)]
    }

    fn reply(&self, url: &Url) -> Reply {
        let of_host =
            url.host_str().and_then(|host| host.strip_suffix(&self.host)).map(|name| name.trim_end_matches('.'));
        let page = of_host.and_then(|of_host| match self.kind {
            Menu::Regions | Menu::Nodes | Menu::Towns => self.tree(target(url)).filter(|_| of_host.is_empty()),
            _ => self.flat(target(url), of_host),
        });
        page.map_or(Reply::Missing, Reply::Page)
    }
}

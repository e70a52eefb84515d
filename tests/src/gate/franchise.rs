//! A franchise: each town has the same start page, byte by byte, and the same few pages behind it. Each of these has a
//! long text that all towns show, and a few words of its own, such as an address or opening hours. Some towns lie deep
//! in a tree of equal overviews.

use fastrand::Rng;
use url::Url;

use super::draw::{hash, prose, target, word};
use super::{Page, Reply, Site, Thing};

/// The place of a town.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TownAt {
    /// A folder.
    Folder,
    /// A sub-domain.
    SubDomain,
    /// The third level of a tree of folders, whose overviews are equal.
    Tree,
}

/// A franchise.
#[derive(Clone, Debug)]
pub struct Franchise {
    place: TownAt,
    towns: u64,
    /// The pages of each town.
    kinds: Vec<String>,
    /// The words that all towns show, and those of one page.
    words: (usize, usize),
    host: String,
    salt: u64,
}

impl Franchise {
    /// A franchise with this many towns, whose pages have so many equal words and so many of their own.
    pub fn draw(seed: u64, place: TownAt, towns: u64, words: (usize, usize)) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x6672_616e);
        let kinds = (0..random.usize(3..7)).map(|at| format!("{}{at}", word(&mut random))).collect();
        Self { place, towns, kinds, words, host: format!("{}.test", word(&mut random)), salt: random.u64(..) }
    }

    /// The towns beside which a town of the tree stands.
    fn width(&self) -> u64 {
        (self.towns as f64).cbrt().ceil() as u64
    }

    fn start(&self) -> Page {
        let page = Page::new("All towns").paragraph(&prose(self.salt, 30));
        match self.place {
            TownAt::Folder => (0..self.towns).fold(page, |page, town| page.link(&format!("/town{town}/"), "A town")),
            TownAt::SubDomain => (0..self.towns)
                .fold(page, |page, town| page.link(&format!("http://town{town}.{}/", self.host), "A town")),
            TownAt::Tree => self.overview(page),
        }
    }

    fn overview(&self, page: Page) -> Page {
        (0..self.width()).fold(page, |page, at| page.link(&format!("r{at}/"), "A region"))
    }

    fn town(&self) -> Page {
        let page = Page::new("Our shop").paragraph(&prose(self.salt ^ 1, 80));
        self.kinds.iter().fold(page, |page, kind| page.link(kind, kind))
    }

    fn page(&self, town: u64, kind: usize) -> Page {
        let (equal, own) = self.words;
        let number = town * 64 + kind as u64;
        let page = Page::new(&self.kinds[kind]).paragraph(&prose(self.salt ^ 2 ^ (kind as u64) << 8, equal));
        let mut page = page.paragraph(&prose(hash(&number.to_string(), self.salt), own));
        page.things.push(Thing::Item(number));
        page
    }

    /// The town of a path below its start page, and the rest of the path.
    fn town_of<'p>(&self, url: &Url, path: &'p str) -> Option<(u64, &'p str)> {
        match self.place {
            TownAt::Folder => {
                let (town, rest) = path.strip_prefix("/town")?.split_once('/')?;
                Some((town.parse().ok()?, rest))
            }
            TownAt::SubDomain => {
                let town = url.host_str()?.strip_suffix(&self.host)?.strip_suffix('.')?.strip_prefix("town")?;
                Some((town.parse().ok()?, path.strip_prefix('/')?))
            }
            TownAt::Tree => {
                let mut parts = path.strip_prefix('/')?.splitn(4, '/');
                let mut town = 0;
                for _ in 0..3 {
                    let at: u64 = parts.next()?.strip_prefix('r')?.parse().ok()?;
                    town = town * self.width() + at;
                    if at >= self.width() {
                        return None;
                    }
                }
                Some((town, parts.next()?))
            }
        }
    }
}

impl Site for Franchise {
    fn seeds(&self) -> Vec<String> {
        vec![format!("http://{}/", self.host)]
    }

    fn reply(&self, url: &Url) -> Reply {
        let path = target(url);
        let page = match self.town_of(url, path) {
            Some((town, "")) if self.place == TownAt::Tree || town < self.towns => Some(self.town()),
            Some((town, rest)) => self.kinds.iter().position(|kind| kind == rest).map(|kind| self.page(town, kind)),
            None if url.host_str() != Some(&self.host) => None,
            None if path == "/" => Some(self.start()),
            None if self.place == TownAt::Tree && path.ends_with('/') && path.split('/').count() < 5 => {
                Some(self.overview(Page::new("Regions").paragraph(&prose(self.salt ^ 4, 60))))
            }
            None => None,
        };
        page.map_or(Reply::Missing, Reply::Page)
    }
}

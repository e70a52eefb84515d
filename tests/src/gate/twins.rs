//! Two sites with the same front page, which share most of their articles. Their lists form a chain, and each article
//! links to a few others. So the first links to the articles of one site only are met on shared articles, although the
//! lists lead to all of them. A crawler that fetches all articles like those fetches the shared ones twice.

use fastrand::Rng;
use url::Url;

use super::draw::{hash, prose, target, word};
use super::{Page, Reply, Site};

/// Two sites that share articles.
#[derive(Clone, Debug)]
pub struct Twins {
    articles: u64,
    /// The percentage of the articles that both sites have.
    shared: u64,
    place: Place,
    /// The number of articles on one list.
    list: u64,
    hosts: [String; 2],
    folder: String,
    salt: u64,
}

/// Where the articles of one site only stand in its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the first lists.
    First,
    /// On all lists.
    Mixed,
    /// On the last lists.
    Last,
}

impl Twins {
    /// Two sites with this many articles each, `list` of them on one list.
    pub fn draw(seed: u64, articles: u64, shared: u64, place: Place, list: u64) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x7477_696e);
        let hosts = [format!("www.{}1.test", word(&mut random)), format!("www.{}2.test", word(&mut random))];
        Self { articles, shared, place, list, hosts, folder: word(&mut random), salt: random.u64(..) }
    }

    /// The number of fetches of an ideal crawler: the lists of both sites, each article that only one of them has, and
    /// each shared article once.
    pub fn ideal(&self) -> u64 {
        let own = (0..self.articles).filter(|at| !self.is_shared(*at)).count() as u64;
        2 * self.articles.div_ceil(self.list) + self.articles + own
    }

    fn is_shared(&self, at: u64) -> bool {
        let share = match self.place {
            Place::First => 100 * (self.articles - 1 - at) / self.articles,
            Place::Last => 100 * at / self.articles,
            Place::Mixed => hash(&at.to_string(), self.salt) % 100,
        };
        share < self.shared
    }

    /// The number of an article in its URL.
    fn number(&self, host: usize, at: u64) -> u64 {
        if self.is_shared(at) { at } else { (1 + host as u64) * 1_000_000 + at }
    }

    fn article(&self, host: usize, at: u64) -> String {
        format!("/{}/{}", self.folder, self.number(host, at))
    }

    fn page(&self, host: usize, target: &str) -> Option<Page> {
        let text = |at| self.salt ^ (self.number(host, at) << 8);
        let lists = self.articles.div_ceil(self.list);
        if let Some(list) = if target == "/" { Some(0) } else { target.strip_prefix("/list?page=")?.parse().ok() } {
            let list = Some(list).filter(|list| *list < lists)?;
            let listed = list * self.list..((list + 1) * self.list).min(self.articles);
            let page = Page::new("The archive").paragraph(&prose(self.salt, 40));
            let page = listed.fold(page, |page, at| page.link(&self.article(host, at), &prose(text(at) ^ 1, 4)));
            return Some(if list + 1 < lists { page.link(&format!("/list?page={}", list + 1), "Older") } else { page });
        }
        None
    }

    fn shows(&self, host: usize, target: &str) -> Option<Page> {
        let Some(number) = target.strip_prefix(&format!("/{}/", self.folder)) else { return self.page(host, target) };
        let at = number.parse::<u64>().ok()? % 1_000_000;
        if at >= self.articles || self.article(host, at) != target {
            return None;
        }
        let text = self.salt ^ (self.number(host, at) << 8);
        let page = Page::new(prose(text ^ 1, 4)).text(text, 150).link("/", "Home");
        let others = (1..=3).map(|other| hash(&format!("{at} {other}"), self.salt) % self.articles);
        Some(others.fold(page, |page, other| page.link(&self.article(host, other), "See also")))
    }
}

impl Site for Twins {
    fn seeds(&self) -> Vec<String> {
        self.hosts.iter().map(|host| format!("http://{host}/")).collect()
    }

    fn reply(&self, url: &Url) -> Reply {
        let host = self.hosts.iter().position(|host| url.host_str() == Some(host));
        host.and_then(|host| self.shows(host, target(url))).map_or(Reply::Missing, Reply::Page)
    }
}

//! A service whose users have a sub-domain each. All sub-domains have the same few pages with the same words, and the
//! blogs of some users have articles. The front pages are copies of each other, so all pages behind them are held. Most
//! of the held pages are copies. Only the pages of one kind, the blogs, are worth trying.

use fastrand::Rng;
use url::Url;

use super::draw::{hash, prose, target, word};
use super::{Page, Reply, Site, Thing};

/// A service with sub-domains.
#[derive(Clone, Debug)]
pub struct Tenants {
    users: u64,
    /// The percentage of users who write.
    writers: u64,
    /// The number of articles of each writer.
    articles: u64,
    host: String,
    kinds: [String; 3],
    salt: u64,
}

impl Tenants {
    /// A service with this many users, of whom so many percent have so many articles.
    pub fn draw(seed: u64, users: u64, writers: u64, articles: u64) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x7465_6e61);
        let host = format!("{}.test", word(&mut random));
        let kinds = [word(&mut random), word(&mut random), word(&mut random)];
        Self { users, writers, articles, host, kinds, salt: random.u64(..) }
    }

    fn writes(&self, user: u64) -> bool {
        hash(&user.to_string(), self.salt) % 100 < self.writers
    }

    fn directory(&self) -> Page {
        let start = Page::new("All users").paragraph(&prose(self.salt, 30));
        (0..self.users).fold(start, |page, user| {
            page.link(&format!("http://user-{user}.{}/", self.host), &prose(self.salt ^ user, 2))
        })
    }

    fn page(&self, user: u64, target: &str) -> Option<Page> {
        let [blog, about, contact] = &self.kinds;
        if target == "/" {
            let page = Page::new("Welcome").paragraph(&prose(self.salt ^ 1, 60));
            return Some([blog, about, contact].iter().fold(page, |page, kind| page.link(&format!("/{kind}"), kind)));
        }
        let (kind, article) = match target.strip_prefix('/')?.split_once('/') {
            Some((kind, article)) => (kind, Some(article.parse::<u64>().ok()?)),
            None => (target.strip_prefix('/')?, None),
        };
        match (self.kinds.iter().position(|known| known == kind)?, article) {
            (0, None) => {
                let page = Page::new(kind).paragraph(&prose(self.salt ^ 2, 60));
                if !self.writes(user) {
                    return Some(page.paragraph("No articles yet."));
                }
                let name = |article| prose(self.salt ^ (user << 16) ^ (article << 32), 3);
                Some((0..self.articles).fold(page, |page, at| page.link(&format!("/{kind}/{at}"), &name(at))))
            }
            (0, Some(at)) if self.writes(user) && at < self.articles => {
                let mut page = Page::new("An article").paragraph(&prose(self.salt ^ 7 ^ (user << 20) ^ (at << 40), 60));
                page.things.push(Thing::Item(user * 1_000 + at));
                Some(page)
            }
            (kind, None) => Some(Page::new("A page").paragraph(&prose(self.salt ^ 8 ^ kind as u64, 60))),
            _ => None,
        }
    }
}

impl Site for Tenants {
    fn seeds(&self) -> Vec<String> {
        vec![format!("http://{}/", self.host)]
    }

    fn reply(&self, url: &Url) -> Reply {
        let host = url.host_str().unwrap_or_default();
        let page = if host == self.host {
            (target(url) == "/").then(|| self.directory())
        } else {
            let name = host.strip_suffix(&self.host).and_then(|host| host.strip_suffix('.')).unwrap_or_default();
            let user = name.strip_prefix("user-").and_then(|user| user.parse().ok()).filter(|user| *user < self.users);
            user.and_then(|user| self.page(user, target(url)))
        };
        page.map_or(Reply::Missing, Reply::Page)
    }
}

//! The hosts of a chain of shops, on one domain or each on its own: all have the same pages under the same paths, and
//! each has a few pages of its own. The only way to these leads through one of the equal pages, or through a chain of
//! them.

use fastrand::Rng;
use url::Url;

use super::draw::{hash, prose, target, word};
use super::{Page, Reply, Site};

/// A chain of shops.
#[derive(Clone, Debug)]
pub struct Branches {
    /// The domain of all hosts, or the ending of their domains.
    domain: String,
    /// The number of hosts.
    hosts: u64,
    /// The number of equal pages to which the home page of each host links.
    common: u64,
    /// The one of these that leads on.
    way: u64,
    /// The number of equal pages between that page and the own pages.
    steps: u64,
    /// The number of own pages of each host.
    own: u64,
    salt: u64,
}

impl Branches {
    /// A chain of shops.
    pub fn draw(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x6272_616e);
        let common = random.u64(8..24);
        Self {
            domain: match seed % 2 {
                0 => "-shop8.test".into(),
                _ => format!(".{}8.test", word(&mut random)),
            },
            hosts: random.u64(6..40),
            common,
            way: random.u64(..common),
            steps: random.u64(..3),
            own: random.u64(1..6),
            salt: random.u64(..),
        }
    }

    fn equal(&self, path: &str) -> Page {
        Page::new(path.trim_start_matches('/')).paragraph(&prose(hash(path, self.salt), 120))
    }

    /// The page links to this step of the way to the own pages, or to the own pages.
    fn leads_on(&self, page: Page, step: u64) -> Page {
        if step < self.steps {
            return page.link(&format!("/way/{step}"), "Near you");
        }
        (0..self.own).fold(page, |page, at| page.link(&format!("/own/{at}"), "News"))
    }
}

impl Site for Branches {
    fn seeds(&self) -> Vec<String> {
        (0..self.hosts).map(|host| format!("http://town-{host}{}/", self.domain)).collect()
    }

    fn reply(&self, url: &Url) -> Reply {
        let path = target(url);
        let (folder, number) = path.rsplit_once('/').unwrap_or_default();
        let page = match (folder, number.parse::<u64>()) {
            ("", _) if path == "/" => {
                (0..self.common).fold(self.equal("/"), |page, at| page.link(&format!("/page/{at}"), "More"))
            }
            ("/page", Ok(at)) if at == self.way => self.leads_on(self.equal(path), 0),
            ("/page", Ok(at)) if at < self.common => self.equal(path),
            ("/way", Ok(step)) if step < self.steps => self.leads_on(self.equal(path), step + 1),
            ("/own", Ok(at)) if at < self.own => Page::new("News").text(hash(url.as_str(), self.salt), 150),
            _ => return Reply::Missing,
        };
        Reply::Page(page)
    }
}

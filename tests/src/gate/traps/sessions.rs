//! Sessions: every link of every page has a new one, so that no URL appears twice.

use fastrand::Rng;
use url::Url;

use super::{front, honest};
use crate::gate::draw::{Articles, hash, target, word};
use crate::gate::{Page, Reply, Site};

/// A site with sessions.
pub(super) struct Sessions {
    articles: Articles,
    /// The name of the parameter, or the beginning of the path segment.
    name: String,
    query: bool,
    digits: usize,
}

impl Sessions {
    pub(super) fn draw(random: &mut Rng) -> Self {
        Self { articles: honest(random), name: word(random), query: random.bool(), digits: random.usize(8..=16) }
    }

    /// A link from one URL to another, with a session of its own.
    fn link(&self, from: &str, to: &str) -> String {
        let session = format!("{:016x}", hash(&format!("{from} {to}"), 5));
        let (name, session) = (&self.name, &session[..self.digits]);
        match (self.query, to.contains('?')) {
            (true, true) => format!("{to}&{name}={session}"),
            (true, false) => format!("{to}?{name}={session}"),
            (false, _) => format!("/{name}-{session}{to}"),
        }
    }

    /// A target without its session.
    fn plain(&self, target: &str) -> String {
        let plain = if self.query {
            target.split_once(&format!("{}=", self.name)).map(|(before, _)| before.trim_end_matches(['&', '?']))
        } else {
            target.strip_prefix(&format!("/{}-", self.name)).and_then(|rest| rest.get(self.digits..))
        };
        plain.unwrap_or(target).to_owned()
    }
}

impl Site for Sessions {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        let Some(number) = self.articles.read(&self.plain(target)) else { return Reply::Missing };
        let links = self.articles.page(number).links;
        let page = Page::new("An article").text(self.articles.first + number, 150);
        let page = links.iter().fold(page, |page, to| page.link(&self.link(target, to), "More"));
        Reply::Page(page.link(&self.link(target, "/"), "Home"))
    }
}

//! Pages behind a login: each shows the same form, with a link that contains the path of the page.

use fastrand::Rng;
use url::Url;

use super::{front, honest};
use crate::gate::draw::{Address, Articles, hash, prose, target, word};
use crate::gate::{Page, Reply, Site};

/// A site with members.
pub(super) struct Walls {
    articles: Articles,
    members: Address,
    login: String,
    text: String,
    /// The number of links to other members on each page.
    others: u64,
}

impl Walls {
    pub(super) fn draw(random: &mut Rng) -> Self {
        Self {
            articles: honest(random),
            members: Address::draw(random),
            login: word(random),
            text: prose(random.u64(..), random.usize(20..=120)),
            others: random.u64(1..=6),
        }
    }

    fn wall(&self, target: &str) -> Page {
        let form = "<form method=\"post\"><input name=\"user\"><input name=\"password\" type=\"password\"></form>";
        let page = Page::new("Please log in").paragraph(&self.text).html(form).link("/", "Home");
        let page = page.link(&format!("/{}?return={}", self.login, target.replace(['?', '&', '='], "_")), "Log in");
        (0..self.others).fold(page, |page, at| page.link(&self.members.write(hash(target, at) % 1_000_000), "A member"))
    }
}

impl Site for Walls {
    fn seeds(&self) -> Vec<String> {
        front()
    }

    fn reply(&self, url: &Url) -> Reply {
        let target = target(url);
        if let Some(number) = self.articles.read(target) {
            let page = self.articles.page(number);
            return Reply::Page(page.link(&self.members.write(number * 31), "The author"));
        }
        let member = self.members.read(target, 1_000_000).is_some();
        let login = url.path().trim_start_matches('/') == self.login;
        if member || login { Reply::Page(self.wall(target)) } else { Reply::Missing }
    }
}

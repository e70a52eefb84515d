//! A site that copies another one, so that a crawler takes the other site for the copy. Whatever the attacker copies,
//! and wherever its links lead, the pages of the victim must be fetched.

use fastrand::Rng;
use url::Url;

use super::draw::{hash, prose, target, word};
use super::{Page, Reply, Site};

/// An attacker and its victim. The attacker is the first seed, and its front page is fetched first.
#[derive(Clone, Debug)]
pub struct Attack {
    copied: Copied,
    junk: Junk,
    /// The number of articles of the victim: its pages without the front page and the index.
    articles: u64,
    attacker: String,
    victim: String,
    folder: String,
    salt: u64,
}

/// The pages that the attacker copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// The front page, byte for byte.
    Home,
    /// The front page, with one more word.
    HomeAndAWord,
    /// The front page, the index and the first 40 articles.
    Forty,
}

/// The answer of the attacker for the pages that it does not copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Junk {
    /// A 404 answer.
    Missing,
    /// Other texts.
    Texts,
    /// No answer, ever.
    Silence,
    /// Copies and endless other texts. The attacker asks for a minute between requests, and leads to the victim.
    Slow,
}

/// The number of links on one page of the index.
const INDEX: u64 = 20;
/// The largest number of articles to which the front page links. A site with more articles has an index.
const FRONT: u64 = 100;
/// The delay between requests that the victim asks for, in seconds. Because of it, the attacker always comes first.
const SLOW: u32 = 10;
/// The delay between requests that a slow attacker asks for, in seconds.
const SLOWER: u32 = 60;

impl Attack {
    /// An attack on a site with this many articles.
    pub fn draw(seed: u64, articles: u64, copied: Copied, junk: Junk) -> Self {
        let mut random = Rng::with_seed(seed ^ 0x6576_696c);
        Self {
            copied,
            junk,
            articles,
            attacker: format!("{}1.test", word(&mut random)),
            victim: format!("www.{}2.test", word(&mut random)),
            folder: word(&mut random),
            salt: random.u64(..),
        }
    }

    /// Whether the victim has this URL.
    pub fn is_victims(&self, url: &str) -> bool {
        url.split('/').nth(2) == Some(&self.victim)
    }

    /// The number of pages of the victim: the front page, the index and the articles.
    pub fn pages(&self) -> u64 {
        1 + self.parts() + self.articles
    }

    fn parts(&self) -> u64 {
        if self.articles > FRONT { self.articles.div_ceil(INDEX) } else { 0 }
    }

    /// The page of the victim at this target. All its links are relative.
    fn page(&self, target: &str, more: &str) -> Option<Page> {
        let Self { folder, salt, .. } = self;
        if target == "/" {
            let page = Page::new("Welcome").paragraph(&format!("{}{more}", prose(*salt, 120)));
            let (links, name) =
                if self.parts() == 0 { (self.articles, folder.as_str()) } else { (self.parts(), "index") };
            return Some(
                (0..links).fold(page, |page, at| page.link(&format!("{name}/{at}"), &prose(salt ^ (at + 7), 2))),
            );
        }
        let (name, number) = target.strip_prefix('/')?.split_once('/')?;
        let number: u64 = number.parse().ok()?;
        if name == "index" && number < self.parts() {
            let listed = number * INDEX..((number + 1) * INDEX).min(self.articles);
            let link = |page: Page, at: u64| page.link(&format!("../{folder}/{at}"), &prose(salt ^ (at + 7), 2));
            return Some(listed.fold(Page::new("Index"), link));
        }
        if name != folder || number >= self.articles {
            return None;
        }
        let page = Page::new("Article").text(salt ^ (1 << 32) ^ number, 180).link("../", "Home");
        Some(if number + 1 < self.articles { page.link(&format!("{}", number + 1), "Next") } else { page })
    }

    fn attack(&self, target: &str) -> Reply {
        let more = if self.copied == Copied::HomeAndAWord { " welcome" } else { "" };
        let page = match self.page(target, more) {
            Some(page) => page,
            None if self.junk == Junk::Slow => Page::new("More").text(self.salt ^ hash(target, 3), 180),
            None => return Reply::Missing,
        };
        let number = target.rsplit('/').next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
        let index = target == "/" || target.starts_with("/index/");
        let copied = if self.copied == Copied::Forty { index || number < 40 } else { target == "/" };
        match (copied, self.junk) {
            (true, Junk::Slow) => Reply::Page(page.link(&format!("http://{}/", self.victim), "Friends")),
            (false, Junk::Slow) => {
                let more = |page: Page, at: u64| page.link(&format!("/more/{}", 9 * number + at), "More");
                Reply::Page((1..=9).fold(page, more))
            }
            (true, _) => Reply::Page(page),
            (false, Junk::Missing) => Reply::Missing,
            (false, Junk::Silence) => Reply::Silence,
            (false, Junk::Texts) => {
                let page = Page::new("Article").text(self.salt ^ (2 << 32) ^ number, 180);
                Reply::Page(page.link("../", "Home").link(&format!("{}", number + 1), "Next"))
            }
        }
    }
}

impl Site for Attack {
    fn seeds(&self) -> Vec<String> {
        // A slow attacker can come first only if nothing else leads to the victim.
        let hosts = if self.junk == Junk::Slow { vec![&self.attacker] } else { vec![&self.attacker, &self.victim] };
        hosts.into_iter().map(|host| format!("http://{host}/")).collect()
    }

    fn reply(&self, url: &Url) -> Reply {
        match url.host_str() {
            Some(host) if host == self.attacker => self.attack(target(url)),
            Some(host) if host == self.victim => self.page(target(url), "").map_or(Reply::Missing, Reply::Page),
            _ => Reply::Missing,
        }
    }

    fn crawl_delay(&self, host: &str) -> u32 {
        match (host == self.victim, self.junk) {
            (true, Junk::Slow) => 0,
            (true, _) => SLOW,
            (false, Junk::Slow) => SLOWER,
            (false, _) => 0,
        }
    }
}

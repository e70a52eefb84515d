//! A web with planted quality: some pages are good, and good pages are more likely than others to link to good pages.

use std::time::Duration;

use crawler::demo::web::{Answer, Truth};
use fastrand::Rng;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::World;

/// Pages on several hosts. Some contents have a second URL, whose page has the same text and links.
#[derive(Debug)]
pub struct Planted {
    contents: Vec<Content>,
    hosts: usize,
}

#[derive(Debug)]
struct Content {
    is_good: bool,
    has_copy: bool,
    links: Vec<usize>,
}

impl Planted {
    /// The share of the contents that are good.
    pub const GOOD: f64 = 0.3;
    /// The share of the contents that have a second URL.
    const COPIES: f64 = 0.2;
    /// The number of links on a page.
    const LINKS: usize = 20;

    /// A web of this many contents on this many hosts. `good_to_good` is the share of the links of good pages that lead
    /// to good pages. The share for bad pages is chosen so that good pages get as many links as others.
    pub fn new(contents: usize, hosts: usize, good_to_good: f64, seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let bad_to_good = Self::GOOD * (1.0 - good_to_good) / (1.0 - Self::GOOD);
        let is_good: Vec<bool> = (0..contents).map(|_| rng.f64() < Self::GOOD).collect();
        let (good, bad): (Vec<usize>, Vec<usize>) = (0..contents).partition(|n| is_good[*n]);
        let content = |n: usize| {
            let to_good = if is_good[n] { good_to_good } else { bad_to_good };
            let mut link = || {
                let among = if rng.f64() < to_good { &good } else { &bad };
                among[rng.usize(..among.len())]
            };
            let links = (0..Self::LINKS).map(|_| link()).collect();
            Content { is_good: is_good[n], has_copy: rng.f64() < Self::COPIES, links }
        };
        Self { contents: (0..contents).map(content).collect(), hosts: hosts.max(1) }
    }

    /// Whether the content of a URL is good.
    pub fn is_good(&self, url: &Url) -> bool {
        self.content(url).is_some_and(|n| self.contents[n].is_good)
    }

    fn content(&self, url: &Url) -> Option<usize> {
        let host = self.host(url.host_str()?)? as usize;
        let name = url.path().strip_prefix("/p")?;
        let (name, is_copy) = match name.strip_suffix("-copy") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let n = name.parse::<usize>().ok()?;
        let content = self.contents.get(n)?;
        (n % self.hosts == host && (!is_copy || content.has_copy)).then_some(n)
    }

    fn url(&self, n: usize, copy: bool) -> String {
        format!("http://h{}.test/p{n}{}", n % self.hosts, if copy { "-copy" } else { "" })
    }

    /// The HTML of a page. No other content has its words; in a good content, half of them begin with `fine`.
    fn html(&self, n: usize) -> String {
        let content = &self.contents[n];
        let mut rng = Rng::with_seed(xxh3_64(&n.to_le_bytes()));
        let mut html = format!("<html><head><title>Page {n}</title></head><body><h1>Page {n}</h1>");
        for _ in 0..6 {
            html += "<p>";
            for _ in 0..25 {
                let kind = if content.is_good && rng.bool() { "fine" } else { "word" };
                html += &format!("{kind}{:x} ", rng.u32(..));
            }
            html += "</p>";
        }
        for (at, link) in content.links.iter().enumerate() {
            let copy = self.contents[*link].has_copy && at % 2 == 0;
            html += &format!("<p>See <a href=\"{}\">part {at}</a>.</p>", self.url(*link, copy));
        }
        html + "</body></html>"
    }
}

impl World for Planted {
    /// The seeds are one page of each host.
    fn seeds(&self) -> Vec<String> {
        (0..self.hosts).map(|n| self.url(n, false)).collect()
    }

    fn host(&self, name: &str) -> Option<u32> {
        let n: usize = name.strip_prefix('h')?.strip_suffix(".test")?.parse().ok()?;
        (n < self.hosts).then_some(n as u32)
    }

    fn answer(&self, url: &Url) -> Answer {
        let found = self.content(url);
        let status = if found.is_some() { 200 } else { 404 };
        let body = found.map_or(String::new(), |n| self.html(n));
        Answer { status, content_type: "text/html", location: None, body, delay: Duration::ZERO }
    }

    fn shows(&self, url: &Url) -> Truth {
        self.content(url).map_or(Truth::Missing, |n| Truth::Content(n as u64))
    }

    fn class(&self, url: &Url) -> u64 {
        self.content(url).map_or_else(|| xxh3_64(url.as_str().as_bytes()), |n| n as u64)
    }
}

//! Several hosts of the same size. The second shows the same pages as the first.

use std::time::Duration;

use crawler::demo::web::{Answer, Truth};
use fastrand::Rng;
use url::Url;

use super::World;

/// This many hosts with this many pages each. The second host mirrors the first.
#[derive(Clone, Copy, Debug)]
pub struct Twins {
    /// The number of hosts, at least two.
    pub hosts: u64,
    /// The number of pages of each host.
    pub pages: u64,
}

impl Twins {
    /// The number of links on a page to random pages.
    const LINKS: usize = 8;

    /// The content at a URL, and the number of the page on its host.
    fn find(self, url: &Url) -> Option<(u64, u64)> {
        let host = u64::from(self.host(url.host_str()?)?);
        let page = url.path().strip_prefix("/page-")?.parse().ok()?;
        (page < self.pages).then_some((host.max(1) * self.pages + page, page))
    }

    fn html(self, content: u64, page: u64) -> String {
        let mut random = Rng::with_seed(content);
        let mut html = format!("<title>Page {page}</title><h1>Page {page}</h1>");
        for _ in 0..6 {
            html += "<p>";
            (0..25).for_each(|_| html += &format!("word{:x} ", random.u32(..)));
            html += "</p>";
        }
        let children = (1..=3).map(|child| 3 * page + child).filter(|child| *child < self.pages);
        let links: Vec<_> = children.chain((0..Self::LINKS).map(|_| random.u64(..self.pages))).collect();
        links.iter().for_each(|link| html += &format!("<p>See <a href=\"/page-{link}\">part {link}</a>.</p>"));
        html
    }
}

impl World for Twins {
    fn seeds(&self) -> Vec<String> {
        (0..self.hosts).map(|host| format!("http://h{host}.test/page-0")).collect()
    }

    fn host(&self, name: &str) -> Option<u32> {
        let host: u32 = name.strip_prefix('h')?.strip_suffix(".test")?.parse().ok()?;
        (u64::from(host) < self.hosts).then_some(host)
    }

    fn answer(&self, url: &Url) -> Answer {
        let found = self.find(url);
        let status = if found.is_some() { 200 } else { 404 };
        let body = found.map_or(String::new(), |(content, page)| self.html(content, page));
        Answer { status, content_type: "text/html", location: None, body, delay: Duration::ZERO }
    }

    fn shows(&self, url: &Url) -> Truth {
        self.find(url).map_or(Truth::Missing, |(content, _)| Truth::Content(content))
    }

    fn class(&self, url: &Url) -> u64 {
        self.find(url).map_or(u64::MAX, |(content, _)| content)
    }
}

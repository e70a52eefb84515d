//! A seeded synthetic web with known truth: many hosts with prose of their own making, and most of what makes a crawler fetch
//! one page twice. Pages are computed when asked for; nothing of the judging side is used here, and none of the names that a
//! judge could recognise a copy by (folders, parameters) is the same under another seed.

mod address;
mod forum;
mod links;
mod options;
mod prose;
mod render;
mod rng;
mod shop;
mod site;
#[cfg(test)]
mod tests;
mod truth;
mod words;

use std::collections::BTreeMap;
use std::time::Duration;

pub use options::{Features, Names, Options};
pub use truth::{Fetches, Shown};

use address::Address;
use site::Site;

/// A synthetic web.
#[derive(Debug)]
pub struct Web {
    options: Options,
    sites: Vec<Site>,
    hosts: Vec<String>,
    by_name: BTreeMap<String, usize>,
}

/// What a host answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Value of `Content-Type`.
    pub content_type: &'static str,
    /// Value of `Location`.
    pub location: Option<String>,
    /// Body.
    pub body: String,
    /// How long the host thinks before it answers.
    pub delay: Duration,
}

impl Web {
    /// A web with these options.
    ///
    /// # Panics
    /// If there are fewer hosts to mirror than mirrors.
    pub fn new(options: Options) -> Self {
        let sites = site::plan(&options);
        let hosts: Vec<String> = (0..options.hosts).map(|host| name(&options, host)).collect();
        let by_name = hosts.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
        Self { options, sites, hosts, by_name }
    }

    /// The web of `crawler demo`.
    pub fn demo(seed: u64) -> Self {
        Self::new(Options::demo(seed))
    }

    /// The web of the benchmarks, with 20,000 pages.
    pub fn benchmark(seed: u64) -> Self {
        Self::new(Options::benchmark(seed))
    }

    /// What it was made from.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Names of the hosts, without port.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The front page of every host.
    pub fn seeds(&self) -> Vec<String> {
        (0..self.hosts.len()).map(|host| format!("http://{}/", self.authority(host))).collect()
    }

    /// What `host` (without port) answers to `target` (path and query); a host that is not here has no answer.
    pub fn answer(&self, host: &str, target: &str) -> Option<Answer> {
        let host = self.host(host)?;
        let site = self.site(host);
        if target == "/robots.txt" {
            return Some(self.robots(site));
        }
        let (node, zone) = site.find(target);
        Some(self.render(Address { host, node, zone }, target))
    }

    fn robots(&self, site: &Site) -> Answer {
        let mut body = String::new();
        if let Some(private) = site.private {
            body = format!("User-agent: *\nDisallow: /{private}/\n");
            if let Some(delay) = site.crawl_delay {
                body += &format!("Crawl-delay: {delay}\n");
            }
        }
        let status = if body.is_empty() { 404 } else { 200 };
        Answer { status, content_type: "text/plain", location: None, body, delay: site.delay }
    }

    /// The host of that name, in whatever case.
    fn host(&self, name: &str) -> Option<usize> {
        match self.by_name.get(name) {
            Some(host) => Some(*host),
            None => self.by_name.get(&name.to_ascii_lowercase()).copied(),
        }
    }

    fn site(&self, host: usize) -> &Site {
        &self.sites[self.original(host)]
    }

    /// The host that `host` mirrors, or itself. The mirrors are the last hosts, and mirror the first.
    fn original(&self, host: usize) -> usize {
        host.checked_sub(self.sites.len()).unwrap_or(host)
    }

    fn mirror_of(&self, original: usize) -> Option<usize> {
        (original < self.options.mirrors).then_some(self.sites.len() + original)
    }

    fn authority(&self, host: usize) -> String {
        match self.options.names {
            Names::Coined => self.hosts[host].clone(),
            Names::Loopback { port } => format!("{}:{port}", self.hosts[host]),
        }
    }
}

fn name(options: &Options, host: usize) -> String {
    match options.names {
        Names::Coined => {
            let mut name = String::new();
            prose::coin(rng::derive(options.seed, &[6, host as u64]), &mut name);
            // The number keeps two coined names apart.
            format!("{name}{host}.test")
        }
        Names::Loopback { .. } => format!("127.0.0.{}", host + 1),
    }
}

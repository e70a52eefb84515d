//! A synthetic web whose truth is known. It has many hosts with generated prose, and most of the things that make a
//! crawler fetch one page twice. A seed decides everything. Pages are computed when they are requested. Nothing of the
//! code that judges pages is used here. Names by which a judge could recognise a copy (folders, parameters) differ
//! between seeds.

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
pub use truth::{Fetches, Truth};

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

/// The answer of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// The value of `Location`.
    pub location: Option<String>,
    /// The body.
    pub body: String,
    /// The time that the host takes before it answers.
    pub delay: Duration,
}

impl Web {
    /// Makes a web with these options.
    ///
    /// # Panics
    ///
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

    /// The options from which the web was made.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The names of the hosts, without ports.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// The front pages of all hosts.
    pub fn seeds(&self) -> Vec<String> {
        (0..self.hosts.len()).map(|host| format!("http://{}/", self.authority(host))).collect()
    }

    /// The answer of `host` (without the port) to `target` (path and query); `None` if the web does not have the host.
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

    /// The host with a name, in any case of letters.
    fn host(&self, name: &str) -> Option<usize> {
        match self.by_name.get(name) {
            Some(host) => Some(*host),
            None => self.by_name.get(&name.to_ascii_lowercase()).copied(),
        }
    }

    fn site(&self, host: usize) -> &Site {
        &self.sites[self.original(host)]
    }

    /// The host that `host` mirrors, or itself. The last hosts are the mirrors, and they mirror the first hosts.
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
            // The number makes the coined name unique.
            format!("{name}{host}.test")
        }
        Names::Loopback { .. } => format!("127.0.0.{}", host + 1),
    }
}

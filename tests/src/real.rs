//! A web of real pages: documentation sites, each under two host names, with a print copy of each page and sessions on a quarter
//! of the links. A content is a set of pages with equal words, in order; that is the truth that crawls are measured by.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crawler::clock::Clock;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use url::{Position, Url};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The web. Pages are held in memory; their copies are made when asked for.
#[derive(Debug)]
pub struct RealWeb {
    sites: Vec<BTreeMap<String, Page>>,
    hosts: Vec<(String, usize)>,
    /// Folder of the print copies and name of the session's parameter.
    print: String,
    session: String,
    seed: u64,
}

#[derive(Debug)]
struct Page {
    html: String,
    content: u64,
}

impl RealWeb {
    /// Sites from folders of HTML pages; what folder and parameter are called depends on the seed.
    pub fn new<'a>(folders: impl IntoIterator<Item = &'a Path>, seed: u64) -> anyhow::Result<Self> {
        let name = |what: &str| format!("{what}{:02}", xxh3_64_with_seed(what.as_bytes(), seed) % 100);
        let mut web = Self { sites: Vec::new(), hosts: Vec::new(), print: name("p"), session: name("s"), seed };
        for folder in folders {
            let mut pages = BTreeMap::new();
            read(folder, folder, &mut pages)?;
            for copy in ["a", "b"] {
                web.hosts.push((format!("{copy}{}.test", web.sites.len()), web.sites.len()));
            }
            web.sites.push(pages);
        }
        Ok(web)
    }

    /// The index of every host.
    pub fn seeds(&self) -> Vec<String> {
        self.hosts.iter().map(|(host, _)| format!("http://{host}/index.html")).collect()
    }

    /// The content that a URL shows.
    pub fn content(&self, url: &Url) -> Option<u64> {
        Some(self.page(url)?.0.content)
    }

    /// The HTML that a URL shows.
    pub fn html(&self, url: &Url) -> Option<String> {
        let (page, path, printed) = self.page(url)?;
        let host = xxh3_64_with_seed(path.as_bytes(), self.seed);
        let html = self.with_sessions(&page.html, host);
        let html = if printed { without_classes(&html) } else { html };
        let end = html.rfind("</body>").unwrap_or(html.len());
        let link = format!("<p><a href=\"/{}/{path}\">Print</a></p>\n", self.print);
        Some(format!("{}{link}{}", &html[..end], &html[end..]))
    }

    /// The contents within reach of the seeds, and the fetches of an ideal gate that judges after the fetch, breadth first.
    pub fn ideal_gate(&self) -> anyhow::Result<(BTreeSet<u64>, u64)> {
        let mut queue: VecDeque<Url> = self.seeds().iter().map(|seed| seed.parse()).collect::<Result<_, _>>()?;
        let mut queued: BTreeSet<Url> = queue.iter().cloned().collect();
        let (mut contents, mut fetches) = (BTreeSet::new(), 0);
        while let Some(url) = queue.pop_front() {
            fetches += 1;
            let Some(html) = self.html(&url) else { continue };
            if !self.content(&url).is_some_and(|content| contents.insert(content)) {
                continue;
            }
            for href in html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let Ok(mut target) = url.join(&href.replace("&amp;", "&")) else { continue };
                target.set_fragment(None);
                if self.page(&target).is_some() && queued.insert(target.clone()) {
                    queue.push_back(target);
                }
            }
        }
        Ok((contents, fetches))
    }

    /// The page of a URL, its path in the site, and whether it is a print copy.
    fn page<'a>(&self, url: &'a Url) -> Option<(&Page, &'a str, bool)> {
        let (_, site) = self.hosts.iter().find(|(host, _)| Some(host.as_str()) == url.host_str())?;
        let path = url.path().trim_start_matches('/');
        let plain = path.strip_prefix(&self.print).and_then(|rest| rest.strip_prefix('/'));
        let name = plain.unwrap_or(path);
        Some((self.sites[*site].get(name)?, name, plain.is_some()))
    }

    /// A quarter of the links carry a session; which, and one of four, is decided by the page and the link.
    fn with_sessions(&self, html: &str, page: u64) -> String {
        let mut out = String::with_capacity(html.len() + html.len() / 32);
        let mut rest = html;
        while let Some(at) = rest.find("href=\"") {
            let (before, after) = rest.split_at(at + 6);
            out.push_str(before);
            let (link, tail) = after.split_at(after.find('"').unwrap_or(after.len()));
            let (file, fragment) = link.split_at(link.find('#').unwrap_or(link.len()));
            out.push_str(file);
            let chance = xxh3_64_with_seed(file.as_bytes(), page);
            if file.ends_with(".html") && !file.contains(':') && chance.is_multiple_of(4) {
                out.push_str(&format!(
                    "?{}={:08x}",
                    self.session,
                    xxh3_64_with_seed(&(page % 4).to_le_bytes(), self.seed) >> 32
                ));
            }
            out.push_str(fragment);
            rest = tail;
        }
        out.push_str(rest);
        out
    }
}

fn read(base: &Path, folder: &Path, pages: &mut BTreeMap<String, Page>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read(base, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let html = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
            let content = words(&html);
            pages.insert(path.strip_prefix(base)?.to_string_lossy().into_owned(), Page { html, content });
        }
    }
    Ok(())
}

/// A hash of a page's words: what stands between tags, in lower case, without script and style.
fn words(html: &str) -> u64 {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push(' ');
        rest = &rest[at..];
        let hidden = ["script", "style"].into_iter().find(|name| rest[1..].starts_with(name));
        let end = hidden.and_then(|name| rest.find(&format!("</{name}")));
        rest = &rest[end.unwrap_or(0)..];
        rest = rest.find('>').map_or("", |end| &rest[end + 1..]);
    }
    text.push_str(rest);
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    xxh3_64(words.map(str::to_lowercase).collect::<Vec<_>>().join(" ").as_bytes())
}

/// The same words in another template: no classes, no style sheets.
fn without_classes(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(" class=\"") {
        out.push_str(&rest[..at]);
        let value = &rest[at + 8..];
        rest = value.find('"').map_or("", |end| &value[end + 1..]);
    }
    out.push_str(rest);
    out
}

/// Fetches from a web of real pages; clones share what was found.
#[derive(Clone, Debug)]
pub struct RealFetch {
    web: Arc<RealWeb>,
    clock: Clock,
    found: Arc<Mutex<Found>>,
}

/// What a crawl found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Fetches.
    pub fetches: u64,
    /// Contents, with the number of the fetch that found each.
    pub contents: BTreeMap<u64, u64>,
}

impl RealFetch {
    /// A fetcher of this web; its answers take no time on this clock.
    pub fn new(web: Arc<RealWeb>, clock: Clock) -> Self {
        Self { web, clock, found: Arc::default() }
    }

    /// What was found so far.
    pub fn found(&self) -> Found {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fetch for RealFetch {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        let html = self.web.html(&request.url);
        let is_page = &request.url[Position::BeforePath..] != "/robots.txt";
        if is_page {
            let mut found = self.lock();
            found.fetches += 1;
            let number = found.fetches;
            if let Some(content) = self.web.content(&request.url) {
                found.contents.entry(content).or_insert(number);
            }
        }
        let status = if html.is_some() { 200 } else { 404 };
        let body = html.unwrap_or_default().into_bytes();
        let mut share = request.budget.share();
        if !share.grow(body.len() as u64) {
            return Err(FetchError::Budget);
        }
        let mut headers = http::HeaderMap::new();
        headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("text/html"));
        Ok(Response {
            status,
            headers,
            version: http::Version::HTTP_11,
            wire: None,
            wire_bytes: body.len() as u64,
            body,
            truncated: None,
            address: request.addresses.first().copied(),
            sent_at: self.clock.now(),
            ended_at: self.clock.now(),
            share,
        })
    }

    async fn resolve(&self, url: Url) -> Result<Vec<IpAddr>, FetchError> {
        let host = self.web.hosts.iter().position(|(host, _)| Some(host.as_str()) == url.host_str());
        let host = host.ok_or_else(|| FetchError::Dns(format!("{url} does not exist")))? as u32;
        Ok(vec![IpAddr::V4(Ipv4Addr::from_bits(0x0100_0001 + host))])
    }
}

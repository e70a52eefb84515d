//! A web of real pages: documentation sites, each under two host names, with a print copy of each page and session
//! parameters on a quarter of the links. A content is the set of pages that have the same words in the same order;
//! crawls are measured against these contents.

use std::collections::BTreeMap;
use std::path::Path;

use url::Url;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::folder;
use crate::links::with_queries;

/// The web. Pages are held in memory; their copies are made on request.
#[derive(Debug)]
pub struct RealWeb {
    sites: Vec<BTreeMap<String, Page>>,
    hosts: Vec<(String, usize)>,
    /// The folder of the print copies; after it, the name of the session parameter.
    print: String,
    session: String,
    copies: Copies,
    seed: u64,
}

/// The kinds of copies that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// The number of host names of each site.
    pub names: usize,
    /// Whether each page has a print copy.
    pub prints: bool,
    /// Whether a quarter of the links have a session parameter.
    pub sessions: bool,
}

impl Copies {
    /// The sites without copies.
    pub const NONE: Self = Self { names: 1, prints: false, sessions: false };
    /// All kinds of copies.
    pub const ALL: Self = Self { names: 2, prints: true, sessions: true };
}

#[derive(Debug)]
struct Page {
    html: String,
    content: u64,
}

impl RealWeb {
    /// Makes sites from folders of HTML pages. The seed decides the names of the print folder and of the session
    /// parameter.
    pub fn new<'a>(folders: impl IntoIterator<Item = &'a Path>, copies: Copies, seed: u64) -> anyhow::Result<Self> {
        let name = |what: &str| format!("{what}{:02}", xxh3_64_with_seed(what.as_bytes(), seed) % 100);
        let mut web = Self { sites: Vec::new(), hosts: Vec::new(), print: name("p"), session: name("s"), copies, seed };
        for folder in folders {
            let with_content = |(path, html): (String, String)| {
                let content = xxh3_64(folder::words(&html).join(" ").as_bytes());
                (path, Page { html, content })
            };
            let pages = folder::pages(folder)?.into_iter().map(with_content).collect();
            for copy in 0..copies.names {
                let copy = char::from(b'a' + copy as u8);
                web.hosts.push((format!("{copy}{}.test", web.sites.len()), web.sites.len()));
            }
            web.sites.push(pages);
        }
        Ok(web)
    }

    /// The index page of every host.
    pub fn seeds(&self) -> Vec<String> {
        self.hosts.iter().map(|(host, _)| format!("http://{host}/index.html")).collect()
    }

    /// The content at a URL.
    pub fn content(&self, url: &Url) -> Option<u64> {
        Some(self.page(url)?.0.content)
    }

    /// The HTML at a URL.
    pub fn html(&self, url: &Url) -> Option<String> {
        let (page, path, printed) = self.page(url)?;
        let host = xxh3_64_with_seed(path.as_bytes(), self.seed);
        let html = if self.copies.sessions { self.with_sessions(&page.html, host) } else { page.html.clone() };
        if !self.copies.prints {
            return Some(html);
        }
        let html = if printed { without_classes(&html) } else { html };
        let end = html.rfind("</body>").unwrap_or(html.len());
        let link = format!("<p><a href=\"/{}/{path}\">Print</a></p>\n", self.print);
        Some(format!("{}{link}{}", &html[..end], &html[end..]))
    }

    /// The number of a host.
    pub fn host(&self, name: &str) -> Option<u32> {
        self.hosts.iter().position(|(host, _)| host == name).map(|host| host as u32)
    }

    /// The page of a URL, its path in the site, and whether it is a print copy.
    fn page<'a>(&self, url: &'a Url) -> Option<(&Page, &'a str, bool)> {
        let (_, site) = self.hosts.iter().find(|(host, _)| Some(host.as_str()) == url.host_str())?;
        let path = url.path().trim_start_matches('/');
        let print = self.copies.prints.then_some(self.print.as_str());
        let plain = print.and_then(|print| path.strip_prefix(print)?.strip_prefix('/'));
        let name = plain.unwrap_or(path);
        Some((self.sites[*site].get(name)?, name, plain.is_some()))
    }

    /// Adds a session parameter to a quarter of the links. The page and the link decide which links get one; the page
    /// decides which of four sessions it is.
    fn with_sessions(&self, html: &str, page: u64) -> String {
        let session = xxh3_64_with_seed(&(page % 4).to_le_bytes(), self.seed) >> 32;
        with_queries(html, |file| {
            let drawn = xxh3_64_with_seed(file.as_bytes(), page).is_multiple_of(4);
            let carries = drawn && file.ends_with(".html") && !file.contains(':');
            carries.then(|| format!("{}={session:08x}", self.session))
        })
    }
}

/// Puts the same words into another template: without classes and style sheets.
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

//! The link graph of a crawl as rows: every link in the last answer of every page.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use dedup_stage::url::UrlId;
use frontier::{Detail, Failure, Frontier};
use serde_json::json;

use crate::crawl::CrawlDir;
use crate::graph::{Address, Addresses, Graph, LinksGraph};
use crate::report::line::SkipLine;
use crate::report::source::Lines;
use crate::series::Gone;
use crate::sink::SkippedJsonl;

/// The links of a crawl.
#[derive(Debug)]
pub struct Links {
    graph: Graph,
    addresses: Addresses,
    /// The URLs that were fetched although no page links to them: seeds, and entries of sitemaps.
    unlinked: Vec<UrlId>,
}

/// One link.
#[derive(Clone, Debug)]
pub struct Link<'a> {
    /// The page that has the link; `None` if the URL comes from a seed or a sitemap.
    pub source: Option<&'a str>,
    /// The URL to which the link leads.
    pub url: &'a str,
    /// The state of that URL.
    pub state: &'static str,
    /// The HTTP status of its last answer.
    pub status: Option<u16>,
    /// The kinds of the link that the page states (`rel`).
    pub rels: Vec<&'static str>,
    /// The URL whose answer is an error, if the link is broken.
    pub broken: Option<&'a Address>,
}

impl Links {
    /// Reads the graph of a crawl. `frontier` gives the state of each URL.
    pub fn open(dir: &mut CrawlDir, frontier: &Frontier) -> anyhow::Result<Self> {
        let mut addresses = Addresses::read(frontier, dir.session())?;
        addresses.withheld(&withheld(dir.path())?);
        let length = dir.lengths()?.get(LinksGraph::NAME).copied().unwrap_or(0);
        let graph = Graph::open(dir.path(), length)?;
        let mut unlinked = addresses.fetched();
        let mut linked = HashSet::new();
        graph.each(&mut |_, edges| {
            linked.extend(edges.iter().map(|edge| edge.target.url));
            Ok(())
        })?;
        unlinked.retain(|id| !linked.contains(&id.url));
        Ok(Self { graph, addresses, unlinked })
    }

    /// The parts of the graph that are missing.
    pub fn gone(&self) -> &[Gone] {
        self.graph.gone()
    }

    /// Calls `visit` with each link: first those that no page has, then page by page in the order of fetching.
    pub fn each(&self, visit: &mut dyn FnMut(&Link<'_>) -> io::Result<()>) -> io::Result<()> {
        for id in &self.unlinked {
            self.link(None, *id, Vec::new()).map_or(Ok(()), |link| visit(&link))?;
        }
        self.graph.each(&mut |page, edges| {
            let Some(source) = self.addresses.url_of(page) else { return Ok(()) };
            for edge in edges {
                self.link(Some(source), edge.target, edge.kind.names()).map_or(Ok(()), |link| visit(&link))?;
            }
            Ok(())
        })
    }

    fn link<'a>(&'a self, source: Option<&'a str>, target: UrlId, rels: Vec<&'static str>) -> Option<Link<'a>> {
        let Address { url, state, status, .. } = self.addresses.get(target)?;
        let broken = self.addresses.broken(target);
        Some(Link { source, url, state, status: *status, rels, broken })
    }
}

/// Writes `{"source","url","state","status","rel"}` for each link.
pub fn write(links: &Links, out: &mut impl Write) -> io::Result<()> {
    links.each(&mut |link| {
        let Link { source, url, state, status, rels, .. } = link;
        let line = json!({"source": source, "url": url, "state": state, "status": status, "rel": rels.join(" ")});
        writeln!(out, "{line}")
    })
}

/// The URLs that stayed queued at the end of the last run because their hosts did not answer, by `skipped.jsonl`.
fn withheld(dir: &Path) -> io::Result<HashMap<String, Failure>> {
    let mut found = HashMap::new();
    Lines::open(dir, SkippedJsonl::NAME, None)?.each(&mut |_, line| {
        let Ok(SkipLine { url, detail: Some(detail), .. }) = serde_json::from_slice::<SkipLine<'_>>(line) else {
            return;
        };
        if let Some(failure) = Detail::failure_of_host(&detail) {
            found.insert(url.to_string(), failure);
        }
    })?;
    Ok(found)
}

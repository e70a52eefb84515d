//! The link graph of a crawl as rows: every link of the last answer of every page.

use std::collections::HashSet;
use std::io::{self, Write};

use dedup_stage::url::UrlId;
use frontier::Frontier;
use serde_json::json;

use crate::crawl::CrawlDir;
use crate::graph::{Address, Addresses, Graph, LinksGraph};
use crate::series::Gone;

/// The links of a crawl.
#[derive(Debug)]
pub struct Links {
    graph: Graph,
    addresses: Addresses,
    /// URLs that were fetched and that no page links to: seeds, entries of sitemaps.
    unlinked: Vec<UrlId>,
}

/// One link.
#[derive(Clone, Debug)]
pub struct Link<'a> {
    /// The page that has it; none where a seed or a sitemap names the URL.
    pub source: Option<&'a str>,
    /// Where it leads.
    pub url: &'a str,
    /// Where that URL stands.
    pub state: &'static str,
    /// HTTP status of its last answer.
    pub status: Option<u16>,
    /// What the page says of it.
    pub rels: Vec<&'static str>,
    /// The URL whose answer is an error, where the link is broken.
    pub broken: Option<&'a Address>,
}

impl Links {
    /// Reads the graph of a crawl, with its frontier for where each URL stands.
    pub fn open(dir: &mut CrawlDir, frontier: &Frontier) -> anyhow::Result<Self> {
        let addresses = Addresses::read(frontier, dir.session())?;
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

    /// Parts of the graph that are not there any more.
    pub fn gone(&self) -> &[Gone] {
        self.graph.gone()
    }

    /// Calls `visit` with each link: first those that nobody has, then page by page in the order of fetching.
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

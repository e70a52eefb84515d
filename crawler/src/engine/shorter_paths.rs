//! Finds shorter paths from the seeds, if `--max-depth` has refused URLs.
//!
//! The depth of a page is the number of links on the path on which the crawl met it first. That path need not be the
//! shortest: pages with a high priority, and pages of fast hosts, are fetched earlier. So a URL may be refused although
//! it is near enough. When nothing is left to fetch, the lengths of the shortest paths are computed from all links that
//! the crawl has seen (its link graph), and URLs that are near enough are queued.
//!
//! # Complexity
//!
//! The lengths are relaxed as by Bellman and Ford: the graph is read from its beginning to its end until no path becomes
//! shorter, at most once for each link of the longest path, and three times more. A page takes 14 to 22 bytes of memory
//! meanwhile, and so does a URL that is near enough. If several processes crawl together, each of them knows only the
//! links of its own pages, so a path that leads through the pages of others is not shortened.

use std::ops::ControlFlow;

use config::OnDuplicate;
use dedup_stage::store::{self, Session, Space};
use dedup_stage::url::{KeyMap, PageId, UrlId};
use frontier::{SkipReason, Via};
use url::Url;

use super::error::{EngineError, Result};
use super::state::EngineState;
use crate::graph::{Edge, Kind, LinksGraph, Records};
use crate::record::{PageRecord, VerdictKind};
use crate::spaces;

/// A commit is made after this many URLs were queued.
const COMMIT_URLS: u32 = 1_024;

/// The links on the shortest known path to a page, and whether the page is a duplicate.
#[derive(Clone, Copy, Debug, Default)]
struct Depth(u32);

impl Depth {
    const DUPLICATE: u32 = 1 << 31;

    fn new(links: u32, is_duplicate: bool) -> Self {
        Self(links.min(Self::DUPLICATE - 1) | if is_duplicate { Self::DUPLICATE } else { 0 })
    }

    fn links(self) -> u32 {
        self.0 & !Self::DUPLICATE
    }

    fn is_duplicate(self) -> bool {
        self.0 & Self::DUPLICATE != 0
    }
}

/// The depths of all pages that were fetched, by the hashes of their URLs.
#[derive(Debug, Default)]
struct Depths(KeyMap<Depth>);

/// A link that is not too deep.
struct NearLink {
    from: PageId,
    is_from_duplicate: bool,
    to: UrlId,
    /// The depth of its target, if the path leads over this link.
    links: u32,
}

impl Depths {
    /// Reads the depths at which pages were met first.
    fn read(session: &Session) -> store::Result<Self> {
        let mut depths = Self::default();
        session.scan(spaces::PAGES, &[], &[], &mut |key, value| {
            if let (Some(page), Ok(record)) = (PageRecord::page_of(key), PageRecord::decode(value))
                && !matches!(record.via, Via::Requisite { .. })
            {
                let before = depths.0.get(page.url.url);
                let is_duplicate = match record.verdict {
                    VerdictKind::Exact | VerdictKind::Near => true,
                    VerdictKind::Unique | VerdictKind::Unjudged => false,
                    // The page is what it was at its last visit.
                    VerdictKind::Unchanged => before.is_some_and(Depth::is_duplicate),
                };
                let links = before.map_or(record.depth, |before| before.links().min(record.depth));
                depths.0.set(page.url.url, Depth::new(links, is_duplicate));
            }
            ControlFlow::Continue(())
        })?;
        Ok(depths)
    }

    /// A path of this many links leads to a page. Returns true if no path as short was known.
    fn shorten(&mut self, url: u64, links: u32) -> bool {
        let Some(before) = self.0.get(url).filter(|before| links < before.links()) else { return false };
        self.0.set(url, Depth::new(links, before.is_duplicate()));
        true
    }

    /// Calls `visit` with each link that may be followed, and whose target is not deeper than `most`.
    fn each_near_link(
        &mut self,
        graph: &Records,
        most: u32,
        visit: &mut dyn FnMut(&mut Self, NearLink) -> Result<()>,
    ) -> Result<()> {
        graph.each::<EngineError>(&mut |_, from, edges| {
            for &Edge { target: to, kind, .. } in edges.iter().filter(|edge| edge.may_follow) {
                // A page may link to itself, so its depth is asked for again.
                let Some(depth) = self.0.get(from.url.url) else { return Ok(()) };
                let links = depth.links() + u32::from(kind != Kind::Redirect);
                if links <= most {
                    visit(self, NearLink { from, is_from_duplicate: depth.is_duplicate(), to, links })?;
                }
            }
            Ok(())
        })
    }
}

impl EngineState<'_> {
    /// Queues URLs that were refused because of their links, if a path leads to them that is short enough. In `drop`,
    /// they are held if only duplicates link to them on such paths. True if there was one. Nothing is done if no page
    /// was fetched since the last call that found none.
    pub(super) fn find_shorter_paths(&mut self) -> Result<bool> {
        let most = self.settings.scope.max_depth;
        let states = self.frontier.counts().states;
        // The record of a URL has the first reason for which it was refused. So the record of a URL that is too deep may
        // say that its first link was `nofollow`.
        let refused =
            [SkipReason::Depth, SkipReason::Nofollow, SkipReason::Trap].map(|reason| states.refused_for(reason));
        let is_needed = most > 0 && refused.iter().sum::<u64>() > 0;
        let fetched = self.ledger.stats.pages;
        if !is_needed || self.shortened == Some(fetched) {
            return Ok(false);
        }
        // The graph is read from its file, so everything must be there.
        self.commit()?;
        let length = self.ledger.lengths()?.get(LinksGraph::NAME).copied().unwrap_or(0);
        let graph = Records::open(self.ledger.dir(), length)?;
        let mut depths = Depths::read(&self.ledger.session)?;
        for seed in self.seeds()? {
            depths.shorten(self.frontier.id(&seed).url, 0);
        }
        let mut is_shorter = true;
        while is_shorter {
            is_shorter = false;
            depths.each_near_link(&graph, most, &mut |depths, link| {
                is_shorter |= depths.shorten(link.to.url, link.links);
                Ok(())
            })?;
        }
        let any = self.queue_near(&graph, &mut depths, most)?;
        self.shortened = Some(fetched).filter(|_| !any);
        Ok(any)
    }

    /// Queues or holds each refused URL to which a path leads. `depths` are final. Of several paths, the shortest one
    /// counts.
    fn queue_near(&mut self, graph: &Records, depths: &mut Depths, most: u32) -> Result<bool> {
        let is_drop = self.settings.dedup.on_duplicate == OnDuplicate::Drop;
        let mut shortest = KeyMap::<u32>::default();
        depths.each_near_link(graph, most, &mut |_, link| {
            let NearLink { to, links, .. } = link;
            if !(is_drop && link.is_from_duplicate)
                && self.frontier.is_refused_for_links(to.url)
                && shortest.get(to.url).is_none_or(|known| links < known)
            {
                shortest.set(to.url, links);
            }
            Ok(())
        })?;
        let mut changed = 0;
        if !shortest.is_empty() {
            depths.each_near_link(graph, most, &mut |_, link| {
                let is_shortest = shortest.get(link.to.url) == Some(link.links);
                if is_shortest && !(is_drop && link.is_from_duplicate) {
                    self.bring(&link, false, &mut changed)
                } else {
                    Ok(())
                }
            })?;
        }
        // The links of a page that a known corpus has are not news that are tried.
        if is_drop && self.settings.dedup.known.is_empty() {
            depths.each_near_link(graph, most, &mut |_, link| {
                if link.is_from_duplicate { self.bring(&link, true, &mut changed) } else { Ok(()) }
            })?;
        }
        Ok(changed > 0)
    }

    /// Queues the target of a link, or holds it, if it was refused because of its links. Counts it in `changed`.
    fn bring(&mut self, link: &NearLink, is_held: bool, changed: &mut u32) -> Result<()> {
        let NearLink { from, to, links, .. } = *link;
        if self.frontier.is_refused_for_links(to.url)
            && self.frontier.found_nearer(to, (links, from), is_held, &mut self.ledger.session)?
        {
            *changed += 1;
            if changed.is_multiple_of(COMMIT_URLS) {
                self.commit()?;
            }
        }
        Ok(())
    }

    /// The seeds of all runs.
    fn seeds(&self) -> Result<Vec<Url>> {
        let json = self.ledger.session.get(Space::META, b"seeds")?;
        let seeds = json.map(|json| serde_json::from_slice(&json)).transpose().map_err(std::io::Error::from)?;
        Ok(seeds.unwrap_or_default())
    }
}

//! A crawl of a web, in one call: in memory, with a clock that stands still until the crawl waits.

use std::sync::Arc;

use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::engine::{self, Nobody, Stats, StopReason};
use dedup_stage::store::Memory;

use super::{Browsed, Browser, Site};
use crate::crawl::settings;
use crate::sound::{Shared, sound};

/// What came of a crawl.
#[derive(Clone, Debug)]
pub struct Crawled {
    /// What was fetched, as the web saw it.
    pub seen: Browsed,
    /// The crawler's own counters.
    pub stats: Stats,
    /// Why it ended.
    pub reason: StopReason,
}

/// Crawls `site` from its seeds with these settings. Delays cost nothing: nobody waits for them.
pub fn run(site: &Arc<dyn Site>, keys: &[(&str, &str)]) -> anyhow::Result<Crawled> {
    let waits = [("limits.patience", "2h"), ("politeness.max-crawl-delay", "1m")];
    let settings = settings(&[&waits, keys].concat())?;
    let clock = Clock::at(1_700_000_000_000);
    let browser = Browser::new(Arc::clone(site), clock.clone());
    let dir = tempfile::tempdir()?;
    let (_keep, control) = crossbeam_channel::unbounded();
    let seeds = site.seeds().iter().map(|seed| seed.parse()).collect::<Result<_, _>>()?;
    let store = Shared::new(Memory::default());
    let parts = CrawlDir::with_session(dir.path(), store.session())?.start(&settings, seeds, clock, control)?;
    let (reason, stats) = engine::run(parts, browser.clone(), &mut Nobody)?;
    sound(&mut CrawlDir::with_session(dir.path(), store.session())?)?;
    Ok(Crawled { seen: browser.seen(), stats, reason })
}

//! Crawls a web in one call: in memory, with a clock that advances only when the crawl waits.

use std::sync::Arc;

use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::engine::{self, Nobody, Stats, StopReason};
use crawler::estimate::Lost;
use dedup_stage::store::{Memory, Space};
use dedup_stage::url::KeyHasher;

use super::{Browsed, Browser, Site};
use crate::crawl::settings;
use crate::sound::{Shared, sound};

/// The results of a crawl.
#[derive(Clone, Debug)]
pub struct Crawled {
    /// The fetches, as the web saw them.
    pub seen: Browsed,
    /// The counters of the crawler.
    pub stats: Stats,
    /// The reason why it ended.
    pub reason: StopReason,
    /// The estimate of the pages that it lost.
    pub lost: Option<Lost>,
}

/// Crawls `site` from its seeds with these settings. Delays take no real time.
pub fn run(site: &Arc<dyn Site>, keys: &[(&str, &str)]) -> anyhow::Result<Crawled> {
    let waits = [("limits.patience", "2h"), ("politeness.max-crawl-delay", "1m")];
    let settings = settings(&[&waits, keys].concat())?;
    let clock = Clock::at(1_700_000_000_000);
    let browser = Browser::new(Arc::clone(site), clock.clone());
    let dir = tempfile::tempdir()?;
    let (_keep, control) = crossbeam_channel::unbounded();
    let seeds = site.seeds().iter().map(|seed| seed.parse()).collect::<Result<_, _>>()?;
    let store = Shared::new(Memory::default());
    let mut crawl = CrawlDir::with_session(dir.path(), store.session())?;
    // The crawl's secret decides which URLs of a lot are tried first, so a secret that is drawn anew in each run would
    // make the number of fetches a matter of luck.
    crawl.session().put(Space::META, *b"secret", [7; KeyHasher::SECRET]);
    let parts = crawl.start(&settings, seeds, clock, control)?;
    let (reason, stats) = engine::run(parts, browser.clone(), &mut Nobody)?;
    sound(&mut CrawlDir::with_session(dir.path(), store.session())?)?;
    let lost = engine::lost(&store.session())?;
    Ok(Crawled { seen: browser.seen(), stats, reason, lost })
}

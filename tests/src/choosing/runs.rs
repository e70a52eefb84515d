//! Crawls a world in memory, in each way of choosing.

use std::sync::Arc;

use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::engine::{self, Nobody, Stats};
use dedup_stage::store::Memory;

use super::{Curve, World, WorldFetch};
use crate::crawl::settings;
use crate::sound::{Shared, sound};

/// A way of choosing: its name, and the settings that select it.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// The name that is printed and that `--modes` takes.
    pub name: &'static str,
    /// The keys and values of the settings.
    pub settings: &'static [(&'static str, &'static str)],
}

/// The ways of choosing that the crawler has. All other settings have their defaults.
pub const MODES: [Mode; 5] = [
    Mode { name: "keep", settings: &[("dedup.on-duplicate", "keep")] },
    Mode { name: "drop", settings: &[("dedup.on-duplicate", "drop"), ("dedup.rules", "false")] },
    Mode { name: "drop+rules", settings: &[("dedup.on-duplicate", "drop")] },
    Mode { name: "demote", settings: &[("dedup.on-duplicate", "demote"), ("dedup.rules", "false")] },
    Mode { name: "demote+rules", settings: &[("dedup.on-duplicate", "demote")] },
];

/// The results of a crawl.
#[derive(Clone, Debug)]
pub struct Run {
    /// The curve of contents over fetches, as the world saw them.
    pub curve: Curve,
    /// The counters of the crawler.
    pub stats: Stats,
}

/// Crawls at most `limit` pages of `world` (0: all) in one way, with `more` settings on top.
pub fn run(world: &Arc<dyn World>, mode: Mode, limit: u64, more: &[(&str, &str)]) -> anyhow::Result<Run> {
    let limit = limit.to_string();
    let keys: Vec<(&str, &str)> =
        mode.settings.iter().chain(more).copied().chain([("limits.max-pages", limit.as_str())]).collect();
    let settings = settings(&keys)?;
    let clock = Clock::at(1_700_000_000_000);
    let fetch = WorldFetch::new(Arc::clone(world), clock.clone());
    let dir = tempfile::tempdir()?;
    let (_keep, control) = crossbeam_channel::unbounded();
    let seeds = world.seeds().iter().map(|seed| seed.parse()).collect::<Result<_, _>>()?;
    let store = Shared::new(Memory::default());
    let parts = CrawlDir::with_session(dir.path(), store.session())?.start(&settings, seeds, clock, control)?;
    let (_, stats) = engine::run(parts, fetch.clone(), &mut Nobody)?;
    sound(&mut CrawlDir::with_session(dir.path(), store.session())?)?;
    Ok(Run { curve: fetch.curve(), stats })
}

//! Whole crawls through the library, in one call: of the synthetic web in memory, with any store for the state, or with
//! any fetcher.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use config::{Layers, Settings};
use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::demo::web::Web;
use crawler::engine::{self, EngineError, Nobody, Stats, StopReason};
use crawler::fetch::Fetch;
use dedup_stage::store::Store;
use serde_json::Value;
use url::Url;

use crate::memory::MemoryFetch;
use crate::sound::{Shared, sound, sound_at};

/// Settings for a web without other users: no delays. `more` are keys and values that are set on top.
pub fn settings(more: &[(&str, &str)]) -> anyhow::Result<Settings> {
    let fast = [
        ("politeness.delay", "0s"),
        ("politeness.delay-factor", "0"),
        ("politeness.address-delay", "0s"),
        ("politeness.max-crawl-delay", "0s"),
        ("limits.patience", "1s"),
        ("scope.scope", "host"),
        ("dedup.threads", "2"),
        ("fetch.allow-private", "true"),
    ];
    let mut layers = Layers::new();
    for (key, value) in fast.iter().chain(more) {
        layers = layers.set(key, *value)?;
    }
    Ok(layers.finish()?)
}

/// Crawls `web` from all its front pages into `dir`, with the state in `store`. The directory must be sound afterwards,
/// even if the crawl fails.
pub fn crawl(
    web: &Arc<Web>,
    dir: &Path,
    store: impl Store + 'static,
    settings: &Settings,
) -> anyhow::Result<Result<(StopReason, Stats), EngineError>> {
    let (_keep, control) = crossbeam_channel::unbounded();
    let store = Shared::new(store);
    let crawl = CrawlDir::with_session(dir, store.session())?;
    let parts = crawl.start(settings, urls(&web.seeds())?, Clock::System, control)?;
    let result = engine::run(parts, MemoryFetch::new(Arc::clone(web)), &mut Nobody);
    sound(&mut CrawlDir::with_session(dir, store.session())?)?;
    Ok(result)
}

/// The results of a crawl.
#[derive(Debug)]
pub struct Crawled {
    /// The reason why it ended.
    pub reason: StopReason,
    /// Its counters.
    pub stats: Stats,
    /// The lines of `pages.jsonl`.
    pub pages: Vec<Value>,
    /// The lines of `skipped.jsonl`.
    pub skipped: Vec<Value>,
}

impl Crawled {
    /// The URLs that were fetched, in the order of their lines.
    pub fn urls(&self) -> Vec<&str> {
        self.pages.iter().map(|page| text(page, "url")).collect()
    }
}

/// Crawls from `seeds` into `dir` until the crawl ends, or continues the crawl there. The state is on disk. The
/// directory must be sound afterwards.
pub fn crawl_with<F: Fetch>(
    fetch: F,
    clock: &Clock,
    dir: &Path,
    seeds: &[String],
    settings: &Settings,
) -> anyhow::Result<Crawled> {
    let (_keep, control) = crossbeam_channel::unbounded();
    let parts = CrawlDir::open(dir)?.start(settings, urls(seeds)?, clock.clone(), control)?;
    let (reason, stats) = engine::run(parts, fetch, &mut Nobody)?;
    sound_at(dir)?;
    Ok(Crawled { reason, stats, pages: lines(dir, "pages.jsonl")?, skipped: lines(dir, "skipped.jsonl")? })
}

fn urls(seeds: &[String]) -> Result<Vec<Url>, url::ParseError> {
    seeds.iter().map(|seed| seed.parse()).collect()
}

/// The lines of a JSON Lines file of a crawl, including those of its closed parts.
pub fn lines(dir: &Path, name: &str) -> anyhow::Result<Vec<Value>> {
    let mut lines = Vec::new();
    for part in parts(dir, name)? {
        for line in std::fs::read_to_string(part)?.lines() {
            lines.push(serde_json::from_str(line)?);
        }
    }
    Ok(lines)
}

/// The files of an output: the closed parts by their numbers, then the newest part, if there is one.
pub fn parts(dir: &Path, name: &str) -> anyhow::Result<Vec<PathBuf>> {
    let (stem, ending) = name.rsplit_once('.').context("an ending")?;
    let is_closed = |file: &str| {
        let number = file.strip_prefix(stem)?.strip_prefix('-')?.strip_suffix(ending)?.strip_suffix('.')?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then_some(())
    };
    let mut parts = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if is_closed(&entry.file_name().to_string_lossy()).is_some() {
            parts.push(entry.path());
        }
    }
    parts.sort();
    // A crash in the middle of a rotation leaves no newest part: every byte is in the closed ones.
    let newest = dir.join(name);
    if parts.is_empty() || newest.exists() {
        parts.push(newest);
    }
    Ok(parts)
}

/// A field of such a line as text; empty if it is null.
pub fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().unwrap_or_default()
}

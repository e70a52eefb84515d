//! A whole crawl in one call: the engine over the synthetic web in memory, with any store behind it.

use std::path::Path;
use std::sync::Arc;

use config::{Layers, Settings};
use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::demo::web::Web;
use crawler::engine::{self, EngineError, Nobody, Stats, StopReason};
use dedup_stage::store::{Session, Store};
use serde_json::Value;
use url::Url;

use crate::memory::MemoryFetch;

/// Settings for a web that nobody else uses: no delays; `more` are keys and values on top.
pub fn settings(more: &[(&str, &str)]) -> anyhow::Result<Settings> {
    let fast = [
        ("politeness.delay", "0s"),
        ("politeness.delay-factor", "0"),
        ("politeness.address-delay", "0s"),
        ("politeness.max-crawl-delay", "0s"),
        ("limits.patience", "1s"),
        ("scope.scope", "host"),
        ("dedup.threads", "2"),
    ];
    let mut layers = Layers::new();
    for (key, value) in fast.iter().chain(more) {
        layers = layers.set(key, *value)?;
    }
    Ok(layers.finish()?)
}

/// Crawls `web` from all its front pages into `dir`, with its state in `store`.
pub fn crawl(
    web: &Arc<Web>,
    dir: &Path,
    store: impl Store + 'static,
    settings: &Settings,
) -> anyhow::Result<Result<(StopReason, Stats), EngineError>> {
    let seeds: Vec<Url> = web.seeds().iter().map(|seed| seed.parse()).collect::<Result<_, _>>()?;
    let (_keep, control) = crossbeam_channel::unbounded();
    let session = Session::new(Box::new(store));
    let parts = CrawlDir::with_session(dir, session)?.start(settings, seeds, Clock::System, control)?;
    Ok(engine::run(parts, MemoryFetch::new(Arc::clone(web)), &mut Nobody))
}

/// The lines of a JSON Lines file of a crawl.
pub fn lines(dir: &Path, name: &str) -> anyhow::Result<Vec<Value>> {
    let text = std::fs::read_to_string(dir.join(name))?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// A field of such a line as text; empty where it is null.
pub fn text<'a>(line: &'a Value, field: &str) -> &'a str {
    line[field].as_str().unwrap_or_default()
}

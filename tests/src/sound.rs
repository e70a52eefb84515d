//! Checks that a crawl directory is sound, whatever the crawl went through: with `crawler check`, and with checks of
//! the outputs alone. Every helper that crawls runs these checks at its end, so that every test does.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::ensure;
use config::Layers;
use crawler::cli::check::check;
use crawler::crawl::CrawlDir;
use dedup_stage::store::{Batch, Result, Session, Space, Store, Visitor};
use dedup_stage::url::Canonicalizer;
use url::Url;

use crate::crawl::{lines, text};

/// Returns an error with all findings, if there are any.
pub fn sound(dir: &mut CrawlDir) -> anyhow::Result<()> {
    let findings = check(dir)?;
    ensure!(findings.is_empty(), "{}: crawler check: {findings:#?}", dir.path().display());
    if dir.stats()?.1.is_some() {
        apart(dir)?;
    }
    Ok(())
}

/// Like [`sound`], for a directory that no process has open.
pub fn sound_at(dir: &Path) -> anyhow::Result<()> {
    sound(&mut CrawlDir::existing(dir)?)
}

/// Checks that no URL is in both `pages.jsonl` and `skipped.jsonl` after a run. URLs are compared by their keys.
fn apart(dir: &CrawlDir) -> anyhow::Result<()> {
    let mut layers = Layers::new();
    if let Some(stored) = dir.settings()? {
        layers = layers.text(Path::new("stored settings"), &stored)?;
    }
    let canonicalizer = Canonicalizer::new(&layers.finish()?.urls);
    let key = |line: &serde_json::Value| {
        let url = Url::parse(text(line, "url")).ok()?;
        Some(canonicalizer.key(&url).as_str().to_owned())
    };
    let fetched = lines(dir.path(), "pages.jsonl")?;
    let fetched: HashMap<String, &str> =
        fetched.iter().filter_map(|line| Some((key(line)?, text(line, "url")))).collect();
    for skipped in lines(dir.path(), "skipped.jsonl")? {
        if let Some(twice) = key(&skipped).and_then(|key| fetched.get(&key)) {
            anyhow::bail!("{twice} is in pages.jsonl, and {skipped} in skipped.jsonl");
        }
    }
    Ok(())
}

/// A store that can still be read after the crawl that used it has ended. Clones share it.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<dyn Store>>);

impl Shared {
    const PORTION: usize = 64;

    /// Shares a store.
    pub fn new(store: impl Store + 'static) -> Self {
        Self(Arc::new(Mutex::new(store)))
    }

    /// A session on the store.
    pub fn session(&self) -> Session {
        Session::new(Box::new(self.clone()))
    }
}

impl Store for Shared {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(space, key)
    }

    /// Reads the entries in portions, and calls `visit` without the lock, because the visitor may read the store.
    fn scan(&self, space: Space, from: &[u8], to: &[u8], visit: &mut Visitor<'_>) -> Result<()> {
        let mut from = from.to_vec();
        loop {
            let mut portion: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            self.0.lock().unwrap_or_else(PoisonError::into_inner).scan(space, &from, to, &mut |key, value| {
                portion.push((key.to_vec(), value.to_vec()));
                if portion.len() < Self::PORTION { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            for (key, value) in &portion {
                if visit(key, value).is_break() {
                    return Ok(());
                }
            }
            match portion.pop() {
                Some((last, _)) if portion.len() + 1 == Self::PORTION => from = [&last[..], &[0]].concat(),
                _ => return Ok(()),
            }
        }
    }

    fn commit(&mut self, batch: &Batch) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).commit(batch)
    }
}

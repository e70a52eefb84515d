//! Crawls of a web with planted quality, breadth first and with a program that scores pages: fetches until good texts are
//! found.

use std::collections::HashSet;
use std::sync::Arc;

use crawler::clock::Clock;
use crawler::demo::web::Shown;
use url::Url;

use super::{Curve, Planted, World, WorldFetch};
use crate::crawl::{crawl_with, settings};
use crate::programs::beside;

/// Good texts found, breadth first and with scores.
#[derive(Clone, Debug)]
pub struct Scored {
    /// Good texts within reach.
    pub good: u64,
    /// Breadth first.
    pub breadth: Curve,
    /// With scores.
    pub scored: Curve,
}

impl Scored {
    /// Crawls a web of so many contents on so many hosts both ways.
    pub fn run(contents: usize, hosts: usize, good_to_good: f64, seed: u64) -> anyhow::Result<Self> {
        let web = Arc::new(Planted::new(contents, hosts, good_to_good, seed));
        let breadth = curve(&web, &[("dedup.on-duplicate", "keep")])?;
        let program = beside("score-words")?;
        let scored = [("focus.score-with", &*program.to_string_lossy()), ("dedup.on-duplicate", "demote")];
        Ok(Self { good: breadth.contents(), scored: curve(&web, &scored)?, breadth })
    }

    /// The fetches that scores take for this share of the good texts, over those that breadth first takes.
    pub fn ratio(&self, share: f64) -> f64 {
        let fetches = |curve: &Curve| curve.fetches_for(share, self.good).unwrap_or(curve.fetches) as f64;
        fetches(&self.scored) / fetches(&self.breadth)
    }
}

fn curve(web: &Arc<Planted>, keys: &[(&str, &str)]) -> anyhow::Result<Curve> {
    let settings = settings(&[keys, &[("fetch.concurrency", "1")]].concat())?;
    let (clock, dir) = (Clock::at(1_700_000_000_000), tempfile::tempdir()?);
    let fetch = WorldFetch::new(Arc::clone(web) as Arc<dyn World>, clock.clone());
    let crawled = crawl_with(fetch, &clock, dir.path(), &web.seeds(), &settings)?;
    let (mut curve, mut found) = (Curve::default(), HashSet::new());
    for url in crawled.urls() {
        let url = Url::parse(url)?;
        let content = match web.shows(&url) {
            Shown::Content(content) if web.is_good(&url) => Some(content),
            _ => None,
        };
        curve.fetched(content.is_some_and(|content| found.insert(content)));
    }
    Ok(curve)
}

//! Crawls a web with planted quality twice, breadth-first and with a program that scores pages, and compares how soon
//! they find the good texts.

use std::collections::HashSet;
use std::sync::Arc;

use crawler::clock::Clock;
use crawler::demo::web::Truth;
use url::Url;

use super::{Curve, Planted, World, WorldFetch};
use crate::crawl::{crawl_with, settings};
use crate::programs::beside;

/// The results of both crawls.
#[derive(Clone, Debug)]
pub struct Scored {
    /// The number of good texts that can be reached.
    pub good: u64,
    /// The curve of the good texts that the breadth-first crawl found.
    pub breadth: Curve,
    /// The curve of the good texts that the crawl with scores found.
    pub scored: Curve,
}

impl Scored {
    /// Crawls a web of this many contents on this many hosts in both ways.
    pub fn run(contents: usize, hosts: usize, good_to_good: f64, seed: u64) -> anyhow::Result<Self> {
        let web = Arc::new(Planted::new(contents, hosts, good_to_good, seed));
        let breadth = curve(&web, &[("dedup.on-duplicate", "keep")])?;
        let program = beside("score-words")?;
        let scored = [("focus.score-with", &*program.to_string_lossy()), ("dedup.on-duplicate", "demote")];
        Ok(Self { good: breadth.contents(), scored: curve(&web, &scored)?, breadth })
    }

    /// The number of fetches with which the crawl with scores finds this share of the good texts, divided by the number
    /// for the breadth-first crawl.
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
            Truth::Content(content) if web.is_good(&url) => Some(content),
            _ => None,
        };
        curve.fetched(content.is_some_and(|content| found.insert(content)));
    }
    Ok(curve)
}

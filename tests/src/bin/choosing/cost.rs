//! Measures the time that choosing takes in the engine's thread for a page of the crawl benchmark: 21 links are scored
//! and counted, and one verdict changes what is expected of a host with many groups.

use std::hint::black_box;
use std::time::Instant;

use config::Settings;
use crawler::priority::{InLinks, OfLink, Scoring};
use dedup_stage::store::{Memory, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys};
use frontier::{Brought, FoundLink, Frontier, JobKind, Merits, Next, Outcome, Taught, Via};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// The number of links on a page.
const LINKS: u64 = 21;
const PAGES: u64 = 100_000;

/// Prints the microseconds per page.
pub fn print() -> anyhow::Result<()> {
    let settings = Settings::default();
    let scoring = Scoring::new(&settings.priority);
    let mut counts = InLinks::default();
    let score = |counts: Option<&mut InLinks>| {
        let started = Instant::now();
        let mut counts = counts;
        for page in 0..PAGES {
            let of_page = scoring.page(black_box(1.0), black_box(3));
            for link in 0..LINKS {
                // On average, as many links lead to a URL as a page has.
                let hash = xxh3_64(&((page * LINKS + link) * 7919 % PAGES).to_le_bytes());
                let in_links = counts.as_deref_mut().map_or(0, |counts| counts.count(hash));
                black_box(scoring.link(of_page, OfLink { in_links, ..OfLink::default() }));
            }
        }
        micros(started)
    };
    println!(
        "scoring {LINKS} links: {:.2} µs a page in drop, {:.2} µs in demote",
        score(None),
        score(Some(&mut counts))
    );

    for groups in [4u64, 60] {
        let mut session = Session::new(Box::new(Memory::default()));
        let hasher = KeyHasher::new([7; KeyHasher::SECRET]);
        let keys = Keys { canonicalizer: Canonicalizer::new(&settings.urls), hasher };
        let mut frontier = Frontier::open(&settings, &keys, &mut session, 0)?;
        for group in 0..groups {
            let url = Url::parse(&format!("http://a.test/{}/{group}?q{}=1", group % 8, group / 8))?;
            let (id, _) = keys.identify(&url);
            let (merits, via) = (Merits::default(), Via::Link);
            let found = FoundLink { url: &url, id, depth: 1, priority: 0.8, merits, source: None, via };
            frontier.add(&found, &mut session)?;
        }
        let job = match frontier.next(0, &mut session)? {
            Next::Job(job) if job.kind == JobKind::Resolve => job,
            other => anyhow::bail!("an address is asked for first, not {other:?}"),
        };
        frontier.report(&job, Outcome::Resolved(vec![[10, 0, 0, 1].into()]), 0, &mut session)?;
        let started = Instant::now();
        for page in 0..PAGES {
            let (brought, novelty) = if page % 3 == 0 { (Brought::Nothing, 0.0) } else { (Brought::Content, 1.0) };
            frontier.teach(&job, Taught::Page { brought, novelty }, true, &mut session)?;
        }
        println!("a verdict: {:.2} µs a page on a host of {groups} groups", micros(started));
    }
    Ok(())
}

fn micros(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e6 / PAGES as f64
}

//! What lies behind pages that look like copies: the rest of a chain, hosts without end, files.

use std::sync::Arc;

use anyhow::Context;
use crawler::estimate::LastEstimate;
use tests::gate::{Crawled, Downloads, Site, Snapshot, Wildcard, run, walk};

use super::{DROP, STRICT, fetches, rescue};

/// Catches a crawl that is silent about a copied chain of which only one URL is held, and behind which the original goes
/// on where its copy ends.
#[test]
fn what_may_lie_behind_the_end_of_an_old_copy_is_told() -> anyhow::Result<()> {
    for folders in [false, true] {
        // The budget of the rescue leads to the end of a short copy, but not to that of a long one.
        for (copied, chapters) in [(15, 15), (15, 200), (100, 100), (100, 400), (150, 900)] {
            let site: Arc<dyn Site> = Arc::new(Snapshot::draw(copied, copied, chapters, folders));
            let truth = walk(&*site);
            let Crawled { seen, stats, lost, .. } = run(&site, DROP)?;
            let missed = truth.things.len() - seen.things.len();
            let lost = stats.lost(lost.map(|lost| LastEstimate { lost, held_back: stats.held + stats.stopped }));
            let high = lost.context("an estimate")?.high;
            let case = format!("{copied} of {chapters} chapters copied, folders: {folders}");
            println!("{case}: {missed} missed, at most {high:.0}, {} open ends", stats.open_ends);
            assert_eq!(missed > 0, chapters > 200, "{case}");
            assert_eq!(stats.open_ends, u64::from(copied >= 100), "{case}: one URL is held, or none");
            assert!(high >= missed as f64, "{case}: {missed} missed, at most {high}");
        }
    }
    Ok(())
}

/// Catches a domain without end that is asked for ever, because each of its hosts is tried anew.
#[test]
fn hosts_without_end_are_given_up() -> anyhow::Result<()> {
    for links in [1, 3] {
        let site: Arc<dyn Site> = Arc::new(Wildcard::draw(links as u64, 100, links));
        for settings in [DROP, STRICT] {
            let Crawled { seen, .. } = run(&site, &[settings, &[("scope.scope", "domain")]].concat())?;
            println!("{links} links: {} fetches, {} articles", seen.urls.len(), seen.things.len());
            assert_eq!(seen.things.len(), 100, "all articles are fetched");
            assert!(seen.urls.len() < 1_000, "{} fetches", seen.urls.len());
        }
    }
    Ok(())
}

/// Catches a crawl that takes pages for copies although each of them leads to another file. If all files are equal, the
/// pages are a trap.
#[test]
fn files_behind_equal_pages_are_fetched_as_long_as_they_differ() -> anyhow::Result<()> {
    for (seed, words) in (1..).zip([40, 120, 300]) {
        let [all, alike] = [300, 1].map(|files| Downloads::draw(seed, 300, words, files));
        let all: Arc<dyn Site> = Arc::new(all);
        for settings in [DROP, STRICT] {
            let crawled = run(&all, settings)?;
            println!("{words} words: {} files with {} fetches", crawled.seen.things.len(), fetches(&crawled));
            assert_eq!(crawled.seen.things, walk(&*all).things, "{words} words");
        }
        let alike: Arc<dyn Site> = Arc::new(alike);
        let crawled = run(&alike, DROP)?;
        println!("{words} words: {} fetches in vain", fetches(&crawled));
        assert!(fetches(&crawled) <= 40 + rescue(0), "{words} words: {} fetches", fetches(&crawled));
    }
    Ok(())
}

//! `--max-depth` counts the links of the shortest path. Pages that are fetched early, because of their priority, lie on
//! longer paths. The judge is a search through the synthetic web, level by level.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, moved, words};
use url::Url;

/// The settings `--max-depth`.
const DEPTH: u32 = 6;
const PAGES: usize = 400;

/// A web of one site.
struct Site {
    pages: Vec<SitePage>,
}

/// A page: the number of its text, its links, and whether it says `nofollow`. A page without a text redirects to its
/// first link.
struct SitePage {
    text: Option<u64>,
    links: Vec<usize>,
    nofollow: bool,
}

impl Site {
    fn random(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let pages = (0..PAGES).map(|at| {
            let text = match random.u32(0..20) {
                // A copy of an earlier page has other links than that page.
                0..6 if at > 0 => Some(random.u64(0..at as u64)),
                6 if at > 0 => None,
                _ => Some(at as u64),
            };
            // Most links lead a little further, some lead far.
            let far = random.usize(0..8) == 0;
            let mut next = || at + 1 + random.usize(0..if far { 200 } else { 12 });
            let links = [next(), next(), next()].into_iter().filter(|to| *to < PAGES).collect();
            SitePage { text, links, nofollow: at > 0 && text.is_some() && random.u32(0..20) == 0 }
        });
        Self { pages: pages.collect() }
    }

    fn answer(&self, url: &Url) -> Answer {
        let at = url.path().strip_prefix("/p/").and_then(|at| at.parse::<usize>().ok());
        let Some(page) = at.and_then(|at| self.pages.get(at)) else { return missing() };
        let Some(number) = page.text else {
            return page.links.first().map_or_else(missing, |to| moved(&format!("/p/{to}")));
        };
        let rel = if page.nofollow { " rel=nofollow" } else { "" };
        let links: String = page.links.iter().map(|to| format!("<a href=/p/{to}{rel}>{}</a> ", words(9, 2))).collect();
        html(format!("<p>{}</p>{links}", words(1_000 + number, 150)))
    }

    /// The pages at most [`DEPTH`] links from the seed, along the links of pages in `sources`.
    fn near(&self, sources: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let mut depths = BTreeMap::from([(0, 0)]);
        let mut is_shorter = true;
        while is_shorter {
            is_shorter = false;
            for (at, page) in self.pages.iter().enumerate().filter(|(at, page)| sources(*at) && !page.nofollow) {
                let (Some(&depth), step) = (depths.get(&at), u32::from(page.text.is_some())) else { continue };
                // A redirect is one link.
                for to in page.links.iter().take(if step == 0 { 1 } else { usize::MAX }) {
                    if depth + step <= DEPTH && depths.get(to).is_none_or(|known| depth + step < *known) {
                        depths.insert(*to, depth + step);
                        is_shorter = true;
                    }
                }
            }
        }
        depths.into_keys().collect()
    }
}

fn crawl(site: &Arc<Site>, mode: &str, more: &[(&str, &str)]) -> anyhow::Result<Crawled> {
    let (clock, dir, site) = (Clock::at(1_700_000_000_000), tempfile::tempdir()?, Arc::clone(site));
    let web = Scripted::new(&clock, move |url, _| site.answer(url));
    let depth = DEPTH.to_string();
    let mut all = vec![
        ("dedup.on-duplicate", mode),
        ("scope.max-depth", &*depth),
        ("dedup.rescue", "0%"),
        ("limits.patience", "10m"),
    ];
    all.extend(more);
    crawl_with(web, &clock, dir.path(), &["http://a.test/p/0".to_owned()], &settings(&all)?)
}

fn numbers(crawled: &Crawled) -> BTreeSet<usize> {
    let number = |url: &&str| url.rsplit('/').next().and_then(|at| at.parse().ok());
    crawled.urls().iter().filter_map(number).collect()
}

/// Catches a depth that is that of the path on which a page was met first, a path that leads over a `nofollow` link, a
/// redirect that counts as a link, and, in `drop`, links of duplicates that are followed.
#[test]
fn every_page_within_the_depth_is_fetched_in_whatever_order() -> anyhow::Result<()> {
    for seed in 0..12 {
        let site = Arc::new(Site::random(seed));
        let all = site.near(|_| true);
        assert!((20..PAGES - 20).contains(&all.len()), "{} pages", all.len());
        for mode in ["keep", "demote"] {
            let crawled = crawl(&site, mode, &[])?;
            let skipped = &crawled.skipped;
            assert_eq!(numbers(&crawled), all, "seed {seed}, {mode}, skipped: {skipped:?}");
        }
        let crawled = crawl(&site, "drop", &[])?;
        let duplicates: BTreeSet<usize> = crawled
            .pages
            .iter()
            .filter(|page| matches!(text(page, "verdict"), "exact" | "near"))
            .filter_map(|page| text(page, "url").rsplit('/').next()?.parse().ok())
            .collect();
        let fetched = numbers(&crawled);
        let due = site.near(|at| !duplicates.contains(&at));
        assert!(fetched.is_superset(&due), "seed {seed}: missing {:?}", due.difference(&fetched).collect::<Vec<_>>());
        assert!(fetched.is_subset(&all), "seed {seed}: too deep {:?}", fetched.difference(&all).collect::<Vec<_>>());
        // What only duplicates link to on a path that is short enough is held, and not refused for its depth.
        let too_deep = crawled.skipped.iter().filter(|line| line["reason"] == "depth");
        let near = too_deep.filter_map(|line| text(line, "url").rsplit('/').next()?.parse().ok());
        let near: Vec<usize> = near.filter(|at| site.near(|at| fetched.contains(&at)).contains(at)).collect();
        assert_eq!(near, Vec::<usize>::new(), "seed {seed}: refused for their depth");
    }
    Ok(())
}

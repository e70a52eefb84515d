//! A set of hosts is cut out of the directory of a half-finished crawl. Both halves together must find what one crawl
//! finds, and the log of the web must show that nothing was asked for twice.

mod crash;
mod web;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use config::Settings;
use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::engine::{self, Nobody};
use crawler::outbound::Outbound;
use dedup_stage::url::Sites;
use serde_json::Value;
use tests::crawl::{lines, settings, text};
use tests::scripted::Scripted;
use tests::sound::sound_at;
use url::Url;

use web::{HOSTS, PAGES, name, web, whole_size};

/// The time at which the crawls begin.
const START: u64 = 1_700_000_000_000;
fn settings_of(more: &[(&str, &str)]) -> anyhow::Result<Settings> {
    let base = [("scope.scope", "any"), ("scope.sitemaps", "true")];
    settings(&base.iter().chain(more).copied().collect::<Vec<_>>())
}

/// Crawls in a directory until there is nothing to do, or until the limit in the settings. The links in `arriving` come
/// first.
fn crawl(
    fetch: &Scripted,
    clock: &Clock,
    dir: &Path,
    arriving: &[Outbound],
    settings: &Settings,
) -> anyhow::Result<()> {
    let (_keep, control) = crossbeam_channel::unbounded();
    let seeds = vec![format!("http://{}/", name(0)).parse()?];
    let mut parts = CrawlDir::open(dir)?.start(settings, seeds, clock.clone(), control)?;
    parts.arrive(arriving)?;
    engine::run(parts, fetch.clone(), &mut Nobody)?;
    sound_at(dir)
}

/// Crawls in both directories, and carries links between them, until neither has anything to do. Returns the number of
/// links that were carried.
fn crawl_both(fetches: [&Scripted; 2], clock: &Clock, dirs: [&Path; 2], settings: &Settings) -> anyhow::Result<usize> {
    let mut carried = 0;
    for round in 0.. {
        let mut any = false;
        for (at, dir) in dirs.into_iter().enumerate() {
            let other = dirs[1 - at];
            // Few links at a time, so that there are several rounds.
            let links = CrawlDir::existing(other)?.outbound(40)?;
            if round > 0 && links.is_empty() {
                continue;
            }
            crawl(fetches[at], clock, dir, &links, settings)?;
            CrawlDir::existing(other)?.taken(&links)?;
            carried += links.len();
            any = true;
        }
        if !any {
            break;
        }
    }
    Ok(carried)
}

/// The requests to a server, without robots.txt and sitemaps, and the number of each.
fn asked(fetch: &Scripted) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for (_, url) in fetch.asked() {
        if !url.path().ends_with(".txt") && !url.path().ends_with(".xml") {
            *asked.entry(url.to_string()).or_insert(0) += 1;
        }
    }
    asked
}

/// All pages, as found by one crawl that is not cut.
fn undisturbed(copies: bool, settings: &Settings) -> anyhow::Result<BTreeMap<String, usize>> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let fetch = web(&clock, copies);
    crawl(&fetch, &clock, dir.path(), &[], settings)?;
    Ok(asked(&fetch))
}

/// The hosts with these numbers.
fn sites(dir: &Path, hosts: &[u64]) -> anyhow::Result<Sites> {
    let keys = CrawlDir::existing(dir)?.keys()?;
    let urls = hosts.iter().map(|host| Url::parse(&format!("http://{}/", name(*host))));
    Ok(Sites::of(urls.map(|url| Ok(keys.site(&url?))).collect::<Result<Vec<_>, url::ParseError>>()?))
}

#[test]
fn both_halves_find_what_one_crawl_finds_and_nothing_twice() -> anyhow::Result<()> {
    let settings = settings_of(&[])?;
    let whole = undisturbed(false, &settings)?;
    assert_eq!(whole.len(), whole_size(false), "{whole:?}");
    // One host of a domain, whole domains, hosts that were not met yet.
    for (hosts, limit) in [(&[1, 3, 5][..], "150"), (&[0, 1], "60"), (&[4, 5], "5")] {
        let (clock, a, b) = (Clock::at(START), tempfile::tempdir()?, tempfile::tempdir()?);
        let before = web(&clock, false);
        crawl(&before, &clock, a.path(), &[], &settings_of(&[("limits.max-pages", limit)])?)?;
        let sites = sites(a.path(), hosts)?;
        let (mut from, mut to) = (CrawlDir::existing(a.path())?, CrawlDir::open(b.path())?);
        assert!(from.cut(&sites, &mut to)? > 0 || limit == "5");
        // The same cut once more does nothing.
        assert_eq!(from.cut(&sites, &mut to)?, 0);
        drop((from, to));
        sound_at(a.path())?;
        sound_at(b.path())?;
        let fetches = [web(&clock, false), web(&clock, false)];
        let carried = crawl_both([&fetches[0], &fetches[1]], &clock, [a.path(), b.path()], &settings)?;
        assert!(carried > 20, "{carried} links lead from one half to the other");
        let mut all = asked(&before);
        for (fetch, is_cut) in fetches.iter().zip([false, true]) {
            let mine = asked(fetch);
            assert!(mine.len() > 20, "{} pages are left for this half", mine.len());
            for (url, times) in mine {
                let host = Url::parse(&url)?.host_str().map(str::to_owned);
                let moved = hosts.iter().any(|number| host == Some(name(*number)));
                assert_eq!(moved, is_cut, "{url} was asked for by the half that does not have its host");
                *all.entry(url).or_insert(0) += times;
            }
        }
        assert_eq!(all, whole, "hosts {hosts:?}");
        // The outputs of both directories together have each page once.
        let told: Vec<Value> = [lines(a.path(), "pages.jsonl")?, lines(b.path(), "pages.jsonl")?].concat();
        let urls: BTreeSet<&str> = told.iter().map(|line| text(line, "url")).collect();
        assert_eq!((urls.len(), told.len()), (whole.len(), whole.len()));
    }
    Ok(())
}

#[test]
fn without_the_cut_or_without_its_links_the_log_shows_it() -> anyhow::Result<()> {
    let (settings, limited) = (settings_of(&[])?, settings_of(&[("limits.max-pages", "150")])?);
    let whole = undisturbed(false, &settings)?;
    // The control: the directory is copied and not cut, so each half crawls all the rest.
    let (clock, a) = (Clock::at(START), tempfile::tempdir()?);
    let fetch = web(&clock, false);
    crawl(&fetch, &clock, a.path(), &[], &limited)?;
    let b = tempfile::tempdir()?;
    copy_dir(a.path(), b.path())?;
    crawl(&fetch, &clock, a.path(), &[], &settings)?;
    crawl(&fetch, &clock, b.path(), &[], &settings)?;
    assert!(asked(&fetch).values().any(|times| *times > 1));

    // The control: the links are not carried from one half to the other.
    let (clock, a, b) = (Clock::at(START), tempfile::tempdir()?, tempfile::tempdir()?);
    let fetch = web(&clock, false);
    crawl(&fetch, &clock, a.path(), &[], &limited)?;
    let sites = sites(a.path(), &[1, 3, 5])?;
    CrawlDir::existing(a.path())?.cut(&sites, &mut CrawlDir::open(b.path())?)?;
    crawl(&fetch, &clock, a.path(), &[], &settings)?;
    crawl(&fetch, &clock, b.path(), &[], &settings)?;
    let found = asked(&fetch);
    assert!(found.values().all(|times| *times == 1) && found.len() + 20 < whole.len(), "{} pages", found.len());
    Ok(())
}

#[test]
fn accepted_pages_travel_with_their_hosts() -> anyhow::Result<()> {
    let settings = settings_of(&[("dedup.on-duplicate", "keep")])?;
    let whole = undisturbed(true, &settings)?;
    assert_eq!(whole.len(), whole_size(true));
    let (clock, a, b) = (Clock::at(START), tempfile::tempdir()?, tempfile::tempdir()?);
    let fetch = web(&clock, true);
    let limited = settings_of(&[("dedup.on-duplicate", "keep"), ("limits.max-pages", "300")])?;
    crawl(&fetch, &clock, a.path(), &[], &limited)?;
    let before: BTreeSet<String> =
        lines(a.path(), "pages.jsonl")?.iter().map(|line| text(line, "url").to_owned()).collect();
    let sites = sites(a.path(), &[1, 3, 5])?;
    CrawlDir::existing(a.path())?.cut(&sites, &mut CrawlDir::open(b.path())?)?;
    crawl_both([&fetch, &fetch], &clock, [a.path(), b.path()], &settings)?;
    assert_eq!(asked(&fetch), whole);
    let (mut copies, mut of_earlier) = ([0u64; 2], [0u64; 2]);
    for (half, dir) in [a.path(), b.path()].into_iter().enumerate() {
        for line in lines(dir, "pages.jsonl")? {
            let is_copy = matches!(text(&line, "verdict"), "exact" | "near");
            let url = text(&line, "url");
            assert_eq!(is_copy, url.contains("/copy/"), "{line}");
            if is_copy {
                let twin = text(&line, "duplicate_of");
                assert_eq!(twin, url.replace("/copy/", "/p/"));
                copies[half] += 1;
                of_earlier[half] += u64::from(before.contains(twin) && !before.contains(url));
            }
        }
    }
    assert_eq!(copies[0] + copies[1], HOSTS * PAGES / 2);
    assert!(of_earlier.iter().all(|count| *count > 0), "copies of pages that were accepted before: {of_earlier:?}");
    Ok(())
}

fn copy_dir(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in from.read_dir()? {
        let (entry, target) = {
            let entry = entry?;
            (entry.path(), to.join(entry.file_name()))
        };
        if entry.is_dir() { copy_dir(&entry, &target)? } else { _ = std::fs::copy(&entry, &target)? }
    }
    Ok(())
}

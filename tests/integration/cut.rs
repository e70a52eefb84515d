//! A set of hosts is cut out of a crawl directory, half-way: both halves together find what one crawl finds, and the log of
//! the web says that nothing was asked for twice.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use config::Settings;
use crawler::clock::Clock;
use crawler::crawl::{CrawlDir, CutError, OpenError};
use crawler::demo::web::Answer;
use crawler::engine::{self, Nobody};
use crawler::outbound::Outbound;
use crawler::spaces::of_crawl;
use dedup_stage::store::{Double, Fault, Session, Space};
use dedup_stage::url::Sites;
use serde_json::Value;
use tests::crawl::{lines, settings, text};
use tests::scripted::{Scripted, html, missing, moved, words};
use tests::sound::{Shared, sound, sound_at};
use url::Url;

/// When the crawls begin.
const START: u64 = 1_700_000_000_000;
/// Hosts of the web: the first two are of one registrable domain.
const HOSTS: u64 = 6;
/// Pages in the tree of a host.
const PAGES: u64 = 24;

fn name(host: u64) -> String {
    match host % HOSTS {
        host @ 0..2 => format!("h{host}.one.test"),
        host => format!("h{host}.test"),
    }
}

/// A web of six hosts: on each a tree of pages, and pages to which only other hosts lead, by links, redirects or a sitemap.
/// With `copies`, each page at the end of a branch has a copy on its own host.
fn web(clock: &Clock, copies: bool) -> Scripted {
    Scripted::new(clock, move |url, _| answer(url, copies).unwrap_or_else(missing))
}

fn answer(url: &Url, copies: bool) -> Option<Answer> {
    let host = (0..HOSTS).find(|host| url.host_str() == Some(&name(*host)))?;
    let at = |host: u64, path: &str| format!("http://{}{path}", name(host));
    let page = |number: u64, links: &[String]| {
        let links: String = links.iter().map(|link| format!("<a href=\"{link}\">more</a> ")).collect();
        html(format!("<main><p>{}</p><p>{links}</p></main>", words(host << 32 | number, 60)))
    };
    let (kind, number) = url.path()[1..].split_once('/').unwrap_or((&url.path()[1..], ""));
    let number: u64 = number.parse().unwrap_or(0);
    Some(match kind {
        "robots.txt" => {
            let body = format!("Sitemap: {}\n", at(host + 1, "/sitemap.xml"));
            Answer { content_type: "text/plain", ..html(body) }
        }
        "sitemap.xml" => {
            let named: String =
                (0..3).map(|n| format!("<url><loc>{}</loc></url>", at(host, &format!("/named/{n}")))).collect();
            Answer { content_type: "application/xml", ..html(format!("<urlset>{named}</urlset>")) }
        }
        "" => page(1_000, &[at(host, "/p/1"), at(host + 1, "/")]),
        "p" if (1..PAGES).contains(&number) => {
            let mut links = vec![
                at(host + number, &format!("/only/{number}")),
                at(host + 2, &format!("/moved/{number}")),
                at(host + 3, &format!("/p/{}", PAGES - number)),
            ];
            if number < PAGES / 2 {
                links.extend([at(host, &format!("/p/{}", 2 * number)), at(host, &format!("/p/{}", 2 * number + 1))]);
            } else if copies {
                links.push(at(host, &format!("/copy/{number}")));
            }
            page(number, &links)
        }
        "copy" if copies => return answer(&url.join(&format!("/p/{number}")).ok()?, copies),
        "only" => page(2_000 + number, &[]),
        "named" => page(3_000 + number, &[at(host + 1, &format!("/only/{}", PAGES + number))]),
        "moved" => moved(&at(host + 1, &format!("/target/{number}"))),
        "target" => page(4_000 + number, &[]),
        _ => return None,
    })
}

fn settings_of(more: &[(&str, &str)]) -> anyhow::Result<Settings> {
    let base = [("scope.scope", "any"), ("scope.sitemaps", "true")];
    settings(&base.iter().chain(more).copied().collect::<Vec<_>>())
}

/// Crawls in a directory until there is nothing to do, or to the limit in the settings. `arriving` come first.
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

/// Crawls in both directories, and carries links between them, until neither has anything to do. Returns how many links were
/// carried.
fn crawl_both(fetches: [&Scripted; 2], clock: &Clock, dirs: [&Path; 2], settings: &Settings) -> anyhow::Result<usize> {
    let mut carried = 0;
    for round in 0.. {
        let mut any = false;
        for (at, dir) in dirs.into_iter().enumerate() {
            let other = dirs[1 - at];
            // Few at a time, so that they come in several rounds.
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

/// What a server was asked for, robots.txt and sitemaps apart, and how often.
fn asked(fetch: &Scripted) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for (_, url) in fetch.asked() {
        if !url.path().ends_with(".txt") && !url.path().ends_with(".xml") {
            *asked.entry(url.to_string()).or_insert(0) += 1;
        }
    }
    asked
}

/// All pages, by one crawl that nobody disturbs.
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

/// How many URLs are expected: so many in the trees, alone, behind redirects, and in sitemaps.
fn whole_size(copies: bool) -> usize {
    let tree = HOSTS * PAGES;
    let (only, moved, named) = (HOSTS * (PAGES - 1 + 3), 2 * HOSTS * (PAGES - 1), HOSTS * 3);
    let copies = if copies { HOSTS * PAGES / 2 } else { 0 };
    (tree + only + moved + named + copies) as usize
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
        // Once more it does nothing.
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
        // The outputs of both together tell of each page once.
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
    // A directory that is copied, not cut: each half crawls all of the rest.
    let (clock, a) = (Clock::at(START), tempfile::tempdir()?);
    let fetch = web(&clock, false);
    crawl(&fetch, &clock, a.path(), &[], &limited)?;
    let b = tempfile::tempdir()?;
    copy_dir(a.path(), b.path())?;
    crawl(&fetch, &clock, a.path(), &[], &settings)?;
    crawl(&fetch, &clock, b.path(), &[], &settings)?;
    assert!(asked(&fetch).values().any(|times| *times > 1));

    // Links from one half to the other that nobody carries.
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

/// A crawl that has come half-way, with its state in a store that can be looked at.
fn half_way(dir: &Path) -> anyhow::Result<(Double, Sites)> {
    let (clock, store) = (Clock::at(START), Double::default());
    let (_keep, control) = crossbeam_channel::unbounded();
    let settings = settings_of(&[("limits.max-pages", "150")])?;
    let session = Session::new(Box::new(store.clone()));
    let seeds = vec![format!("http://{}/", name(0)).parse()?];
    let parts = CrawlDir::with_session(dir, session)?.start(&settings, seeds, clock.clone(), control)?;
    engine::run(parts, web(&clock, false), &mut Nobody)?;
    let keys = open(dir, &store)?.keys()?;
    let hosts = [1, 3, 5].map(|host| Url::parse(&format!("http://{}/", name(host))).map(|url| keys.site(&url)));
    Ok((store, Sites::of(hosts.into_iter().collect::<Result<Vec<_>, _>>()?)))
}

fn open(dir: &Path, store: &Double) -> Result<CrawlDir, OpenError> {
    CrawlDir::with_session(dir, Shared::new(store.clone()).session())
}

/// Everything in a state but what names the cut and counts commits.
fn contents(store: &Double) -> anyhow::Result<BTreeMap<(&'static str, Vec<u8>), Vec<u8>>> {
    let (session, mut all) = (Session::new(Box::new(store.clone())), BTreeMap::new());
    for space in of_crawl().iter().filter(|space| *space != Space::META) {
        session.scan(space, &[], &[], &mut |key, value| {
            all.insert((space.name(), key.to_vec()), value.to_vec());
            ControlFlow::Continue(())
        })?;
    }
    Ok(all)
}

/// The same state in a store of its own.
fn twin(store: &Double) -> anyhow::Result<Double> {
    let (twin, from) = (Double::default(), Session::new(Box::new(store.clone())));
    let mut to = Session::new(Box::new(twin.clone()));
    for space in of_crawl().iter() {
        from.scan(space, &[], &[], &mut |key, value| {
            to.put(space, key, value);
            ControlFlow::Continue(())
        })?;
    }
    to.commit()?;
    Ok(twin)
}

#[test]
fn after_a_crash_at_any_commit_of_either_state_the_same_call_goes_on() -> anyhow::Result<()> {
    let (a, b) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let (half, sites) = half_way(a.path())?;
    let undisturbed = [twin(&half)?, Double::default()];
    let commits = undisturbed.each_ref().map(|store| store.commits().0);
    let copied = open(a.path(), &undisturbed[0])?.cut(&sites, &mut open(b.path(), &undisturbed[1])?)?;
    assert!(copied > 200, "{copied} entries");
    let commits = [0, 1].map(|at| undisturbed[at].commits().0 - commits[at]);
    let want = [contents(&undisturbed[0])?, contents(&undisturbed[1])?];
    let mut refused = [0, 0];
    for fault in [Fault::Refuse, Fault::Forget] {
        for (at, commits) in commits.into_iter().enumerate() {
            assert!(commits > 5, "there is more than a beginning and an end: {commits}");
            for commit in 0..commits {
                let stores = [twin(&half)?, Double::default()];
                stores[at].fail_behind(commit, fault);
                let failed = open(a.path(), &stores[0])?.cut(&sites, &mut open(b.path(), &stores[1])?);
                assert!(
                    matches!(failed, Err(CutError::Store(_) | CutError::Open(_))),
                    "{fault:?} {commit}: {failed:?}"
                );
                // Never can both be crawled while hosts are in both.
                let can_be = [can_be_crawled(a.path(), &stores[0])?, can_be_crawled(b.path(), &stores[1])?];
                assert!(can_be != [true, true] || share_nothing(&stores)?, "{fault:?} at commit {commit} of {at}");
                for (refused, can_be) in refused.iter_mut().zip(can_be) {
                    *refused += u32::from(!can_be);
                }
                open(a.path(), &stores[0])?.cut(&sites, &mut open(b.path(), &stores[1])?)?;
                for (store, want) in stores.iter().zip(&want) {
                    assert!(contents(store)? == *want, "{fault:?} at commit {commit} of {at}: another state");
                }
                sound(&mut open(a.path(), &stores[0])?)?;
            }
        }
    }
    assert!(refused.iter().all(|refused| *refused > 5), "{refused:?}");
    Ok(())
}

/// Whether a crawl would start from a state; nothing is changed by the question.
fn can_be_crawled(dir: &Path, store: &Double) -> anyhow::Result<bool> {
    let (scratch, store) = (tempfile::tempdir()?, twin(store)?);
    copy_dir(dir, scratch.path())?;
    let (_keep, control) = crossbeam_channel::unbounded();
    let settings = settings_of(&[])?;
    match open(scratch.path(), &store)?.start(&settings, Vec::new(), Clock::at(START), control) {
        Ok(_) => Ok(true),
        Err(OpenError::Cut(_) | OpenError::NoSeeds) => Ok(false),
        Err(other) => Err(other.into()),
    }
}

/// Whether no URL stands in both states.
fn share_nothing(stores: &[Double; 2]) -> anyhow::Result<bool> {
    let keys = |store: &Double| -> anyhow::Result<BTreeSet<(&'static str, Vec<u8>)>> {
        let by_host = ["urls", "hosts", "queue", "pages"];
        Ok(contents(store)?.into_keys().filter(|(space, _)| by_host.contains(space)).collect())
    };
    Ok(keys(&stores[0])?.is_disjoint(&keys(&stores[1])?))
}

#[test]
fn a_cut_needs_an_empty_directory_and_one_end() -> anyhow::Result<()> {
    let (a, b) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let (half, sites) = half_way(a.path())?;
    let used = twin(&half)?;
    let refused = open(a.path(), &half)?.cut(&sites, &mut open(b.path(), &used)?);
    assert!(matches!(refused, Err(CutError::NotEmpty)), "{refused:?}");
    let refused = open(a.path(), &half)?.cut(&Sites::default(), &mut open(b.path(), &Double::default())?);
    assert!(matches!(refused, Err(CutError::NoneOfThem)), "{refused:?}");
    // While one cut is under way, there is no other.
    let (from, to) = (twin(&half)?, Double::default());
    to.fail(Fault::Refuse);
    assert!(open(a.path(), &from)?.cut(&sites, &mut open(b.path(), &to)?).is_err());
    let others = Sites::all().without(&sites);
    let refused = open(a.path(), &from)?.cut(&others, &mut open(b.path(), &to)?);
    assert!(matches!(refused, Err(CutError::Other)), "{refused:?}");
    let refused = open(a.path(), &from)?.cut(&sites, &mut open(b.path(), &used)?);
    assert!(matches!(refused, Err(CutError::NotEmpty)), "{refused:?}");
    assert!(open(a.path(), &from)?.cut(&sites, &mut open(b.path(), &to)?)? > 0);
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

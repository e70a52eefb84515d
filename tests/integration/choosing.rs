//! Tests which pages whole crawls in memory fetch first: the fetches that `demote` needs for its pages, and crawls with
//! a topic.

use std::path::Path;
use std::sync::Arc;

use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::demo::web::Answer;
use crawler::focus::{Topic, TopicError, example};
use tests::choosing::{Gate, MODES, Shelf, Twins, WebKind, World, WorldFetch, run, walk};
use tests::crawl::{crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, words};
use url::Url;

#[test]
fn demote_finds_everything_with_no_more_fetches_than_the_ideal_gate() -> anyhow::Result<()> {
    let demote = MODES.into_iter().find(|mode| mode.name == "demote+rules").expect("a way of choosing");
    // Chance decides how the answers of several hosts interleave, and changes a crawl by some fetches. So the sum
    // counts.
    let (mut sum, mut best) = (0, 0);
    for seed in 1..5 {
        let world = WebKind::Copies.make(seed, 1_500)?.expect("a synthetic web");
        let ideal = walk(&*world, Gate::Truth, u64::MAX);
        let run = run(&world, demote, 0, &[])?;
        let all = run.curve.fetches_for(1.0, ideal.contents()).expect("nothing is lost");
        println!("seed {seed}: {all} fetches, ideally {}", ideal.fetches);
        (sum, best) = (sum + all, best + ideal.fetches);
    }
    assert!(sum * 100 <= best * 105, "{sum} fetches, ideally {best}");
    Ok(())
}

/// Catches a crawl in which hosts wait for better ones although no other host needs the slot. The clock stands still
/// until the crawl waits, so the time is only what delays cost.
#[test]
fn demote_takes_no_longer_than_keep_for_the_same_pages() -> anyhow::Result<()> {
    for slots in ["64", "1"] {
        let mut times = Vec::new();
        for mode in ["keep", "demote"] {
            let world = WebKind::Copies.make(1, 600)?.expect("a synthetic web");
            let (clock, dir) = (Clock::at(1_700_000_000_000), tempfile::tempdir()?);
            let keys = [
                ("politeness.delay", "100ms"),
                ("fetch.concurrency", slots),
                ("dedup.on-duplicate", mode),
                ("limits.patience", "1h"),
            ];
            let fetch = WorldFetch::new(Arc::clone(&world), clock.clone());
            let crawled = crawl_with(fetch, &clock, dir.path(), &world.seeds(), &settings(&keys)?)?;
            println!("{slots} slots, {mode}: {} pages in {} ms", crawled.pages.len(), crawled.stats.elapsed_ms);
            times.push(crawled.stats.elapsed_ms as f64 / crawled.pages.len() as f64);
        }
        assert!(times[1] <= 1.1 * times[0], "{slots} slots: {times:?} ms a page");
    }
    Ok(())
}

/// Catches a crawl in which a host whose pages are stopped by rules waits until all other hosts are done, and is then
/// crawled alone.
#[test]
fn a_mirror_is_crawled_last_in_demote_and_holds_nobody_up() -> anyhow::Result<()> {
    for (hosts, pages) in [(3, 110), (2, 200), (6, 60)] {
        let mut runs = Vec::new();
        for mode in ["keep", "demote"] {
            let world: Arc<dyn World> = Arc::new(Twins { hosts, pages });
            let (clock, dir) = (Clock::at(1_700_000_000_000), tempfile::tempdir()?);
            let keys =
                [("politeness.delay", "100ms"), ("dedup.on-duplicate", mode), ("politeness.max-crawl-delay", "1s")];
            let fetch = WorldFetch::new(Arc::clone(&world), clock.clone());
            let crawled = crawl_with(fetch.clone(), &clock, dir.path(), &world.seeds(), &settings(&keys)?)?;
            let curve = fetch.curve();
            let most = curve.fetches_for(0.9, (hosts - 1) * pages).expect("nothing is lost");
            let held_up = crawled.pages.iter().filter(|page| text(page, "via") == "released:mode").count();
            println!(
                "{hosts} hosts, {mode}: {} pages in {} ms, 90 % of the contents by {most} fetches, {held_up} came later",
                crawled.pages.len(),
                crawled.stats.elapsed_ms
            );
            runs.push((crawled.pages.len(), crawled.stats.elapsed_ms as f64, most, held_up));
        }
        let [(all, keep, in_keep, _), (found, demote, in_demote, held_up)] = runs[..] else { unreachable!() };
        assert_eq!(found, all);
        assert!(held_up > 0, "no rule stopped anything");
        assert!(demote <= 1.1 * keep, "{demote} ms, {keep} in keep");
        assert!(in_demote <= in_keep, "90 % by {in_demote} fetches, by {in_keep} in keep");
    }
    Ok(())
}

/// The lists of a site, and its articles behind them. Three hosts show them: `c.test` has fewer lists than the others,
/// and `b.test` has a section of its own behind its last article.
fn lists(url: &Url, is_uneven: bool) -> Answer {
    let host = url.host_str().unwrap_or_default();
    let all = match host {
        "a.test" => 200,
        "b.test" if is_uneven => 110,
        "c.test" if is_uneven => 40,
        _ => 150,
    };
    // The texts of `c.test` are its own in the uneven web.
    let own = if is_uneven && host == "c.test" { 10_000 } else { 0 };
    let link = |path: String| format!("<a href={path}>{path}</a> ");
    let (place, number) = url.path().rsplit_once('/').unwrap_or_default();
    let at: u64 = number.parse().unwrap_or(0);
    let (text, links) = match place {
        "" => (1, link("/list/0".into()) + "<a href=http://b.test/>b</a> <a href=http://c.test/>c</a>"),
        "/list" if 10 * at < all => {
            let articles = (10 * at..all.min(10 * at + 10)).map(|at| link(format!("/article/{at}")));
            let next = (10 * at + 10 < all).then(|| link(format!("/list/{}", at + 1)));
            (2_000 + at, articles.chain(next).collect())
        }
        "/article" if at < all => {
            let own = is_uneven && host == "b.test" && at + 1 == all;
            (3_000 + at, if own { link("/own/0".into()) } else { link("/".into()) })
        }
        "/own" if at < 60 => (5_000 + at, link(format!("/own/{}", 2 * at + 1)) + &link(format!("/own/{}", 2 * at + 2))),
        _ => return missing(),
    };
    html(format!("<p>{}</p>{links}", words(own + text, 120)))
}

/// Catches a mirror that waits because few of its URLs are stopped, although most of its URLs are behind these.
#[test]
fn what_lies_behind_the_stopped_lists_of_a_mirror_does_not_come_too_late() -> anyhow::Result<()> {
    for is_uneven in [false, true] {
        let mut runs = Vec::new();
        for mode in ["keep", "demote"] {
            let (clock, dir) = (Clock::at(1_700_000_000_000), tempfile::tempdir()?);
            let web = Scripted::new(&clock, move |url, _| lists(url, is_uneven));
            let keys = [
                ("politeness.delay", "100ms"),
                ("dedup.on-duplicate", mode),
                ("limits.patience", "10m"),
                ("scope.scope", "any"),
            ];
            let seeds = ["http://a.test/".to_owned()];
            let crawled = crawl_with(web.clone(), &clock, dir.path(), &seeds, &settings(&keys)?)?;
            let stopped = crawled.pages.iter().filter(|page| text(page, "via") == "released:mode").count();
            println!("uneven: {is_uneven}, {mode}: {} pages in {} ms", crawled.pages.len(), crawled.stats.elapsed_ms);
            for host in ["a.test", "b.test", "c.test"] {
                let mut seconds = vec![0; crawled.stats.elapsed_ms as usize / 1_000 + 1];
                let of_host = web.asked().into_iter().filter(|(_, url)| url.host_str() == Some(host));
                of_host.for_each(|(at, _)| seconds[((at - 1_700_000_000_000) / 1_000) as usize] += 1);
                println!("{host}: requests in each second: {seconds:?}");
            }
            runs.push((crawled.pages.len(), crawled.stats.elapsed_ms as f64, stopped));
        }
        let [(all, keep, _), (found, demote, stopped)] = runs[..] else { unreachable!() };
        assert_eq!(found, all);
        assert!(stopped > 0, "no rule stopped anything");
        assert!(demote <= 1.1 * keep, "uneven: {is_uneven}: {demote} ms, {keep} in keep");
    }
    Ok(())
}

/// A site with two calendars of equal pages (`/a/`, `/b/`), a folder without end whose pages are all new (`/new/`), and
/// 300 articles in two folders: behind a list (`/plain/`) and behind a chain of equal lists (`/pager/`).
fn sections(url: &Url) -> Answer {
    let link = |path: String| format!("<a href={path}>{path}</a> ");
    let (place, name) = url.path().rsplit_once('/').unwrap_or_default();
    let at: u64 = name.parse().unwrap_or(0);
    let next = |of: &str| link(format!("{of}/{}", 2 * at + 1)) + &link(format!("{of}/{}", 2 * at + 2));
    let (text, links) = match place {
        "" => (1, ["a", "b", "new", "plain", "pager"].map(|folder| link(format!("/{folder}/"))).concat()),
        "/a" => (2, next(place)),
        "/b" => (3, next(place)),
        "/new" => (10_000 + at, next(place)),
        "/plain" if name.is_empty() => (4, (0..200).map(|at| link(format!("/plain/{at}"))).collect()),
        "/plain" => (1_000 + at, link("/".into())),
        "/pager" if name.is_empty() || name.starts_with('p') => {
            let page: u64 = name.trim_start_matches('p').parse().unwrap_or(0);
            let more = (page < 19).then(|| link(format!("/pager/p{}", page + 1)));
            (5, (5 * page..5 * page + 5).map(|at| link(format!("/pager/{at}"))).chain(more).collect())
        }
        "/pager" => (2_000 + at, link("/".into())),
        _ => return missing(),
    };
    html(format!("<p>{}</p>{links}", words(text, 120)))
}

/// Catches a folder without end that keeps the crawl from folders that are as good: the more of its pages are known, the
/// closer its factor comes to 1.
#[test]
fn folders_that_are_as_good_as_a_folder_without_end_do_not_wait_for_it() -> anyhow::Result<()> {
    let mut in_keep = None;
    for mode in ["keep", "demote", "drop"] {
        let (clock, dir) = (Clock::at(1_700_000_000_000), tempfile::tempdir()?);
        let web = Scripted::new(&clock, |url, _| sections(url));
        let keys = [("dedup.on-duplicate", mode), ("limits.max-pages", "800")];
        crawl_with(web.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings(&keys)?)?;
        let of = |folder: &str| {
            let asked = web.asked().into_iter().filter(|(_, url)| url.path().starts_with(folder));
            asked.filter(|(_, url)| url.path().ends_with(|last: char| last.is_ascii_digit())).count()
        };
        let (plain, pager, new) = (of("/plain/"), of("/pager/"), of("/new/"));
        println!("{mode}: {plain} of /plain/, {pager} of /pager/, {new} of /new/");
        assert_eq!(plain, 200, "{mode}");
        // In `drop`, what only the second and later ones of equal lists lead to is held until the others are fetched.
        assert!(mode == "drop" || pager >= *in_keep.get_or_insert(pager), "{mode}: {pager}, {in_keep:?} in keep");
    }
    Ok(())
}

/// The share of pages about the topic among the first `limit` pages. There is one run for each limit.
fn harvest(world: &Arc<dyn World>, keys: &[(&str, &str)], limits: &[&str]) -> anyhow::Result<f64> {
    harvest_in(tempfile::tempdir()?.path(), world, keys, limits)
}

fn harvest_in(dir: &Path, world: &Arc<dyn World>, keys: &[(&str, &str)], limits: &[&str]) -> anyhow::Result<f64> {
    let clock = Clock::at(1_700_000_000_000);
    let fetch = WorldFetch::new(Arc::clone(world), clock.clone());
    let mut pages = Vec::new();
    for limit in limits {
        let settings = settings(&[keys, &[("limits.max-pages", limit)]].concat())?;
        pages = crawl_with(fetch.clone(), &clock, dir, &world.seeds(), &settings)?.pages;
    }
    let about = pages.iter().filter(|page| text(page, "url").contains("/topic-")).count();
    Ok(about as f64 / pages.len() as f64)
}

#[test]
fn a_focused_crawl_keeps_to_its_topic_and_a_resumed_one_goes_on() -> anyhow::Result<()> {
    let world: Arc<dyn World> = Arc::new(Shelf { pages: 400, every: 10 });
    let topic = [("focus.topic", "lighthouse keepers"), ("dedup.on-duplicate", "keep")];
    let breadth = harvest(&world, &topic[1..], &["80"])?;
    let focused = harvest(&world, &topic, &["80"])?;
    let resumed = harvest(&world, &topic, &["25", "50", "80"])?;
    assert!(breadth < 0.2, "{breadth}");
    assert!(focused > 2.0 * breadth && resumed > 2.0 * breadth, "{breadth} {focused} {resumed}");
    Ok(())
}

#[test]
fn an_example_page_is_a_topic_whether_it_is_a_file_or_fetched() -> anyhow::Result<()> {
    let world: Arc<dyn World> = Arc::new(Shelf { pages: 400, every: 10 });
    let breadth = harvest(&world, &[("dedup.on-duplicate", "keep")], &["80"])?;
    let address = "http://shelf.test/topic-390";
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("example.html");
    std::fs::write(&file, world.answer(&address.parse()?).body)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut harvests = Vec::new();
    for (like, fetches) in [(file.to_str().unwrap_or_default(), 0), (address, 1)] {
        let keys = [("focus.like", like), ("dedup.on-duplicate", "keep")];
        // As in the program, the example is fetched before the crawl, and the state has the topic.
        let (settings, clock, crawl) = (settings(&keys)?, Clock::at(1_700_000_000_000), tempfile::tempdir()?);
        let fetch = WorldFetch::new(Arc::clone(&world), clock.clone());
        let mut state = CrawlDir::open(crawl.path())?;
        let mut asked = |url: &url::Url| runtime.block_on(example(&fetch, &settings, url, &clock));
        let topic = Topic::open(&settings.focus, state.session(), &mut asked)?;
        assert!(topic.is_some_and(|topic| !topic.is_empty()));
        assert_eq!(fetch.curve().fetches, fetches, "robots.txt is none");
        state.session().commit()?;
        drop(state);
        harvests.push(harvest_in(crawl.path(), &world, &keys, &["80"])?);
    }
    assert!(harvests.iter().all(|harvest| *harvest > 2.0 * breadth), "{harvests:?}, breadth first {breadth}");
    assert_eq!(harvests[0], harvests[1], "the page is the same");
    let gone = settings(&[("focus.like", "http://shelf.test/gone")])?;
    let fetch = WorldFetch::new(world, Clock::System);
    let missing = runtime.block_on(example(&fetch, &gone, &"http://shelf.test/gone".parse()?, &Clock::System));
    assert!(matches!(missing, Err(TopicError::Example { .. })), "{missing:?}");
    Ok(())
}

#[test]
fn relevance_and_merits_are_on_record() -> anyhow::Result<()> {
    let world: Arc<dyn World> = Arc::new(Shelf { pages: 60, every: 5 });
    let clock = Clock::at(1_700_000_000_000);
    let dir = tempfile::tempdir()?;
    let settings = settings(&[("focus.topic", "lighthouse"), ("dedup.on-duplicate", "demote")])?;
    let fetch = WorldFetch::new(Arc::clone(&world), clock.clone());
    let crawled = crawl_with(fetch, &clock, dir.path(), &world.seeds(), &settings)?;
    let mean = |about: bool| {
        let pages = crawled.pages.iter().filter(|page| text(page, "url").contains("/topic-") == about);
        let (sum, n) = pages.fold((0.0, 0), |(sum, n), page| (sum + page["relevance"].as_f64().unwrap_or(-9.0), n + 1));
        sum / f64::from(n)
    };
    assert!(mean(true) > mean(false) + 0.2, "{} {}", mean(true), mean(false));
    assert!(crawled.stats.harvest().is_some_and(|harvest| harvest > 0.0));
    assert!(crawled.pages.iter().all(|page| page["merits"].as_array().is_some_and(|merits| merits.len() == 4)));
    Ok(())
}

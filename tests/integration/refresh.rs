//! Rounds of visits: one page of each cluster is asked for again, copies are trusted and checked, and the round notices
//! pages that die, change apart from their cluster, or come back. The tests judge by the server's list of requests.

mod archive;
mod honesty;
mod links;
mod new_links;
mod parted;
mod program;
mod reach;
mod relinked;
mod robots;
mod sessions;
mod standing;
mod unvisited;
mod vanished;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crawler::clock::Clock;
use serde_json::Value;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, words};
use tests::told::{self, Told};

/// The number of pages that say something of their own, with the front page.
const UNIQUE: u64 = 25;
/// The number of copies, of the pages 1, 2 and so on.
const COPIES: u64 = 20;
const DAY: u64 = 86_400_000;

/// The path of a copy. No rule can be learned from these paths.
fn copy(number: u64) -> String {
    format!("/{}", words(1_000 + number, 1))
}

/// A site of 45 URLs: a front page that links to 24 pages and to 20 copies of some of these.
fn front() -> String {
    let links: String = (1..UNIQUE).map(|page| format!("<a href=/p{page}>{page}</a> ")).collect();
    let copies: String = (1..=COPIES).map(|page| format!("<a href={}>again {page}</a> ", copy(page))).collect();
    format!("<title>front</title><p>{}</p>{links}{copies}", words(0, 80))
}

/// The number of the page that a path shows.
fn page_of(path: &str) -> Option<u64> {
    let own = path.strip_prefix("/p").and_then(|page| page.parse().ok()).filter(|page| (1..UNIQUE).contains(page));
    own.or_else(|| (1..=COPIES).find(|page| copy(*page) == path))
}

fn page(number: u64) -> String {
    format!("<title>page {number}</title><p>{}</p>", words(number, 120))
}

/// The requests to a server in one round, without robots.txt.
fn asked(told: &Told, from: usize) -> Vec<String> {
    let asked = told.asked().into_iter().skip(from).map(|asked| asked.target);
    asked.filter(|target| target != "/robots.txt").collect()
}

fn is_copy(path: &str) -> bool {
    (1..=COPIES).any(|number| copy(number) == path)
}

/// Catches a round that asks for every copy: of 45 URLs with 20 copies, 25 are asked for, and a small sample of the
/// copies. With validators, hardly anything is sent twice. Without them, unchanged pages are called unchanged, too.
#[test]
fn a_second_run_asks_for_one_page_of_each_cluster() -> anyhow::Result<()> {
    for validators in [true, false] {
        let told = Told::new(move |asked| {
            let body = match (asked.target.as_str(), page_of(&asked.target)) {
                ("/", _) => front(),
                (_, Some(number)) => page(number),
                _ => return told::missing(),
            };
            if !validators {
                return told::html(body);
            }
            let etag = format!("\"{}\"", body.len());
            if asked.field("if-none-match") == etag {
                return (304, vec![("etag", etag)], Vec::new());
            }
            (200, vec![("content-type", "text/html".into()), ("etag", etag)], body.into_bytes())
        })?;
        let dir = tempfile::tempdir()?;
        let first = told.crawl(dir.path(), "http://a.test/", &[])?;
        let duplicates = first.stats.exact + first.stats.near;
        assert_eq!((first.stats.unique, duplicates), (UNIQUE, COPIES), "{:?}", first.stats);
        assert_eq!(asked(&told, 0).len() as u64, UNIQUE + COPIES);
        for round in 1..=2 {
            let before = told.asked().len();
            let again = told.crawl(dir.path(), "http://a.test/", &[("fetch.recrawl", "true")])?;
            let asked = asked(&told, before);
            let copies = asked.iter().filter(|path| is_copy(path)).count() as u64;
            assert_eq!(asked.len() as u64 - copies, UNIQUE, "each page once: {asked:?}");
            assert_eq!(asked.iter().collect::<BTreeSet<_>>().len(), asked.len(), "nothing twice: {asked:?}");
            assert_eq!(copies, 2, "6 % of 25 visits, rounded up");
            let last = &again.pages[again.pages.len() - asked.len()..];
            assert!(last.iter().all(|page| text(page, "verdict") == "unchanged" && text(page, "changed") == "no"));
            assert!(last.iter().all(|page| page["new_links"] == Value::Array(Vec::new())));
            assert!(last.iter().all(|page| page["resemblance_before"] == 1.0), "{last:#?}");
            // In the second round, a small share of the requests is made without validators.
            let sent = last.iter().filter(|page| page["status"] == 200).count();
            let most = if !validators { last.len() } else { last.len() / 3 * (round as usize - 1) };
            assert!(sent <= most && (validators || sent == most), "{sent} of {}", last.len());
            assert_eq!(again.stats.unique, UNIQUE, "nothing is new a second time");
            let told_of = again.stats.round.expect("a round was made");
            assert_eq!((told_of.number, told_of.visits, told_of.checked), (round, UNIQUE + 2, 2));
            assert_eq!((told_of.trusted, told_of.changed, told_of.diverged, told_of.done), (COPIES - 2, 0, 0, true));
        }
    }
    Ok(())
}

/// In `keep`, a round visits every duplicate.
#[test]
fn in_keep_no_copy_is_trusted() -> anyhow::Result<()> {
    let told = Told::new(|asked| match (asked.target.as_str(), page_of(&asked.target)) {
        ("/", _) => told::html(front()),
        (_, Some(number)) => told::html(page(number)),
        _ => told::missing(),
    })?;
    let (dir, keep) = (tempfile::tempdir()?, ("dedup.on-duplicate", "keep"));
    told.crawl(dir.path(), "http://a.test/", &[keep])?;
    let before = told.asked().len();
    told.crawl(dir.path(), "http://a.test/", &[keep, ("fetch.recrawl", "true")])?;
    assert_eq!(asked(&told, before).len() as u64, UNIQUE + COPIES);
    Ok(())
}

/// A scripted site of 45 URLs on its own clock. `round` is the number of the round; the first crawl is 1.
struct Site {
    fetch: Scripted,
    clock: Clock,
    round: Arc<AtomicU64>,
    dir: tempfile::TempDir,
}

impl Site {
    /// `shows` gives the answer of a path in a round; `None` if the path shows the usual answer.
    fn new(
        shows: impl Fn(&str, u64) -> Option<crawler::demo::web::Answer> + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let round = Arc::new(AtomicU64::new(1));
        let clock = Clock::at(1_700_000_000_000);
        let now = Arc::clone(&round);
        let fetch = Scripted::new(&clock, move |url, _| {
            let own = shows(url.path(), now.load(Ordering::Relaxed));
            own.unwrap_or_else(|| match (url.path(), page_of(url.path())) {
                ("/", _) => html(front()),
                (_, Some(number)) => html(page(number)),
                _ => missing(),
            })
        });
        let site = Self { fetch, clock, round, dir: tempfile::tempdir()? };
        site.run(&[])?;
        Ok(site)
    }

    fn run(&self, more: &[(&str, &str)]) -> anyhow::Result<Crawled> {
        let seeds = ["http://a.test/".to_owned()];
        let more: Vec<_> = more.iter().copied().chain([("scope.sitemaps", "true")]).collect();
        crawl_with(self.fetch.clone(), &self.clock, self.dir.path(), &seeds, &settings(&more)?)
    }

    /// Makes one more round, a day later. Returns the paths that were asked for, and the result of the crawl.
    fn refresh(&self) -> anyhow::Result<(Vec<String>, Crawled)> {
        self.clock.skip_to(self.clock.now() + DAY);
        self.round.fetch_add(1, Ordering::Relaxed);
        let before = self.fetch.asked().len();
        let crawled = self.run(&[("fetch.recrawl", "true")])?;
        let asked = self.fetch.asked().into_iter().skip(before).map(|(_, url)| url.path().to_owned());
        Ok((asked.filter(|path| path != "/robots.txt").collect(), crawled))
    }
}

/// The lines of a path, in the order of its visits.
fn visits<'a>(crawled: &'a Crawled, path: &str) -> Vec<&'a Value> {
    let url = format!("http://a.test{path}");
    crawled.pages.iter().filter(|page| text(page, "url") == url).collect()
}

/// Catches a copy that changes apart from its page and is trusted for ever.
#[test]
fn a_copy_that_diverges_is_found_and_visited_from_then_on() -> anyhow::Result<()> {
    let liar = copy(7);
    let path = liar.clone();
    let site = Site::new(move |path, round| {
        (path == liar && round >= 2).then(|| html(format!("<p>{}</p>", words(500 + round, 120))))
    })?;
    let mut found = None;
    for round in 2..=14 {
        let (asked, crawled) = site.refresh()?;
        let copies = asked.iter().filter(|path| is_copy(path)).count();
        assert!(copies <= 3, "a small sample: {asked:?}");
        assert_eq!(asked.iter().collect::<BTreeSet<_>>().len(), asked.len(), "nothing twice: {asked:?}");
        assert_eq!(asked.iter().filter(|path| !is_copy(path)).count() as u64, UNIQUE, "in round {round}");
        let is_asked = asked.contains(&path);
        assert!(found.is_none() || is_asked, "once found it is visited in each round: {round}");
        if is_asked && found.is_none() {
            found = Some(round);
            let last = *visits(&crawled, &path).last().expect("a line");
            assert_eq!((text(last, "verdict"), text(last, "changed")), ("unique", "content"));
            let round = crawled.stats.round.expect("a round");
            assert_eq!((round.diverged, round.trusted + round.checked), (1, COPIES));
        }
    }
    let found = found.expect("it is found");
    assert!(found <= 11, "two of twenty are checked in each round, the oldest first: found in round {found}");
    Ok(())
}

/// Catches a cluster that is lost with the page that represents it.
#[test]
fn a_dying_representative_is_replaced_by_a_living_copy() -> anyhow::Result<()> {
    let other = copy(3);
    let path = other.clone();
    let site = Site::new(move |path, round| match path {
        "/p3" if round >= 2 => Some(missing()),
        _ if path == other && round >= 4 => Some(html(format!("<p>{}</p>", words(900, 120)))),
        _ => None,
    })?;
    let (asked, crawled) = site.refresh()?;
    assert!(asked.contains(&"/p3".to_owned()) && asked.contains(&path), "the copy is visited at once: {asked:?}");
    let round = crawled.stats.round.as_ref().expect("a round");
    assert_eq!((round.missing, round.replaced, round.diverged), (1, 1, 0));
    let last = *visits(&crawled, &path).last().expect("a line");
    assert_eq!((text(last, "verdict"), text(last, "changed")), ("unchanged", "no"), "it says what it said");
    // From now on the copy represents itself: it is visited in each round, and its change is seen.
    let (asked, _) = site.refresh()?;
    assert!(asked.contains(&path), "{asked:?}");
    let (asked, crawled) = site.refresh()?;
    assert!(asked.contains(&path), "{asked:?}");
    let last = *visits(&crawled, &path).last().expect("a line");
    assert_eq!((text(last, "verdict"), text(last, "changed")), ("unique", "content"));
    Ok(())
}

/// Catches a page that is given up after one 404, links that stay held for a page that is gone, and a page that is back
/// without notice.
#[test]
fn a_page_missing_twice_is_gone_and_releases_what_was_held_for_it() -> anyhow::Result<()> {
    let round = Arc::new(AtomicU64::new(1));
    let now = Arc::clone(&round);
    let clock = Clock::at(1_700_000_000_000);
    let fetch = Scripted::new(&clock, move |url, _| {
        let round = now.load(Ordering::Relaxed);
        let list = |to: &str| html(format!("<p>{}</p><a href={to}/one>1</a> <a href={to}/two>2</a>", words(2, 200)));
        match url.path() {
            "/" => html(format!("<p>{}</p><a href=/a/x>x</a> <a href=/b/x>x</a>", words(1, 60))),
            "/a/x" => list("/a"),
            "/b/x" => list("/b"),
            "/a/one" if (3..=4).contains(&round) => missing(),
            "/a/one" | "/b/one" => html(format!("<p>{}</p>", words(3, 60))),
            "/a/two" | "/b/two" => html(format!("<p>{}</p>", words(4, 60))),
            _ => missing(),
        }
    });
    let dir = tempfile::tempdir()?;
    let run = |round_now: u64, more: &[(&str, &str)]| -> anyhow::Result<Crawled> {
        round.store(round_now, Ordering::Relaxed);
        clock.skip_to(clock.now() + DAY);
        let more: Vec<_> = more.iter().copied().chain([("dedup.rescue", "0%"), ("dedup.rules", "false")]).collect();
        crawl_with(fetch.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings(&more)?)
    };
    let again = [("fetch.recrawl", "true")];
    let first = run(1, &[])?;
    let held: BTreeSet<&str> = first.skipped.iter().map(|line| text(line, "url")).collect();
    assert_eq!(held, BTreeSet::from(["http://a.test/b/one", "http://a.test/b/two"]), "{:?}", first.urls());
    assert_eq!(run(2, &again)?.stats.held, 2, "nothing has changed");
    run(3, &again)?;
    let gone = run(4, &again)?;
    let of = |path: &str, crawled: &Crawled| -> Vec<u64> {
        visits(crawled, path).iter().map(|line| line["status"].as_u64().unwrap_or(0)).collect()
    };
    assert_eq!(of("/a/one", &gone), [200, 200, 404, 404]);
    assert_eq!(of("/b/one", &gone).first(), Some(&200), "it was released");
    assert_eq!(of("/b/two", &gone), [0; 0], "what is held for a living page stays held");
    let why = std::process::Command::new(env!("CARGO_BIN_EXE_crawl"))
        .args(["why", &dir.path().to_string_lossy(), "http://a.test/a/one"])
        .output()?;
    let told = String::from_utf8_lossy(&why.stdout).into_owned();
    assert!(told.contains("gone: 404 or 410 at its last two visits"), "{told}");
    // The page has been gone for a day, so it is asked for again after two days.
    assert_eq!(of("/a/one", &run(5, &again)?).len(), 4, "not yet");
    let back = run(6, &again)?;
    assert_eq!(of("/a/one", &back), [200, 200, 404, 404, 200]);
    assert_eq!(of("/b/two", &back), [0; 0]);
    Ok(())
}

/// Catches a notice that all pages show for a day (a login, a site under repair) and that makes them copies for good.
#[test]
fn a_notice_on_all_pages_makes_no_copies() -> anyhow::Result<()> {
    let site = Site::new(|path, round| {
        (round == 2 && path.starts_with("/p")).then(|| html(format!("<p>{}</p>", words(800, 60))))
    })?;
    site.refresh()?;
    let (asked, crawled) = site.refresh()?;
    assert_eq!(asked.iter().filter(|path| !is_copy(path)).count() as u64, UNIQUE, "each is visited again: {asked:?}");
    let alike: Vec<_> =
        crawled.pages.iter().filter(|page| page["visit"] == 2 && page["changed"] != "content").collect();
    assert!(crawled.stats.round.is_some_and(|round| round.changed >= UNIQUE - 1), "{alike:#?}");
    Ok(())
}

/// Catches changes of a page that are lost because its links or words are compared with the wrong visit.
#[test]
fn a_visit_tells_what_changed_and_which_links_are_new() -> anyhow::Result<()> {
    let site = Site::new(|path, round| match (path, round) {
        ("/p1", 1) => Some(html(format!(
            "<title>page 1</title><p>{}</p><a href=/p2>2</a> <a href=/p3>3</a> <a href=/p4>4</a>",
            words(1, 120)
        ))),
        ("/p1", 2..) => {
            let half = format!("{} {}", words(1, 60), words(700, 60));
            Some(html(format!("<title>page 1</title><p>{half}</p><a href=/extra>new</a> <a href=/p2>old</a>")))
        }
        ("/p2", _) => Some(html(format!("<!-- {round} --><title>page 2</title><p>{}</p>", words(2, 120)))),
        ("/extra", 2..) => Some(html(format!("<p>{}</p>", words(701, 60)))),
        _ => None,
    })?;
    let (asked, crawled) = site.refresh()?;
    assert!(asked.contains(&"/extra".to_owned()), "what is new is fetched in the same round");
    let last = |path: &str| (*visits(&crawled, path).last().expect("a line")).clone();
    let (one, two, three) = (last("/p1"), last("/p2"), last("/p3"));
    assert_eq!((text(&one, "changed"), text(&two, "changed"), text(&three, "changed")), ("content", "bytes", "no"));
    assert_eq!(one["new_links"], serde_json::json!(["http://a.test/extra"]));
    assert_eq!(one["gone_links"], serde_json::json!(["http://a.test/p3", "http://a.test/p4"]));
    assert_eq!(
        (&one["links_gone"], &two["links_gone"], &three["gone_links"]),
        (&2.into(), &0.into(), &serde_json::json!([]))
    );
    let alike = one["resemblance_before"].as_f64().unwrap_or(-1.0);
    assert!((0.1..0.6).contains(&alike), "half of its words are others: {alike}");
    let first = &visits(&crawled, "/extra")[0];
    assert_eq!([&first["new_links"], &first["gone_links"], &first["links_gone"]], [&Value::Null; 3], "a first visit");
    Ok(())
}

/// Catches a round that visits pages that were visited a moment ago, although `--min-age` is given.
#[test]
fn what_is_younger_than_the_least_age_is_not_visited() -> anyhow::Result<()> {
    let site = Site::new(|_, _| None)?;
    for (age, visited) in [("23h", UNIQUE), ("25h", 0)] {
        site.clock.skip_to(site.clock.now() + DAY);
        let before = site.fetch.asked().len();
        site.run(&[("fetch.recrawl", "true"), ("refresh.min-age", age)])?;
        let asked = site.fetch.asked().into_iter().skip(before).map(|(_, url)| url.path().to_owned());
        assert_eq!(asked.filter(|path| path != "/robots.txt" && !is_copy(path)).count() as u64, visited, "{age}");
    }
    Ok(())
}

/// Catches a sitemap that is read once and never again: no round finds the pages that it names later.
#[test]
fn a_round_reads_the_sitemap_again_and_fetches_what_it_names_now() -> anyhow::Result<()> {
    let site = Site::new(|path, round| {
        let text = |content_type, body: String| Some(crawler::demo::web::Answer { content_type, ..html(body) });
        let map = |paths: &[&str]| {
            let urls: String = paths.iter().map(|path| format!("<url><loc>http://a.test{path}</loc></url>")).collect();
            format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>")
        };
        match (path, round) {
            ("/robots.txt", _) => text("text/plain", "Sitemap: http://a.test/map.xml".into()),
            ("/map.xml", 1) => text("application/xml", map(&["/p1"])),
            ("/map.xml", _) => text("application/xml", map(&["/p1", "/unlinked"])),
            ("/unlinked", _) => Some(html(format!("<p>{}</p>", words(702, 60)))),
            _ => None,
        }
    })?;
    let maps = |site: &Site| site.fetch.times("http://a.test/map.xml");
    assert_eq!(maps(&site), 1);
    let (asked, crawled) = site.refresh()?;
    assert!(asked.contains(&"/unlinked".to_owned()), "{asked:?}");
    assert_eq!((maps(&site), text(visits(&crawled, "/unlinked")[0], "via")), (2, "sitemap"));
    let before = site.fetch.asked().len();
    site.run(&[("fetch.recrawl", "true")])?;
    assert!(site.fetch.asked().len() > before && maps(&site) == 2, "it was read a moment ago");
    site.clock.skip_to(site.clock.now() + DAY / 24);
    site.run(&[("fetch.recrawl", "true")])?;
    assert_eq!(maps(&site), 3, "whoever begins a round an hour later wants the news of this hour");
    Ok(())
}

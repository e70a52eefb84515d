//! Second chances: a URL that redirects until it gets its cookie, and a server error or a broken body that passes. Also
//! what a crawl says about a failure that stays.

mod consent;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use crawler::clock::Clock;
use crawler::demo::web::Answer as Scripting;
use serde_json::Value;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::scripted::{self, Scripted, words};
use tests::told::{Answer, Asked, Told, html, missing, moved};

/// The seed of the tests.
const HOME: &str = "http://a.test/";
/// The settings of a crawl that waits for further attempts.
const WAITS: (&str, &str) = ("limits.patience", "10m");

/// A page with text about its number, and with these links.
fn page(number: u64, links: &[String]) -> String {
    let links: String = links.iter().map(|link| format!("<a href=\"{link}\">on</a>")).collect();
    format!("<p>{}</p>{links}", words(number, 80))
}

fn with_cookie(target: &str, cookie: &str) -> Answer {
    let (status, mut fields, body) = moved(302, target);
    fields.push(("set-cookie", cookie.to_owned()));
    (status, fields, body)
}

/// A site of nine pages. Without the cookie `s`, it answers with `without`.
fn site(asked: &Asked, without: impl Fn(&Asked) -> Answer) -> Answer {
    let number: u64 = asked.target.trim_start_matches('/').parse().unwrap_or(0);
    match asked.target.as_str() {
        "/robots.txt" => missing(),
        _ if !asked.field("cookie").contains("s=") => without(asked),
        _ => html(page(number, &(1..9).map(|to| format!("/{to}")).collect::<Vec<_>>())),
    }
}

/// Redirects through another URL that sets the cookie: on the same host, or on a host for identities.
fn bouncing(asked: &Asked) -> Answer {
    match asked.target.split_once("?to=") {
        Some(("/check", to)) => with_cookie(to, "s=1; Path=/"),
        Some(("/auth", to)) => with_cookie(&format!("http://b.a.test{to}"), "s=1; Path=/; Domain=a.test"),
        _ if asked.host == "a.test" => site(asked, |asked| moved(302, &format!("/check?to={}", asked.target))),
        // The first redirect brings the cookie.
        _ if asked.host == "c.test" => site(asked, |asked| with_cookie(&format!("/wait?to={}", asked.target), "s=1")),
        _ => site(asked, |asked| moved(302, &format!("http://id.a.test/auth?to={}", asked.target))),
    }
}

/// Catches sites of which nothing is crawled because their front page redirects until it gets a cookie.
#[test]
fn a_chain_that_comes_back_with_a_cookie_is_followed() -> anyhow::Result<()> {
    for mode in ["drop", "keep"] {
        for (host, seed) in [("a.test", HOME), ("b.a.test", "http://b.a.test/"), ("c.test", "http://c.test/")] {
            let (told, dir) = (
                Told::new(|asked| match asked.target.split_once("/wait?to=") {
                    Some((_, to)) => moved(302, to),
                    None => bouncing(asked),
                })?,
                tempfile::tempdir()?,
            );
            let crawled = told.crawl(dir.path(), seed, &[("dedup.on-duplicate", mode)])?;
            let pages = crawled.pages.iter().filter(|page| page["status"] == 200).count();
            assert_eq!(pages, 9, "{host}, {mode}: {:?}", crawled.urls());
            assert!(crawled.stats.complete && crawled.stats.redirects_endless == 0, "{:?}", crawled.stats);
            assert_eq!(told.of(host, "/").len(), 2, "{host}: {:?}", crawled.urls());
            assert_eq!(check(dir.path())?, "", "{host}");
        }
    }
    Ok(())
}

/// The cookie is good for two further requests, so a URL that comes back with it must be fetched at once.
#[test]
fn a_cookie_that_does_not_last_is_used_at_once() -> anyhow::Result<()> {
    let (count, given) = (AtomicU64::new(0), AtomicU64::new(0));
    let script = move |asked: &Asked| {
        let now = count.fetch_add(1, Ordering::Relaxed);
        if let Some((_, to)) = asked.target.split_once("?to=") {
            given.store(now, Ordering::Relaxed);
            return with_cookie(to, "s=1; Path=/");
        }
        let without = |asked: &Asked| moved(302, &format!("/check?to={}", asked.target));
        if now > given.load(Ordering::Relaxed) + 2 && asked.target != "/robots.txt" {
            return without(asked);
        }
        site(asked, without)
    };
    let (told, dir) = (Told::new(script)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), HOME, &[])?;
    let pages = crawled.pages.iter().filter(|page| page["status"] == 200).count();
    assert_eq!((pages, crawled.stats.complete), (9, true), "{:?}", crawled.urls());
    Ok(())
}

/// Catches a seed that is lost silently, because the answer has the status of a redirect and names no URL.
#[test]
fn a_redirect_that_names_no_url_is_told() -> anyhow::Result<()> {
    for location in [None, Some("http://[::bad/")] {
        let nowhere = move |asked: &Asked| match (asked.target.as_str(), location) {
            ("/", Some(location)) => moved(302, location),
            ("/", None) => (302, Vec::new(), b"gone elsewhere".to_vec()),
            _ => missing(),
        };
        let (told, dir) = (Told::new(nowhere)?, tempfile::tempdir()?);
        let crawled = told.crawl(dir.path(), HOME, &[])?;
        assert_eq!((crawled.stats.redirects_nowhere, crawled.stats.complete), (1, false), "{:?}", crawled.stats);
        assert_eq!(text(&crawled.pages[0], "error"), "redirect without a usable Location");
    }
    Ok(())
}

/// A site that sets a new cookie in each answer and never shows a page; and sites that never get the cookie back.
#[test]
fn a_circle_stays_a_circle_however_many_cookies_it_sets() -> anyhow::Result<()> {
    let count = AtomicU64::new(0);
    let circle = move |asked: &Asked| {
        let count = count.fetch_add(1, Ordering::Relaxed);
        match asked.target.as_str() {
            "/" => with_cookie("/check", &format!("s={count}")),
            "/check" => with_cookie("/", &format!("n{count}=1")),
            _ => missing(),
        }
    };
    let (told, dir) = (Told::new(circle)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), HOME, &[])?;
    assert_eq!((told.of("a.test", "/").len(), told.of("a.test", "/check").len()), (2, 1));
    assert!(crawled.stats.redirects_endless > 0 && !crawled.stats.complete, "{:?}", crawled.stats);

    // The cookie is not sent to the URL to which the chain comes back.
    let elsewhere = |asked: &Asked| match asked.target.as_str() {
        "/" => moved(302, "/check"),
        "/check" => with_cookie("/", "s=1; Path=/check"),
        _ => missing(),
    };
    for (cookies, script) in [("off", bouncing as fn(&Asked) -> Answer), ("on", elsewhere)] {
        let (told, dir) = (Told::new(script)?, tempfile::tempdir()?);
        told.crawl(dir.path(), HOME, &[("access.cookies", cookies)])?;
        assert_eq!(told.of("a.test", "/").len(), 1, "cookies {cookies}");
    }
    Ok(())
}

fn crawl(fetch: &Scripted, clock: &Clock, dir: &Path, more: &[(&str, &str)]) -> anyhow::Result<Crawled> {
    crawl_with(fetch.clone(), clock, dir, &[HOME.to_owned()], &settings(&[&[WAITS], more].concat())?)
}

fn broken(status: u16) -> Scripting {
    Scripting { status, ..scripted::html("<p>broken</p>") }
}

/// Catches server errors that end a URL for good, a host that waits because one of its URLs failed, and permanent
/// errors that are asked for again.
#[test]
fn a_server_error_that_passes_is_no_end() -> anyhow::Result<()> {
    for (status, passes) in [(500, true), (502, true), (504, true), (522, true), (501, false), (505, false)] {
        let clock = Clock::at(1_700_000_000_000);
        let fetch = Scripted::new(&clock, move |url, before| match url.path() {
            "/" => scripted::html(page(0, &(1..40).map(|to| format!("/{to}")).collect::<Vec<_>>())),
            "/3" if before < 2 => broken(status),
            path => path[1..].parse().map_or_else(|_| scripted::missing(), |n| scripted::html(page(n, &[]))),
        });
        let dir = tempfile::tempdir()?;
        let crawled = crawl(&fetch, &clock, dir.path(), &[("politeness.delay", "10ms")])?;
        assert_eq!(fetch.times("http://a.test/3"), if passes { 3 } else { 1 }, "{status}");
        assert_eq!((crawled.stats.complete, crawled.stats.pages), (passes, 40), "{status}: {:?}", crawled.stats);
        assert!(crawled.stats.retrying.is_empty());
        let asked = fetch.asked();
        let times: Vec<_> = asked.iter().filter(|(_, url)| url.path() == "/3").map(|(at, _)| *at).collect();
        if passes {
            assert!(times[1] >= times[0] + 1_000 && times[2] >= times[1] + 2_000, "{status}: {times:?}");
        }
        let others = asked.iter().filter(|(_, url)| !matches!(url.path(), "/robots.txt" | "/3")).map(|(at, _)| *at);
        let (first, last) = (others.clone().min(), others.max());
        assert!(last < first.map(|first| first + 900), "{status}: the others did not wait: {first:?} to {last:?}");
        assert_eq!(check(dir.path())?, "", "{status}");
    }
    Ok(())
}

/// Catches a site that answers everything with 500, and costs three fetches for each of its URLs, or days.
#[test]
fn a_site_that_is_broken_for_good_is_not_asked_three_times() -> anyhow::Result<()> {
    const URLS: u64 = 200;
    let clock = Clock::at(1_700_000_000_000);
    let fetch = Scripted::new(&clock, |url, _| match url.path() {
        "/" => scripted::html(page(0, &(1..=URLS).map(|to| format!("/{to}")).collect::<Vec<_>>())),
        "/robots.txt" => scripted::missing(),
        _ => broken(500),
    });
    let dir = tempfile::tempdir()?;
    let crawled = crawl(&fetch, &clock, dir.path(), &[])?;
    let asked = fetch.asked().iter().filter(|(_, url)| url.path().len() > 1 && url.path() != "/robots.txt").count();
    assert!((208..=210).contains(&asked), "8 further attempts and what one good answer brings: {asked}");
    assert_eq!((crawled.stats.statuses[&500], crawled.stats.complete), (URLS, false));
    assert!(clock.now() < 1_700_000_000_000 + 10 * 60_000, "{}", clock.now());
    Ok(())
}

/// A temporary outage costs no page.
#[test]
fn an_outage_is_waited_out() -> anyhow::Result<()> {
    let clock = Clock::at(1_700_000_000_000);
    let (now, begun) = (clock.clone(), 1_700_000_000_000 + 3_000);
    let fetch = Scripted::new(&clock, move |url, _| match url.path() {
        _ if (begun..begun + 60_000).contains(&now.now()) => broken(502),
        "/" => scripted::html(page(0, &(1..200).map(|to| format!("/{to}")).collect::<Vec<_>>())),
        path => path[1..].parse().map_or_else(|_| scripted::missing(), |n| scripted::html(page(n, &[]))),
    });
    let dir = tempfile::tempdir()?;
    let crawled = crawl(&fetch, &clock, dir.path(), &[("politeness.delay", "50ms"), ("politeness.attempts", "8")])?;
    assert_eq!((crawled.stats.statuses[&200], crawled.stats.complete), (200, true), "{:?}", crawled.stats);
    Ok(())
}

/// Catches bodies that are broken once and count as cut for good. If a body is broken each time, the part that could be
/// read is kept.
#[test]
fn a_broken_body_is_asked_for_again() -> anyhow::Result<()> {
    let count = AtomicU64::new(0);
    let script = move |asked: &Asked| {
        let gzip = vec![("content-type", "text/html".to_owned()), ("content-encoding", "gzip".to_owned())];
        match asked.target.as_str() {
            "/" => html(page(0, &["/once".into(), "/always".into()])),
            "/once" if count.fetch_add(1, Ordering::Relaxed) == 0 => (200, gzip, b"no gzip".to_vec()),
            "/once" => html(page(1, &[])),
            "/always" => (200, gzip, b"no gzip".to_vec()),
            _ => missing(),
        }
    };
    let (told, dir) = (Told::new(script)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), HOME, &[WAITS])?;
    assert_eq!((told.of("a.test", "/once").len(), told.of("a.test", "/always").len()), (2, 3));
    assert_eq!(crawled.stats.cut, [("encoding".to_owned(), 1)].into(), "{:?}", crawled.stats);
    let line = crawled.pages.iter().find(|page| text(page, "url").ends_with("/always")).expect("a line");
    assert_eq!((&line["status"], &line["truncated"]), (&200.into(), &true.into()));
    Ok(())
}

#[test]
fn an_empty_page_is_asked_for_again() -> anyhow::Result<()> {
    let count = AtomicU64::new(0);
    let script = move |asked: &Asked| {
        match asked.target.as_str() {
            // An empty page whose links would be lost, a page that stays empty, and an empty file that is no page.
            "/" if count.fetch_add(1, Ordering::Relaxed) == 0 => html(String::new()),
            "/" => html(page(0, &["/once".into(), "/always".into(), "/file".into()])),
            "/once" => html(page(1, &[])),
            "/always" => html(String::new()),
            "/file" => (200, vec![("content-type", "image/png".to_owned())], Vec::new()),
            _ => missing(),
        }
    };
    let (told, dir) = (Told::new(script)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), HOME, &[WAITS])?;
    let asked = ["/", "/once", "/always", "/file"].map(|path| told.of("a.test", path).len());
    assert_eq!(asked, [2, 1, 3, 1]);
    assert_eq!((crawled.stats.pages, crawled.stats.unique), (4, 2), "{:?}", crawled.stats);
    Ok(())
}

fn run(arguments: &[&str], dir: &Path) -> anyhow::Result<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_crawl")).arg(arguments[0]).arg(dir).args(&arguments[1..]).output()?;
    Ok(String::from_utf8(output.stdout)?)
}

/// The findings of `crawler check`; empty if all is well.
fn check(dir: &Path) -> anyhow::Result<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_crawl")).arg("check").arg(dir).output()?;
    let said = [output.stdout, output.stderr].concat();
    Ok(if output.status.success() { String::new() } else { String::from_utf8_lossy(&said).into_owned() })
}

/// Catches a crawl that calls itself complete although it left URLs or links unread, and one that does not say which
/// bound it reached.
#[test]
fn what_is_left_unread_is_told_in_every_place() -> anyhow::Result<()> {
    let links = |count: u64| (0..count).map(|to| format!("<a href=/l{to}>l</a>")).collect::<String>();
    // A page has one session, and these are nine: each is the id of an item.
    let items = (1..10).map(|to| format!("<a href='/i?sid={to}e107d9d372bb6826bd81d3542a419d6'>i</a>")).collect();
    let cases: [(&str, String, &str, u64, &str, &str); 5] = [
        ("repeats", "<a href=/x/a/a/a/a/a>r</a>".into(), "max_repeats", 1, "unread_max_repeats", "--max-repeats"),
        (
            "segments",
            format!("<a href={}>s</a>", (0..40).map(|n| format!("/{n}")).collect::<String>()),
            "max_segments",
            1,
            "unread_max_segments",
            "--max-segments",
        ),
        ("circle", "<a href=/circle>c</a>".into(), "redirect_loop", 1, "redirect_loop", "in a circle"),
        ("items", items, "doubtful_sessions", 8, "doubtful_sessions", "--keep-params"),
        ("links", links(10_007), "links_cut", 7, "links_cut", "more than 10,000"),
    ];
    for (name, front, kind, count, trouble, says) in cases {
        let clock = Clock::at(1_700_000_000_000);
        let fetch = Scripted::new(&clock, move |url, _| match url.path() {
            "/" => scripted::html(format!("<p>{}</p>{front}", words(0, 80))),
            "/circle" => scripted::moved("/back"),
            "/back" => scripted::moved("/circle"),
            _ => scripted::missing(),
        });
        let dir = tempfile::tempdir()?;
        crawl(&fetch, &clock, dir.path(), &[])?;
        let report: Value = serde_json::from_str(&run(&["report", "--json"], dir.path())?)?;
        assert_eq!(report["complete"], false, "{name}");
        assert_eq!(
            (&report["unread"][kind], &report["failures"][trouble]),
            (&count.into(), &count.into()),
            "{report:#}"
        );
        let summary = run(&["report"], dir.path())?;
        assert!(summary.contains("Left unread") && summary.contains(says), "{name}: {summary}");
        let html = std::fs::read_to_string(dir.path().join("report.html"))?;
        assert!(html.contains("Left unread") && html.contains(says), "{name}: report.html");
    }
    Ok(())
}

/// Catches empty bodies of which the first is no page and the second a copy of it.
#[test]
fn empty_bodies_are_not_judged_and_the_check_agrees() -> anyhow::Result<()> {
    let clock = Clock::at(1_700_000_000_000);
    let fetch = Scripted::new(&clock, |url, _| match url.path() {
        "/" => scripted::html(page(0, &["/1".into(), "/2".into(), "/3".into()])),
        "/robots.txt" => scripted::missing(),
        _ => scripted::html(""),
    });
    let dir = tempfile::tempdir()?;
    let crawled = crawl(&fetch, &clock, dir.path(), &[])?;
    assert_eq!((crawled.stats.unjudged, crawled.stats.exact), (3, 0), "{:?}", crawled.stats);
    assert_eq!(check(dir.path())?, "");
    Ok(())
}

//! What a user is told of pages that a round could not visit, or that show nothing any more: `diff`, `why`, `report`,
//! `check` and `skipped.jsonl`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crawler::demo::web::Answer;
use serde_json::Value;
use tests::crawl::{lines, text};
use tests::scripted::{html, words};
use tests::told::{self, Told};

use super::reach::Mirrored;
use super::{Site, UNIQUE, copy, front};

fn run(args: &[&str], dir: &Path) -> anyhow::Result<(Option<i32>, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_crawl")).args(&args[..1]).arg(dir).args(&args[1..]).output()?;
    Ok((output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

fn diff(dir: &Path) -> anyhow::Result<Value> {
    Ok(serde_json::from_str(&run(&["diff", "--json"], dir)?.1)?)
}

fn urls(diff: &Value, group: &str) -> Vec<String> {
    let pages = diff[group].as_array().cloned().unwrap_or_default();
    pages.iter().map(|page| text(page, "url").trim_start_matches("http://a.test").to_owned()).collect()
}

/// Catches pages that vanish without a word because robots.txt forbids them from some day on.
#[test]
fn pages_that_robots_txt_forbids_now_are_told() -> anyhow::Result<()> {
    let site = Site::new(|path, round| {
        let rules = if (2..4).contains(&round) { "User-agent: *\nDisallow: /p21\nDisallow: /p22\n" } else { "" };
        (path == "/robots.txt").then(|| Answer { content_type: "text/plain", ..html(rules) })
    })?;
    let dir = site.dir.path();
    let why = || -> anyhow::Result<bool> {
        Ok(run(&["why", "http://a.test/p21"], dir)?.1.contains("not visited again since"))
    };
    assert!(!why()?);
    for round in 2..=4 {
        let (asked, crawled) = site.refresh()?;
        let made = crawled.stats.round.expect("a round was made");
        let (found, forbids) = (diff(dir)?, round < 4);
        assert_eq!(made.forbidden, if forbids { 2 } else { 0 }, "in round {round}: {asked:?}");
        assert_eq!(why()?, forbids, "in round {round}");
        if round == 2 {
            assert_eq!(urls(&found, "withheld"), ["/p21", "/p22"]);
            let page = &found["withheld"][0];
            assert_eq!((text(page, "reason"), page["since"].is_string()), ("robots", true), "{page:#}");
            assert!(run(&["diff"], dir)?.1.contains("2 withheld"));
        } else {
            assert_eq!(urls(&found, "withheld"), [""; 0], "it was so before, or is over: round {round}");
        }
        let back: &[&str] = if forbids { &[] } else { &["/p21", "/p22"] };
        assert_eq!(urls(&found, "back"), back, "in round {round}");
        assert_eq!(run(&["check"], dir)?.0, Some(0));
    }
    Ok(())
}

/// Catches a host that cannot be asked and of which `diff` says nothing, a page that stands both in `pages.jsonl` and
/// in `skipped.jsonl`, and a `check` that does not see that.
#[test]
fn a_host_that_cannot_be_asked_is_told() -> anyhow::Result<()> {
    let site = Mirrored::new(|host, path, round| {
        let down = (host, path, round) == ("a.test", "/robots.txt", 2);
        down.then(|| Answer { status: 503, ..html("no") })
    })?;
    let dir = site.dir.path();
    site.refresh()?;
    let found = diff(dir)?;
    let hosts = found["unreachable"].as_array().expect("a list");
    assert_eq!(hosts.len(), 1, "{found:#}");
    assert_eq!((text(&hosts[0], "host"), &hosts[0]["pages"]), ("a.test", &30.into()));
    assert!(run(&["diff"], dir)?.1.contains("a.test  30 pages not visited"));
    assert!(run(&["why", "http://a.test/p7"], dir)?.1.contains("could not be asked since"));
    let fetched: BTreeSet<String> = lines(dir, "pages.jsonl")?.iter().map(|line| text(line, "url").into()).collect();
    let skipped = lines(dir, "skipped.jsonl")?;
    assert!(skipped.iter().all(|line| !fetched.contains(text(line, "url"))), "{skipped:?}");
    assert_eq!(run(&["check"], dir)?.0, Some(0));
    let waits =
        fetched.iter().find(|url| run(&["why", url], dir).is_ok_and(|(_, why)| why.contains("to be visited again")));
    let line = serde_json::json!({"url": waits.expect("a visit waits"), "reason": "robots", "source": null});
    let mut file = std::fs::OpenOptions::new().append(true).open(dir.join("skipped.jsonl"))?;
    writeln!(file, "{line}")?;
    let (code, said) = run(&["check"], dir)?;
    assert!(code == Some(1) && said.contains("was fetched, and stands in skipped.jsonl"), "{said}");
    site.refresh()?;
    assert_eq!(diff(dir)?["unreachable"], serde_json::json!([]));
    assert!(!run(&["why", "http://a.test/p7"], dir)?.1.contains("could not be asked since"));
    Ok(())
}

/// Catches a host whose visits end at its first new link, because another host cannot be asked.
#[test]
fn a_new_link_holds_no_visits_back() -> anyhow::Result<()> {
    const PAGES: usize = 40;
    let round = Arc::new(AtomicU64::new(0));
    let now = Arc::clone(&round);
    let told = Told::new(move |asked| {
        let (is_later, is_a) = (now.load(Ordering::Relaxed) > 0, asked.host == "a.test");
        let page = asked.target.strip_prefix("/p").and_then(|page| page.parse::<usize>().ok());
        let number = |page: usize| 2 * page as u64 + u64::from(is_a);
        match (asked.target.as_str(), page) {
            ("/robots.txt", _) => told::missing(),
            _ if is_later && !is_a => (429, vec![("retry-after", "600".into())], Vec::new()),
            ("/", _) => {
                let links: String = (0..PAGES).map(|page| format!("<a href=/p{page}>page</a> ")).collect();
                told::html(format!("<p>{}</p>{links}<a href=http://b.test/>b</a>", words(number(900), 80)))
            }
            (_, Some(page)) => {
                let new = if page == 15 && is_later && is_a { "<a href=/new>new</a>" } else { "" };
                told::html(format!("<p>{}</p>{new}", words(number(page), 80)))
            }
            ("/new", _) => told::html(format!("<p>{}</p>", words(number(950), 80))),
            _ => told::missing(),
        }
    })?;
    let dir = tempfile::tempdir()?;
    let patience = ("limits.patience", "2s");
    told.crawl(dir.path(), "http://a.test/", &[patience])?;
    round.store(1, Ordering::Relaxed);
    let before = told.asked().len();
    told.crawl(dir.path(), "http://a.test/", &[patience, ("fetch.recrawl", "true")])?;
    let asked: BTreeSet<String> = told.asked()[before..]
        .iter()
        .filter(|asked| asked.host == "a.test" && asked.target != "/robots.txt")
        .map(|asked| asked.target.clone())
        .collect();
    assert_eq!(asked.len(), PAGES + 2, "{asked:?}");
    let found = diff(dir.path())?;
    let hosts = found["unreachable"].as_array().expect("a list");
    assert_eq!(hosts.iter().map(|host| text(host, "host")).collect::<Vec<_>>(), ["b.test"]);
    Ok(())
}

/// Catches a page whose body is broken from some day on and that is in no list.
#[test]
fn a_page_whose_body_is_broken_is_failing() -> anyhow::Result<()> {
    let round = Arc::new(AtomicU64::new(0));
    let now = Arc::clone(&round);
    let told = Told::new(move |asked| match (asked.target.as_str(), now.load(Ordering::Relaxed)) {
        ("/", _) => told::html(format!("<p>{}</p><a href=/breaks>a</a>", words(0, 80))),
        ("/breaks", 0) => told::html(format!("<p>{}</p>", words(1, 80))),
        ("/breaks", _) => {
            let fields = vec![("content-type", "text/html".into()), ("content-encoding", "gzip".into())];
            (200, fields, b"\x1f\x8bgarbage".to_vec())
        }
        _ => told::missing(),
    })?;
    let dir = tempfile::tempdir()?;
    told.crawl(dir.path(), "http://a.test/", &[])?;
    round.store(1, Ordering::Relaxed);
    told.crawl(dir.path(), "http://a.test/", &[("fetch.recrawl", "true")])?;
    let found = diff(dir.path())?;
    assert_eq!((urls(&found, "failing"), found["unchanged"].clone()), (vec!["/breaks".to_owned()], 1.into()));
    Ok(())
}

/// Catches a URL that is never asked for again because it could not be had at its first visit.
#[test]
fn a_page_that_could_not_be_had_at_first_is_visited_later() -> anyhow::Result<()> {
    let round = Arc::new(AtomicU64::new(0));
    let now = Arc::clone(&round);
    let told = Told::new(move |asked| match (asked.target.as_str(), now.load(Ordering::Relaxed)) {
        ("/", _) => told::html(format!("<p>{}</p><a href=/breaks>a</a>", words(0, 80))),
        ("/breaks", 0) => {
            let fields = vec![("content-type", "text/html".into()), ("content-encoding", "gzip".into())];
            (200, fields, b"\x1f\x8bgarbage".to_vec())
        }
        ("/breaks", _) => told::html(format!("<p>{}</p><a href=/behind>b</a>", words(1, 80))),
        ("/behind", 1..) => told::html(format!("<p>{}</p>", words(2, 80))),
        _ => told::missing(),
    })?;
    let dir = tempfile::tempdir()?;
    assert_eq!(told.crawl(dir.path(), "http://a.test/", &[])?.stats.unique, 1);
    round.store(1, Ordering::Relaxed);
    let again = told.crawl(dir.path(), "http://a.test/", &[("fetch.recrawl", "true")])?;
    assert_eq!(again.stats.unique, 3, "{:?}", again.urls());
    Ok(())
}

/// Catches a page that becomes empty, or changes altogether, and whose copies are taken to have changed with it
/// although none of them was visited.
#[test]
fn a_copy_is_checked_when_its_page_shows_something_else() -> anyhow::Result<()> {
    for (is_empty, both) in [(true, false), (false, false), (false, true)] {
        let site = Site::new(move |path, round| {
            let changes = path == "/p3" || both && path == copy(3);
            let body = if is_empty { String::new() } else { words(910, 120) };
            (round >= 3 && changes).then(|| html(format!("<html><body><p>{body}</p></body></html>")))
        })?;
        site.refresh()?;
        let (asked, crawled) = site.refresh()?;
        assert!(asked.contains(&"/p3".to_owned()) && asked.contains(&copy(3)), "{asked:?}");
        let made = crawled.stats.round.expect("a round was made");
        assert!(made.checked <= 3, "{made:?}");
        let found = diff(site.dir.path())?;
        let page =
            found["changed"].as_array().and_then(|pages| pages.iter().find(|page| text(page, "url").ends_with("/p3")));
        assert!(page.is_none_or(|page| page["copies"] == 0), "its only copy was looked at: {page:?}");
    }
    Ok(())
}

/// Catches a site with a new session in its links at each visit, whose pages are told as news in each round.
#[test]
fn copies_at_new_urls_are_told_as_copies() -> anyhow::Result<()> {
    let site = Site::new(|path, round| {
        let links: String = (20..UNIQUE).map(|page| format!("<a href=/p{page}?v=x{round}z>again</a> ")).collect();
        let new = if round >= 2 { "<a href=/own>own</a>" } else { "" };
        match path {
            "/" => Some(html(front() + &links + new)),
            "/own" => Some(html(format!("<p>{}</p>", words(950, 90)))),
            _ => None,
        }
    })?;
    site.refresh()?;
    let found = diff(site.dir.path())?;
    let new = found["new"].as_array().expect("a list");
    let copies: Vec<&Value> = new.iter().filter(|page| page["is_copy"] == true).collect();
    assert_eq!((new.len(), copies.len() as u64, &found["new_copies"]), (6, 5, &5.into()), "{new:#?}");
    assert!(copies.iter().all(|page| text(page, "duplicate_of").contains("/p") && text(page, "verdict") == "exact"));
    let said = run(&["diff"], site.dir.path())?.1;
    assert!(said.contains("6 new (5 are copies)") && said.contains("(a copy of http://a.test/p20"), "{said}");
    let place = |what: &str| said.find(what).unwrap_or(usize::MAX);
    assert!(place("http://a.test/own") < place("(a copy of"), "copies come last: {said}");
    Ok(())
}

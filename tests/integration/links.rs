//! The link graph: every link with the page that has it, and broken links with the pages that link to them.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crawler::clock::Clock;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use serde_json::{Value, json};
use tests::crawl::{crawl_with, settings, text};
use tests::programs::beside;
use tests::scripted::{self, Scripted, words};
use tests::told::{Answer, Asked, Told, html, missing, moved};

/// Runs the program. Returns its stdout.
fn run(dir: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let (command, rest) = arguments.split_first().expect("a command");
    let run = Command::new(beside("crawler-under-test")?).arg(command).arg(dir).args(rest).output()?;
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    Ok(String::from_utf8(run.stdout)?)
}

fn json_lines(text: &str) -> anyhow::Result<Vec<Value>> {
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// A site whose pages all link to each other, to a page that is missing, to one that has moved, and out of the scope.
fn site(asked: &Asked) -> Answer {
    let n = match asked.target.as_str() {
        "/" => 0,
        "/a" => 1,
        "/b" => 2,
        "/old" => return moved(301, "/a"),
        "/lost" => return moved(302, "/nowhere"),
        "/feed" => {
            let feed = "<rss><channel><item><link>http://g.test/b</link></item></channel></rss>";
            return (200, vec![("content-type", "application/rss+xml".into())], feed.into());
        }
        _ => return missing(),
    };
    let dead = if n < 2 { "<a href=/dead>d</a>" } else { "" };
    html(format!(
        "<link rel=canonical href=/a><link rel=alternate href=/feed><a href=/>0</a><a href=/a>1</a><a href=/a#x>1</a><a href=/b rel=next>2</a>\
         <a href=/old>o</a><a href=/lost>l</a><a href=http://far.test/x>f</a>{dead}<p>{}</p>",
        words(n, 200)
    ))
}

#[test]
fn every_link_stands_in_the_graph_with_its_source() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(site)?, tempfile::tempdir()?);
    let scope = [("scope.scope", "host")];
    told.crawl(dir.path(), "http://g.test/", &scope)?;
    let links = json_lines(&run(dir.path(), &["export", "--what", "links"])?)?;
    let edge = |link: &Value| (text(link, "source").to_owned(), text(link, "url").to_owned());
    let found: BTreeSet<_> = links.iter().map(edge).collect();
    assert_eq!(found.len(), links.len(), "no link twice");
    let mut expected = BTreeSet::new();
    for source in ["/", "/a", "/b"] {
        for target in ["/", "/a", "/b", "/old", "/lost", "/feed"] {
            expected.insert((format!("http://g.test{source}"), format!("http://g.test{target}")));
        }
        expected.insert((format!("http://g.test{source}"), "http://far.test/x".into()));
    }
    for (source, target) in [("/", "/dead"), ("/a", "/dead"), ("/old", "/a"), ("/lost", "/nowhere"), ("/feed", "/b")] {
        expected.insert((format!("http://g.test{source}"), format!("http://g.test{target}")));
    }
    assert_eq!(found, expected);
    let of = |source: &str, url: &str| {
        let link = links.iter().find(|link| text(link, "source").ends_with(source) && text(link, "url").ends_with(url));
        link.map(|link| (text(link, "state").to_owned(), link["status"].as_u64(), text(link, "rel").to_owned()))
    };
    let fetched = |status, rel: &str| Some(("fetched".to_owned(), Some(status), rel.to_owned()));
    assert_eq!(of("g.test/", "/dead"), fetched(404, ""));
    assert_eq!(of("g.test/", "/a"), fetched(200, "canonical"));
    assert_eq!(of("g.test/", "/b"), fetched(200, "next"));
    assert_eq!(of("/old", "/a"), fetched(200, "redirect"));
    assert_eq!(of("/feed", "/b"), fetched(200, "feed"));
    assert_eq!(of("/b", "far.test/x"), Some(("scope".into(), None, String::new())));

    // The same output as a table, and for people.
    let table = run(dir.path(), &["export", "--what", "links", "--format", "csv"])?;
    assert_eq!(table.lines().count(), links.len() + 1);
    assert!(table.starts_with("rel,source,state,status,url") || table.starts_with("source,url,state"), "{table}");
    let plain = run(dir.path(), &["links"])?;
    assert!(plain.contains("http://g.test/ -> http://g.test/dead (fetched 404)"), "{plain}");
    assert_eq!(json_lines(&run(dir.path(), &["links", "--json"])?)?, links);
    Ok(())
}

#[test]
fn broken_links_are_named_with_their_sources() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(site)?, tempfile::tempdir()?);
    told.crawl(dir.path(), "http://g.test/", &[("scope.scope", "host")])?;
    let broken = json_lines(&run(dir.path(), &["links", "--broken", "--json"])?)?;
    let page = |path: &str| format!("http://g.test{path}");
    let expected = [
        json!({"url": page("/dead"), "status": 404, "error": null, "leads_to": null, "sources": [page("/"), page("/a")]}),
        json!({"url": page("/lost"), "status": 404, "error": null, "leads_to": page("/nowhere"), "sources": [page("/"), page("/a"), page("/b")]}),
        json!({"url": page("/nowhere"), "status": 404, "error": null, "leads_to": null, "sources": []}),
    ];
    assert_eq!(broken, expected);
    let plain = run(dir.path(), &["links", "--broken"])?;
    assert!(plain.contains("http://g.test/dead (404)\n  on http://g.test/\n  on http://g.test/a\n"), "{plain}");
    assert!(plain.contains("http://g.test/lost (404, by redirects to http://g.test/nowhere)"), "{plain}");
    Ok(())
}

#[test]
fn a_crawl_that_was_cut_short_names_what_is_queued() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(site)?, tempfile::tempdir()?);
    let keys = [("scope.scope", "host"), ("limits.max-pages", "1")];
    told.crawl(dir.path(), "http://g.test/", &keys)?;
    let links = json_lines(&run(dir.path(), &["links", "--json"])?)?;
    let states: BTreeSet<&str> = links.iter().map(|link| text(link, "state")).collect();
    assert_eq!(links.len(), 8, "{links:?}");
    assert_eq!(states, BTreeSet::from(["fetched", "queued", "scope"]));
    // A continued crawl completes the graph: no link is lost, and no link is there twice.
    told.crawl(dir.path(), "http://g.test/", &[("scope.scope", "host"), ("limits.max-pages", "0")])?;
    let whole = json_lines(&run(dir.path(), &["links", "--json"])?)?;
    let distinct: BTreeSet<String> = whole.iter().map(|link| format!("{}{}", link["source"], link["url"])).collect();
    assert_eq!((whole.len(), distinct.len()), (26, 26));
    Ok(())
}

#[test]
fn a_page_that_was_visited_again_has_the_links_of_its_last_visit() -> anyhow::Result<()> {
    let later = |asked: &Asked| match asked.target.as_str() {
        "/" if asked.fields.contains_key("x-later") => html("<a href=/new>n</a> one two three"),
        "/" => html("<a href=/gone>g</a> one two"),
        "/new" | "/gone" => html(format!("{} {}", asked.target, words(3, 50))),
        _ => missing(),
    };
    let (told, dir) = (Told::new(later)?, tempfile::tempdir()?);
    told.crawl(dir.path(), "http://v.test/", &[])?;
    let mut settings = told.settings(&[("fetch.recrawl", "true")])?;
    settings.fetch.headers = vec!["X-Later: 1".into()];
    let fetch = crawler::fetch::http::HttpFetch::new(&settings)?;
    let clock = crawler::clock::Clock::System;
    tests::crawl::crawl_with(fetch, &clock, dir.path(), &["http://v.test/".into()], &settings)?;
    let links = json_lines(&run(dir.path(), &["links", "--json"])?)?;
    let linked: Vec<&str> =
        links.iter().filter(|link| link["source"].is_string()).map(|link| text(link, "url")).collect();
    assert_eq!(linked, ["http://v.test/new"]);
    Ok(())
}

/// A site. While `is_down` says so, one of its pages gets no answer.
#[derive(Clone)]
struct Resetting {
    site: Scripted,
    is_down: Arc<AtomicBool>,
}

impl Fetch for Resetting {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        if request.url.path() == "/down" && self.is_down.load(Ordering::Relaxed) {
            return Err(FetchError::Reset("the test says so".into()));
        }
        self.site.fetch(request).await
    }

    async fn resolve(&self, url: url::Url) -> Result<Vec<IpAddr>, FetchError> {
        self.site.resolve(url).await
    }
}

/// Catches a broken link without a cause, and a visited page that is reported as not fetched yet, because it is queued
/// for another attempt.
#[test]
fn a_page_that_is_queued_again_has_the_end_of_its_last_visit() -> anyhow::Result<()> {
    let (clock, dir) = (Clock::at(1_700_000_000_000), tempfile::tempdir()?);
    let site = Scripted::new(&clock, |url, _| match url.path() {
        "/" => scripted::html(format!("<a href=/down>d</a><p>{}</p>", words(1, 90))),
        "/down" => scripted::html(format!("<p>{}</p>", words(2, 90))),
        _ => scripted::missing(),
    });
    let fetch = Resetting { site, is_down: Arc::default() };
    let round = |attempts: &str, patience: &str, recrawl: &str| {
        clock.skip_to(clock.now() + 86_400_000);
        let keys = [("politeness.attempts", attempts), ("limits.patience", patience), ("fetch.recrawl", recrawl)];
        crawl_with(fetch.clone(), &clock, dir.path(), &["http://g.test/".to_owned()], &settings(&keys)?)
    };
    round("1", "1h", "false")?;
    fetch.is_down.store(true, Ordering::Relaxed);
    round("1", "1h", "true")?;
    let broken = || json_lines(&run(dir.path(), &["links", "--broken", "--json"])?);
    let before = broken()?;
    assert_eq!((before.len(), text(&before[0], "error")), (1, "reset"), "{before:?}");
    let why = || run(dir.path(), &["why", "http://g.test/down"]);
    assert!(!why()?.contains("queued with"), "{}", why()?);
    round("5", "1ms", "true")?;
    let story = why()?;
    assert!(story.contains("; to be visited again\n") && !story.contains("not fetched yet"), "{story}");
    assert!(
        story.contains("  last visit: number 2 at ") && story.contains(": given up: the connection ended"),
        "{story}"
    );
    assert_eq!(broken()?, before);
    Ok(())
}

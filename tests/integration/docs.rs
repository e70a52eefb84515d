//! The documentation sites. A walk without the crawler must find the pages that `reachable.json` names, and a crawl
//! must find the same pages.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crawler::clock::Clock;
use crawler::engine::StopReason;
use crawler::fetch::http::HttpFetch;
use tests::background::Background;
use tests::client::get;
use tests::crawl::{Crawled, crawl_with, settings};
use tests::data;
use tests::site::{Noise, Sites};
use url::{Position, Url};

/// The targets of `<a href=…>`. They are found by a search in the text, and not in the way of the crawler.
fn anchors(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    for tag in html.split('<').filter(|tag| tag.starts_with("a ") || tag.starts_with("a\n")) {
        let tag = tag.split('>').next().unwrap_or(tag);
        if let Some((_, value)) = tag.split_once("href=")
            && let Some(quote) = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))
            && let Some(target) = value[1..].split(quote).next()
        {
            found.push(target.replace("&amp;", "&"));
        }
    }
    found
}

/// The pages and links that a walk over a site met.
struct Walk {
    /// The paths of HTML pages.
    pages: BTreeSet<String>,
    /// The targets (path and query) of all links to the site, and of the seed.
    linked: BTreeSet<String>,
}

fn walk(server: &Background) -> anyhow::Result<Walk> {
    let mut queue = VecDeque::from([Url::parse("http://docs.test/index.html")?]);
    let mut walk = Walk { pages: BTreeSet::new(), linked: BTreeSet::from(["/index.html".to_owned()]) };
    while let Some(url) = queue.pop_front() {
        let reply = get(server.address(), "docs.test", &url[Position::BeforePath..Position::AfterQuery], "")?;
        if reply.status != 200 || reply.header("content-type") != Some("text/html") {
            continue;
        }
        walk.pages.insert(url.path().trim_start_matches('/').to_owned());
        for href in anchors(&reply.text()) {
            let Ok(target) = url.join(&href) else { continue };
            let path = target[Position::BeforePath..Position::AfterQuery].to_owned();
            if target.host_str() == Some("docs.test") && walk.linked.insert(path) {
                queue.push_back(target);
            }
        }
    }
    Ok(walk)
}

fn seeds(hosts: &[&str]) -> Vec<String> {
    hosts.iter().map(|host| format!("http://{host}/index.html")).collect()
}

fn crawl_docs(server: &Background, hosts: &[&str], on_duplicate: &str) -> anyhow::Result<Crawled> {
    crawl_docs_with(server, hosts, &[("dedup.on-duplicate", on_duplicate)])
}

fn crawl_docs_with(server: &Background, hosts: &[&str], more: &[(&str, &str)]) -> anyhow::Result<Crawled> {
    let connect_to = server.connect_to();
    let all = [&[("fetch.connect-to", connect_to.as_str()), ("dedup.rescue", "0%")], more].concat();
    let settings = settings(&all)?;
    let dir = tempfile::tempdir()?;
    let crawled = crawl_with(HttpFetch::new(&settings)?, &Clock::System, dir.path(), &seeds(hosts), &settings)?;
    assert_eq!(crawled.reason, StopReason::Done);
    Ok(crawled)
}

/// The paths of pages, by host.
type ByHost = BTreeMap<String, BTreeSet<String>>;

/// The HTML pages that a crawl fetched, by host. Each must have been fetched once.
fn fetched(crawled: &Crawled) -> anyhow::Result<ByHost> {
    let mut hosts = ByHost::new();
    for page in &crawled.pages {
        let html = page["content_type"].as_str().is_some_and(|content_type| content_type.starts_with("text/html"));
        if page["status"] == 200 && html {
            let url = Url::parse(page["url"].as_str().unwrap_or_default())?;
            let host = hosts.entry(url.host_str().unwrap_or_default().to_owned()).or_default();
            assert!(host.insert(url.path().trim_start_matches('/').to_owned()), "{url} was fetched twice");
        }
    }
    Ok(hosts)
}

fn complete(name: &str) -> anyhow::Result<()> {
    let (Some(folder), Some(reachable)) = (data::docs(name)?, data::reachable(name)?) else { return Ok(()) };
    let reachable: BTreeSet<String> = reachable.into_iter().collect();
    let sites = Arc::new(Sites::new([("docs.test".to_owned(), folder)], Noise::default())?);
    let server = Background::start(|listener| Arc::clone(&sites).run(listener))?;
    let walk = walk(&server)?;
    assert_eq!(walk.pages, reachable, "what the server shows of {name}");

    let before = sites.asked().len();
    let crawled = crawl_docs(&server, &["docs.test"], "keep")?;
    assert_eq!(fetched(&crawled)?["docs.test"], reachable, "what the crawl fetched of {name}");
    let mut asked = BTreeSet::new();
    for (_, target) in sites.asked().split_off(before) {
        assert!(
            target == "/robots.txt" || walk.linked.contains(&target),
            "{target} was asked for, and nothing links to it"
        );
        assert!(asked.insert(target.clone()), "{target} was asked for twice");
    }
    Ok(())
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn postgresql_15_is_fetched_completely_and_nothing_else() -> anyhow::Result<()> {
    complete("postgresql-15")
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn postgresql_17_is_fetched_completely_and_nothing_else() -> anyhow::Result<()> {
    complete("postgresql-17")
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn python_3_11_is_fetched_completely_and_nothing_else() -> anyhow::Result<()> {
    complete("python-3.11")
}

/// The HTML pages that a crawl fetched from two hosts with the same documentation, by host, and the pages that each of
/// the two has. `None` if there is no test data.
fn mirrors(delay: &str) -> anyhow::Result<Option<(ByHost, Vec<String>)>> {
    let (Some(folder), Some(reachable)) = (data::docs("postgresql-15")?, data::reachable("postgresql-15")?) else {
        return Ok(None);
    };
    let hosts = ["a.test", "b.test"];
    let sites = Arc::new(Sites::new(hosts.map(|host| (host.to_owned(), folder.clone())), Noise::default())?);
    let server = Background::start(|listener| sites.run(listener))?;
    let crawled = crawl_docs_with(&server, &hosts, &[("dedup.on-duplicate", "drop"), ("politeness.delay", delay)])?;
    Ok(Some((fetched(&crawled)?, reachable)))
}

/// Catches a crawl that fetches a mirror as a whole because its host has waited for the other one for long: with a delay
/// between two requests, the last counterparts of a large site come late.
#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn a_polite_crawl_of_two_mirrors_fetches_each_page_about_once() -> anyhow::Result<()> {
    let Some((fetched, reachable)) = mirrors("20ms")? else { return Ok(()) };
    let count: usize = fetched.values().map(BTreeSet::len).sum();
    println!("{count} fetches of {} pages", reachable.len());
    assert!(count * 100 <= reachable.len() * 115, "{count} fetches of {} pages", reachable.len());
    let missed: Vec<&String> = reachable.iter().filter(|path| !fetched.values().any(|of| of.contains(*path))).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
    Ok(())
}

#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn a_second_name_for_a_site_costs_one_page() -> anyhow::Result<()> {
    let Some((fetched, reachable)) = mirrors("0s")? else { return Ok(()) };
    let mut counts: Vec<usize> = fetched.values().map(BTreeSet::len).collect();
    counts.sort_unstable();
    // The cost is one page and the trials. Without trials, no site can stop the pages of another: the first links are
    // tried, then fewer and fewer.
    assert!((1..=1 + reachable.len() / 40).contains(&counts[0]), "the second host costs {} pages", counts[0]);
    // A page that the first host did not show must be the same as a page that it did show.
    let first = fetched.values().max_by_key(|paths| paths.len()).expect("one host is crawled");
    let missed: Vec<&String> = reachable.iter().filter(|path| !first.contains(*path)).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
    Ok(())
}

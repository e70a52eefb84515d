//! The synthetic web is the same over HTTP, in memory, and in its own description.

use std::sync::Arc;

use crawler::demo::record::Record;
use crawler::demo::server::serve_web;
use crawler::demo::web::{Truth, Web};
use crawler::fetch::budget::ByteBudget;
use crawler::fetch::{Fetch, Request};
use frontier::JobKind;
use tests::background::Background;
use tests::client::get;
use tests::memory::MemoryFetch;
use url::Url;

/// The links of a page, as URLs.
fn links(url: &Url, html: &str) -> Vec<Url> {
    let hrefs = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    hrefs.filter_map(|href| url.join(&href.replace("&amp;", "&")).ok()).collect()
}

#[test]
fn http_and_memory_give_the_same_answers() -> anyhow::Result<()> {
    let web = Arc::new(Web::demo(4));
    let record = Arc::<Record>::default();
    let server = Background::start(|listener| serve_web(listener, Arc::clone(&web), Arc::clone(&record)))?;
    let memory = MemoryFetch::new(Arc::clone(&web));
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let budget = ByteBudget::new(1 << 20);
    let mut urls: Vec<Url> = web.seeds().iter().map(|seed| seed.parse()).collect::<Result<_, _>>()?;
    urls.push(urls[0].join("/robots.txt")?);
    urls.push(urls[0].join("/nowhere")?);
    let front = web.answer(urls[3].host_str().unwrap_or_default(), "/").expect("a front page").body;
    urls.extend(links(&urls[3], &front));
    for url in &urls {
        let addresses = runtime.block_on(memory.resolve(url.clone()))?;
        let request = Request::new(url.clone(), JobKind::Page, addresses, Arc::clone(&budget));
        let ours = runtime.block_on(memory.fetch(request))?;
        let host = url.host_str().unwrap_or_default();
        let theirs = get(server.address(), host, &url[url::Position::BeforePath..], "")?;
        assert_eq!((ours.status, &ours.body[..]), (theirs.status, &theirs.body[..]), "{url}");
        let location = ours.headers.get("location").map(|location| location.to_str()).transpose()?;
        assert_eq!(location, theirs.header("location"));
        let content_type = ours.headers.get("content-type").map(|value| value.to_str()).transpose()?;
        assert_eq!(content_type, theirs.header("content-type"));
    }
    assert_eq!(budget.used(), 0);
    assert_eq!(record.tally(), memory.record().tally());
    assert_eq!(record.tally().robots, 1);
    assert_eq!(record.tally().pages as usize, urls.len() - 1);
    assert_eq!(get(server.address(), "elsewhere.test", "/", "")?.status, 421);
    assert_eq!(record.take().strangers, 1);
    assert_eq!(record.tally().pages, 0);
    Ok(())
}

#[test]
fn hosts_are_slow_forbidding_or_sorry() -> anyhow::Result<()> {
    let web = Web::demo(9);
    let slow = web.hosts().iter().filter(|host| web.answer(host, "/").is_some_and(|answer| !answer.delay.is_zero()));
    assert_eq!(slow.count(), 1);
    let robots: Vec<String> =
        web.hosts().iter().filter_map(|host| web.answer(host, "/robots.txt")).map(|a| a.body).collect();
    assert!(robots.iter().all(|body| body.contains("Disallow: /")));
    assert!(robots.iter().any(|body| body.contains("Crawl-delay: ")));
    let sorry = |host: &&String| web.answer(host, "/no/such/page").is_some_and(|answer| answer.status == 200);
    let soft: Vec<&String> = web.hosts().iter().filter(sorry).collect();
    assert!(!soft.is_empty() && soft.len() < web.hosts().len());
    for host in web.hosts() {
        let shown = web.shown(&format!("http://{host}/no/such/page"));
        assert_eq!(shown, Some(if soft.contains(&host) { Truth::Nothing } else { Truth::Missing }));
    }
    Ok(())
}

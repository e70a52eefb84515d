//! The documentation sites, walked without the crawler: what the server shows is what `reachable.json` says.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use tests::background::Background;
use tests::client::get;
use tests::data;
use tests::site::{Noise, Sites};
use url::{Position, Url};

/// Targets of `<a href=…>`, read by searching the text: a way of its own, unlike the crawler's.
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

fn walk(name: &str) -> anyhow::Result<()> {
    let (Some(folder), Some(reachable)) = (data::docs(name)?, data::reachable(name)?) else { return Ok(()) };
    let sites = Arc::new(Sites::new([("docs.test".to_owned(), folder)], Noise::default())?);
    let server = Background::start(|listener| sites.run(listener))?;
    let seed = Url::parse("http://docs.test/index.html")?;
    let mut queue = VecDeque::from([seed]);
    let (mut asked, mut pages) = (BTreeSet::new(), BTreeSet::new());
    while let Some(url) = queue.pop_front() {
        let reply = get(server.address(), "docs.test", &url[Position::BeforePath..Position::AfterQuery], "")?;
        if reply.status != 200 || reply.header("content-type") != Some("text/html") {
            continue;
        }
        pages.insert(url.path().trim_start_matches('/').to_owned());
        for href in anchors(&reply.text()) {
            let Ok(mut target) = url.join(&href) else { continue };
            target.set_fragment(None);
            if target.host_str() == Some("docs.test") && asked.insert(target.clone()) {
                queue.push_back(target);
            }
        }
    }
    let mut expected: BTreeSet<String> = reachable.into_iter().collect();
    // The same page under the folder's own name.
    if pages.contains("") {
        expected.insert(String::new());
    }
    assert_eq!(pages, expected, "{name}");
    Ok(())
}

#[test]
fn postgresql_15() -> anyhow::Result<()> {
    walk("postgresql-15")
}

#[test]
fn postgresql_17() -> anyhow::Result<()> {
    walk("postgresql-17")
}

#[test]
fn python_3_11() -> anyhow::Result<()> {
    walk("python-3.11")
}

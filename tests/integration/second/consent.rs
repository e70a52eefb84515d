//! Pages that ask for consent: a notice in place of the page until a link of the notice has set a cookie.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tests::told::{Asked, Told, html, missing};

use super::{HOME, page, site, with_cookie};

/// Catches pages that are lost because they were asked for before consent was given: their hosts showed a notice in
/// their place. Each notice names its page.
#[test]
fn pages_that_showed_a_notice_are_requested_once_more() -> anyhow::Result<()> {
    let links: Vec<_> =
        (1..60).map(|to| format!("/{to}")).chain((0..60).map(|to| format!("http://b.test/{to}"))).collect();
    let notice = |asked: &Asked, text: &str| {
        html(format!("<title>Consent</title><p>{text}</p><p>{}</p><a href='/consent?to={0}'>I agree</a>", asked.target))
    };
    let long =
        "Before you go on to this site we ask for your consent to the use of cookies and of similar techniques by us";
    for text in ["We use cookies.", long] {
        let links = links.clone();
        let consent = move |asked: &Asked| match asked.target.split_once("?to=") {
            _ if asked.target == "/robots.txt" => missing(),
            Some((_, to)) => with_cookie(to, "s=1; Path=/"),
            None if asked.host == "b.test" && !asked.field("cookie").contains("s=") => notice(asked, text),
            None => {
                let number: u64 = asked.target.trim_start_matches('/').parse().unwrap_or(0);
                let own = if asked.host == "b.test" { 1_000 } else { 0 };
                html(page(own + number, if own == 0 && number == 0 { &links } else { &[] }))
            }
        };
        for mode in ["drop", "keep"] {
            let (told, dir) = (Told::new(consent.clone())?, tempfile::tempdir()?);
            let crawled = told.crawl(dir.path(), HOME, &[("scope.scope", "any"), ("dedup.on-duplicate", mode)])?;
            let with =
                told.asked().into_iter().filter(|asked| asked.host == "b.test" && asked.field("cookie").contains("s="));
            let shown: BTreeSet<_> =
                with.filter(|asked| !asked.target.contains('?')).map(|asked| asked.target).collect();
            assert!((0..60).all(|number| shown.contains(&format!("/{number}"))), "{mode}, {text}: {shown:?}");
            assert!(crawled.stats.complete && crawled.stats.notices == 0, "{mode}, {text}: {:?}", crawled.stats);
        }
    }
    Ok(())
}

/// Catches notices that nobody is told of: this host forgets the consent.
#[test]
fn notices_that_stay_are_told() -> anyhow::Result<()> {
    let count = Arc::new(AtomicU64::new(0));
    let forgets = move |asked: &Asked| match asked.target.split_once("?to=") {
        Some((_, to)) => with_cookie(to, "s=1; Path=/"),
        None if asked.target == "/robots.txt" => missing(),
        None if asked.field("cookie").contains("s=") && count.fetch_add(1, Ordering::Relaxed) < 20 => {
            let number = asked.target.trim_start_matches('/').parse().unwrap_or(0);
            html(page(number, &(1..60).map(|to| format!("/{to}")).collect::<Vec<_>>()))
        }
        None => html(format!(
            "<title>Consent</title><p>We use cookies.</p><a href='/consent?to={}'>I agree</a>",
            asked.target
        )),
    };
    let (told, dir) = (Told::new(forgets)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), HOME, &[])?;
    assert!(!crawled.stats.complete && crawled.stats.notices > 20, "{:?}", crawled.stats);
    Ok(())
}

/// A page that asks for consent leads back to itself by a link. On each page, links to other languages do the same, and
/// only the first such link of a host counts.
#[test]
fn consent_is_given_once() -> anyhow::Result<()> {
    let consent = |asked: &Asked| match asked.target.split_once("?to=") {
        Some((_, to)) => with_cookie(to, "s=1; Path=/"),
        None => site(asked, |asked| html(page(99, &[format!("/consent?to={}", asked.target)]))),
    };
    let (told, dir) = (Told::new(consent)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), HOME, &[])?;
    assert!(crawled.urls().contains(&"http://a.test/8"), "{:?}", crawled.urls());
    let languages = |asked: &Asked| match asked.target.split_once("?to=") {
        Some((_, to)) => with_cookie(to, "lang=de; Path=/"),
        None if asked.target == "/robots.txt" => missing(),
        None => {
            let number = asked.target.trim_start_matches('/').parse().unwrap_or(0);
            let links = (1..9).map(|to| format!("/{to}")).chain([format!("/lang?to={}", asked.target)]);
            html(page(number, &links.collect::<Vec<_>>()))
        }
    };
    let (told, dir) = (Told::new(languages)?, tempfile::tempdir()?);
    told.crawl(dir.path(), HOME, &[])?;
    let pages = told.asked().into_iter().filter(|asked| asked.target.len() == 2 || asked.target == "/").count();
    assert_eq!(pages, 9 + 1, "one page of the host was asked once more");
    Ok(())
}

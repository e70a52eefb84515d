//! Hints are canonical URLs, translations, series, sitemaps and `Link` header fields. Each is a part of the priority or
//! of the cluster, and `crawler why` names it. Hostile hints are bounded.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tests::crawl::{Crawled, text};
use tests::programs::beside;
use tests::scripted::words;
use tests::told::{Answer, Asked, Told, html, missing};

fn run(arguments: &[&str]) -> anyhow::Result<String> {
    let run = Command::new(beside("crawler-under-test")?).args(arguments).output()?;
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
    Ok(String::from_utf8(run.stdout)?)
}

fn why(dir: &Path, url: &str) -> anyhow::Result<String> {
    run(&["why", &dir.to_string_lossy(), url])
}

fn page<'a>(crawled: &'a Crawled, url: &str) -> &'a Value {
    let found = crawled.pages.iter().find(|page| text(page, "url") == url);
    found.unwrap_or_else(|| panic!("{url} is not among {:?}", crawled.urls()))
}

/// A site with hints of every kind, each to another page.
fn hinting(asked: &Asked) -> Answer {
    let text = |n: u64| format!("<p>{}</p>", words(n, 150));
    match (asked.host.as_str(), asked.target.as_str()) {
        (_, "/robots.txt") => (
            200,
            vec![("content-type", "text/plain".into())],
            format!("Sitemap: http://{}/map.xml\n", asked.host).into(),
        ),
        (_, "/map.xml") => {
            let entries = "<url><loc>/mapped-new</loc><lastmod>2099-01-01</lastmod></url><url><loc>/mapped-old</loc><lastmod>2001-01-01</lastmod></url>";
            (200, vec![("content-type", "text/xml".into())], format!("<urlset>{entries}</urlset>").into())
        }
        ("h.test", "/") => {
            let (status, mut fields, body) = html(format!(
                "<link rel=next href=/two><link rel=alternate hreflang=de href=/de><meta http-equiv=refresh content='9; url=/later'>\
                 <a href=/copy>c</a><a href=/plain>p</a><a href=/liar>l</a>{}",
                text(1)
            ));
            fields.push(("link", "</by-header>; rel=\"prev\", </x.css>; rel=preload".into()));
            fields.push(("refresh", "5; url=/refreshed".into()));
            (status, fields, body)
        }
        ("h.test", "/copy") => html(format!("<link rel=canonical href=/true>{}", text(2))),
        ("h.test", "/true") => html(text(2)),
        // A canonical URL on another site, which says something else.
        ("h.test", "/liar") => html(format!("<link rel=canonical href=http://big.test/>{}", text(3))),
        ("big.test", "/") => html(text(4)),
        ("h.test", target) => html(text(target.len() as u64 * 100 + u64::from(target.as_bytes()[1]))),
        _ => missing(),
    }
}

#[test]
fn each_hint_is_named_in_the_priority() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(hinting)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), "http://h.test/", &[("scope.sitemaps", "true")])?;
    for (path, name) in [
        ("/two", "hints (next or previous page)"),
        ("/by-header", "hints (next or previous page)"),
        ("/de", "hints (another language)"),
        ("/later", "hints (meta refresh)"),
        ("/refreshed", "hints (meta refresh)"),
        ("/true", "hints (canonical URL of a page)"),
        ("/mapped-new", "hints (a sitemap names it) 1.00"),
        ("/mapped-old", "hints (a sitemap names it, changed over a year ago) 0.90"),
        ("/plain", "hints 0.50"),
    ] {
        let said = why(dir.path(), &format!("http://h.test{path}"))?;
        assert!(said.contains(name), "{path}: {said}");
    }
    assert!(!crawled.urls().iter().any(|url| url.contains("x.css")), "a style is no page");
    Ok(())
}

#[test]
fn a_canonical_url_is_believed_where_contents_agree() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(hinting)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), "http://h.test/", &[])?;
    let (copy, liar) = (page(&crawled, "http://h.test/copy"), page(&crawled, "http://h.test/liar"));
    assert_eq!((text(copy, "canonical"), text(liar, "canonical")), ("http://h.test/true", "http://big.test/"));
    assert_eq!(text(liar, "verdict"), "unique", "nobody can give its page away");
    assert_eq!(page(&crawled, "http://big.test/")["verdict"], "unique", "nor take that of another site");
    let believed = why(dir.path(), "http://h.test/copy")?;
    assert!(believed.contains("http://h.test/true: believed"), "{believed}");
    let not = why(dir.path(), "http://h.test/liar")?;
    assert!(not.contains("http://big.test/: not believed, since it shows something else"), "{not}");

    // The canonical URL represents the cluster, although the other URL was fetched first.
    let clusters = run(&["export", &dir.path().to_string_lossy(), "--what", "clusters"])?;
    let clusters: Vec<Value> = clusters.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    assert_eq!(clusters[0]["representative"], "http://h.test/true");
    Ok(())
}

/// A site on which every page has two translations that no other page has.
fn babel(asked: &Asked) -> Answer {
    match asked.target.as_str() {
        "/robots.txt" => missing(),
        target => {
            let links: String =
                (0..2).map(|n| format!("<link rel=alternate hreflang=x{n} href={target}x{n}>")).collect();
            let number = target.bytes().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
            html(format!("{links}<p>{}</p>", words(number, 120)))
        }
    }
}

#[test]
fn translations_without_end_are_ended() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(babel)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), "http://x.test/", &[("limits.max-pages", "300")])?;
    assert_eq!(crawled.pages.len(), 1 + 2 + 4 + 8, "three translations in a row");
    let ended: Vec<&Value> = crawled.skipped.iter().filter(|skipped| skipped["reason"] == "trap").collect();
    assert_eq!(ended.len(), 16, "{:?}", crawled.skipped);
    // The control: ordinary links are still followed.
    let (told, dir) = (
        Told::new(|asked: &Asked| {
            let (status, fields, body) = babel(asked);
            let body = String::from_utf8_lossy(&body).replace("<link rel=alternate hreflang=x0", "<a").into_bytes();
            (status, fields, body)
        })?,
        tempfile::tempdir()?,
    );
    let crawled = told.crawl(dir.path(), "http://x.test/", &[("limits.max-pages", "40")])?;
    assert_eq!(crawled.pages.len(), 40);
    Ok(())
}

#[test]
fn header_fields_without_end_are_read_in_part() -> anyhow::Result<()> {
    let flood = |asked: &Asked| {
        if asked.target != "/" {
            return missing();
        }
        let (status, mut fields, body) = html(words(1, 100));
        let links: String = (0..2_000).map(|n| format!("</{n}>; rel=next, ")).collect();
        fields.push(("link", links));
        (status, fields, body)
    };
    let (told, dir) = (Told::new(flood)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), "http://f.test/", &[])?;
    assert_eq!(page(&crawled, "http://f.test/")["links"], 256);
    Ok(())
}

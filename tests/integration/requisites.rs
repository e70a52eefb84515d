//! `--requisites`: the files that new pages need to be shown are fetched, and only the archive gets them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use tests::crawl::{lines, text};
use tests::programs::beside;
use tests::scripted::words;
use tests::told::{Answer, Asked, Told, html, missing, moved};

const KEYS: [(&str, &str); 3] = [("output.warc", "true"), ("output.requisites", "true"), ("scope.scope", "host")];

fn typed(kind: &str, body: &str) -> Answer {
    (200, vec![("content-type", kind.to_owned())], body.into())
}

/// Two pages that say something, one that repeats the first, and the files that they need: on this host, on others, and
/// forbidden.
fn site(asked: &Asked) -> Answer {
    let page =
        |n: u64, needs: &str| html(format!("{needs}<a href=/b>b</a><a href=/copy>c</a><p>{}</p>", words(n, 200)));
    let own = "<link rel=stylesheet href=/s.css><img src=/a.png><img src=http://cdn.test/far.png><script src=/private/x.js></script>";
    match (asked.host.as_str(), asked.target.as_str()) {
        (_, "/robots.txt") => typed("text/plain", "User-agent: *\nDisallow: /private/\n"),
        ("r.test", "/") => page(1, own),
        ("r.test", "/copy") => page(1, &own.replace("/s.css", "/only-of-copy.css")),
        ("r.test", "/b") => page(2, "<img src=/b.png><img src=/lost.png>"),
        ("r.test", "/s.css") => typed("text/css", "@import '/t.css'; p { background: url(/bg.png) }"),
        ("r.test", "/t.css") => typed("text/css", "@font-face { src: url(f.woff2) } @import '/t.css';"),
        ("r.test", "/a.png") => moved(302, "/a2.png"),
        (_, target) if target.ends_with(".png") && target != "/lost.png" => typed("image/png", target),
        (_, "/f.woff2") => typed("font/woff2", "font"),
        _ => missing(),
    }
}

fn archived(dir: &Path) -> anyhow::Result<BTreeSet<String>> {
    let index = std::fs::read_to_string(dir.join("warc/index.cdxj"))?;
    let url = |line: &str| Some(line.split_once("\"url\":\"")?.1.split('"').next()?.to_owned());
    Ok(index.lines().filter_map(url).collect())
}

#[test]
fn what_new_pages_need_is_archived_and_is_no_page() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(site)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), "http://r.test/", &KEYS)?;
    let archived = archived(dir.path())?;
    for path in ["s.css", "t.css", "bg.png", "f.woff2", "a.png", "a2.png", "b.png", "lost.png"] {
        assert!(archived.contains(&format!("http://r.test/{path}")), "{path}: {archived:?}");
    }
    assert!(archived.contains("http://cdn.test/far.png"), "also from beyond the scope");
    assert!(told.of("r.test", "/private/x.js").is_empty(), "robots.txt holds");
    assert!(told.of("r.test", "/only-of-copy.css").is_empty(), "a copy needs nothing");
    assert_eq!(told.of("r.test", "/t.css").len(), 1, "a style that imports itself is asked for once");
    let pages: BTreeSet<&str> = crawled.urls().into_iter().collect();
    assert_eq!(pages, BTreeSet::from(["http://r.test/", "http://r.test/b", "http://r.test/copy"]));
    assert_eq!(crawled.stats.requisites, 9, "the redirect and the missing one among them");
    // The addresses of requisites are no links: of them, only the forbidden one is in this list.
    assert!(lines(dir.path(), "skipped.jsonl")?.iter().all(|line| text(line, "reason") == "robots"));

    let why =
        Command::new(beside("crawler-under-test")?).arg("why").arg(dir.path()).arg("http://r.test/bg.png").output()?;
    let why = String::from_utf8_lossy(&why.stdout).into_owned();
    assert!(why.contains("archive alone") && why.contains("needs it to be shown"), "{why}");
    Ok(())
}

#[test]
fn without_the_flag_nothing_is_asked_for() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(site)?, tempfile::tempdir()?);
    let crawled = told.crawl(dir.path(), "http://r.test/", &KEYS[..1])?;
    assert!(told.asked().iter().all(|asked| !asked.target.ends_with(".png") && !asked.target.ends_with(".css")));
    assert_eq!(crawled.stats.requisites, 0);
    Ok(())
}

#[test]
fn a_limit_on_pages_is_one_on_pages_and_their_requisites_come_first() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(site)?, tempfile::tempdir()?);
    let keys = [&KEYS[..], &[("limits.max-pages", "1")]].concat();
    let crawled = told.crawl(dir.path(), "http://r.test/", &keys)?;
    assert_eq!(crawled.urls(), ["http://r.test/"]);
    let archived = archived(dir.path())?;
    for path in ["s.css", "t.css", "bg.png", "f.woff2", "a2.png"] {
        assert!(archived.contains(&format!("http://r.test/{path}")), "{path}: {archived:?}");
    }
    Ok(())
}

/// A page that needs ten thousand images, and styles that import more and more styles.
fn hungry(asked: &Asked) -> Answer {
    match asked.target.as_str() {
        "/" => {
            let images: String = (0..10_000).map(|n| format!("<img src=/{n}.png>")).collect();
            html(format!("<link rel=stylesheet href=/0.css>{images}<p>{}</p>", words(1, 100)))
        }
        target if target.ends_with(".css") => {
            typed("text/css", &format!("@import '{}x.css'", target.trim_end_matches(".css")))
        }
        target if target.ends_with(".png") => typed("image/png", target),
        _ => missing(),
    }
}

#[test]
fn needs_without_end_are_bounded() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(hungry)?, tempfile::tempdir()?);
    told.crawl(dir.path(), "http://h.test/", &KEYS)?;
    let asked = told.asked();
    let images = asked.iter().filter(|asked| asked.target.ends_with(".png")).count();
    let styles = asked.iter().filter(|asked| asked.target.ends_with(".css")).count();
    assert_eq!((images, styles), (499, 6), "500 of a page, and five imports in a row");
    Ok(())
}

#[test]
fn it_needs_an_archive() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let mut program = Command::new(beside("crawler-under-test")?);
    let run = program.args(["crawl", "http://r.test/", "--requisites", "--dir"]).arg(dir.path()).output()?;
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("--warc"));
    Ok(())
}

//! Pages that stand in the place of others: walls, and soft 404s that are answered with 200. They are labelled once
//! many URLs of a host have shown them. Pages that share a template and say something of their own get no label.

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, words};
use url::Url;

/// The number of pages of each kind.
const PAGES: u64 = 300;

/// There is a host for each kind: `wall.test`; `bare.test` and `token.test` (walls without a word); `gone.test` (it
/// names the path that is missing) and `sorry.test` (it says so in other words each time); `catch-all.test`; and
/// `shop.test`, the control.
fn answer(url: &Url) -> Answer {
    let (host, path) = (url.host_str().unwrap_or_default(), url.path());
    let link = |n: u64| match host {
        "wall.test" | "bare.test" | "token.test" => format!("/login?next=/article/{n}"),
        "gone.test" | "sorry.test" => format!("/old/{n}"),
        "catch-all.test" => format!("/part{}/{}{n}", n % 40, "deep/".repeat(n as usize % 4)),
        _ => format!("/item/{n}"),
    };
    match (host, path) {
        (_, "/robots.txt") => missing(),
        (_, "/") => {
            let links = (1..=PAGES).map(|n| format!("<a href=\"{}\">{n}</a> ", link(n))).collect::<String>();
            html(format!("<title>{host}</title><p>{}</p>{links}", words(host.len() as u64, 200)))
        }
        ("wall.test", _) => html(format!(
            "<title>Welcome</title><form><p>Who are you?</p><input type=\"password\" name=\"p\"><input type=\"hidden\" value=\"{}\">",
            url.query().unwrap_or_default()
        )),
        // A page without visible words. Its bytes are the same under all URLs, or differ by a token.
        ("bare.test", _) => html("<title>Log in</title><form><input name=user><input type=password name=p></form>"),
        ("token.test", _) => html(format!(
            "<title>Members</title><form><input type=hidden value=\"{}\"><input type=password name=p></form>",
            url.query().unwrap_or_default()
        )),
        ("gone.test", _) => html(format!("<title>Seite nicht gefunden</title><p>{path} gibt es hier nicht.</p>")),
        ("sorry.test", _) => html(format!(
            "<title>Seite nicht gefunden</title><p>{}</p>",
            words(path.trim_start_matches("/old/").parse().unwrap_or(0), 45)
        )),
        ("catch-all.test", _) => html("<title>Our town</title><p>All about our town and its bridge.</p>"),
        // A template with a form to log in, and a few words that no other page has.
        _ => html(format!(
            "<title>Item {path}</title><a href=\"/login\">Log in</a><form><input type=password></form><p>{}</p><p>Subscribe</p>",
            words(path.trim_start_matches("/item/").parse().unwrap_or(0), 20)
        )),
    }
}

fn crawl(host: &str, more: &[(&str, &str)], dir: &std::path::Path) -> anyhow::Result<Crawled> {
    let clock = Clock::at(1_700_000_000_000);
    let web = Scripted::new(&clock, |url, _| answer(url));
    let settings = settings(&[&[("dedup.on-duplicate", "keep")], more].concat())?;
    crawl_with(web, &clock, dir, &[format!("http://{host}/")], &settings)
}

/// The number of lines with a label, and the place of the first of them.
fn labelled(crawled: &Crawled, label: &str) -> (usize, Option<usize>) {
    let is = |page: &&serde_json::Value| text(page, "label") == label;
    (crawled.pages.iter().filter(is).count(), crawled.pages.iter().position(|page| is(&page)))
}

/// Catches walls and soft 404s that are not labelled, labels that come before it can be known what a page is, a share
/// in the report that leaves out the first pages, and a count that begins again when a crawl is continued.
#[test]
fn the_same_stub_under_many_urls_is_labelled() -> anyhow::Result<()> {
    for (host, label, first) in [
        ("wall.test", "wall", 11),
        ("bare.test", "wall", 11),
        ("token.test", "wall", 11),
        ("gone.test", "soft-404", 11),
        ("sorry.test", "soft-404", 11),
        ("catch-all.test", "soft-404", 20),
    ] {
        for stop in [None, Some("150")] {
            let dir = tempfile::tempdir()?;
            if let Some(most) = stop {
                crawl(host, &[("limits.max-pages", most)], dir.path())?;
            }
            let crawled = crawl(host, &[], dir.path())?;
            assert_eq!(crawled.stats.pages, PAGES + 1, "{host}");
            let (count, begins) = labelled(&crawled, label);
            assert!(begins >= Some(first), "{host}: the home page, and the first pages of the stub: {begins:?}");
            assert!(count as u64 + 30 >= PAGES, "{host}: {count} of {PAGES}");
            assert_eq!(crawled.stats.labels, [(label.to_owned(), PAGES)].into(), "{host}, stopped: {stop:?}");
        }
    }
    Ok(())
}

/// The control: pages of the shop get no label.
#[test]
fn pages_that_share_a_template_are_not_labelled() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let crawled = crawl("shop.test", &[], dir.path())?;
    assert!(crawled.stats.pages > PAGES, "{:?}", crawled.stats);
    let labels: Vec<_> = crawled.pages.iter().filter(|page| !page["label"].is_null()).collect();
    assert!(labels.is_empty() && crawled.stats.labels.is_empty(), "{labels:?}");
    Ok(())
}

//! What counts as a change of a page that consists of links.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tests::crawl::text;
use tests::scripted::words;
use tests::told::{self, Told};

use super::asked;

/// Catches a front page that is called unchanged although it leads to articles that are new since its last visit, and
/// one that is called changed because it shows other old articles. Another page tells the crawl of all articles first.
#[test]
fn a_page_of_links_changes_if_it_leads_to_what_was_unknown_at_its_last_visit() -> anyhow::Result<()> {
    const OLD: u64 = 40;
    const NEW: u64 = 50;
    let entry = |number: u64| format!("<li><a href=/p{number}>{}</a>", words(100 + number, 7));
    let front = move |from: u64| -> String {
        let shown: String = (1..12).chain(from..from + 4).map(entry).collect();
        // All spellings of one URL are one link.
        let all: String = (0..8).map(|place| format!(" and <a href='/all?utm_source={place}'>here</a>")).collect();
        format!("<h1>front</h1><p>All is <a href=/all>here</a>{all}.</p><ul>{shown}</ul>")
    };
    for (shown, changed) in [(24, "bytes"), (NEW, "content")] {
        let round = Arc::new(AtomicU64::new(0));
        let of_server = Arc::clone(&round);
        let told = Told::new(move |asked| {
            let round = of_server.load(Ordering::Relaxed);
            let all = if round == 0 { OLD } else { NEW + 4 };
            let number = asked.target.strip_prefix("/p").and_then(|number| number.parse::<u64>().ok());
            match (asked.target.as_str(), number) {
                ("/", _) => told::html(front([20, 30, shown][round as usize])),
                ("/all", _) => told::html(format!("<h1>all</h1><ul>{}</ul>", (1..all).map(entry).collect::<String>())),
                (_, Some(number)) => told::html(format!("<title>{number}</title><p>{}</p>", words(number, 120))),
                _ => told::missing(),
            }
        })?;
        let dir = tempfile::tempdir()?;
        told.crawl(dir.path(), "http://a.test/", &[])?;
        for (number, expected) in [(1, "bytes"), (2, changed)] {
            round.store(number, Ordering::Relaxed);
            let before = told.asked().len();
            let again = told.crawl(dir.path(), "http://a.test/", &[("fetch.recrawl", "true")])?;
            let asked = asked(&told, before);
            let place = |path: &str| asked.iter().position(|other| other == path);
            if number == 1 {
                let new = format!("/p{NEW}");
                assert!(place("/") < place(&new) && place(&new).is_some(), "{asked:?}");
            }
            let front = again.pages.iter().rfind(|page| text(page, "url") == "http://a.test/");
            let front = front.expect("the front page has a line");
            assert_eq!(text(front, "changed"), expected, "in round {number}, with the articles from {shown} on");
        }
    }
    Ok(())
}

//! URLs without a page: how often they are asked for, what a new link to one of them changes, and what a user is told.

use std::process::Command;

use crawler::clock::Clock;
use tests::crawl::{Crawled, crawl_with, settings};
use tests::scripted::{Scripted, dropped, html, missing, words};

use super::{DAY, Site, UNIQUE};

/// The rounds, up to the last one, in which a path was asked for.
fn rounds(site: &Site, path: &str, last: u64) -> anyhow::Result<Vec<u64>> {
    let mut found = Vec::new();
    for round in 2..=last {
        let (asked, _) = site.refresh()?;
        if asked.iter().any(|asked| asked == path) {
            found.push(round);
        }
    }
    Ok(found)
}

/// Catches a new link that changes nothing: the page would be asked for when its interval has passed. An old link to it,
/// as on the front page, changes nothing.
#[test]
fn a_new_link_to_a_page_that_is_gone_makes_its_visit_due_in_the_next_round() -> anyhow::Result<()> {
    let usual = [2, 3, 5, 11];
    for (path, is_linked, expected) in [("/p5", false, &usual[..]), ("/p5", true, &[2, 3, 5, 8])] {
        let site = Site::new(move |asked, round| match asked {
            _ if asked == path => (round >= 2).then(missing),
            "/p1" if is_linked && round >= 7 => {
                Some(html(format!("<title>page 1</title><p>{}</p><a href={path}>again</a>", words(1, 120))))
            }
            _ => None,
        })?;
        // The link is there in each round from the seventh on, and new only in that one.
        assert_eq!(rounds(&site, path, 11)?, expected, "linked: {is_linked}");
    }
    Ok(())
}

/// Catches a page that is gone and whose interval grows without end, or stays short.
#[test]
fn no_interval_is_longer_than_sixty_days() -> anyhow::Result<()> {
    let site = Site::new(|path, round| (path == "/p5" && round >= 2).then(missing))?;
    let mut asked = Vec::new();
    for day in (10..600).step_by(10) {
        site.clock.skip_to(site.clock.now() + 9 * DAY);
        if site.refresh()?.0.iter().any(|path| path == "/p5") {
            asked.push(day);
        }
    }
    let waits: Vec<i32> = asked.windows(2).map(|days| days[1] - days[0]).collect();
    assert_eq!(waits[waits.len() - 4..], [60; 4], "{asked:?}");
    assert!(waits.is_sorted(), "{waits:?}");
    Ok(())
}

/// Catches a site that answers everything with 404 and of whose pages a round says nothing while they wait.
#[test]
fn a_round_tells_how_many_pages_are_gone() -> anyhow::Result<()> {
    let site = Site::new(|_, round| (2..=3).contains(&round).then(missing))?;
    let mut gone = Vec::new();
    for round in 2..=6 {
        let (asked, crawled) = site.refresh()?;
        gone.push(crawled.stats.round.expect("a round").gone);
        if round == 4 {
            assert_eq!(asked.len(), 0, "the pages wait: {asked:?}");
            let report = Command::new(env!("CARGO_BIN_EXE_crawl")).arg("report").arg(site.dir.path()).output()?;
            let said = [report.stdout, report.stderr].concat();
            let said = String::from_utf8_lossy(&said).into_owned();
            assert!(said.contains("gone: 404 or 410 twice"), "{said}");
        }
    }
    assert_eq!((gone[0], gone[4]), (0, 0), "{gone:?}");
    assert!(gone[1] >= UNIQUE && gone[1] == gone[2], "{gone:?}");
    Ok(())
}

/// Catches a round whose budget goes to URLs that were never answered, although it does not suffice for the pages. The
/// links to these URLs come first, so their requests are the oldest.
#[test]
fn what_was_never_answered_comes_after_the_pages() -> anyhow::Result<()> {
    const PAGES: u64 = 12;
    let clock = Clock::at(1_700_000_000_000);
    let fetch = Scripted::new(&clock, |url, _| {
        let number = url.path().strip_prefix("/p").and_then(|number| number.parse::<u64>().ok());
        match (url.path(), number) {
            ("/", _) => {
                let dead: String = (1..4).map(|number| format!("<a href=/dead{number}>{number}</a> ")).collect();
                let pages: String = (0..PAGES).map(|number| format!("<a href=/p{number}>{number}</a> ")).collect();
                html(format!("<p>{}</p>{dead}{pages}", words(0, 80)))
            }
            (_, Some(number)) => html(format!("<p>{}</p>", words(100 + number, 120))),
            ("/robots.txt", _) => missing(),
            _ => dropped(),
        }
    });
    let dir = tempfile::tempdir()?;
    let run = |more: &[(&str, &str)]| -> anyhow::Result<Crawled> {
        let basic = [("politeness.attempts", "1"), ("limits.patience", "1h")];
        let all: Vec<_> = basic.iter().chain(more).copied().collect();
        crawl_with(fetch.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings(&all)?)
    };
    let first = run(&[])?;
    assert_eq!(first.pages.len() as u64, 1 + PAGES + 3);
    clock.skip_to(clock.now() + DAY);
    let before = fetch.asked().len();
    let most = (first.stats.pages + 1 + PAGES).to_string();
    run(&[("fetch.recrawl", "true"), ("limits.max-pages", &most)])?;
    let asked: Vec<String> = fetch.asked().into_iter().skip(before).map(|(_, url)| url.path().to_owned()).collect();
    assert!(!asked.iter().any(|path| path.starts_with("/dead")), "{asked:?}");
    assert_eq!(asked.iter().filter(|path| path.starts_with("/p")).count() as u64, PAGES, "{asked:?}");
    Ok(())
}

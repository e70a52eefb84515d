//! URLs without a page: how often they are asked for, what a new link to one of them changes, and what a user is told.

use std::process::Command;

use tests::scripted::{html, missing, words};

use super::{Site, UNIQUE};

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

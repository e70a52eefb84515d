//! What counts after a visit that failed: pages that go missing, and failures that are over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tests::scripted::{html, moved, words};
use tests::told::{self, Told};

use super::Site;

/// A URL that never had a page is not missing. A count of missing pages that includes it would have one page more than
/// `crawler diff`.
#[test]
fn only_a_page_that_was_there_goes_missing() -> anyhow::Result<()> {
    let round = Arc::new(AtomicU64::new(0));
    let now = Arc::clone(&round);
    let told = Told::new(move |asked| match (asked.target.as_str(), now.load(Ordering::Relaxed)) {
        ("/", _) => told::html(format!("<p>{}</p><a href=/goes>a</a> <a href=/never>b</a>", words(0, 80))),
        ("/goes", 0) => told::html(format!("<p>{}</p>", words(1, 80))),
        _ => told::missing(),
    })?;
    let dir = tempfile::tempdir()?;
    told.crawl(dir.path(), "http://a.test/", &[])?;
    round.store(1, Ordering::Relaxed);
    let again = told.crawl(dir.path(), "http://a.test/", &[("fetch.recrawl", "true")])?;
    let visited = again.pages.iter().filter(|page| page["visit"] == 2 && page["status"] == 404).count();
    let told_of = again.stats.round.expect("a round was made");
    assert_eq!((visited, told_of.visits, told_of.missing), (2, 3, 1));
    Ok(())
}

/// Catches a crawl that is not called complete because of an error that is over, one that is called complete because an
/// error was over once, and a host that is called the worst because of errors that are over. The totals over all visits
/// stay.
#[test]
fn only_what_went_wrong_at_the_last_visit_counts() -> anyhow::Result<()> {
    let site = Site::new(|path, round| match (path, round) {
        ("/p3", 1) | ("/p5", 3 | 4) => Some(crawler::demo::web::Answer { status: 500, ..html("<p>no</p>") }),
        ("/p4", 1) => Some(moved("/p4")),
        _ => None,
    })?;
    let failures = || -> anyhow::Result<(Value, Value, u64, Value)> {
        let report = std::process::Command::new(env!("CARGO_BIN_EXE_crawl"));
        let report = { report }.args(["report", "--json"]).arg(site.dir.path()).output()?;
        let report: Value = serde_json::from_slice(&report.stdout)?;
        let errors = report["statuses"]["500"].as_u64().unwrap_or(0);
        Ok((report["failures"].clone(), report["complete"].clone(), errors, report["worst_host"]["troubles"].clone()))
    };
    assert_eq!(failures()?, (serde_json::json!({"500": 1, "redirect_loop": 1}), false.into(), 1, 2.into()));
    site.refresh()?;
    assert_eq!(failures()?, (serde_json::json!({}), true.into(), 1, Value::Null), "both are over");
    for errors in [2, 3] {
        site.refresh()?;
        assert_eq!(failures()?, (serde_json::json!({"500": 1}), false.into(), errors, 1.into()), "one page fails");
    }
    site.refresh()?;
    assert_eq!(failures()?, (serde_json::json!({}), true.into(), 3, Value::Null));
    Ok(())
}

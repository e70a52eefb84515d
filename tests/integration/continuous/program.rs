//! The program over HTTP: `crawl --continuous` on a web that changes while it runs, killed and resumed.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::crawl::{lines, text};
use tests::told::{self, Told};

use super::page;

/// The delay between two requests, as a setting of the program.
const DELAY: Duration = Duration::from_millis(30);
/// The longest wait for the program.
const LONG: Duration = Duration::from_secs(90);

/// The requests to the server, with their times.
type Log = Arc<Mutex<Vec<(Instant, String)>>>;

fn times(log: &Log, path: &str) -> usize {
    log.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|(_, asked)| asked == path).count()
}

/// Waits until the log fulfils a condition.
fn until(what: &str, child: &mut Child, holds: impl Fn() -> bool) -> anyhow::Result<()> {
    let start = Instant::now();
    while !holds() {
        assert!(child.try_wait()?.is_none(), "{what}: it ended by itself");
        assert!(start.elapsed() < LONG, "{what}: not within {LONG:?}");
        std::thread::yield_now();
    }
    Ok(())
}

#[test]
fn a_continuous_crawl_that_was_killed_goes_on_and_stops_when_it_is_told_to() -> anyhow::Result<()> {
    let (log, changes): (Log, Arc<AtomicU64>) = Default::default();
    let (seen, new) = (Arc::clone(&log), Arc::clone(&changes));
    let told = Told::new(move |asked| {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push((Instant::now(), asked.target.clone()));
        let changes = new.load(Ordering::Relaxed);
        let is_new = changes > 0;
        match asked.target.as_str() {
            "/" => {
                let links: String = (1..=8).map(|n| format!("<a href=/p{n}>{n}</a> ")).collect();
                let link = if is_new { "<a href=/new>new</a>" } else { "" };
                told::html(format!("<p>{}</p>{links}{link}", tests::scripted::words(0, 80)))
            }
            "/new" if is_new => told::html(page(99)),
            "/p1" if is_new => told::html(page(99 - changes)),
            path => match path.strip_prefix("/p").and_then(|number| number.parse::<u64>().ok()) {
                Some(number) if (1..=8).contains(&number) => told::html(page(number)),
                _ => told::missing(),
            },
        }
    })?;
    let (base, settings) = (tempfile::tempdir()?, told.settings(&[])?);
    let dir = base.path().join("crawl");
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crawl"));
        command.arg("crawl").arg("--dir").arg(&dir).arg("http://a.test/");
        command.args(["--continuous", "--max-age", "1s", "--delay", &format!("{}ms", DELAY.as_millis())]);
        command.args([
            "--allow-private",
            "--delay-factor",
            "0",
            "--address-delay",
            "0s",
            "--patience",
            "1s",
            "--quiet",
        ]);
        command.args(["--connect-to", &settings.fetch.connect_to[0]]).stderr(Stdio::null()).spawn()
    };
    let mut child = start()?;
    until("every page is visited again", &mut child, || (1..=8).all(|n| times(&log, &format!("/p{n}")) >= 2))?;
    changes.store(1, Ordering::Relaxed);
    until("a new link is followed", &mut child, || times(&log, "/new") >= 1)?;
    child.kill()?;
    child.wait()?;
    let (before, changed_before) = (times(&log, "/new"), times(&log, "/p1"));
    let mut child = start()?;
    until("it goes on", &mut child, || {
        // If there are two requests, the first one has been answered and its answer taken.
        times(&log, "/new") >= before + 2 && times(&log, "/p1") >= changed_before + 2
    })?;
    // Perhaps nothing was committed before the kill. So the page changes once more.
    let again = times(&log, "/p1");
    changes.store(2, Ordering::Relaxed);
    until("the last change is seen", &mut child, || times(&log, "/p1") >= again + 3)?;
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status()?.success());
    assert_eq!(child.wait()?.code(), Some(11), "stopped, with the state saved");

    let mut visits = BTreeMap::<String, Vec<u64>>::new();
    let pages = lines(&dir, "pages.jsonl")?;
    for line in &pages {
        visits.entry(text(line, "url").into()).or_default().push(line["visit"].as_u64().unwrap_or(0));
    }
    for (url, visits) in &visits {
        assert!(visits.iter().copied().eq(1..=visits.len() as u64), "{url}: {visits:?}");
        let asked = times(&log, url.trim_start_matches("http://a.test"));
        // Requests that were under way, or not committed when the program was killed, were made once more.
        assert!((visits.len()..visits.len() + 60).contains(&asked), "{url}: {asked} requests, {} lines", visits.len());
    }
    assert_eq!(visits.len(), 10, "the front page, eight pages and a new one: {:?}", visits.keys());
    let changes: Vec<&Value> = pages.iter().filter(|line| line["changed"] == "content").collect();
    assert!(changes.iter().any(|line| text(line, "url").ends_with("/p1")), "{changes:?}");
    assert!(changes.iter().all(|line| !text(line, "url").ends_with("/p2")), "only what changed: {changes:?}");

    let log = log.lock().unwrap_or_else(PoisonError::into_inner);
    for (one, next) in log.iter().zip(&log[1..]) {
        let gap = next.0.duration_since(one.0);
        assert!(gap + Duration::from_millis(5) >= DELAY, "{} and {} within {gap:?}", one.1, next.1);
    }
    Ok(())
}

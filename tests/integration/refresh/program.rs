//! The program over HTTP: `refresh` with a budget, and `refresh` after a kill.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use tempfile::TempDir;
use tests::crawl::{lines, text};
use tests::scripted::words;
use tests::told::{self, Told};

use super::{COPIES, UNIQUE, asked, front, is_copy, page, page_of};

fn site() -> anyhow::Result<Told> {
    Told::new(|asked| match (asked.target.as_str(), page_of(&asked.target)) {
        ("/", _) => told::html(front()),
        (_, Some(number)) => told::html(page(number)),
        _ => told::missing(),
    })
}

fn command(told: &Told, first: &str, dir: &Path) -> anyhow::Result<Command> {
    let settings = told.settings(&[])?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_crawl"));
    command.arg(first);
    match first {
        "crawl" => command.arg("--dir").arg(dir).arg("http://a.test/"),
        _ => command.arg(dir),
    };
    command.args(["--allow-private", "--delay-factor", "0", "--address-delay", "0s", "--patience", "1s", "--quiet"]);
    command.args(["--connect-to", &settings.fetch.connect_to[0]]);
    Ok(command)
}

fn done(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The numbers of the visits of each URL, from `pages.jsonl`.
fn numbers(dir: &Path) -> anyhow::Result<BTreeMap<String, Vec<u64>>> {
    let mut numbers = BTreeMap::<String, Vec<u64>>::new();
    for line in lines(dir, "pages.jsonl")? {
        numbers.entry(text(&line, "url").into()).or_default().push(line["visit"].as_u64().unwrap_or(0));
    }
    Ok(numbers)
}

/// The first crawl of a site. Returns the directory of the crawl, with the folder in which it lies and which is deleted
/// when it is dropped.
fn first_crawl(told: &Told) -> anyhow::Result<(TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("crawl");
    done(&command(told, "crawl", &dir)?.args(["--delay", "0s"]).output()?);
    Ok((folder, dir))
}

#[test]
fn a_budget_is_kept_and_the_next_round_goes_on_with_the_oldest() -> anyhow::Result<()> {
    let (told, base) = (site()?, tempfile::tempdir()?);
    let dir = base.path().join("crawl");
    done(&command(&told, "crawl", &dir)?.args(["--delay", "0s", "--max-pages", "1000"]).output()?);
    let mut visited = BTreeSet::new();
    for _ in 0..2 {
        let before = told.asked().len();
        done(&command(&told, "refresh", &dir)?.args(["--delay", "0s", "--budget", "10"]).output()?);
        let asked = asked(&told, before);
        assert_eq!(asked.len(), 10, "{asked:?}");
        visited.extend(asked);
    }
    assert!(visited.len() >= 18, "what waits longest comes first: {visited:?}");
    assert_eq!(report(&dir)?["round"]["number"], 2);
    // The budget was that of the round. The crawl still has its own limit.
    done(&command(&told, "crawl", &dir)?.args(["--delay", "0s"]).output()?);
    Ok(())
}

/// Catches a budget that visits spend alone, and rounds that never follow the links that an earlier round has left in
/// the queue.
#[test]
fn a_round_with_a_budget_leaves_new_pages_their_share_and_the_next_one_follows_the_rest() -> anyhow::Result<()> {
    let is_later = Arc::new(AtomicBool::new(false));
    let later = Arc::clone(&is_later);
    let told = Told::new(move |asked| match (asked.target.as_str(), page_of(&asked.target)) {
        ("/", _) => told::html(front()),
        (_, Some(number)) if later.load(Ordering::Relaxed) => {
            told::html(format!("{}<a href=/news{number}>the news</a>", page(number)))
        }
        (_, Some(number)) => told::html(page(number)),
        (path, _) => match path.strip_prefix("/news").and_then(|number| number.parse::<u64>().ok()) {
            Some(number) => told::html(format!("<title>news</title><p>{}</p>", words(500 + number, 120))),
            None => told::missing(),
        },
    })?;
    let (_folder, dir) = first_crawl(&told)?;
    assert_eq!(report(&dir)?["was_finished"], true);
    is_later.store(true, Ordering::Relaxed);
    let news = |from| asked(&told, from).into_iter().filter(|path| path.starts_with("/news")).collect::<BTreeSet<_>>();
    let before = told.asked().len();
    done(&command(&told, "refresh", &dir)?.args(["--delay", "0s", "--budget", "20"]).output()?);
    assert_eq!(asked(&told, before).len(), 20);
    let found = news(before).len();
    assert!((1..=3).contains(&found), "about a tenth of 20 requests: {found}");
    assert_eq!(report(&dir)?["was_finished"], true, "the crawl was");
    done(&command(&told, "refresh", &dir)?.args(["--delay", "0s"]).output()?);
    assert_eq!(news(before).len() as u64, UNIQUE - 1, "what the first round has left, too");
    assert_eq!(report(&dir)?["stop_reason"], "done");
    Ok(())
}

/// Catches a page that is called unchanged although a picture or nothing has taken its place. The bodies of files are
/// read only for an archive; then other bytes of a file are reported, too.
#[test]
fn a_file_or_nothing_in_place_of_a_page_is_a_change() -> anyhow::Result<()> {
    for archive in [false, true] {
        let is_later = Arc::new(AtomicBool::new(false));
        let later = Arc::clone(&is_later);
        let told = Told::new(move |asked| {
            let now = later.load(Ordering::Relaxed);
            let picture = |bytes: &str| (200, vec![("content-type", "image/png".into())], bytes.as_bytes().to_vec());
            let text = |number| told::html(format!("<p>{}</p>", words(number, 120)));
            match (asked.target.as_str(), now) {
                ("/", _) => told::html(
                    ["page", "empty", "same", "other", "back"].map(|to| format!("<a href={to}>{to}</a> ")).concat(),
                ),
                ("/page", false) => text(1),
                ("/empty", false) => text(2),
                ("/empty", true) => told::html(""),
                ("/back", true) => text(3),
                ("/page" | "/same" | "/back", _) => picture("one"),
                ("/other", now) => picture(if now { "two" } else { "one" }),
                _ => told::missing(),
            }
        })?;
        let base = tempfile::tempdir()?;
        let dir = base.path().join("crawl");
        let more: &[&str] = if archive { &["--warc"] } else { &[] };
        done(&command(&told, "crawl", &dir)?.args(["--delay", "0s"]).args(more).output()?);
        is_later.store(true, Ordering::Relaxed);
        done(&command(&told, "refresh", &dir)?.args(["--delay", "0s", "--attempts", "1"]).args(more).output()?);
        let lines = lines(&dir, "pages.jsonl")?;
        let changed = |path: &str| {
            let url = format!("http://a.test{path}");
            lines.iter().rfind(|line| line["url"] == url).map_or(Value::Null, |line| line["changed"].clone())
        };
        let told_of = ["/", "/page", "/empty", "/back", "/same", "/other"].map(changed);
        let files = if archive { ["no".into(), "content".into()] } else { [Value::Null, Value::Null] };
        let [same, other] = files;
        assert_eq!(told_of, ["no".into(), "content".into(), "content".into(), "content".into(), same, other]);
        assert_eq!(report(&dir)?["round"]["changed"], if archive { 4 } else { 3 });
        let diff = Command::new(env!("CARGO_BIN_EXE_crawl")).args(["diff", "--json"]).arg(&dir).output()?;
        let diff: Value = serde_json::from_slice(&diff.stdout)?;
        assert_eq!(diff["changed"].as_array().map(Vec::len), Some(if archive { 4 } else { 3 }), "{diff}");
        let check = Command::new(env!("CARGO_BIN_EXE_crawl")).arg("check").arg(&dir).output()?;
        done(&check);
    }
    Ok(())
}

/// Begins a round of visits, and kills it after 15 requests.
fn kill_amid_round(told: &Told, dir: &Path) -> anyhow::Result<()> {
    let before = told.asked().len();
    let mut round = command(told, "refresh", dir)?.args(["--delay", "150ms"]).stderr(Stdio::null()).spawn()?;
    while told.asked().len() < before + 15 {
        assert!(round.try_wait()?.is_none(), "it ended before it could be killed");
        std::thread::yield_now();
    }
    round.kill()?;
    round.wait()?;
    Ok(())
}

#[test]
fn a_round_that_was_killed_goes_on_and_visits_nothing_twice() -> anyhow::Result<()> {
    let (told, base) = (site()?, tempfile::tempdir()?);
    let dir = base.path().join("crawl");
    done(&command(&told, "crawl", &dir)?.args(["--delay", "0s"]).output()?);
    let before = told.asked().len();
    kill_amid_round(&told, &dir)?;
    let half = asked(&told, before);
    done(&command(&told, "refresh", &dir)?.args(["--delay", "0s"]).output()?);
    let numbers = numbers(&dir)?;
    for (url, visits) in &numbers {
        let path = url.trim_start_matches("http://a.test");
        let expected: &[u64] = if is_copy(path) && visits.len() == 1 { &[1] } else { &[1, 2] };
        assert_eq!(visits, expected, "{url}");
    }
    assert_eq!(numbers.len() as u64, UNIQUE + COPIES);
    let all = asked(&told, before).len();
    assert!(all < half.len() + UNIQUE as usize, "what was committed is not asked for again: {all} requests");
    let report = report(&dir)?;
    assert_eq!((&report["round"]["number"], &report["round"]["done"]), (&1.into(), &true.into()), "one round");
    Ok(())
}

fn report(dir: &Path) -> anyhow::Result<Value> {
    let report = Command::new(env!("CARGO_BIN_EXE_crawl")).args(["report", "--json"]).arg(dir).output()?;
    Ok(serde_json::from_slice(&report.stdout)?)
}

/// Catches a visit that a killed round has queued and that is not counted when `crawler crawl` makes it. Also catches
/// an estimate of lost pages that is reported for an interrupted crawl.
#[test]
fn a_visit_that_a_killed_round_left_over_counts_in_the_round() -> anyhow::Result<()> {
    let (told, base) = (site()?, tempfile::tempdir()?);
    let dir = base.path().join("crawl");
    done(&command(&told, "crawl", &dir)?.args(["--delay", "0s"]).output()?);
    let lost = report(&dir)?["estimated_unique_lost"].clone();
    assert!(lost.is_number(), "{lost}");
    kill_amid_round(&told, &dir)?;
    let killed = report(&dir)?;
    assert_eq!((&killed["stop_reason"], &killed["estimated_unique_lost"]), (&"interrupted".into(), &Value::Null));
    let visits = || -> anyhow::Result<usize> { Ok(numbers(&dir)?.values().filter(|visits| visits.len() > 1).count()) };
    let committed = killed["round"]["visits"].as_u64();
    done(&command(&told, "crawl", &dir)?.args(["--delay", "0s"]).output()?);
    let counted = report(&dir)?["round"]["visits"].as_u64();
    assert!(counted > committed, "the crawl has made the visit that was queued: {counted:?}, {committed:?}");
    assert_eq!(counted, Some(visits()? as u64));
    let said = summary(&dir)?;
    assert!(said.contains("Round 1 of visits was interrupted: `crawler refresh` goes on with it."), "{said}");
    done(&command(&told, "refresh", &dir)?.args(["--delay", "0s"]).output()?);
    assert_eq!(report(&dir)?["round"]["visits"].as_u64(), Some(visits()? as u64), "nor after the end of the round");
    assert!(!summary(&dir)?.contains("interrupted"), "it was finished");
    Ok(())
}

/// The summary as a user sees it.
fn summary(dir: &Path) -> anyhow::Result<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_crawl")).arg("report").arg(dir).output()?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Catches a round that says that all is fetched although the crawl before it had more to fetch.
#[test]
fn a_round_amid_a_crawl_says_what_is_left() -> anyhow::Result<()> {
    let (told, base) = (site()?, tempfile::tempdir()?);
    let dir = base.path().join("crawl");
    let first = command(&told, "crawl", &dir)?.args(["--delay", "0s", "--max-pages", "10"]).output()?;
    assert_eq!(first.status.code(), Some(14));
    done(&command(&told, "refresh", &dir)?.args(["--delay", "0s"]).output()?);
    let (left, said) = (report(&dir)?["frontier"].clone(), summary(&dir)?);
    assert_eq!(left, serde_json::json!(UNIQUE + COPIES - 10));
    assert!(said.contains(&format!("{left} URLs are left from the crawl before it")), "{said}");
    assert!(!said.contains("All that was queued is fetched"), "{said}");
    Ok(())
}

/// Catches rounds whose budget goes to dead links and redirects: pages that say something come first, in each round.
#[test]
fn a_budget_goes_to_pages_before_dead_links_and_redirects() -> anyhow::Result<()> {
    let is_later = Arc::new(AtomicBool::new(false));
    let later = Arc::clone(&is_later);
    let told = Told::new(move |asked| match (asked.target.as_str(), page_of(&asked.target)) {
        ("/", _) => {
            let dead: String = (0..15).map(|n| format!("<a href=/dead{n}>dead {n}</a> ")).collect();
            told::html(front() + &dead)
        }
        // Ten pages move to one place.
        (_, Some(1..=10)) if later.load(Ordering::Relaxed) => {
            (301, vec![("location", "http://a.test/".into())], Vec::new())
        }
        (_, Some(number)) => told::html(page(number)),
        _ => told::missing(),
    })?;
    let (base, round) = (tempfile::tempdir()?, |dir: &Path, budget: &str| -> anyhow::Result<Vec<String>> {
        let before = told.asked().len();
        done(&command(&told, "refresh", dir)?.args(["--delay", "0s", "--budget", budget]).output()?);
        Ok(asked(&told, before))
    });
    let dir = base.path().join("crawl");
    done(&command(&told, "crawl", &dir)?.args(["--delay", "0s"]).output()?);
    let first = round(&dir, "20")?;
    assert!(first.iter().all(|path| !path.starts_with("/dead")), "{first:?}");
    is_later.store(true, Ordering::Relaxed);
    round(&dir, "1000")?;
    let moved = |asked: &[String]| asked.iter().filter(|path| matches!(page_of(path), Some(1..=10))).count();
    let next = round(&dir, "20")?;
    assert!(moved(&next) < 10, "those that moved do not come first: {next:?}");
    let pages: BTreeSet<String> = next.into_iter().chain(round(&dir, "20")?).collect();
    assert!((11..UNIQUE).all(|page| pages.contains(&format!("/p{page}"))), "{pages:?}");
    Ok(())
}

/// Catches a round that is cut short by a host that is down, and says nothing of the visits that it has not made.
#[test]
fn visits_that_a_host_does_not_allow_are_told() -> anyhow::Result<()> {
    let is_later = Arc::new(AtomicBool::new(false));
    let later = Arc::clone(&is_later);
    let told = Told::new(move |asked| match (asked.target.as_str(), page_of(&asked.target)) {
        _ if later.load(Ordering::Relaxed) => (503, Vec::new(), Vec::new()),
        ("/", _) => told::html(front()),
        (_, Some(number)) => told::html(page(number)),
        _ => told::missing(),
    })?;
    let (_folder, dir) = first_crawl(&told)?;
    is_later.store(true, Ordering::Relaxed);
    done(&command(&told, "refresh", &dir)?.args(["--delay", "0s", "--host-failures", "1"]).output()?);
    let round = &report(&dir)?["round"];
    let count = |name: &str| round[name].as_u64().unwrap_or(0);
    assert_eq!(count("visits") + count("put_off"), UNIQUE, "each page once: {round}");
    assert!(count("put_off") > UNIQUE / 2, "{round}");
    let summary = Command::new(env!("CARGO_BIN_EXE_crawl")).arg("report").arg(&dir).output()?;
    let summary = String::from_utf8_lossy(&summary.stdout).into_owned() + &String::from_utf8_lossy(&summary.stderr);
    assert!(summary.contains("not made: their hosts cannot be asked now"), "{summary}");
    Ok(())
}

/// Catches a page that has only moved and is told of as a new page.
#[test]
fn a_new_page_to_which_an_old_one_redirects_says_where_it_was() -> anyhow::Result<()> {
    let is_later = Arc::new(AtomicBool::new(false));
    let later = Arc::clone(&is_later);
    let told = Told::new(move |asked| match (asked.target.as_str(), page_of(&asked.target)) {
        ("/", _) => told::html(front()),
        ("/now/here", _) => told::html(page(3)),
        ("/p3", _) if later.load(Ordering::Relaxed) => {
            (301, vec![("location", "http://a.test/now/here".into())], Vec::new())
        }
        (_, Some(number)) => told::html(page(number)),
        _ => told::missing(),
    })?;
    let (_folder, dir) = first_crawl(&told)?;
    is_later.store(true, Ordering::Relaxed);
    done(&command(&told, "refresh", &dir)?.args(["--delay", "0s"]).output()?);
    let diff = |more: &[&str]| -> anyhow::Result<Vec<u8>> {
        Ok(Command::new(env!("CARGO_BIN_EXE_crawl")).arg("diff").arg(&dir).args(more).output()?.stdout)
    };
    let of: Value = serde_json::from_slice(&diff(&["--json"])?)?;
    assert_eq!((of["moved"].as_array().map(Vec::len), &of["moved"][0]["url"]), (Some(1), &"http://a.test/p3".into()));
    assert_eq!(of["new"].as_array().map(Vec::len), Some(1), "{of:#}");
    assert_eq!(
        (&of["new"][0]["url"], &of["new"][0]["moved_from"]),
        (&"http://a.test/now/here".into(), &of["moved"][0]["url"])
    );
    let text = String::from_utf8(diff(&[])?)?;
    assert!(text.contains("http://a.test/now/here") && text.contains("(moved from http://a.test/p3)"), "{text}");
    Ok(())
}

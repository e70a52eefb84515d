//! Questions to a crawl that runs, with the built program: `why`, `report`, `export`, `rules` and `links`. Also the
//! commands that need the directory for themselves.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::crawl::text;
use tests::programs::beside;
use tests::scripted::words;
use tests::told::{Asked, Told, html, missing};

/// The longest wait. Nothing here takes nearly as long.
const LONG: Duration = Duration::from_secs(120);

fn ask(command: &str, dir: &Path, more: &[&str]) -> anyhow::Result<Output> {
    Ok(Command::new(beside("crawler-under-test")?).arg(command).arg(dir).args(more).output()?)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A site of two pages, and another host with a page that is not answered before `go` says so.
fn site(go: Receiver<()>) -> impl Fn(&Asked) -> tests::told::Answer {
    let go = Mutex::new(go);
    move |asked| match asked.target.as_str() {
        "/" => html(format!("<a href=/a>a</a> {}", words(1, 100))),
        "/a" => html(format!("<a href=/dead>d</a> <a href=http://s.test/held>h</a> {}", words(2, 100))),
        "/held" => {
            // Other requests are answered meanwhile. If the test has failed, the sender is gone, and the wait ends.
            let _ = tokio::task::block_in_place(|| go.lock().map(|go| go.recv_timeout(LONG)));
            html(words(3, 100))
        }
        _ => missing(),
    }
}

#[test]
fn a_crawl_that_runs_is_asked_and_not_disturbed() -> anyhow::Result<()> {
    let (go, wait) = channel();
    let (told, base) = (Told::new(site(wait))?, tempfile::tempdir()?);
    let dir = base.path().join("crawl");
    let connect_to = told.settings(&[])?.fetch.connect_to.remove(0);
    let mut program = Command::new(beside("crawler-under-test")?);
    program.args(["crawl", "http://r.test/", "--connect-to", &connect_to, "--allow-private", "--delay", "0s", "--dir"]);
    program.arg(&dir).args([
        "--address-delay",
        "0s",
        "--patience",
        "1s",
        "--timeout",
        "100s",
        "--idle-timeout",
        "100s",
        "--scope",
        "any",
        "-q",
    ]);
    let mut crawl = program.spawn()?;
    // Each question is a process of its own, so the loop does not ask very often.
    let began = Instant::now();
    for (url, told) in [("http://r.test/dead", "404"), ("http://s.test/held", "queued with priority")] {
        while !said(&ask("why", &dir, &[url])?).contains(told) {
            assert!(began.elapsed() < LONG && crawl.try_wait()?.is_none(), "the crawl never told of {url}");
        }
    }

    assert!(said(&ask("why", &dir, &["http://r.test/none"])?).contains("never seen"));
    let report: Value = serde_json::from_slice(&ask("report", &dir, &["--json"])?.stdout)?;
    assert_eq!((text(&report, "stop_reason"), report["pages"].as_u64()), ("running", Some(3)), "{report}");
    assert!(report["urls_seen"].as_u64() >= Some(4) && report["commits"].as_u64() >= Some(1), "{report}");
    assert!(said(&ask("report", &dir, &[])?).contains("running") && dir.join("report.html").exists());
    let pages = ask("export", &dir, &["--what", "pages"])?;
    let urls: Vec<Value> = said(&pages).lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    assert_eq!(
        urls.iter().map(|page| text(page, "url")).collect::<Vec<_>>(),
        ["http://r.test/", "http://r.test/a", "http://r.test/dead"]
    );
    assert_eq!(ask("rules", &dir, &["--json"])?.stdout, b"[]\n");
    assert!(said(&ask("links", &dir, &["--broken"])?).contains("http://r.test/dead"));
    assert!(ask("export", &dir, &["--what", "skipped"])?.status.success());

    // `check`, which compares state and outputs, and another `crawl` need the directory for themselves.
    let check = ask("check", &dir, &[])?;
    assert_eq!(check.status.code(), Some(1));
    assert!(said(&check).contains("another crawl runs in this directory"), "{}", said(&check));
    let second = Command::new(beside("crawler-under-test")?).args(["crawl", "--dir"]).arg(&dir).output()?;
    assert_eq!(second.status.code(), Some(1));
    assert!(said(&second).contains("another crawl runs in this directory"), "{}", said(&second));

    go.send(())?;
    assert_eq!(crawl.wait()?.code(), Some(0));
    assert!(!dir.join("state/reads.sock").exists());
    let report: Value = serde_json::from_slice(&ask("report", &dir, &["--json"])?.stdout)?;
    assert_eq!((text(&report, "stop_reason"), report["pages"].as_u64()), ("done", Some(4)), "{report}");
    assert_eq!(ask("check", &dir, &[])?.status.code(), Some(0));
    Ok(())
}

#[test]
fn other_seeds_join_a_crawl_only_when_asked_to() -> anyhow::Result<()> {
    let page = |asked: &Asked| if asked.target == "/" { html(words(1, 100) + &asked.host) } else { missing() };
    let (told, base) = (Told::new(page)?, tempfile::tempdir()?);
    let connect_to = told.settings(&[])?.fetch.connect_to.remove(0);
    let crawl = |more: &[&str], config: Option<&Path>| -> anyhow::Result<Output> {
        let mut program = Command::new(beside("crawler-under-test")?);
        program.args([
            "crawl",
            "--connect-to",
            &connect_to,
            "--allow-private",
            "--patience",
            "1s",
            "--delay",
            "0s",
            "--dir",
        ]);
        program.arg(base.path().join("crawl")).args(["--address-delay", "0s"]).args(more);
        config.map(|config| program.env("CRAWLER_CONFIG", config));
        Ok(program.output()?)
    };
    assert!(crawl(&["http://a.test/"], None)?.status.success());
    let refused = crawl(&["http://a.test/", "http://b.test/"], None)?;
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        said(&refused).contains("http://b.test/ is no seed") && said(&refused).contains("--add-seeds"),
        "{}",
        said(&refused)
    );
    assert!(told.of("b.test", "/robots.txt").is_empty() && told.of("b.test", "/").is_empty());

    // An environment variable may name the file of settings.
    let file = base.path().join("settings.toml");
    std::fs::write(&file, "[limits]\nmax-pages = 1\n")?;
    assert_eq!(crawl(&["http://b.test/", "--add-seeds"], Some(&file))?.status.code(), Some(14));
    assert!(crawl(&["http://b.test/", "--add-seeds", "--max-pages", "0"], None)?.status.success());
    assert_eq!(told.of("b.test", "/").len(), 1);
    // Now `b.test` is a seed of the crawl.
    assert!(crawl(&["http://b.test/", "http://a.test/"], None)?.status.success());
    assert_eq!(told.of("b.test", "/").len(), 1);
    Ok(())
}

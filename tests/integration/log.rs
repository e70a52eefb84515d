//! The crawl log, and the lines of `-v`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tests::crawl::text;
use tests::programs::beside;
use tests::scripted::words;
use tests::told::{Answer, Asked, Told, html, missing};

fn site(asked: &Asked) -> Answer {
    match asked.target.as_str() {
        "/" => html(format!("<a href=/a>a</a> <a href=/dead>d</a> {}", words(1, 100))),
        "/a" => html(words(2, 100)),
        _ => missing(),
    }
}

/// Runs the built program over the site.
fn crawl(told: &Told, dir: &Path, more: &[&str]) -> anyhow::Result<Output> {
    let connect_to = told.settings(&[])?.fetch.connect_to.remove(0);
    let mut program = Command::new(beside("crawler-under-test")?);
    program.args(["crawl", "http://l.test/", "--connect-to", &connect_to, "--allow-private", "--delay", "0s", "--dir"]);
    program.arg(dir.join("crawl")).args(["--address-delay", "0s", "--patience", "1s", "--rescue", "0%"]);
    let run = program.args(more).env_remove("RUST_LOG").output()?;
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Ok(run)
}

#[test]
fn each_request_has_a_line() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(site)?, tempfile::tempdir()?);
    let log = dir.path().join("requests.jsonl");
    crawl(&told, dir.path(), &["--log", &log.to_string_lossy(), "-q"])?;
    let lines: Vec<Value> =
        std::fs::read_to_string(&log)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let said: Vec<(&str, &str, u64)> = lines
        .iter()
        .map(|line| (text(line, "kind"), text(line, "url"), line["status"].as_u64().unwrap_or(0)))
        .collect();
    assert_eq!(said.len(), told.asked().len(), "the server's log is the judge: {said:?}");
    assert!(said.contains(&("robots", "http://l.test/robots.txt", 404)), "{said:?}");
    assert!(said.contains(&("page", "http://l.test/dead", 404)), "{said:?}");
    for line in &lines {
        let whole = ["at", "bytes", "elapsed_ms", "attempt", "depth", "via", "error"]
            .iter()
            .all(|field| line.get(field).is_some());
        assert!(whole, "{line}");
    }

    // A run without the flag writes no log. A run with it appends to the file, here as text.
    let count = || -> anyhow::Result<usize> { Ok(std::fs::read_to_string(&log)?.lines().count()) };
    crawl(&told, dir.path(), &["--recrawl", "-q"])?;
    assert_eq!(count()?, lines.len());
    crawl(&told, dir.path(), &["--recrawl", "--log", &log.to_string_lossy(), "-q"])?;
    assert!(count()? > lines.len());
    let plain = dir.path().join("requests.log");
    std::fs::create_dir_all(dir.path().join("other"))?;
    crawl(&told, &dir.path().join("other"), &["--log", &plain.to_string_lossy(), "-q"])?;
    let plain = std::fs::read_to_string(plain)?;
    let line = plain.lines().find(|line| line.ends_with("/dead")).expect("a line for the missing page");
    let columns: Vec<&str> = line.split(' ').collect();
    assert_eq!((columns[1], columns[2], columns.last()), ("404", "page", Some(&"http://l.test/dead")), "{line}");
    assert!(columns[0].ends_with('Z') && columns.len() == 6, "{line}");
    Ok(())
}

#[test]
fn a_host_that_cannot_be_reached_is_logged_with_the_reason() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let log = dir.path().join("log.json");
    // No program listens at the discard port.
    let mut program = Command::new(beside("crawler-under-test")?);
    program.args([
        "crawl",
        "http://127.0.0.1:9/",
        "--allow-private",
        "--attempts",
        "1",
        "--patience",
        "0s",
        "-q",
        "--dir",
    ]);
    program.arg(dir.path().join("crawl")).arg("--log").arg(&log).output()?;
    let text = std::fs::read_to_string(&log)?;
    let line: Value = serde_json::from_str(text.lines().next().expect("a line"))?;
    assert!(
        line["status"].is_null() && line["error"].as_str().is_some_and(|error| error.contains("connect")),
        "{line}"
    );
    Ok(())
}

#[test]
fn a_log_that_cannot_be_opened_is_named() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let mut program = Command::new(beside("crawler-under-test")?);
    let path = "/no/such/folder/log";
    let run = program.args(["crawl", "http://127.0.0.1:9/", "--log", path, "--dir"]).arg(dir.path()).output()?;
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains(path) && said.contains("No such file"), "{said}");
    assert_eq!(dir.path().read_dir()?.count(), 0, "nothing is left behind");
    // The log is switched off again.
    let mut program = Command::new(beside("crawler-under-test")?);
    let run = program.args(["crawl", "http://127.0.0.1:9/", "--dir"]).arg(dir.path()).output()?;
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.code() == Some(3) && !said.contains(path), "{said}");
    Ok(())
}

#[test]
fn v_says_what_the_crawler_does_and_pipes_get_no_colours() -> anyhow::Result<()> {
    let (told, dir) = (Told::new(site)?, tempfile::tempdir()?);
    let said = |flags: &[&str], name: &str| -> anyhow::Result<String> {
        let dir = dir.path().join(name);
        std::fs::create_dir(&dir)?;
        Ok(String::from_utf8(crawl(&told, &dir, flags)?.stderr)?)
    };
    let (none, one, two, three) = (said(&[], "0")?, said(&["-v"], "1")?, said(&["-vv"], "2")?, said(&["-vvv"], "3")?);
    for text in [&none, &one, &two, &three] {
        assert!(!text.contains('\x1b'), "{text}");
    }
    let requests =
        |text: &str| text.lines().filter(|line| line.contains("404 page") && line.ends_with("/dead")).count();
    assert_eq!((requests(&none), requests(&one), requests(&two)), (0, 1, 1), "{one}");
    for noise in ["hyper", "reqwest", "rustls"] {
        assert!(!one.contains(noise) && !two.contains(noise), "{noise}: {two}");
    }
    Ok(())
}

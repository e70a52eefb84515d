//! The messages of the program for people: each must be true, and say what to do.

use std::process::{Command, Output};

use serde_json::Value;
use tests::programs::beside;
use tests::told::{Told, html, missing};

/// Runs the program.
fn run(args: &[&str]) -> anyhow::Result<Output> {
    Ok(Command::new(beside("crawler-under-test")?).args(args).output()?)
}

/// Runs the program. Returns the exit code and its messages for people.
fn said(args: &[&str]) -> anyhow::Result<(Option<i32>, String)> {
    let output = run(args)?;
    Ok((output.status.code(), String::from_utf8(output.stderr)?))
}

/// A site with a missing page, and one that robots.txt forbids.
fn site() -> anyhow::Result<Told> {
    Told::new(|asked| match asked.target.as_str() {
        "/robots.txt" => {
            (200, vec![("content-type", "text/plain".into())], b"User-agent: *\nDisallow: /closed\n".to_vec())
        }
        "/" => html("<p>A page about a bridge</p><a href=/missing>a</a><a href=/closed>b</a>"),
        _ => missing(),
    })
}

/// Catches troubles that the next run counts as another kind, and a URL that counts both as refused and as a trouble.
#[test]
fn what_robots_txt_forbids_is_no_fault() -> anyhow::Result<()> {
    let (told, folder) = (site()?, tempfile::tempdir()?);
    let dir = folder.path().join("crawl").to_string_lossy().into_owned();
    let connect_to = told.settings(&[])?.fetch.connect_to.remove(0);
    let flags =
        ["--connect-to", &connect_to, "--allow-private", "--delay", "0s", "--address-delay", "0s", "--patience", "1s"];
    let (code, first) = said(&[&["crawl", "http://a.test/", "--dir", &dir], &flags[..]].concat())?;
    assert_eq!(code, Some(0), "{first}");
    assert!(first.contains("refused             1          robots: robots.txt forbids it"), "{first}");
    assert!(
        first.contains("1          of all these at a.test, all 404") && !first.contains("not asked for: robots.txt"),
        "{first}"
    );
    for round in 1..=2 {
        let (code, text) = said(&[&["refresh", &dir], &flags[..]].concat())?;
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains("of all these at a.test, all 404"), "round {round}: {text}");
        let report: Value = serde_json::from_slice(&run(&["report", &dir, "--json"])?.stdout)?;
        let worst = &report["worst_host"];
        assert_eq!(
            (&worst["kind"], &worst["queued"]),
            (&Value::from("404"), &Value::from(1)),
            "round {round}: {worst}"
        );
        assert_eq!(worst["waiting"]["robots"], 1, "{worst}");
        assert_eq!(report["failures"]["withheld_robots"], 1, "scripts are told as before");
    }
    Ok(())
}

/// A round must take a file of settings. If it refuses a flag, it must say which command has this flag. Messages must
/// name the file, and the manual page must have the usual name.
#[test]
fn a_round_takes_a_file_and_names_the_command_of_a_flag() -> anyhow::Result<()> {
    let (told, folder) = (site()?, tempfile::tempdir()?);
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (dir, file, absent) = (path("crawl"), path("settings.toml"), path("absent.toml"));
    told.crawl(folder.path().join("crawl").as_path(), "http://a.test/", &[])?;
    let (code, text) = said(&["refresh", &dir, "--continuous"])?;
    assert_eq!((code, text.contains(&format!("crawler crawl --dir {dir} --continuous"))), (Some(2), true), "{text}");
    std::fs::write(&file, "[fetch]\nconcurrency = 0\n")?;
    let (code, text) = said(&["refresh", &dir, "--config", &file])?;
    assert_eq!((code, text.contains("settings.toml:2")), (Some(2), true), "{text}");
    let (code, text) = said(&["crawl", "http://a.test/", "--dir", &path("other"), "--config", &absent])?;
    assert_eq!((code, text.contains("--config ")), (Some(2), true), "{text}");
    let (code, text) = said(&["report", &path("nowhere")])?;
    assert_eq!((code, text.contains("`crawler crawl --dir` wrote")), (Some(2), true), "{text}");
    let (code, text) = said(&["demo", "--seed", "x"])?;
    assert_eq!((code, text.contains("--random-seed")), (Some(2), true), "the old name is accepted: {text}");
    let (code, text) = said(&["crawl", "--dir", &dir, "--contact", "me", "--allow-private", "--patience", "1s"])?;
    assert!(code == Some(0) && text.contains("neither a URL nor an e-mail address"), "{text}");
    let page = String::from_utf8(run(&["man", "crawl"])?.stdout)?;
    assert!(page.lines().any(|line| line.starts_with(".TH") && line.contains("\"crawler-crawl ")), "{page}");
    Ok(())
}

/// Catches a round that visits nothing because of a setting of an earlier round, and does not say so.
#[test]
fn a_round_that_leaves_out_young_pages_says_so() -> anyhow::Result<()> {
    let (told, folder) = (site()?, tempfile::tempdir()?);
    let dir = folder.path().join("crawl").to_string_lossy().into_owned();
    let connect_to = told.settings(&[])?.fetch.connect_to.remove(0);
    let flags =
        ["--connect-to", &connect_to, "--allow-private", "--delay", "0s", "--address-delay", "0s", "--patience", "1s"];
    said(&[&["crawl", "http://a.test/", "--dir", &dir], &flags[..]].concat())?;
    let note = "this round visited no page: 2 pages are younger than --min-age, which is 1h";
    for more in [&["--min-age", "1h"][..], &[]] {
        let (code, text) = said(&[&["refresh", &dir], &flags[..], more].concat())?;
        assert!(code == Some(0) && text.contains(note), "{more:?}: {text}");
    }
    let (code, text) = said(&["refresh", &dir, "--max-age", "30m"])?;
    let from = "which is 1h (from the stored settings of the directory)";
    assert!(code == Some(2) && text.contains(from), "{text}");
    // The control: a round that visits pages.
    let (code, text) = said(&[&["refresh", &dir, "--min-age", "0s"], &flags[..]].concat())?;
    assert!(code == Some(0) && !text.contains("visited no page"), "{text}");
    Ok(())
}

/// A table of URLs that were not fetched has the same columns in every crawl.
#[test]
fn a_table_of_refused_urls_has_all_its_columns() -> anyhow::Result<()> {
    let (told, folder) = (site()?, tempfile::tempdir()?);
    let crawled = told.crawl(folder.path(), "http://a.test/", &[])?;
    assert!(crawled.skipped.iter().all(|line| line.get("rule").is_none() && line.get("known").is_none()));
    let dir = folder.path().to_string_lossy();
    let table = String::from_utf8(run(&["export", &dir, "--what", "skipped", "--format", "csv"])?.stdout)?;
    let rows: Vec<&str> = table.split("\r\n").collect();
    assert_eq!(rows[0], "url,reason,source,rule,detail,known");
    assert!(rows[1].starts_with("http://a.test/closed,robots,http://a.test/,,"), "{table}");
    Ok(())
}

/// If the host of a login does not exist, the message must not contain the internal terms of the resolver.
#[test]
fn a_login_at_an_unknown_host_is_told_in_words() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (dir, login) = (folder.path().join("crawl"), folder.path().join("login.toml"));
    std::fs::write(
        &login,
        "[[login]]\nurl = \"http://nowhere.invalid/login\"\nfields.user = \"me\"\nfields.password = \"x\"\n",
    )?;
    let (dir, login) = (dir.to_string_lossy(), login.to_string_lossy());
    let args =
        ["crawl", "http://nowhere.invalid/", "--dir", &dir, "--login", &login, "--patience", "1s", "--delay", "0s"];
    let (_, text) = said(&args)?;
    assert!(!text.contains("Query {") && !text.contains("Name("), "{text}");
    Ok(())
}

/// A crawl that ends because of a Crawl-delay names the host and the delay, whether it has pages or none, and to
/// scripts, too. A host that is as slow as the crawl wants it to be is not blamed.
#[test]
fn a_crawl_delay_that_is_longer_than_the_patience_is_named() -> anyhow::Result<()> {
    let told = Told::new(|asked| match (asked.host.as_str(), asked.target.as_str()) {
        ("slow.test", "/robots.txt") => {
            (200, vec![("content-type", "text/plain".into())], b"User-agent: *\nCrawl-delay: 30\n".to_vec())
        }
        ("fast.test", "/") => html("<p>A page about a bridge</p>"),
        _ => missing(),
    })?;
    let folder = tempfile::tempdir()?;
    let connect_to = told.settings(&[])?.fetch.connect_to.remove(0);
    for (name, seeds) in [("alone", &["http://slow.test/"][..]), ("both", &["http://slow.test/", "http://fast.test/"])]
    {
        let dir = folder.path().join(name).to_string_lossy().into_owned();
        let flags = ["--connect-to", &connect_to, "--allow-private", "--delay", "0s", "--address-delay", "0s"];
        let all = [&["crawl", "--dir", &dir, "--patience", "1s"], &flags[..], seeds].concat();
        let (_, text) = said(&all)?;
        assert!(text.contains("slow.test asks for a Crawl-delay in robots.txt (30.0 s)"), "{name}: {text}");
        assert!(text.contains("give a --patience that is longer"), "{name}: {text}");
        let report: Value = serde_json::from_slice(&run(&["report", &dir, "--json"])?.stdout)?;
        let expected = serde_json::json!({"host": "slow.test", "delay_ms": 30_000, "hosts": 1});
        assert_eq!(report["long_delays"], expected, "{name}");
    }
    Ok(())
}

/// A quiet run writes nothing, also if it has a live page.
#[test]
fn a_quiet_run_is_quiet() -> anyhow::Result<()> {
    let (told, folder) = (site()?, tempfile::tempdir()?);
    let dir = folder.path().join("crawl").to_string_lossy().into_owned();
    let connect_to = told.settings(&[])?.fetch.connect_to.remove(0);
    let flags = ["--connect-to", &connect_to, "--allow-private", "--delay", "0s", "--patience", "1s"];
    let all = [&["crawl", "http://a.test/", "--dir", &dir, "-q", "--dashboard", "127.0.0.1:0"], &flags[..]].concat();
    let output = run(&all)?;
    assert_eq!((output.status.code(), String::from_utf8(output.stderr)?.as_str()), (Some(0), ""));
    Ok(())
}

//! Wrong calls. Each must end with exit code 2 and a message that names the mistake once, and must leave nothing behind
//! that looks like a crawl.

use std::process::{Command, Stdio};

use tests::told::{Told, html};

/// Runs the program. Returns the exit code and the text on stderr.
fn run(args: &[&str]) -> anyhow::Result<(Option<i32>, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_crawl")).args(args).stdin(Stdio::null()).output()?;
    Ok((output.status.code(), String::from_utf8(output.stderr)?))
}

/// Catches files and seeds that are checked only after a directory was made, failures that are reported as faults of
/// the machine, a message that does not name the flag, and one that names its cause twice.
#[test]
fn a_wrong_call_names_what_is_wrong_and_leaves_no_directory() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (dir, missing, empty) = (path("crawl"), path("missing"), path("empty"));
    let (foreign, nowhere, login) = (path("cookies.json"), path("missing/log"), path("login.toml"));
    std::fs::write(&empty, "no certificate")?;
    std::fs::write(&foreign, "[{\"host\":\"a.test\",\"cookieName\":\"sid\"}]")?;
    std::fs::write(&login, "[[login]]\nurl = \"http://a.test/login\"\npasswort = \"s3cret\"\n")?;
    let seed = "http://a.test/";
    let calls: [(&[&str], &str); 19] = [
        (&[seed, "--ca-file", &missing], "--ca-file"),
        (&[seed, "--ca-file", &empty], "no certificate in it"),
        (&[seed, "--client-cert", &missing], "--client-cert"),
        (&[seed, "--topic-file", &missing], "--topic-file"),
        (&[seed, "--like", &missing], "--like"),
        (&[seed, "--known", &missing], "--known"),
        (&[seed, "--cookies-file", &missing], "--cookies-file"),
        (&[seed, "--cookies-file", &foreign], "no entry in it is a cookie"),
        (&[seed, "--login", &login], "line 3: unknown field"),
        (&[seed, "--log", &nowhere], "--log"),
        (&[seed, "--web-bot-auth", &empty], "--web-bot-auth needs --web-bot-auth-agent"),
        (&["http://me:s3cret@a.test/"], "the account of a.test in a file with --login"),
        (&["http://me:s3cret@a b/"], "…@a b"),
        (&[seed, "--include", "("], "include"),
        (&[seed, "--dashboard", "nowhere"], "--dashboard"),
        (&["htp:/foo"], "htp is not fetched"),
        (&["javascript:1"], "javascript is not fetched"),
        (&["http//x.test/"], "a colon is missing"),
        (&[], "no seeds"),
    ];
    for (args, says) in calls {
        let (code, said) = run(&[&["crawl", "--dir", &dir], args].concat())?;
        assert_eq!(code, Some(2), "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
        assert!(!said.contains("s3cret"), "a password is told: {said}");
        assert!(said.matches("(os error").count() <= 1, "the cause is told twice: {said}");
        assert!(!folder.path().join("crawl").exists(), "{args:?} left a directory");
    }
    let (code, said) = run(&["refresh", &dir])?;
    assert!(code == Some(2) && said.contains("holds no crawl"), "{said}");
    Ok(())
}

/// A crawl that is continued with an output that it did not have from the beginning, and a file without a usable
/// cookie, must be reported.
#[test]
fn what_has_no_effect_is_told() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (dir, cookies) = (folder.path().join("crawl"), folder.path().join("cookies.txt"));
    std::fs::write(&cookies, "# Netscape HTTP Cookie File\na.test\tFALSE\t/\tFALSE\t1000\tsid\tv4lue\n")?;
    let told = Told::new(|_| html("<p>A page about a bridge</p>"))?;
    told.crawl(&dir, "http://a.test/", &[])?;
    let (dir, cookies) = (dir.to_string_lossy().into_owned(), cookies.to_string_lossy().into_owned());
    let (code, said) = run(&["crawl", "--dir", &dir, "--text", "--cookies-file", &cookies])?;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("--text is new in this run") && !said.contains("--warc is new"), "{said}");
    assert!(said.contains("no cookie in it is used: all have expired") && !said.contains("v4lue"), "{said}");
    for limit in [["--max-pages", "5"], ["--time-limit", "1s"]] {
        let (code, said) = run(&[&["refresh", &dir], &limit[..]].concat())?;
        assert!(code == Some(2) && said.contains("--budget"), "{limit:?}: {said}");
    }
    Ok(())
}

/// A wrong call in a directory that has a crawl must leave the crawl as it is, and must not remove an empty directory
/// that was there before.
#[test]
fn a_wrong_call_deletes_nothing_that_was_there() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let dir = folder.path().join("crawl");
    std::fs::create_dir(&dir)?;
    let name = dir.to_string_lossy().into_owned();
    let wrong = ["crawl", "--dir", &name, "http://a.test/", "--ca-file", "/nowhere/missing.pem"];
    assert_eq!(run(&wrong)?.0, Some(2));
    assert!(dir.exists() && dir.read_dir()?.next().is_none(), "an empty directory, as before");

    Told::new(|_| html("<p>A page about a bridge</p>"))?.crawl(&dir, "http://a.test/", &[])?;
    let before = std::fs::read(dir.join("pages.jsonl"))?;
    assert_eq!(run(&wrong)?.0, Some(2));
    assert_eq!(std::fs::read(dir.join("pages.jsonl"))?, before);
    assert_eq!(run(&["check", &name])?.0, Some(0));
    Ok(())
}

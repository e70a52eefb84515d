//! Wrong calls: each ends with exit code 2 and a message that names what is wrong, once; and leaves nothing behind that looks like a
//! crawl.

use std::process::{Command, Stdio};

use tests::told::{Told, html};

/// Runs the program; returns the exit code and what it says.
fn run(args: &[&str]) -> anyhow::Result<(Option<i32>, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_crawl")).args(args).stdin(Stdio::null()).output()?;
    Ok((output.status.code(), String::from_utf8(output.stderr)?))
}

/// Catches files and seeds that are looked at only after a directory was made, failures that are told as faults of the machine, a
/// message that does not name the flag, and one that tells its cause twice.
#[test]
fn a_wrong_call_names_what_is_wrong_and_leaves_no_directory() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (dir, missing, empty) = (path("crawl"), path("missing"), path("empty"));
    std::fs::write(&empty, "no certificate")?;
    let seed = "http://a.test/";
    let calls: [(&[&str], &str); 13] = [
        (&[seed, "--ca-file", &missing], "--ca-file"),
        (&[seed, "--ca-file", &empty], "no certificate in it"),
        (&[seed, "--client-cert", &missing], "--client-cert"),
        (&[seed, "--topic-file", &missing], "--topic-file"),
        (&[seed, "--like", &missing], "--like"),
        (&[seed, "--known", &missing], "--known"),
        (&[seed, "--cookies-file", &missing], "--cookies-file"),
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
        assert!(said.matches("(os error").count() <= 1, "the cause is told twice: {said}");
        assert!(!folder.path().join("crawl").exists(), "{args:?} left a directory");
    }
    let (code, said) = run(&["refresh", &dir])?;
    assert!(code == Some(2) && said.contains("holds no crawl"), "{said}");
    Ok(())
}

/// A wrong call in a directory that has a crawl leaves the crawl as it is, and an empty directory that was there before stays.
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

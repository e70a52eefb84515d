//! `crawler diff`: what a user sees who crawls a site, waits until it changes, and looks at the changes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crawler::clock::Clock;
use crawler::diff::Diff;
use crawler::fetch::http::HttpFetch;
use serde_json::Value;
use tests::background::Background;
use tests::crawl::{crawl_with, settings};
use tests::data;
use tests::scripted::words;
use tests::site::{Noise, Sites};

fn run(args: &[&str], dir: &Path) -> anyhow::Result<(Option<i32>, String, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_crawl")).args(&args[..1]).arg(dir).args(&args[1..]).output()?;
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok((output.status.code(), out, err))
}

/// A site of five pages and a copy of one of them.
fn write(folder: &Path) -> anyhow::Result<()> {
    let put = |name: &str, text: &str| fs::write(folder.join(format!("{name}.html")), text);
    let link = |names: &[&str]| names.iter().map(|name| format!("<a href={name}.html>{name}</a> ")).collect::<String>();
    let names = ["news", "about", "old", "copy"];
    put("index", &format!("<title>Home</title><p>{}</p>{}", words(1, 60), link(&names)))?;
    for (number, name) in names.iter().enumerate().take(3) {
        put(
            name,
            &format!("<title>{name}</title><p>Here it begins. {}. Here it ends.</p>", words(10 + number as u64, 80)),
        )?;
    }
    fs::copy(folder.join("news.html"), folder.join("copy.html"))?;
    Ok(())
}

fn urls(diff: &Value, group: &str) -> Vec<String> {
    let pages = diff[group].as_array().cloned().unwrap_or_default();
    pages
        .iter()
        .map(|page| page["url"].as_str().unwrap_or_default().trim_start_matches("http://a.test/").into())
        .collect()
}

#[test]
fn a_new_user_sees_what_changed() -> anyhow::Result<()> {
    for warc in [true, false] {
        let (folder, base) = (tempfile::tempdir()?, tempfile::tempdir()?);
        write(folder.path())?;
        let sites = Arc::new(Sites::new([("a.test".to_owned(), folder.path().to_owned())], Noise::default())?);
        let server = Background::start(|listener| Arc::clone(&sites).run(listener))?;
        let dir = base.path().join("crawl");
        let mut crawl = Command::new(env!("CARGO_BIN_EXE_crawl"));
        crawl.args(["crawl", "http://a.test/index.html", "--allow-private", "--delay", "0s", "--delay-factor", "0"]);
        crawl.args(["--address-delay", "0s", "--patience", "1s", "--quiet", "--connect-to", &server.connect_to()]);
        crawl.arg("--dir").arg(&dir).args(warc.then_some("--warc"));
        assert_eq!(crawl.status()?.code(), Some(0));

        let (code, out, err) = run(&["diff"], &dir)?;
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.contains("crawler refresh"), "it says what to do: {err}");

        // The dates of an archive are whole seconds, so changes within one second cannot be told apart.
        let second = |clock: &Clock| clock.now() / 1_000;
        let crawled = second(&Clock::System);
        while second(&Clock::System) == crawled {
            std::thread::yield_now();
        }

        // The site changes.
        let put = |name: &str, text: String| fs::write(folder.path().join(format!("{name}.html")), text);
        put(
            "index",
            format!(
                "<title>Home</title><p>{}</p><a href=news.html>n</a> <a href=about.html>a</a> <a href=old.html>o</a> <a href=copy.html>c</a> <a href=fresh.html>f</a>",
                words(1, 60)
            ),
        )?;
        put("fresh", format!("<title>fresh</title><p>{}</p>", words(30, 80)))?;
        let news = format!("<title>News!</title><p>Here it begins. {}. Here it ends.</p>", words(20, 80));
        put("news", news.clone())?;
        put("copy", news)?;
        fs::remove_file(folder.path().join("old.html"))?;
        let round = ["refresh", "--quiet"];
        assert_eq!(run(&round, &dir)?.0, Some(0));

        let (code, out, err) = run(&["diff", "--json"], &dir)?;
        assert_eq!(code, Some(0), "{err}");
        let diff: Value = serde_json::from_str(&out)?;
        assert_eq!(urls(&diff, "new"), ["fresh.html"], "{diff:#}");
        assert_eq!(urls(&diff, "missing"), ["old.html"], "{diff:#}");
        assert_eq!([urls(&diff, "gone"), urls(&diff, "back")], [const { Vec::<String>::new() }; 2], "{diff:#}");
        let changed = diff["changed"].as_array().cloned().unwrap_or_default();
        let news = changed.iter().find(|page| page["title"] == "News!").expect("the news have changed");
        let [removed, added] = ["removed", "added"].map(|side| news["sentences"][side].clone());
        if warc {
            assert_eq!(
                (&removed, &added),
                (
                    &serde_json::json!([format!("{}.", words(10, 80))]),
                    &serde_json::json!([format!("{}.", words(20, 80))]),
                )
            );
        } else {
            assert_eq!((removed, added), (Value::Null, Value::Null));
        }
        assert!(!urls(&diff, "changed").contains(&"about.html".to_owned()), "{diff:#}");

        let (_, text, _) = run(&["diff"], &dir)?;
        assert!(text.contains("1 new, ") && text.contains("  http://a.test/fresh.html  fresh\n"), "{text}");
        assert_eq!(text.contains(&format!("    + {}", &words(20, 80)[..100])), warc, "{text}");

        // In a second round, the page that was missing is gone. A third round comes after the page is back.
        assert_eq!(run(&round, &dir)?.0, Some(0));
        let diff: Value = serde_json::from_str(&run(&["diff", "--json"], &dir)?.1)?;
        assert_eq!((urls(&diff, "gone"), urls(&diff, "new").len()), (vec!["old.html".to_owned()], 0), "{diff:#}");
        write(folder.path())?;
        let mut rounds = 0;
        let diff = loop {
            assert_eq!(run(&round, &dir)?.0, Some(0));
            let diff: Value = serde_json::from_str(&run(&["diff", "--json"], &dir)?.1)?;
            rounds += 1;
            // Pages that are gone are asked for more and more seldom: within seconds, this means every second or third
            // round.
            if !urls(&diff, "back").is_empty() || rounds == 200 {
                break diff;
            }
        };
        assert_eq!(urls(&diff, "back"), ["old.html"], "{diff:#}");
        let whole: Value = serde_json::from_str(&run(&["diff", "--json", "--since", "2001-01-01"], &dir)?.1)?;
        assert!(urls(&whole, "new").len() >= 5, "since the beginning everything is new: {whole:#}");
        assert_eq!(run(&["diff", "--since", "yesterday"], &dir)?.0, Some(2));
    }
    Ok(())
}

/// Catches pages that are called unchanged although nobody has compared them: a body that was cut, and a picture that was
/// not read.
#[test]
fn what_nobody_compared_is_not_called_unchanged() -> anyhow::Result<()> {
    let (folder, base) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let put = |name: &str, text: String| fs::write(folder.path().join(name), text);
    put("index.html", format!("<p>{}</p><a href=long.html>l</a> <img src=p.png><a href=p.png>p</a>", words(1, 60)))?;
    let sites = Arc::new(Sites::new([("a.test".to_owned(), folder.path().to_owned())], Noise::default())?);
    let server = Background::start(|listener| Arc::clone(&sites).run(listener))?;
    let dir = base.path().join("crawl");
    for round in [0_u64, 1] {
        put("long.html", format!("<p>{}</p>", words(2 + round, 4_000)))?;
        put("p.png", format!("PNG {}", words(12 + round, 10 + round)))?;
        let connect_to = server.connect_to();
        let more = [
            ("fetch.connect-to", connect_to.as_str()),
            ("fetch.max-body", "10KiB"),
            ("fetch.recrawl", if round > 0 { "true" } else { "false" }),
        ];
        let settings = settings(&more)?;
        let seeds = ["http://a.test/index.html".to_owned()];
        crawl_with(HttpFetch::new(&settings)?, &Clock::System, &dir, &seeds, &settings)?;
    }
    let diff: Value = serde_json::from_str(&run(&["diff", "--json"], &dir)?.1)?;
    assert_eq!((&diff["unchanged"], &diff["not_compared"]), (&1.into(), &2.into()), "{diff:#}");
    let (_, text, _) = run(&["diff"], &dir)?;
    assert!(text.contains(" 1 unchanged, 2 not compared"), "{text}");
    Ok(())
}

/// A real manual, and its next version in its place. The test compares what `diff` reports with the files.
#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn the_next_version_of_a_manual_is_told_right() -> anyhow::Result<()> {
    let (Some(old), Some(new)) = (data::docs("postgresql-15")?, data::docs("postgresql-17")?) else { return Ok(()) };
    let (folder, base) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let fill = |from: &Path| -> anyhow::Result<()> {
        for file in fs::read_dir(folder.path())? {
            fs::remove_file(file?.path())?;
        }
        for file in fs::read_dir(from)? {
            let file = file?;
            if file.path().extension().is_some_and(|extension| extension == "html") {
                fs::copy(file.path(), folder.path().join(file.file_name()))?;
            }
        }
        Ok(())
    };
    fill(&old)?;
    let sites = Arc::new(Sites::new([("a.test".to_owned(), folder.path().to_owned())], Noise::default())?);
    let server = Background::start(|listener| Arc::clone(&sites).run(listener))?;
    let connect_to = server.connect_to();
    let crawl = |more: &[(&str, &str)]| {
        let always = [("fetch.connect-to", connect_to.as_str()), ("output.warc", "true")];
        let more: Vec<_> = more.iter().copied().chain(always).collect();
        let settings = settings(&more)?;
        let seeds = ["http://a.test/index.html".to_owned()];
        crawl_with(HttpFetch::new(&settings)?, &Clock::System, &base.path().join("crawl"), &seeds, &settings)
    };
    let first = crawl(&[])?;
    fill(&new)?;
    let before = sites.asked().len();
    let round = crawl(&[("fetch.recrawl", "true")])?.stats.round.expect("a round");
    println!(
        "{} pages, then {} requests: {} visits, {} copies trusted, {} checked",
        first.stats.pages,
        sites.asked().len() - before,
        round.visits,
        round.trusted,
        round.checked
    );
    let diff = Diff::read(&base.path().join("crawl"), round.started, None)?;
    let names = |pages: &[crawler::diff::Page]| -> BTreeSet<String> {
        pages.iter().map(|page| page.url.trim_start_matches("http://a.test/").to_owned()).collect()
    };
    let (added, changed, missing) = (names(&diff.new), names(&diff.changed), names(&diff.missing));
    let is_in = |folder: &Path, name: &String| folder.join(name).exists();
    assert!(added.iter().all(|name| !is_in(&old, name) && is_in(&new, name)), "new pages are new: {added:?}");
    assert!(missing.iter().all(|name| !is_in(&new, name)), "missing pages are missing: {missing:?}");
    assert!(added.len() > 20 && missing.len() > 20, "{} and {}", added.len(), missing.len());
    // `noticing` tests page by page which pages count as changed. This test looks at what people are shown.
    assert!(changed.len() > 100 && changed.iter().all(|name| is_in(&new, name)), "{changed:?}");
    let (mut shown, mut found) = (0, 0);
    for page in &diff.changed {
        let Some(sentences) = &page.sentences else { continue };
        let name = page.url.trim_start_matches("http://a.test/");
        for (folder, sentences) in [(&old, &sentences.removed), (&new, &sentences.added)] {
            let html = fs::read_to_string(folder.join(name))?;
            shown += sentences.len();
            found += sentences.iter().filter(|text| html.contains(text.split(' ').next().unwrap_or("?"))).count();
        }
    }
    println!("{} pages changed, {shown} sentences", changed.len());
    // Within some words there are markup and entities.
    assert!(shown > 1_000 && found * 10 > shown * 9, "{found} of {shown}");
    Ok(())
}

/// Catches pages that are called unchanged although they ask now not to be listed, or name another canonical URL.
#[test]
fn what_pages_say_about_themselves_is_compared() -> anyhow::Result<()> {
    let (folder, base) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let put = |name: &str, head: &str, text: u64| {
        fs::write(folder.path().join(name), format!("{head}<title>{name}</title><p>{}</p>", words(text, 80)))
    };
    let [hidden, this, other] = [
        "<meta name=robots content=noindex>",
        "<link rel=canonical href=http://a.test/this>",
        "<link rel=canonical href=http://a.test/other>",
    ];
    let links = ["in", "out", "canonical", "plain"].map(|name| format!("<a href={name}.html>{name}</a> ")).concat();
    put("index.html", &links, 1)?;
    put("plain.html", this, 2)?;
    let sites = Arc::new(Sites::new([("a.test".to_owned(), folder.path().to_owned())], Noise::default())?);
    let server = Background::start(|listener| Arc::clone(&sites).run(listener))?;
    let dir = base.path().join("crawl");
    for (recrawl, heads) in [("false", ["", hidden, this]), ("true", [hidden, "", other])] {
        for (name, head) in ["in.html", "out.html", "canonical.html"].into_iter().zip(heads) {
            put(name, head, 10 + name.len() as u64)?;
        }
        let connect_to = server.connect_to();
        let settings = settings(&[("fetch.connect-to", &connect_to), ("fetch.recrawl", recrawl)])?;
        let seeds = ["http://a.test/index.html".to_owned()];
        crawl_with(HttpFetch::new(&settings)?, &Clock::System, &dir, &seeds, &settings)?;
    }
    let diff: Value = serde_json::from_str(&run(&["diff", "--json"], &dir)?.1)?;
    assert_eq!(urls(&diff, "restated"), ["canonical.html", "in.html", "out.html"], "{diff:#}");
    assert_eq!(diff["unchanged"], 2, "{diff:#}");
    let said = |n: usize, field: &str| diff["restated"][n]["restated"][field].clone();
    assert_eq!([said(1, "noindex"), said(1, "noindex_before")], [Value::Bool(true), Value::Bool(false)]);
    assert_eq!([said(2, "noindex"), said(2, "noindex_before")], [Value::Bool(false), Value::Bool(true)]);
    let canonical = [said(0, "canonical"), said(0, "canonical_before")];
    assert_eq!(canonical, ["http://a.test/other".into(), "http://a.test/this".into()] as [Value; 2]);
    let text = run(&["diff"], &dir)?.1;
    assert!(text.contains(" 3 restated, 2 unchanged\n"), "{text}");
    assert!(text.contains("(canonical URL: http://a.test/other; it was http://a.test/this)\n"), "{text}");
    Ok(())
}

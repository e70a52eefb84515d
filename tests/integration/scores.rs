//! `--score-with`: good pages come first, and the crawl continues whatever the program does.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tests::choosing::Scored;
use tests::crawl::{Crawled, lines, text};
use tests::programs::beside;
use tests::scripted::words;
use tests::told::{Answer, Asked, Told, html, missing};

/// A patience that is longer than any program needs.
const LONG: &str = "60s";
/// The number of pages of the site.
const PAGES: u64 = 30;

/// A site with a chain of pages. Every third page is good.
fn site(asked: &Asked) -> Answer {
    let n = match asked.target.strip_prefix("/p") {
        Some(n) => n.parse().ok().filter(|n| *n < PAGES),
        None => (asked.target == "/").then_some(0),
    };
    let Some(n) = n else { return missing() };
    let fine = if n % 3 == 0 { "fine ".repeat(200) } else { String::new() };
    html(format!(
        "<title>Page {n}</title><p>{fine}{}</p><a href=/p{}>on</a> <a href=/p{}>far</a>",
        words(n, 200),
        n + 1,
        n + 2
    ))
}

/// Crawls the site with the program under these arguments. `patience` is `--score-timeout`.
fn crawl(dir: &Path, arguments: &str, patience: &str) -> anyhow::Result<Crawled> {
    let program = format!("{} {arguments}", beside("score-words")?.display());
    let keys = [("focus.score-with", program.as_str()), ("focus.score-timeout", patience)];
    Told::new(site)?.crawl(dir, "http://s.test/", &keys)
}

/// The numbers of the pages, with their relevance.
fn scores(crawled: &Crawled) -> Vec<(u64, Option<f64>)> {
    let pages = crawled.pages.iter().filter(|page| page["status"] == 200);
    let number = |page: &Value| text(page, "url").rsplit_once("/p").and_then(|(_, n)| n.parse().ok()).unwrap_or(0);
    pages.map(|page| (number(page), page["relevance"].as_f64())).collect()
}

#[test]
fn pages_have_the_scores_that_the_program_gives() -> anyhow::Result<()> {
    for arguments in ["", "--bare", "--backwards"] {
        let dir = tempfile::tempdir()?;
        let crawled = crawl(dir.path(), arguments, LONG)?;
        let scores = scores(&crawled);
        assert_eq!(scores.len() as u64, PAGES, "{scores:?}");
        for (page, score) in scores {
            let score = score.unwrap_or(-1.0);
            assert!(if page % 3 == 0 { score > 0.9 } else { score == 0.0 }, "{arguments}: page {page} has {score}");
        }
        assert_eq!((crawled.stats.scored, crawled.stats.unscored), (PAGES, 0));
    }
    Ok(())
}

#[test]
fn a_question_has_url_title_language_and_text() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    crawl(dir.path(), &format!("--log {}", dir.path().join("asked.jsonl").display()), LONG)?;
    let asked = lines(dir.path(), "asked.jsonl")?;
    let first = asked.iter().find(|question| question["url"] == "http://s.test/p1").expect("page 1 is asked about");
    assert_eq!(first["title"], "Page 1");
    assert!(text(first, "text").contains(words(1, 200).split(' ').nth(50).expect("a word")), "{first}");
    assert!(first["id"].is_u64() && first["more"].is_u64() && first.get("language").is_some(), "{first}");
    Ok(())
}

#[test]
fn a_crawl_goes_on_whatever_the_program_does() -> anyhow::Result<()> {
    for (arguments, least) in [
        // The program is started again, and asked again about the pages that it left open.
        ("--dies-after 3", PAGES - 5),
        ("--hangs-after 8", 8),
        // A page that ends the program twice is given up. Then the program rests for a second.
        ("--dies-of 'Page 7\"'", 6),
        ("--says nonsense", 0),
        ("--says '{\"id\":99999,\"score\":1}'", 0),
        ("--says 2", 0),
        ("--no-such-flag", 0),
    ] {
        let dir = tempfile::tempdir()?;
        let patience = if arguments.starts_with("--hangs") { "1s" } else { LONG };
        let crawled = crawl(dir.path(), arguments, patience)?;
        assert_eq!(scores(&crawled).len() as u64, PAGES, "{arguments}: every page is fetched");
        let (scored, unscored) = (crawled.stats.scored, crawled.stats.unscored);
        assert!(scored >= least && scored + unscored == PAGES, "{arguments}: {scored} scored, {unscored} not");
        let recovers = ["--dies-after", "--hangs-after"].iter().any(|flag| arguments.starts_with(flag));
        assert!(unscored > 0 || recovers, "{arguments}: all are scored");
    }
    Ok(())
}

#[test]
fn a_command_that_is_none_costs_its_scores_alone() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let crawled = Told::new(site)?.crawl(dir.path(), "http://s.test/", &[("focus.score-with", "/no/such/program")])?;
    assert_eq!((crawled.stats.scored, crawled.stats.unscored), (0, PAGES));
    Ok(())
}

/// How much sooner depends on the web; `focused --planted` measures it. This test checks only that scores help in each
/// web.
#[test]
fn good_texts_are_found_sooner() -> anyhow::Result<()> {
    for seed in [5, 6] {
        let run = Scored::run(1_000, 1, 0.8, seed)?;
        let ratio = run.ratio(0.95);
        println!("seed {seed}: {} good texts, ratio {ratio:.3}", run.good);
        assert!(ratio < 0.75, "seed {seed}: {ratio:.3} of the fetches of breadth first");
    }
    Ok(())
}

#[test]
fn a_focused_crawl_about_nothing_says_what_to_give() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let mut program = Command::new(beside("crawler-under-test")?);
    let run = program.args(["crawl", "http://s.test/", "--profile", "focused", "--dir"]).arg(dir.path()).output()?;
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains("--topic") && said.contains("--score-with"), "{said}");
    Ok(())
}

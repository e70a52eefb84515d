//! A site must not harm another: by robots.txt files that lead to one place, chains of redirects, endless ports, or
//! names that end with a dot. Each test is a whole crawl, seen from outside.

use std::collections::BTreeSet;
use std::path::Path;

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, moved, words};
use url::Url;

const MODES: [&str; 3] = ["drop", "demote", "keep"];

fn run(fetch: &Scripted, clock: &Clock, dir: &Path, seeds: &[&str], keys: &[(&str, &str)]) -> anyhow::Result<Crawled> {
    let seeds: Vec<String> = seeds.iter().map(|seed| (*seed).to_owned()).collect();
    crawl_with(fetch.clone(), clock, dir, &seeds, &settings(keys)?)
}

/// A site with this number of pages in a row. On each host, each page has its own text.
fn row(url: &Url, pages: u64) -> Answer {
    let number: u64 = url.path().trim_start_matches("/p").parse().unwrap_or(0);
    if number >= pages || url.path() == "/robots.txt" {
        return missing();
    }
    let host = url.host_str().unwrap_or_default().bytes().fold(7u64, |sum, byte| sum * 31 + u64::from(byte));
    html(format!("<p>{}</p><a href=/p{}>next</a>", words(host ^ number, 60), number + 1))
}

fn answered(crawled: &Crawled, host: &str) -> BTreeSet<String> {
    let pages = crawled.pages.iter().filter(|page| page["status"] == 200);
    pages.map(|page| text(page, "url").to_owned()).filter(|url| url.split('/').nth(2) == Some(host)).collect()
}

/// Catches a request for a robots.txt that serves one host only: if the robots.txt of several hosts (here five)
/// redirect to one URL, all hosts are crawled, and that URL is asked for at most once for each host.
#[test]
fn hosts_whose_robots_lead_to_one_url_are_all_crawled() -> anyhow::Result<()> {
    let hosts: Vec<String> = (0..5).map(|host| format!("site{host}.test")).collect();
    let seeds: Vec<String> = hosts.iter().map(|host| format!("http://{host}/p0")).collect();
    for target in ["http://rules.example/robots.txt", "http://site0.test/common.txt"] {
        let clock = Clock::at(1_700_000_000_000);
        let fetch = Scripted::new(&clock, move |url, _| match (url.host_str().unwrap_or_default(), url.path()) {
            ("rules.example", _) | (_, "/common.txt") => {
                Answer { content_type: "text/plain", ..html("User-agent: *\nDisallow: /p7\n") }
            }
            (_, "/robots.txt") => moved(target),
            _ => row(url, 12),
        });
        let dir = tempfile::tempdir()?;
        let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
        let crawled = run(&fetch, &clock, dir.path(), &seeds, &[])?;
        for host in &hosts {
            let pages = answered(&crawled, host);
            assert_eq!(pages.len(), 7, "{target}: {host}: {pages:?}");
            let forbidden = format!("http://{host}/p7");
            assert!(
                crawled.skipped.iter().any(|line| text(line, "url") == forbidden),
                "{target}: the rules hold for {host}"
            );
        }
        assert!(fetch.times(target) <= hosts.len(), "{target} was asked for {} times", fetch.times(target));
    }
    Ok(())
}

/// Catches a count of hops that is carried to another site: a chain of redirects that ends at the victim's front page
/// must not harm the victim, to which another page links directly.
#[test]
fn hops_of_one_site_are_not_counted_against_another() -> anyhow::Result<()> {
    for (mode, hops) in MODES.into_iter().zip([8, 9, 12]) {
        let clock = Clock::at(1_700_000_000_000);
        let fetch = Scripted::new(&clock, move |url, _| chained(url, hops));
        let dir = tempfile::tempdir()?;
        let seeds = ["http://attacker.test/", "http://other.test/p0", "http://victim.test/p5"];
        let keys = [("dedup.on-duplicate", mode), ("scope.scope", "any")];
        let crawled = run(&fetch, &clock, dir.path(), &seeds, &keys)?;
        assert_eq!(
            answered(&crawled, "victim.test").len(),
            10,
            "{mode}, {hops} hops: {:?} {:?}",
            crawled.urls(),
            crawled.skipped
        );
    }
    Ok(())
}

/// The attacker with its chain, its victim, and a third site that links to the victim's front page at the end.
fn chained(url: &Url, hops: u64) -> Answer {
    let number: u64 = url.path().trim_start_matches("/hop").parse().unwrap_or(0);
    match (url.host_str().unwrap_or_default(), url.path()) {
        (_, "/robots.txt") => missing(),
        ("attacker.test", "/") => html(format!("<p>{}</p><a href=/hop0>h</a>", words(1, 60))),
        ("attacker.test", _) if number < hops => moved(&format!("/hop{}", number + 1)),
        ("attacker.test", _) => moved("http://victim.test/"),
        ("victim.test", "/") => moved("/en"),
        ("victim.test", "/en") => moved("/p0"),
        ("other.test", "/p14") => html(format!("<p>{}</p><a href=http://victim.test/>v</a>", words(99, 60))),
        ("other.test", _) => row(url, 15),
        _ => row(url, 10),
    }
}

/// Catches a table of ports that one page can fill: links to sixty ports of a host that is not known yet must not
/// displace its real pages.
#[test]
fn ports_without_end_do_not_push_out_the_real_one() -> anyhow::Result<()> {
    for mode in MODES {
        let clock = Clock::at(1_700_000_000_000);
        let fetch = Scripted::new(&clock, |url, _| match (url.host_str().unwrap_or_default(), url.port()) {
            ("attacker.test", _) if url.path() == "/" => {
                let ports: String =
                    (1..=60).map(|port| format!("<a href=http://victim.test:{}/>p</a> ", 1_000 + port)).collect();
                html(format!("<p>{}</p>{ports}<a href=/late>l</a>", words(1, 60)))
            }
            ("attacker.test", _) if url.path() == "/late" => {
                html(format!("<p>{}</p><a href=http://victim.test/p0>v</a>", words(2, 60)))
            }
            ("victim.test", None) => row(url, 12),
            _ => missing(),
        });
        let dir = tempfile::tempdir()?;
        let keys = [("dedup.on-duplicate", mode), ("scope.scope", "any")];
        let crawled = run(&fetch, &clock, dir.path(), &["http://attacker.test/"], &keys)?;
        assert_eq!(answered(&crawled, "victim.test").len(), 12, "{mode}: {:?}", crawled.urls());
    }
    Ok(())
}

/// Catches a host that counts as two because its name ends with a dot, or is written in capitals: under every spelling
/// it is asked at its own pace.
#[test]
fn a_host_is_asked_at_its_pace_under_every_spelling_of_its_name() -> anyhow::Result<()> {
    let clock = Clock::at(1_700_000_000_000);
    let fetch = Scripted::new(&clock, |url, _| {
        let number: u64 = url.path().trim_start_matches("/p").parse().unwrap_or(0);
        if url.path() == "/robots.txt" || number >= 40 {
            return missing();
        }
        let hosts = ["a.test", "a.test.", "A.Test"];
        let links: String = (1..=3)
            .map(|step| format!("<a href=http://{}/p{}>n</a> ", hosts[step % 3], number + step as u64))
            .collect();
        html(format!("<p>{}</p>{links}", words(number, 60)))
    });
    let dir = tempfile::tempdir()?;
    let keys = [("politeness.delay", "1s"), ("limits.patience", "1h"), ("scope.scope", "any")];
    let crawled = run(&fetch, &clock, dir.path(), &["http://a.test/p0", "http://a.test./p20"], &keys)?;
    let numbers: BTreeSet<String> =
        crawled.pages.iter().filter_map(|page| Some(text(page, "url").rsplit('/').next()?.to_owned())).collect();
    assert!(numbers.len() >= 40, "{numbers:?}");
    let times: Vec<u64> = fetch.asked().iter().map(|(at, _)| *at).collect();
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| *gap >= 1_000), "{:?}", fetch.asked());
    // Each page is fetched once, under whatever name.
    assert!(crawled.pages.len() <= 44, "{:?}", crawled.urls());
    Ok(())
}

/// Catches a body that does not fit and is fetched for ever: it must be asked for as often as `--attempts` says, or a
/// few times more, and then be given up with a reason.
#[test]
fn a_body_that_never_fits_is_given_up() -> anyhow::Result<()> {
    let clock = Clock::at(1_700_000_000_000);
    let fetch = Scripted::new(&clock, |url, _| match url.path() {
        "/p3" => html(format!("<p>{}</p>", "word ".repeat(60_000))),
        _ => row(url, 3),
    });
    let dir = tempfile::tempdir()?;
    let keys = [("fetch.max-body", "40KiB"), ("fetch.body-budget", "40KiB"), ("limits.patience", "1h")];
    let crawled = run(&fetch, &clock, dir.path(), &["http://a.test/p0", "http://a.test/p3"], &keys)?;
    let times = fetch.times("http://a.test/p3");
    assert!(times <= 12, "asked for {times} times");
    assert_eq!(answered(&crawled, "a.test").len(), 3, "{:?}", crawled.urls());
    let line = crawled.pages.iter().find(|page| text(page, "url").ends_with("/p3")).expect("a line");
    assert!(line["status"].is_null() && !text(line, "error").is_empty(), "{line}");
    assert_eq!(crawled.stats.failures.get("no_room"), Some(&1), "{:?}", crawled.stats);
    Ok(())
}

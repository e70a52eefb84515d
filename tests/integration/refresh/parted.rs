//! Copies that show something else later: what learned rules stopped is fetched, and a mirror that is parked is found.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use tests::crawl::{Crawled, crawl_with, settings};
use tests::scripted::{Scripted, html, missing, moved, words};

use super::reach::Mirrored;
use super::{DAY, copy};

const PAGES: u64 = 160;

/// The pages of `/new/` that were requested after some rounds. `/new/` has the pages of `/old/`. After the first crawl,
/// both folders change in this way.
fn requested(change: &'static str) -> anyhow::Result<(usize, usize)> {
    let (has_changed, clock) = (Arc::new(AtomicBool::new(false)), Clock::at(1_700_000_000_000));
    let changed = Arc::clone(&has_changed);
    let fetch = Scripted::new(&clock, move |url, _| {
        let parts: Vec<&str> = url.path().trim_start_matches('/').split('/').collect();
        let number = parts.last().and_then(|number| number.parse::<u64>().ok());
        let page = |seed: u64, links: &str| html(format!("<title>t</title><p>{}</p>{links}", words(seed, 120)));
        let list = |from: u64| -> String {
            let numbers = ["old", "new"].into_iter().flat_map(|folder| (from..from + 20).map(move |to| (folder, to)));
            numbers.map(|(folder, to)| format!("<a href=/{folder}/{to}>{folder} {to}</a> ")).collect()
        };
        match (parts[0], number, changed.load(Ordering::Relaxed).then_some(change)) {
            ("", ..) => {
                page(9_000, &(0..PAGES / 20).map(|to| format!("<a href=/list/{to}>{to}</a> ")).collect::<String>())
            }
            ("list", Some(number), _) => page(9_100 + number, &list(number * 20)),
            ("new", Some(number), Some("diverge")) => page(20_000 + number, ""),
            // This page differs from the beginning. The rule is right for all others.
            ("new", Some(number @ 1), _) if change == "exception" => page(30_000 + number, ""),
            ("old", Some(_), Some("login")) => html("<title>Log in</title><p>Please log in.</p>"),
            ("old", Some(_), Some("redirect")) => moved("/"),
            ("old" | "new", Some(number), _) if number < PAGES => page(number, ""),
            _ => missing(),
        }
    });
    let dir = tempfile::tempdir()?;
    let run = |more: &[(&str, &str)]| -> anyhow::Result<Crawled> {
        let all: Vec<_> = more.iter().copied().chain([("politeness.delay", "1ms")]).collect();
        crawl_with(fetch.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings(&all)?)
    };
    let of_new = || {
        let asked: BTreeSet<_> = fetch.asked().into_iter().map(|(_, url)| url.path().to_owned()).collect();
        asked.into_iter().filter(|path| path.starts_with("/new/")).count()
    };
    run(&[])?;
    let before = of_new();
    has_changed.store(true, Ordering::Relaxed);
    for _ in 0..5 {
        clock.skip_to(clock.now() + 2 * DAY);
        run(&[("fetch.recrawl", "true")])?;
    }
    Ok((before, of_new()))
}

/// Catches pages that stay stopped although each visit shows that the rule is wrong by now.
#[test]
fn what_a_rule_stopped_is_fetched_if_its_pages_differ_later() -> anyhow::Result<()> {
    for change in ["diverge", "login", "redirect"] {
        let (before, after) = requested(change)?;
        assert!(before < PAGES as usize - 10, "the rule stops some pages: {before} were fetched");
        assert_eq!(after, PAGES as usize, "{change}");
    }
    Ok(())
}

/// Catches a rule that is withdrawn because of a page that differed before it was proven.
#[test]
fn a_rule_that_is_as_right_as_before_still_stops_what_it_stopped() -> anyhow::Result<()> {
    for change in ["nothing", "exception"] {
        let (before, after) = requested(change)?;
        assert!(before < PAGES as usize - 10, "the rule stops some pages: {before} were fetched");
        assert!(after <= before + 2, "{change}: {before}, and later {after}");
    }
    Ok(())
}

/// Catches pages of a mirror that stay held as copies although the mirror goes its own way by now: most of them were
/// never fetched, so no visit can find what they show.
#[test]
fn what_is_held_as_copies_is_fetched_if_the_copies_part() -> anyhow::Result<()> {
    // Learned rules would stop what is held here.
    const BASIC: [(&str, &str); 3] = [("politeness.delay", "1ms"), ("scope.scope", "any"), ("dedup.rules", "false")];
    for (mirror, parts) in [("b.test", true), ("b.test", false), ("b.a.test", true)] {
        let (round, clock) = (Arc::new(AtomicU64::new(0)), Clock::at(1_700_000_000_000));
        let now = Arc::clone(&round);
        let fetch = Scripted::new(&clock, move |url, _| {
            let links = || (1..=PAGES).map(|to| format!("<a href=/{to}>{to}</a> ")).collect::<String>();
            let far = if url.host_str() == Some("a.test") {
                format!("<a href=http://{mirror}/>mirror</a>")
            } else {
                String::new()
            };
            let number: u64 = url.path().trim_start_matches('/').parse().unwrap_or(0);
            let has_parted = parts && now.load(Ordering::Relaxed) > 0 && url.host_str() == Some(mirror);
            match url.path() {
                "/" => html(format!("<title>t</title><p>{}</p>{}{far}", words(9_999, 200), links())),
                "/robots.txt" => missing(),
                _ if has_parted && number % 2 == 1 => {
                    html(format!("<title>t</title><p>{}</p>", words(50_000 + number, 120)))
                }
                _ => html(format!("<title>t</title><p>{}</p>", words(number, 120))),
            }
        });
        let dir = tempfile::tempdir()?;
        let run = |more: &[(&str, &str)]| -> anyhow::Result<Crawled> {
            let all: Vec<_> = more.iter().copied().chain(BASIC).collect();
            crawl_with(fetch.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings(&all)?)
        };
        let of_mirror = || {
            let asked = fetch.asked().into_iter().filter(|(_, url)| url.host_str() == Some(mirror));
            asked
                .map(|(_, url)| url.path().to_owned())
                .filter(|path| path != "/robots.txt")
                .collect::<BTreeSet<_>>()
                .len()
        };
        run(&[])?;
        let before = of_mirror();
        assert!(before < PAGES as usize / 2, "most pages of the mirror are held: {before} were fetched");
        for _ in 0..3 {
            round.fetch_add(1, Ordering::Relaxed);
            clock.skip_to(clock.now() + 2 * DAY);
            run(&[("fetch.recrawl", "true")])?;
        }
        let after = of_mirror();
        match parts {
            true => assert_eq!(after, PAGES as usize + 1, "{before} before"),
            false => assert!(after < PAGES as usize / 2, "{before} before, {after} after, and nothing has changed"),
        }
    }
    Ok(())
}

/// Catches a mirror whose pages all show one notice by now, and that is still trusted: each page is a copy, but not of
/// its original.
#[test]
fn a_mirror_that_shows_one_notice_everywhere_is_no_copy_any_more() -> anyhow::Result<()> {
    let diverged =
        rounds_after(|| html("<title>Closed</title><p>This site is closed. Thank you for your visits.</p>"))?;
    assert!(diverged >= 3, "{diverged} of 12 were found to differ");
    Ok(())
}

/// Catches a mirror without pages that is still trusted, because a page that is missing, or that redirects, shows
/// nothing that differs.
#[test]
fn a_mirror_without_pages_is_no_copy_any_more() -> anyhow::Result<()> {
    rounds_after(missing)?;
    rounds_after(|| moved("http://a.test/"))?;
    Ok(())
}

/// After the third round, all copies of a host answer like this. Asserts that all of them were visited within six
/// rounds more. Returns the number of those that were found to differ.
fn rounds_after(answers: fn() -> Answer) -> anyhow::Result<u64> {
    let site = Mirrored::new(move |host, path, round| {
        let is_parked = round >= 3 && host == "two.test" && (1..=12).any(|number| path == copy(number));
        is_parked.then(answers)
    })?;
    let (mut diverged, mut left, mut seen) = (0, 0, BTreeSet::new());
    for round in 2..=9 {
        let (asked, crawled) = site.refresh()?;
        let made = crawled.stats.round.clone().expect("a round was made");
        assert!(round >= 3 || made.diverged + made.left == 0, "{made:?}");
        (diverged, left) = (diverged + made.diverged, left + made.left);
        if round >= 3 {
            seen.extend(asked.into_iter().filter(|url| url.starts_with("http://two.test/")));
        }
    }
    assert!(left > 0 && seen.len() == 12, "{left} left their clusters, and these were visited: {seen:?}");
    Ok(diverged)
}

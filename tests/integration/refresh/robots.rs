//! A robots.txt that has forbidden all that was met of its host, and that says something else later. No page of the host
//! has a turn, so nothing but the round itself asks for this file again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, words};

use super::DAY;

/// `a.test` links to two pages of each of `opens.test`, which forbids everything at first and then only `/x`, and
/// `shut.test`, which always forbids everything.
struct Web {
    fetch: Scripted,
    clock: Clock,
    round: Arc<AtomicU64>,
    dir: tempfile::TempDir,
}

impl Web {
    fn new() -> anyhow::Result<Self> {
        let (round, clock) = (Arc::new(AtomicU64::new(1)), Clock::at(1_700_000_000_000));
        let now = Arc::clone(&round);
        let fetch = Scripted::new(&clock, move |url, _| {
            let robots =
                |rules: &str| Answer { content_type: "text/plain", ..html(format!("User-agent: *\n{rules}\n")) };
            match (url.host_str().unwrap_or_default(), url.path()) {
                ("a.test", "/") => html(format!(
                    "<p>{}</p><a href=http://opens.test/>1</a> <a href=http://opens.test/x>2</a> \
                     <a href=http://shut.test/>3</a> <a href=http://shut.test/x>4</a>",
                    words(0, 80)
                )),
                ("opens.test", "/robots.txt") if now.load(Ordering::Relaxed) >= 3 => robots("Disallow: /x"),
                ("opens.test" | "shut.test", "/robots.txt") => robots("Disallow: /"),
                ("opens.test", "/") => html(format!("<p>{}</p><a href=/more>more</a>", words(1, 80))),
                ("opens.test" | "shut.test", path) if path != "/robots.txt" => html(words(path.len() as u64, 80)),
                _ => missing(),
            }
        });
        Ok(Self { fetch, clock, round, dir: tempfile::tempdir()? })
    }

    fn run(&self, more: &[(&str, &str)]) -> anyhow::Result<(Vec<(u64, String)>, Crawled)> {
        let before = self.fetch.asked().len();
        let basic = [("scope.scope", "any"), ("politeness.delay", "1s"), ("limits.patience", "1m")];
        let all: Vec<_> = basic.iter().chain(more).copied().collect();
        let seeds = ["http://a.test/".to_owned()];
        let crawled = crawl_with(self.fetch.clone(), &self.clock, self.dir.path(), &seeds, &settings(&all)?)?;
        let asked = self.fetch.asked().into_iter().skip(before).map(|(at, url)| (at, url.to_string()));
        Ok((asked.collect(), crawled))
    }
}

fn of<'a>(host: &str, asked: &'a [(u64, String)]) -> Vec<&'a str> {
    let begin = format!("http://{host}");
    asked.iter().filter_map(|(_, url)| url.strip_prefix(&begin)).collect()
}

fn assert_polite(asked: &[(u64, String)]) {
    for host in ["opens.test", "shut.test"] {
        let begin = format!("http://{host}");
        let times: Vec<u64> = asked.iter().filter(|(_, url)| url.starts_with(&begin)).map(|(at, _)| *at).collect();
        assert!(times.is_sorted_by(|one, next| next - one >= 1_000), "{host}: {times:?}");
    }
}

/// Catches a host that is never asked for its robots.txt again, one that is asked more than once in a round or although
/// its rules have not expired, and URLs that are queued although the new rules forbid them, too.
#[test]
fn a_robots_txt_that_forbade_everything_is_asked_for_again_in_each_round() -> anyhow::Result<()> {
    let web = Web::new()?;
    let (asked, first) = web.run(&[])?;
    assert_eq!((of("opens.test", &asked), of("shut.test", &asked)), (vec!["/robots.txt"], vec!["/robots.txt"]));
    assert_eq!((first.pages.len(), first.skipped.len()), (1, 4));
    for (round, skip) in [(2, DAY / 2), (2, DAY), (3, 2 * DAY), (4, 2 * DAY)] {
        web.round.store(round, Ordering::Relaxed);
        web.clock.skip_to(web.clock.now() + skip);
        let (asked, crawled) = web.run(&[("fetch.recrawl", "true")])?;
        assert_polite(&asked);
        let (opens, shut) = match (round, skip) {
            (2, skip) if skip < DAY => (vec![], vec![]),
            (2, _) => (vec!["/robots.txt"], vec!["/robots.txt"]),
            (3, _) => (vec!["/robots.txt", "/", "/more"], vec!["/robots.txt"]),
            _ => (vec!["/robots.txt", "/", "/more"], vec!["/robots.txt"]),
        };
        let set = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
        assert_eq!(of("opens.test", &asked).len(), opens.len(), "round {round}: {asked:?}");
        assert_eq!(set(of("opens.test", &asked)), set(opens), "round {round}");
        assert_eq!(of("shut.test", &asked), shut, "round {round}");
        let skipped: BTreeSet<&str> = crawled.skipped.iter().map(|line| text(line, "url")).collect();
        assert_eq!(skipped.len(), if round < 3 { 4 } else { 3 }, "{skipped:?}");
        assert_eq!(skipped.contains("http://opens.test/"), round < 3);
    }
    Ok(())
}

/// Catches a crawl without end that never asks for such a robots.txt again, and one that asks before its rules have
/// expired.
#[test]
fn a_crawl_without_end_asks_for_it_again_when_its_rules_have_expired() -> anyhow::Result<()> {
    let web = Web::new()?;
    let continuous = [("refresh.continuous", "true"), ("limits.time-limit", "3d")];
    let (asked, _) = web.run(&continuous)?;
    assert_polite(&asked);
    let times: Vec<u64> =
        asked.iter().filter(|(_, url)| url == "http://shut.test/robots.txt").map(|(at, _)| *at).collect();
    assert!((3..=4).contains(&times.len()), "{times:?}");
    assert!(times.is_sorted_by(|one, next| next - one >= DAY && next - one <= DAY + DAY / 12), "{times:?}");
    assert_eq!(of("shut.test", &asked).len(), times.len(), "nothing else is asked for");
    web.round.store(3, Ordering::Relaxed);
    let (asked, _) = web.run(&continuous)?;
    assert_polite(&asked);
    let opens = of("opens.test", &asked);
    assert!(opens.contains(&"/") && opens.contains(&"/more") && !opens.contains(&"/x"), "{opens:?}");
    Ok(())
}

/// Catches URLs of a copied site that stay held for pages of the original that robots.txt has come to forbid: nobody
/// would see again what these pages say. The control forbids nothing.
#[test]
fn what_is_held_for_pages_that_are_forbidden_now_is_released() -> anyhow::Result<()> {
    for forbids in [true, false] {
        let (forbidden, clock) = (Arc::new(AtomicU64::new(0)), Clock::at(1_700_000_000_000));
        let now = Arc::clone(&forbidden);
        let fetch = Scripted::new(&clock, move |url, _| {
            let number = url.path().rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0);
            match (url.host_str().unwrap_or_default(), url.path()) {
                ("a.test", "/robots.txt") if now.load(Ordering::Relaxed) > 0 => {
                    Answer { content_type: "text/plain", ..html("User-agent: *\nDisallow: /item/\n") }
                }
                ("a.test" | "www.a.test", "/") => {
                    let items: String = (1..=100).map(|item| format!("<a href=/item/{item}>{item}</a> ")).collect();
                    html(format!("<p>{}</p>{items}", words(0, 120)))
                }
                // The copy is met when the original is known.
                ("a.test" | "www.a.test", path) if path.starts_with("/item/") => {
                    html(words(number, 120) + "<a href=http://www.a.test/>copy</a>")
                }
                _ => missing(),
            }
        });
        let dir = tempfile::tempdir()?;
        let run = |more: &[(&str, &str)]| {
            let all: Vec<_> = [("scope.scope", "any")].iter().chain(more).copied().collect();
            crawl_with(fetch.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings(&all)?)
        };
        run(&[])?;
        let of_copy = || {
            let asked: BTreeSet<String> = fetch.asked().into_iter().map(|(_, url)| url.into()).collect();
            asked.iter().filter(|url| url.starts_with("http://www.a.test/item/")).count()
        };
        let first = of_copy();
        assert!(first < 50, "most links of the copy are held: {first}");
        forbidden.store(u64::from(forbids), Ordering::Relaxed);
        clock.skip_to(clock.now() + 2 * DAY);
        run(&[("fetch.recrawl", "true")])?;
        assert_eq!(of_copy(), if forbids { 100 } else { first });
    }
    Ok(())
}

//! Pages and hosts that cannot be had for some time: a page that answers with an error, a mirror that robots.txt
//! forbids, a host whose robots.txt cannot be had. All other pages must be visited as usual.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use crawler::engine::Round;
use tests::crawl::{Crawled, crawl_with, settings, text};
use tests::scripted::{Scripted, html, missing, words};

use super::{COPIES, DAY, Site, UNIQUE, copy, is_copy};

/// Whether the checks of copies are at most a tenth of the visits, rounded up.
fn keeps_the_bound(round: &Round) -> bool {
    round.checked <= round.visits.div_ceil(10)
}

fn round_of(crawled: &Crawled) -> Round {
    crawled.stats.round.clone().expect("a round was made")
}

/// Catches one page that answers with 403 and that ends the checks of all copies, and a page that is not visited any
/// more because its original answers with an error for ever.
#[test]
fn a_page_that_cannot_be_had_gives_its_place_to_a_copy() -> anyhow::Result<()> {
    let twin = copy(3);
    let path = twin.clone();
    let site = Site::new(move |path, round| match path {
        "/p3" if (2..8).contains(&round) => Some(Answer { status: 403, ..html("<p>no</p>") }),
        _ if path == twin && (5..8).contains(&round) => Some(html(format!("<p>{}</p>", words(900, 120)))),
        _ => None,
    })?;
    let mut checked = BTreeSet::new();
    for round in 2..=7 {
        let (asked, crawled) = site.refresh()?;
        let made = round_of(&crawled);
        assert!(made.checked > 0, "in round {round}: {asked:?}");
        assert!(keeps_the_bound(&made), "{made:?}");
        checked.extend(asked.iter().filter(|asked| is_copy(asked)).cloned());
        assert!(round < 3 || asked.contains(&path), "in round {round}: {asked:?}");
        if round == 5 {
            let last = crawled.pages.iter().rfind(|page| text(page, "url").ends_with(&path)).expect("a line");
            assert_eq!(text(last, "changed"), "content", "its change is seen at once");
        }
    }
    assert!(checked.len() >= 9, "another sample in each round: {checked:?}");
    Ok(())
}

/// Catches a page that stands for itself for good after an error that lasted for two visits.
#[test]
fn a_page_that_is_had_again_joins_its_copies() -> anyhow::Result<()> {
    let site = Site::new(|path, round| {
        (path == "/p3" && (2..4).contains(&round)).then(|| Answer { status: 500, ..html("<p>no</p>") })
    })?;
    let mut last = Vec::new();
    for _ in 2..=9 {
        last.push(site.refresh()?.0.into_iter().filter(|path| *path == copy(3)).count());
    }
    assert!(last[4..].iter().sum::<usize>() <= 1, "a copy again, which is checked now and then: {last:?}");
    let (asked, crawled) = site.refresh()?;
    assert_eq!(asked.iter().filter(|path| !is_copy(path)).count() as u64, UNIQUE);
    assert_eq!(round_of(&crawled).trusted + round_of(&crawled).checked, COPIES);
    Ok(())
}

/// The number of pages of `a.test` that the mirrors have, too.
const MIRRORED: u64 = 12;

/// A site `a.test` of 30 pages, and two mirrors of its first 12 pages. `robots` gives the robots.txt of a host in a
/// round; `shows` the answer of a path of a host, if it is not the usual one.
pub(super) struct Mirrored {
    fetch: Scripted,
    clock: Clock,
    round: Arc<AtomicU64>,
    pub dir: tempfile::TempDir,
}

impl Mirrored {
    pub fn new(shows: impl Fn(&str, &str, u64) -> Option<Answer> + Send + Sync + 'static) -> anyhow::Result<Self> {
        let (round, clock) = (Arc::new(AtomicU64::new(1)), Clock::at(1_700_000_000_000));
        let now = Arc::clone(&round);
        let fetch = Scripted::new(&clock, move |url, _| {
            let (host, path) = (url.host_str().unwrap_or_default(), url.path());
            if let Some(own) = shows(host, path, now.load(Ordering::Relaxed)) {
                return own;
            }
            let number = match host {
                "a.test" => {
                    path.strip_prefix("/p").and_then(|number| number.parse().ok()).filter(|n| (1..30).contains(n))
                }
                _ => (1..=MIRRORED).find(|number| path == copy(*number)),
            };
            match number {
                _ if (host, path) == ("a.test", "/") => {
                    let own: String = (1..30).map(|n| format!("<a href=/p{n}>{n}</a> ")).collect();
                    let link = |host: &str, n| format!("<a href=http://{host}{}>{host} {n}</a> ", copy(n));
                    let far: String = (1..=MIRRORED).map(|n| link("one.test", n) + &link("two.test", n)).collect();
                    html(format!("<title>front</title><p>{}</p>{own}{far}", words(0, 80)))
                }
                Some(number) => html(super::page(number)),
                None => missing(),
            }
        });
        let site = Self { fetch, clock, round, dir: tempfile::tempdir()? };
        site.run(&[("politeness.delay", "1ms")])?;
        Ok(site)
    }

    fn run(&self, more: &[(&str, &str)]) -> anyhow::Result<Crawled> {
        let basic = [("scope.scope", "any"), ("dedup.rules", "false"), ("limits.patience", "1m")];
        let all: Vec<_> = basic.iter().chain(more).copied().collect();
        crawl_with(self.fetch.clone(), &self.clock, self.dir.path(), &["http://a.test/".to_owned()], &settings(&all)?)
    }

    /// Makes one more round, two days later. Returns the URLs that were asked for.
    pub fn refresh(&self) -> anyhow::Result<(Vec<String>, Crawled)> {
        self.clock.skip_to(self.clock.now() + 2 * DAY);
        self.round.fetch_add(1, Ordering::Relaxed);
        let before = self.fetch.asked().len();
        let crawled = self.run(&[("fetch.recrawl", "true"), ("politeness.delay", "1ms")])?;
        let asked = self.fetch.asked().into_iter().skip(before).map(|(_, url)| url.to_string());
        Ok((asked.filter(|url| !url.ends_with("/robots.txt")).collect(), crawled))
    }
}

fn robots(status: u16) -> Answer {
    Answer { status, content_type: "text/plain", ..html("User-agent: *\nDisallow: /\n") }
}

/// Catches a mirror that cannot be asked and that takes all checks of every round, so that the other mirror is never
/// looked at.
#[test]
fn a_mirror_that_cannot_be_asked_takes_no_checks_from_the_other() -> anyhow::Result<()> {
    for status in [200, 503] {
        let site = Mirrored::new(move |host, path, round| match (host, path) {
            ("one.test", "/robots.txt") if round >= 2 => Some(robots(status)),
            ("two.test", _) if round >= 3 => {
                let number = (1..=6).find(|number| path == copy(*number))?;
                Some(html(format!("<p>{}</p>", words(700 + number, 120))))
            }
            _ => None,
        })?;
        let mut diverged = 0;
        for round in 2..=9 {
            let (asked, crawled) = site.refresh()?;
            let made = round_of(&crawled);
            assert!(made.checked > 0, "robots.txt {status}, round {round}: {asked:?}");
            assert!(keeps_the_bound(&made), "{made:?}");
            diverged += made.diverged;
        }
        assert!(diverged >= 5, "robots.txt {status}: {diverged} of 6 were found");
    }
    Ok(())
}

/// Catches living copies that are not visited while the host of their originals cannot be asked. When the host is back,
/// each cluster is visited once again.
#[test]
fn the_copies_of_a_host_that_cannot_be_asked_are_visited() -> anyhow::Result<()> {
    for status in [200, 503] {
        let site = Mirrored::new(move |host, path, round| match (host, path) {
            ("a.test", "/robots.txt") if (2..6).contains(&round) => Some(robots(status)),
            _ => None,
        })?;
        let of_mirrors =
            |asked: &[String]| asked.iter().filter(|url| !url.starts_with("http://a.test/")).count() as u64;
        let mut seen = Vec::new();
        for _ in 2..=10 {
            let (asked, crawled) = site.refresh()?;
            seen.push(of_mirrors(&asked));
            assert_eq!(asked.iter().collect::<BTreeSet<_>>().len(), asked.len(), "nothing twice: {asked:?}");
            if seen.len() == 9 {
                assert_eq!(asked.len() as u64, 30 + round_of(&crawled).checked, "one visit to each cluster");
            }
        }
        assert!(seen[2..4].iter().all(|seen| (MIRRORED..MIRRORED + 4).contains(seen)), "robots.txt {status}: {seen:?}");
        assert!(seen[6..].iter().all(|seen| *seen <= 3), "robots.txt {status}: {seen:?}");
    }
    Ok(())
}

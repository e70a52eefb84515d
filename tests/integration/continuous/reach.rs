//! Pages and hosts that cannot be had for some time, in a crawl without end.

use crawler::clock::Clock;
use crawler::demo::web::Answer;
use tests::crawl::{crawl_with, settings};
use tests::scripted::{Scripted, html, missing, words};

use super::{DAY, START, page, run, site};

/// Catches a copy that is never visited because its original answers with an error for ever.
#[test]
fn a_page_that_cannot_be_had_gives_its_place_to_a_copy() -> anyhow::Result<()> {
    let ran = run("30d", &[("dedup.rules", "false")], |path, at| match path {
        "/p5" if (6 * DAY..20 * DAY).contains(&at) => Answer { status: 403, ..html("<p>no</p>") },
        _ => site(path, at),
    })?;
    let visits = |from: u64, to: u64| ran.of("/c5").iter().filter(|at| (from * DAY..to * DAY).contains(at)).count();
    assert!(visits(8, 20) >= 5, "{:?}", ran.of("/c5"));
    Ok(())
}

/// Catches copies that are not visited while the host of their originals cannot be asked.
#[test]
fn the_copies_of_a_host_that_cannot_be_asked_are_visited() -> anyhow::Result<()> {
    let (clock, dir) = (Clock::at(START), tempfile::tempdir()?);
    let now = clock.clone();
    let fetch = Scripted::new(&clock, move |url, _| {
        let (host, path, day) = (url.host_str().unwrap_or_default(), url.path(), (now.now() - START) / DAY);
        let number = |prefix: &str| path.strip_prefix(prefix).and_then(|number| number.parse::<u64>().ok());
        match (host, path) {
            ("a.test", "/robots.txt") if (5..20).contains(&day) => Answer { status: 503, ..html("no") },
            ("a.test", "/") => {
                let own: String = (1..=8).map(|n| format!("<a href=/p{n}>{n}</a> ")).collect();
                let far: String = (1..=8).map(|n| format!("<a href=http://one.test/c{n}>{n}</a> ")).collect();
                html(format!("<p>{}</p>{own}{far}", words(0, 80)))
            }
            _ => match if host == "a.test" { number("/p") } else { number("/c") } {
                Some(number) if (1..=8).contains(&number) => html(page(number)),
                _ => missing(),
            },
        }
    });
    let all = [
        ("refresh.continuous", "true"),
        ("scope.scope", "any"),
        ("dedup.rules", "false"),
        ("politeness.delay", "1s"),
        ("limits.time-limit", "20d"),
    ];
    crawl_with(fetch.clone(), &clock, dir.path(), &["http://a.test/".to_owned()], &settings(&all)?)?;
    for number in 1..=8 {
        let times = fetch
            .asked()
            .into_iter()
            .filter(|(at, url)| url.as_str() == format!("http://one.test/c{number}") && at - START > 5 * DAY);
        assert!(times.count() >= 1, "copy {number}");
    }
    Ok(())
}

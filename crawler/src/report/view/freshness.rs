//! Visits in words: what they showed, what copies saved, how fresh the pages are, how often hosts change.

use crate::engine::{Freshness, Round};
use crate::units;

/// Names of the classes of ages ([`crate::engine::AGES`]).
const AGES: [&str; 6] = ["an hour", "a day", "a week", "30 days", "90 days", "more"];
/// At most this many hosts are named.
const HOSTS: usize = 3;

/// The last round of visits, or the visits of a continuous crawl, and what they mean.
pub fn visited(round: &Round) -> (String, String) {
    let Round { number, continuous, changed, missing, gone, forbidden, trusted, checked, diverged, saved, .. } = *round;
    let trusted = if trusted == 1 { "1 copy".into() } else { format!("{} copies", units::count(trusted)) };
    let shown = format!(
        "{} changed, {} missing; {trusted} trusted, {} checked, {} differed",
        units::count(changed),
        units::count(missing),
        units::count(checked),
        units::count(diverged)
    );
    let shown = match gone {
        0 => shown,
        _ => format!("{shown}; {} gone (404 or 410 twice)", units::counted(gone, "page")),
    };
    let shown = match forbidden {
        0 => shown,
        _ => format!("{shown}; {} not made, because robots.txt forbids them now", units::counted(forbidden, "visit")),
    };
    let meaning = match continuous {
        true => format!("{shown}; copies saved {}", units::counted(saved, "visit")),
        false => format!(
            "in round {number}: {shown}; before it {:.0} % of the pages were as seen last, as estimated",
            100.0 * round.freshness_before
        ),
    };
    (units::count(round.visits), meaning)
}

/// The freshness of the pages of a continuous crawl, as a number and as a sentence about its meaning.
pub fn fresh(freshness: &Freshness) -> (String, String) {
    let Freshness { pages, fresh, ages, hosts, .. } = freshness;
    let mut below = 0;
    let mut seen = Vec::new();
    for (age, count) in AGES.iter().zip(ages).take(AGES.len() - 1) {
        below += count;
        if *count > 0 {
            seen.push(format!("{} within {age}", units::share(below, *pages)));
        }
    }
    let rates = hosts.iter().take(HOSTS).map(|host| format!("{} {}", host.host, every(host.changes_a_day)));
    let rates: Vec<String> = rates.collect();
    let meaning = format!(
        "of {} on the web as seen last, as estimated; seen: {}; a page changes about: {}",
        units::counted(*pages, "page"),
        if seen.is_empty() { "none lately".into() } else { seen.join(", ") },
        if rates.is_empty() { "not known".into() } else { rates.join(", ") }
    );
    (format!("≈ {:.1} %", 100.0 * fresh), meaning)
}

/// A change rate, in words.
fn every(changes_a_day: f64) -> String {
    format!("every {}", units::duration((86_400_000.0 / changes_a_day.max(1e-4)) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::HostRate;

    #[test]
    fn what_is_known_is_told_and_nothing_else() {
        let hosts = vec![HostRate { host: "a.test".into(), pages: 3, changes_a_day: 2.0 }];
        let some = Freshness { at: 0, pages: 4, fresh: 0.75, ages: [1, 1, 0, 0, 0, 2], hosts };
        let (value, meaning) = fresh(&some);
        assert_eq!(value, "≈ 75.0 %");
        for part in ["of 4 pages", "25 % within an hour, 50 % within a day;", "a.test every 12"] {
            assert!(meaning.contains(part), "{part:?} in {meaning:?}");
        }
        assert!(fresh(&Freshness::default()).1.contains("none lately"));
    }

    #[test]
    fn a_continuous_crawl_has_no_rounds() {
        let round = Round { continuous: true, number: 7, visits: 2_000, saved: 1, ..Round::default() };
        let (value, meaning) = visited(&round);
        assert!(
            value == "2,000" && meaning.ends_with("copies saved 1 visit") && !meaning.contains("round"),
            "{meaning}"
        );
    }
}

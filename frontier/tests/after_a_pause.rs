//! A scheduler of visits that starts again after it has not run for a long time.

use frontier::refresh::cluster::CopyCluster;
use frontier::refresh::prior::{Prior, PriorKey};
use frontier::refresh::scheduler::{Refresh, VisitDecision};
use frontier::refresh::settings::Settings;
use frontier::refresh::time::{DAY, Seconds};

const DELAY: f32 = 1.0;
const PAGES: u64 = 300;
const START: Seconds = 1_700_000_000;

/// The number of pages of one host that a scheduler visits in the first `seconds` after `START`. The pages were fetched
/// `age` days before. Earlier visits, a day apart, have shown `visits` changes, and as often none.
fn visited(age: f32, visits: u32, seconds: Seconds) -> usize {
    let settings = Settings { budget: 1e9, least_price: 3_600.0 / DAY, ..Settings::default() };
    let mut refresh = Refresh::new(settings, Prior::default(), Default::default());
    let host = refresh.add_host(DELAY, Default::default());
    let fetched = START - (age * DAY) as Seconds;
    let pages: Vec<(u64, CopyCluster)> = (0..PAGES)
        .map(|page| {
            let mut cluster = CopyCluster::new(fetched, 1.0, PriorKey::new(1, 1));
            (0..visits).for_each(|_| cluster.history.change(DAY as Seconds));
            (0..visits).for_each(|_| cluster.history.unchanged(DAY as Seconds));
            (page.wrapping_mul(0x9E37_79B9_7F4A_7C15), cluster)
        })
        .collect();
    pages.iter().for_each(|(page, cluster)| refresh.add(host, *page, cluster));
    for _ in 0..2 {
        refresh.review(host, START);
        pages.iter().for_each(|(page, cluster)| refresh.pass(*page, cluster));
        refresh.reviewed();
    }
    let mut count = 0;
    for now in START..START + seconds {
        while let Some(turn) = refresh.next(now).filter(|turn| turn.due <= now) {
            let (_, cluster) = pages.iter().find(|(page, _)| *page == turn.page).unwrap();
            if refresh.judge(turn, cluster, now) == VisitDecision::Visit {
                refresh.take(turn);
                refresh.rest(host, now + DELAY as Seconds);
                count += 1;
            } else {
                refresh.drop(turn);
            }
        }
    }
    count
}

/// Catches overdue pages that are spread over half a day, although the host could be asked for all of them in five
/// minutes.
#[test]
fn pages_that_are_overdue_after_a_pause_are_visited_at_the_pace_of_their_host() {
    let count = visited(16.0, 3, 600);
    assert!(count > PAGES as usize * 9 / 10, "{count}");
    assert_eq!(visited(0.01, 3, 60), 0, "nothing is due yet");
}

/// Catches a crawl that learns no change rate after a pause, because the time of the first tests has passed.
#[test]
fn some_pages_that_were_fetched_once_are_visited_soon_after_a_pause() {
    let count = visited(0.1, 0, 600);
    assert!((10..100).contains(&count), "{count}");
}

//! What judges crawls in other tests is tested itself: a simulated power cut, the judge of politeness, and the curves of
//! what a crawl has found.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use fastrand::Rng;
use tests::choosing::{Curve, median};
use tests::polite::{Judgement, Process, SeenRequest, Town};
use tests::power::{Durable, cut};

#[test]
fn what_was_synced_stays_and_the_rest_may_go() -> std::io::Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("file");
    let mut lost = 0;
    for seed in 0..20 {
        fs::write(&path, [1; 20_000])?;
        let inode = fs::metadata(&path)?.ino();
        let durable = HashMap::from([(inode, Durable { length: 5_000, end: 5_000 })]);
        assert_eq!(cut(dir.path(), &durable, &mut Rng::with_seed(seed))?, 1);
        let left = fs::read(&path)?;
        assert!(left.len() >= 5_000 && left[..5_000].iter().all(|byte| *byte == 1));
        lost += usize::from(left.len() < 20_000 || left.contains(&0));
        fs::write(&path, [1; 20_000])?;
        let all = HashMap::from([(inode, Durable { length: 20_000, end: 20_000 })]);
        assert_eq!(cut(dir.path(), &all, &mut Rng::with_seed(seed))?, 0);
    }
    assert!(lost > 15, "{lost} of 20 lost something");
    Ok(())
}

fn town() -> Town {
    let delay = Duration::from_millis(100);
    Town { hosts: 2, addresses: 1, shortest: delay, longest: delay, busy: 0 }
}

/// A request to host 0 that arrived and ended at these times in milliseconds.
fn seen(path: &str, arrived: u64, ended: u64) -> SeenRequest {
    let time = Duration::from_millis;
    SeenRequest {
        host: 0,
        path: path.into(),
        arrived: time(arrived),
        ended: Some(time(ended)),
        open: 1,
        retry_after: None,
    }
}

fn judge(log: &[SeenRequest]) -> Judgement {
    let process = Process { start: Duration::ZERO, end: Duration::from_millis(1_000) };
    Judgement::of(&town(), log, &[process], Duration::from_millis(10), Duration::from_millis(50))
}

#[test]
fn what_is_early_overlaps_or_is_forbidden_is_told() {
    let fine = [seen("/robots.txt", 0, 10), seen("/", 110, 120), seen("/p/1", 221, 230)];
    let judgement = judge(&fine);
    assert_eq!((judgement.early, judgement.overlapping, judgement.forbidden), (0, 0, 0));
    assert_eq!(judgement.smallest_excess, Some(Duration::ZERO));
    assert_eq!(judge(&[seen("/robots.txt", 0, 10), seen("/", 109, 120)]).early, 1);
    assert_eq!(judge(&[SeenRequest { open: 2, ..seen("/", 0, 1) }, seen("/private/0", 300, 301)]).overlapping, 1);
    assert_eq!(judge(&[seen("/private/0", 300, 301)]).forbidden, 1);
}

#[test]
fn retries_are_held_against_their_time() {
    let busy = |until| SeenRequest { retry_after: Some(Duration::from_millis(until)), ..seen("/", 0, 10) };
    let judgement = judge(&[busy(500), seen("/", 499, 510)]);
    assert_eq!((judgement.retries, judgement.early_retries), (1, 1));
    let judgement = judge(&[busy(500), seen("/", 520, 530)]);
    assert_eq!((judgement.early_retries, judgement.latest_retry), (0, Duration::from_millis(20)));
}

#[test]
fn the_rate_is_that_of_the_delays() {
    // In one second, a request every 110 ms is allowed: ten requests. Every other one was made.
    let log: Vec<_> = (0..5).map(|n| seen("/", n * 220, n * 220 + 10)).collect();
    let judgement = judge(&log);
    assert_eq!((judgement.made, judgement.allowed), (5, 10));
    assert_eq!((judgement.made_to_addresses, judgement.allowed_to_addresses), (5, 21));
    assert_eq!(judgement.busiest_second, 5);
}

#[test]
fn a_curve_is_read_in_both_directions() {
    let mut curve = Curve::default();
    [true, false, true, false, true].into_iter().for_each(|new| curve.fetched(new));
    assert_eq!((curve.fetches, curve.contents()), (5, 3));
    assert_eq!(curve.fetches_for(1.0, 3), Some(5));
    assert_eq!(curve.fetches_for(0.5, 3), Some(3));
    assert_eq!(curve.fetches_for(1.0, 4), None);
    assert_eq!((curve.contents_by(0), curve.contents_by(3), curve.contents_by(9)), (0, 2, 3));
    assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
}

//! Tests of the order in which hosts have their turns.

use super::*;

#[test]
fn of_equal_hosts_the_one_that_waited_first_is_ready_first() {
    let (mut schedule, mut phases) = (Schedule::default(), [HostPhase::Idle(0), HostPhase::Idle(0)]);
    for host in [0, 1] {
        schedule.wait(host, &mut phases[host as usize], 10);
    }
    for host in [1, 0] {
        schedule.make_ready(host, &mut phases[host as usize], 1, 7);
    }
    assert_eq!(schedule.ready.iter().map(|(.., host)| *host).collect::<Vec<_>>(), [0, 1]);
}

/// Catches a domain that stands behind all others for good because its pages cost much while time was scarce.
#[test]
fn the_best_url_comes_first_again_when_the_machine_keeps_up() {
    use dedup_stage::url::SiteId;

    let (mut schedule, mut phases) = (Schedule::default(), [HostPhase::Idle(0), HostPhase::Idle(0)]);
    let shares = Shares::new(4);
    let taken = |domain, micros| AnswerCost {
        site: SiteId { domain, host: domain },
        kind: JobKind::Page,
        answered: true,
        heavy: false,
        lag: 0,
        micros,
    };
    for domain in [0, 1, 0, 1, 0, 1] {
        schedule.taken(&taken(domain, if domain == 0 { 900_000 } else { 100 }), true);
    }
    for host in [0, 1] {
        schedule.make_ready(host, &mut phases[host as usize], u64::from(host), host as u16);
    }
    assert_eq!(schedule.best(&shares, false), Some((1, Room::Own)), "by cost");
    schedule.taken(&taken(1, 100), false);
    assert_eq!(schedule.best(&shares, false), Some((0, Room::Own)), "by rank");
}

#[test]
fn others_wait_for_the_best_url_of_a_host() {
    let (mut schedule, mut awaited) = (Schedule::default(), None);
    for (rank, best) in [(5, 5), (9, 5), (3, 3)] {
        schedule.raise_awaited(0, &mut awaited, rank);
        assert_eq!((schedule.best_awaited(), awaited), (Some(best), Some(best)));
    }
    schedule.set_awaited(0, &mut awaited, None);
    assert_eq!(schedule.best_awaited(), None);
}

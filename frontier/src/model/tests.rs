//! Random lives of a crawl.

use std::ops::ControlFlow;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A link, in steps of priority.
    Add { place: ModelPage, priority: u8 },
    /// A link of a duplicate: held for this other link, or as news.
    Hold { place: ModelPage, other: Option<ModelPage> },
    /// A link that is not to be followed.
    Refuse { place: ModelPage },
    /// Time goes on.
    Wait(u16),
    /// The frontier is asked for jobs until it has none.
    Ask,
    /// The open job with this number (modulo their count) ends.
    End { job: u8, how: How },
    /// A little work in the background.
    Work,
    /// What happened so far becomes durable.
    Commit,
    /// The process dies, and comes back.
    Crash,
}

fn place() -> impl Strategy<Value = ModelPage> {
    (0..HOSTS, 0..PAGES).prop_map(|(host, page)| ModelPage { host, page })
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![
        12 => (any::<bool>(), 0..3u8).prop_map(|(duplicate, text)| How::Fine { duplicate, text }),
        1 => Just(How::Busy),
        1 => Just(How::Missing),
        1 => (0..Failure::ALL.len()).prop_map(|kind| How::Fail(Failure::ALL[kind])),
        1 => any::<bool>().prop_map(|requested| How::Return { requested }),
        2 => place().prop_map(How::Moved),
    ]
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (place(), 0..5u8).prop_map(|(place, priority)| Step::Add { place, priority }),
        4 => (place(), proptest::option::of(place())).prop_map(|(place, other)| Step::Hold { place, other }),
        1 => place().prop_map(|place| Step::Refuse { place }),
        4 => (0..3_000u16).prop_map(Step::Wait),
        8 => Just(Step::Ask),
        8 => (any::<u8>(), how()).prop_map(|(job, how)| Step::End { job, how }),
        4 => Just(Step::Work),
        2 => Just(Step::Commit),
        1 => Just(Step::Crash),
    ]
}

pub(super) fn live(steps: Vec<Step>) -> World {
    let mut world = World::new();
    live_on(&mut world, steps);
    world
}

pub(super) fn live_on(world: &mut World, steps: Vec<Step>) {
    for (at, step) in steps.into_iter().enumerate() {
        match step {
            Step::Add { place, priority } => world.add(place, priority, Via::Link),
            Step::Hold { place, other } => world.hold(place, other),
            Step::Refuse { place } => world.refuse(place),
            Step::Wait(time) => world.now += Millis::from(time),
            Step::Ask => _ = world.ask(),
            Step::End { job, how } if !world.open.is_empty() => {
                let at = usize::from(job) % world.open.len();
                world.end(at, how);
            }
            Step::End { .. } => {}
            Step::Work => _ = world.frontier.step(&mut world.session).unwrap(),
            Step::Commit => world.commit(),
            Step::Crash => world.crash(),
        }
        world.glance();
        if at % 16 == 0 {
            world.check();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_frontier_keeps_its_promises(steps in proptest::collection::vec(step(), 1..300)) {
        let mut world = live(steps);
        world.check();
        world.finish();
        // And once more from what was committed.
        world.commit();
        world.crash();
        world.finish();
    }
}

#[test]
fn the_store_is_rid_of_what_is_done() {
    let mut world = World::new();
    for round in 0..8u8 {
        for place in places() {
            let place = ModelPage { host: place.host, page: place.page + round * 25 };
            world.add(place, place.page % 5, Via::Link);
        }
        for _ in 0..10_000 {
            match world.ask() {
                _ if !world.open.is_empty() => world.end(0, How::Fine { duplicate: false, text: 0 }),
                Next::Wait(time) => world.now = time,
                Next::Idle => break,
                Next::Job(_) => unreachable!("ask ends where there is no job"),
            }
        }
        world.commit();
    }
    let mut left = 0;
    let count = &mut |_: &[u8], _: &[u8]| {
        left += 1;
        ControlFlow::Continue(())
    };
    world.session.scan(crate::spaces::QUEUE, &[], &[], count).unwrap();
    assert!(left < 240, "{left} of 960 left");
}

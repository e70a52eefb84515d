//! A set of hosts is cut out of the state of a random life, with a crash on the way. Both halves live on, apart.

use std::ops::ControlFlow;

use dedup_stage::store::{Fault, Result};
use proptest::prelude::*;

use super::tests::{live, live_on, step};
use super::*;
use crate::{cut, spaces};

impl World {
    /// Gives some hosts to another world. One of the two disks fails at the commit `fails`, if there are so many.
    fn cut(mut self, hosts: &[u8], (which, fails): (bool, u64)) -> [World; 2] {
        self.commit();
        let sites = Sites::of(hosts.iter().map(|host| id(ModelPage { host: *host, page: 0 }).site));
        let rest = Sites::all().without(&sites);
        let mut other = World::new();
        other.disk = Double::default();
        let sessions = |from: &World, to: &World| {
            (Session::new(Box::new(from.disk.clone())), Session::new(Box::new(to.disk.clone())))
        };
        let (mut from, _) = sessions(&self, &other);
        cut::prepare(&sites, &mut from).unwrap();
        from.commit().unwrap();
        [&self, &other][usize::from(which)].disk.fail_behind(fails, Fault::Refuse);
        let once = |from: &World, to: &World| -> Result<()> {
            let (mut from, mut to) = sessions(from, to);
            let copied = cut::copy(&sites, &from, &mut to)?;
            assert!(cut::delete(&sites, &mut from)? <= copied, "nothing is deleted that was not copied");
            Ok(())
        };
        if once(&self, &other).is_err() {
            once(&self, &other).unwrap();
        }
        self.disk.heal();
        other.disk.heal();
        let whole = self.model.clone();
        for (world, sites) in [(&mut self, rest), (&mut other, sites)] {
            let mine: BTreeSet<u64> = places().map(id).filter(|id| sites.has(id.site)).map(|id| id.url).collect();
            let Model { met, attempts, done } = whole.clone();
            world.model = Model {
                met: &met & &mine,
                attempts: attempts.into_iter().filter(|(url, _)| mine.contains(url)).collect(),
                done: done.into_iter().filter(|(url, _)| mine.contains(url)).collect(),
            };
            world.sites = sites;
        }
        other.now = self.now;
        self.begin_again();
        other.begin_again();
        [self, other]
    }

    /// The hosts of another world come to this one, which has others.
    fn merge(&mut self, mut other: World) {
        self.commit();
        other.commit();
        let mut from = Session::new(Box::new(other.disk.clone()));
        cut::prepare(&other.sites, &mut from).unwrap();
        from.commit().unwrap();
        let between = Double::default();
        cut::copy(&other.sites, &from, &mut Session::new(Box::new(between.clone()))).unwrap();
        let (between, mut own) = (Session::new(Box::new(between)), Vec::new());
        let mut to = Session::new(Box::new(self.disk.clone()));
        for space in spaces::FRONTIER {
            let mut take = |key: &[u8], value: &[u8]| {
                match *space == spaces::FRONTIER_OWN {
                    true => own.push((key.to_vec(), value.to_vec())),
                    false => to.put(*space, key, value),
                }
                ControlFlow::Continue(())
            };
            between.scan(*space, &[], &[], &mut take).unwrap();
        }
        cut::merge(&own, &mut to).unwrap();
        to.commit().unwrap();
        let Model { met, attempts, done } = other.model;
        self.model.met.extend(met);
        self.model.attempts.extend(attempts);
        self.model.done.extend(done);
        self.sites = self.sites.or(&other.sites);
        self.now = self.now.max(other.now);
        self.begin_again();
    }

    /// A frontier begins with what is on the disk.
    fn begin_again(&mut self) {
        self.session = Session::new(Box::new(self.disk.clone()));
        self.open_frontier();
        self.open.clear();
        self.last_start = None;
        for place in places() {
            self.not_before.insert(place.url().host_str().unwrap().to_owned(), self.now + 500);
        }
        self.commit();
        self.check();
    }

    /// Links that another world returned arrive.
    fn arrive(&mut self, links: Vec<Returned>) {
        for link in links {
            match link {
                Returned::Add(place, priority, via) => self.add(place, priority, via),
                Returned::Hold(place, other) => self.hold(place, other),
                Returned::Refuse(place) => self.refuse(place),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 240, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_halves_keep_the_promises_of_the_whole(
        lives in [0, 1, 2].map(|_| proptest::collection::vec(step(), 1..150)),
        hosts in proptest::sample::subsequence((0..HOSTS).collect::<Vec<_>>(), 1..=HOSTS as usize),
        crash in (any::<bool>(), 0..40u64),
    ) {
        let [before, here, there] = lives;
        let whole = live(before);
        let met = whole.model.met.clone();
        let [mut a, mut b] = whole.cut(&hosts, crash);
        prop_assert_eq!(&a.model.met | &b.model.met, met);
        live_on(&mut a, here);
        live_on(&mut b, there);
        while !(a.returned.is_empty() && b.returned.is_empty()) {
            let (to_b, to_a) = (std::mem::take(&mut a.returned), std::mem::take(&mut b.returned));
            a.arrive(to_a);
            b.arrive(to_b);
        }
        for world in [&mut a, &mut b] {
            world.finish();
            world.commit();
            world.crash();
            world.finish();
            prop_assert!(world.returned.is_empty(), "a finished world finds nothing new");
        }
        prop_assert!(a.model.met.is_disjoint(&b.model.met));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn halves_that_come_together_again_keep_the_promises_of_both(
        lives in [0, 1, 2, 3].map(|_| proptest::collection::vec(step(), 1..120)),
        hosts in proptest::sample::subsequence((0..HOSTS).collect::<Vec<_>>(), 1..HOSTS as usize),
    ) {
        let [before, here, there, after] = lives;
        let [mut a, mut b] = live(before).cut(&hosts, (false, u64::MAX));
        live_on(&mut a, here);
        live_on(&mut b, there);
        let links = [std::mem::take(&mut a.returned), std::mem::take(&mut b.returned)].concat();
        let met = &a.model.met | &b.model.met;
        a.merge(b);
        prop_assert_eq!(&a.model.met, &met);
        prop_assert_eq!(&a.sites, &Sites::all());
        a.arrive(links);
        live_on(&mut a, after);
        a.finish();
        a.commit();
        a.crash();
        a.finish();
        prop_assert!(a.returned.is_empty(), "every host is here");
    }
}

#[test]
fn what_is_held_across_the_cut_is_released_unless_a_copy_of_it_was_fetched() {
    let place = |host, page| ModelPage { host, page };
    let held = |at: ModelPage, world: &World| {
        let state = world.frontier.state(id(at), &world.session).unwrap();
        matches!(state, Some(State::HeldFor { .. }))
    };
    let mut world = World::new();
    // A counterpart that is fetched before the cut, and one that is not, on either side of it.
    for host in [0, 1] {
        world.add(place(host, 1), 4, Via::Link);
        world.hold(place(1 - host, 11), Some(place(host, 1)));
    }
    world.finish();
    for host in [0, 1] {
        world.add(place(host, 2), 4, Via::Link);
        world.hold(place(1 - host, 12), Some(place(host, 2)));
    }
    let all = |world: &World, page: u8| [0, 1].map(|host| held(place(host, page), world));
    assert_eq!((all(&world, 11), all(&world, 12)), ([true; 2], [true; 2]));
    let mut halves = world.cut(&[1], (false, u64::MAX));
    for (half, host) in halves.iter_mut().zip([0, 1]) {
        assert!(held(place(host, 12), half));
        while half.frontier.step(&mut half.session).unwrap() {}
        assert!(held(place(host, 11), half), "its counterpart was fetched");
        let state = half.frontier.state(id(place(host, 12)), &half.session).unwrap();
        assert!(matches!(state, Some(State::Queued { .. })), "nobody here will fetch its counterpart: {state:?}");
        half.check();
        half.finish();
    }
}

//! What stands out about hosts: slots that they lost, and the ceiling for those that bring little.

use frontier::{Failure, Frontier, HostNote, Next, stored_notes};
use url::Url;

use crate::sim::{Sim, keys, polite};

fn by_name(notes: impl IntoIterator<Item = HostNote>) -> Vec<HostNote> {
    let mut notes: Vec<_> = notes.into_iter().collect();
    notes.sort_by(|a, b| a.host.cmp(&b.host));
    notes
}

/// Catches a host that costs others their slots and that no output names.
#[test]
fn a_host_that_loses_slots_is_named_with_its_reason_and_stays_so() {
    let mut sim = Sim::new(&polite(10));
    sim.slots = 4;
    for host in ["slow-1", "slow-2", "well"] {
        sim.add(&format!("http://{host}.test/"), 0.5);
    }
    sim.run(60_000, usize::MAX);
    let notes = by_name(sim.frontier.notes());
    let told: Vec<_> = notes.iter().map(|note| (&*note.host, note.slots_lost, note.why, note.stretch)).collect();
    let slow = Some(Failure::Slow);
    assert_eq!(told, [("slow-1.test", 3, slow, 0), ("slow-2.test", 3, slow, 0)], "three attempts each");
    assert_eq!(by_name(stored_notes(&sim.session).unwrap()), notes);
    let again = Frontier::open(&polite(10), &keys(), &mut sim.session, 70_000).unwrap();
    let note = |host: &str| again.note(&Url::parse(&format!("http://{host}.test/")).unwrap(), &sim.session).unwrap();
    assert_eq!((note("slow-1").as_ref(), note("well")), (Some(&notes[0]), None));
}

/// Catches a ceiling that is not reported, and one that is forgotten with the process.
#[test]
fn a_host_under_the_ceiling_is_named_and_stays_under_it() {
    let mut sim = Sim::new(&polite(10));
    sim.add("http://facets.test/", 0.5);
    let Next::Job(job) = sim.frontier.next(0, &mut sim.session).unwrap() else { panic!() };
    (0..5_000).for_each(|_| sim.frontier.brought(&job, true, &mut sim.session));
    assert_eq!(sim.frontier.notes().count(), 0, "so many cost nothing");
    (0..1_000).for_each(|_| sim.frontier.brought(&job, true, &mut sim.session));
    let notes = by_name(sim.frontier.notes());
    assert_eq!((notes.len(), &*notes[0].host, notes[0].delay_factor()), (1, "facets.test", 1.2));
    let again = Frontier::open(&polite(10), &keys(), &mut sim.session, 1_000).unwrap();
    assert_eq!(by_name(again.notes()), notes);
}

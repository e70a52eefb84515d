//! Accepted pages that move to another state with their hosts.

use std::collections::BTreeMap;

use super::*;
use crate::judge::{Candidate, cut};
use crate::signature::{Signature, Sketch};
use crate::store::cut::{KeyRange, each_part};
use crate::store::{Double, Fault};
use crate::url::{SiteId, Sites, UrlId};

type Entries = BTreeMap<(&'static str, Vec<u8>), Vec<u8>>;

/// All entries that the judge keeps.
fn entries(session: &Session) -> Entries {
    let mut all = Entries::new();
    for space in crate::spaces::JUDGE {
        each_part(session, &KeyRange::whole(*space), &mut |entries| {
            all.extend(entries.iter().map(|(key, value)| ((space.name(), key.clone()), value.clone())));
            Ok(())
        })
        .unwrap();
    }
    all
}

/// A page of one of three hosts. Other pages may have the same fingerprint or the same body.
fn page(random: &mut fastrand::Rng, order: u64) -> Candidate {
    let site = SiteId { domain: random.u64(..3), host: 7 };
    let url = UrlId { site, url: order };
    let links =
        LinkSet { links: MinWiseSample::new((0..random.u32(..4)).map(|_| random.u32(..))), ..LinkSet::default() };
    Candidate {
        order,
        id: PageId { url, visit: 1 },
        sha256: [random.u8(..40); 32],
        signature: Some(Signature { simhash: random.u64(..25) << 32, sketch: Sketch::from_bytes([7; Sketch::BYTES]) }),
        statement: None,
        links,
    }
}

/// A state in which these pages were accepted, in this order.
fn state(pages: &[Candidate]) -> (Session, Double) {
    let disk = Double::default();
    let mut session = Session::new(Box::new(disk.clone()));
    let mut judge = Judge::open(3, crate::testing::keys(), &mut session).unwrap();
    pages.iter().for_each(|page| judge.accept(page, &mut session).unwrap());
    session.commit().unwrap();
    (session, disk)
}

/// The first page that had some bytes owns them. If that page moves, the other pages lose them.
fn of_some(pages: &[Candidate], here: impl Fn(&Candidate) -> bool) -> Vec<Candidate> {
    let first = |page: &Candidate| pages.iter().find(|other| other.sha256 == page.sha256).is_some_and(&here);
    let mut some: Vec<Candidate> = pages.iter().filter(|page| here(page)).cloned().collect();
    for page in some.iter_mut().filter(|page| !first(page)) {
        page.sha256 = [0xff; 32];
    }
    some
}

fn without_lost_bytes(mut entries: Entries) -> Entries {
    entries.retain(|(_, key), _| key != &[0xff; 32]);
    entries
}

#[test]
fn both_halves_are_as_if_each_had_accepted_its_own_pages_only() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut several = 0;
    for _ in 0..20 {
        let pages: Vec<Candidate> = (1..=120).map(|order| page(&mut random, order)).collect();
        let (mut from, _) = state(&pages);
        let mut to = Session::new(Box::new(Memory::default()));
        let sites = Sites::of_domains([1]);
        let moves = |page: &Candidate| sites.has(page.id.url.site);
        // A second copy, as after a crash, changes nothing.
        let copied = cut::copy(&sites, &from, &mut to).unwrap();
        assert_eq!(cut::copy(&sites, &from, &mut to).unwrap(), copied);
        assert_eq!(entries(&from), entries(&state(&pages).0), "a copy takes nothing away");
        assert_eq!(cut::delete(&sites, &mut from).unwrap(), copied);
        assert_eq!(cut::delete(&sites, &mut from).unwrap(), 0);
        assert_eq!(entries(&to), without_lost_bytes(entries(&state(&of_some(&pages, moves)).0)));
        let kept = of_some(&pages, |page| !moves(page));
        assert_eq!(entries(&from), without_lost_bytes(entries(&state(&kept).0)));
        several += entries(&from).keys().filter(|(space, key)| *space == "accepted" && key.len() == 16).count();
    }
    assert!(several > 20, "some fingerprints are of several pages");
}

#[test]
fn a_crash_at_any_commit_of_the_deletion_leaves_what_a_second_one_mends() {
    let mut random = fastrand::Rng::with_seed(4);
    let pages: Vec<Candidate> = (1..=120).map(|order| page(&mut random, order)).collect();
    let sites = Sites::of_domains([0, 2]);
    let (mut undisturbed, disk) = state(&pages);
    let before = disk.commits().0;
    cut::delete(&sites, &mut undisturbed).unwrap();
    let commits = disk.commits().0 - before;
    assert!(commits > 5, "{commits}");
    for at in 0..commits {
        let (mut session, disk) = state(&pages);
        disk.fail_behind(at, Fault::Refuse);
        assert!(cut::delete(&sites, &mut session).is_err());
        drop(session);
        let mut again = Session::new(Box::new(disk));
        cut::delete(&sites, &mut again).unwrap();
        assert_eq!(entries(&again), entries(&undisturbed), "crashed at commit {at}");
    }
}

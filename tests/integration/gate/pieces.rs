//! Traps that arrange known pieces in ever new ways, and honest sites of the same shapes.

use std::sync::Arc;

use tests::gate::{Arranged, Index, Indexes, Pieces, Site, run, walk};

use super::{DROP, fetches, rescue};

/// Catches a gate for which every page is new that has another text as a whole, although its host has shown each piece
/// of it before. Such a trap had no end.
#[test]
fn a_trap_that_arranges_known_pieces_ends() -> anyhow::Result<()> {
    // A budget of 1,000 pages ends after 4,000 that spend a quarter each; before that, the pieces must be shown.
    let mut dear = Vec::new();
    for (shape, most) in [(Arranged::Calendar, 400), (Arranged::Headlines, 5_600), (Arranged::Tree, 5_600)] {
        for seed in 1..=6 {
            let site: Arc<dyn Site> = Arc::new(Pieces::trap(seed, shape));
            let crawled = run(&site, &[DROP, &[("limits.max-pages", "8000")]].concat())?;
            let (made, things) = (fetches(&crawled), crawled.seen.things.len());
            println!("{shape:?} {seed}: {made} fetches for {things} articles; {:?}", crawled.reason);
            if made > most + rescue(most) || things < 60 {
                dear.push(format!("{shape:?} {seed}: {made} fetches for {things} articles"));
            }
        }
    }
    assert!(dear.is_empty(), "{dear:#?}");
    Ok(())
}

/// Catches a rule against such traps that takes new pieces for known ones.
#[test]
fn pages_with_pieces_of_their_own_are_all_found() -> anyhow::Result<()> {
    let mut lost = Vec::new();
    for shape in Arranged::ALL {
        for seed in 1..=6 {
            let site: Arc<dyn Site> = Arc::new(Pieces::honest(seed, shape));
            let (truth, crawled) = (walk(&*site), run(&site, DROP)?);
            let (missed, made) = (truth.things.difference(&crawled.seen.things).count(), fetches(&crawled));
            println!("{shape:?} {seed}: {made} fetches of {}, {missed} missed", truth.pages.len());
            if missed > 0 {
                lost.push(format!("{shape:?} {seed}: {missed} of {}", truth.things.len()));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
    Ok(())
}

/// Catches a rule against such traps that takes lists of known entries for a trap although they lead to new pages, or
/// although each part of an archive lists other entries.
#[test]
fn lists_of_known_entries_are_crawled_to_their_last_new_page() -> anyhow::Result<()> {
    for kind in [Index::Tags, Index::Archive] {
        for (seed, lists) in [(1, 3_000), (2, 700), (3, 150)] {
            let site: Arc<dyn Site> = Arc::new(Indexes::draw(seed, kind, lists));
            let (truth, crawled) = (walk(&*site), run(&site, DROP)?);
            println!("{kind:?} of {lists}: {} fetches of {}", fetches(&crawled), truth.pages.len());
            let missed = truth.things.difference(&crawled.seen.things).count();
            assert_eq!(missed, 0, "{kind:?} of {lists}");
            assert_eq!(fetches(&crawled), truth.pages.len() as u64, "{kind:?} of {lists}: nothing was stopped");
        }
    }
    Ok(())
}

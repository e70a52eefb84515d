//! Looks at everything that is held or stopped: the sample of the last round, the number of URLs that lots have left,
//! and the pages that were fetched in place of the URLs.

use std::collections::{BTreeMap, HashMap};

use frontier::{Frontier, Sample, Strata, UrlSet, UrlSets};

use crate::engine::error::Result;
use crate::engine::ledger::Ledger;

/// Draws from everything that is held or stopped, the same share from each section of each lot.
pub fn draw_from_each(wanted: usize, round: u32, frontier: &mut Frontier, ledger: &Ledger) -> Result<Sample> {
    let mut strata = Strata::default();
    frontier.each_held_back(&ledger.session, &mut |drawn| strata.count(drawn.sets))?;
    let mut draw = strata.draw(wanted, u64::from(round));
    frontier.each_held_back(&ledger.session, &mut |drawn| draw.show(drawn))?;
    Ok(draw.end())
}

/// The number of URLs of these sets that are still held or stopped. Sets without such URLs are left out. `of` selects
/// one of the sets of a URL.
pub fn left_of(
    sets: impl Iterator<Item = UrlSet>,
    of: impl Fn(UrlSets) -> UrlSet,
    frontier: &mut Frontier,
    ledger: &Ledger,
) -> Result<BTreeMap<UrlSet, u64>> {
    let mut left: BTreeMap<UrlSet, u64> = sets.map(|set| (set, 0)).collect();
    if !left.is_empty() {
        frontier.each_held_back(&ledger.session, &mut |drawn| {
            if let Some(count) = left.get_mut(&of(drawn.sets)) {
                *count += 1;
            }
        })?;
    }
    left.retain(|_, count| *count > 0);
    Ok(left)
}

/// The URLs that were or are to be fetched in place of those that are held or stopped, by their hashes, each with the
/// number of URLs in whose place it stands. At most [`Sample::MOST`] are counted.
pub fn counterparts(frontier: &mut Frontier, ledger: &Ledger) -> Result<HashMap<u64, u64>> {
    let mut counterparts = HashMap::new();
    frontier.each_held_back(&ledger.session, &mut |drawn| {
        let is_room = counterparts.len() < Sample::MOST;
        match drawn.stands_in.map(|url| (url, counterparts.get_mut(&url))) {
            Some((_, Some(count))) => *count += 1,
            Some((url, None)) if is_room => _ = counterparts.insert(url, 1),
            _ => {}
        }
    })?;
    Ok(counterparts)
}

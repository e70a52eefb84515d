//! Looks at everything that is held or stopped: the sample of the last round, the number of URLs that lots have left,
//! and the pages that were fetched in place of the URLs.

use std::collections::{BTreeMap, HashMap};

use frontier::{Frontier, Lot, Lots, Sample, Strata};

use crate::engine::error::Result;
use crate::engine::ledger::Ledger;

/// Draws from everything that is held or stopped, the same share from each section of each lot.
pub fn draw_from_each(wanted: usize, round: u32, frontier: &mut Frontier, ledger: &Ledger) -> Result<Sample> {
    let mut strata = Strata::default();
    frontier.each_held_back(&ledger.session, &mut |drawn| strata.count(drawn.lots))?;
    let mut draw = strata.draw(wanted, u64::from(round));
    frontier.each_held_back(&ledger.session, &mut |drawn| draw.show(drawn))?;
    Ok(draw.end())
}

/// The number of URLs of these lots that are still held or stopped. Lots without such URLs are left out. `of` selects
/// one of the lots of a URL.
pub fn left_of(
    lots: impl Iterator<Item = Lot>,
    of: impl Fn(Lots) -> Lot,
    frontier: &mut Frontier,
    ledger: &Ledger,
) -> Result<BTreeMap<Lot, u64>> {
    let mut left: BTreeMap<Lot, u64> = lots.map(|lot| (lot, 0)).collect();
    if !left.is_empty() {
        frontier.each_held_back(&ledger.session, &mut |drawn| {
            if let Some(count) = left.get_mut(&of(drawn.lots)) {
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

/// Takes URLs out of a sample for which trials speak: other URLs that were held or stopped for the same reason in the
/// same place, and that were fetched during the crawl and agreed. Each such trial stands for one URL of the sample. At
/// least one in [`STAY`] of each section stays, so that each is still tried. Returns the number of URLs taken out.
pub fn vouched(sample: &mut Sample, frontier: &Frontier, ledger: &Ledger) -> Result<u64> {
    let (mut trials, mut sections) = (HashMap::new(), HashMap::<Lot, (usize, usize)>::new());
    for drawn in &sample.drawn {
        sections.entry(drawn.lots.section).or_default().0 += 1;
    }
    let mut kept = Vec::new();
    let before = sample.drawn.len();
    for drawn in std::mem::take(&mut sample.drawn) {
        let (all, out) = sections.entry(drawn.lots.section).or_default();
        if let Some(vouchers) = frontier.vouchers(drawn.id, &ledger.session)? {
            let left = trials.entry(vouchers.ladder).or_insert(vouchers.trials);
            if *left > 0 && *out < *all - all.div_ceil(STAY) {
                (*left, *out) = (*left - 1, *out + 1);
                continue;
            }
        }
        kept.push(drawn);
    }
    sample.drawn = kept;
    Ok((before - sample.drawn.len()) as u64)
}

/// One in this many URLs of a section stays in the sample, however many trials speak for the section. The trials of a
/// crawl come early, and a section may have changed since.
const STAY: usize = 4;

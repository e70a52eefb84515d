//! The stock of each lane (what is queued in it), when a store is opened. One pass over all entries finds the stocks.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::SiteId;

use super::entry;
use super::lane::{LaneKey, Seq, Stock};
use crate::spaces;

/// The stocks of all lanes.
#[derive(Debug, Default)]
pub struct Stocks(BTreeMap<LaneKey, Stock>);

impl Stocks {
    /// Reads the whole queue. An entry before the position of its lane is done. For each other entry that is no
    /// sitemap, calls `visit` with the hash of the URL and the band.
    pub fn read(session: &Session, visit: &mut dyn FnMut(u64, u8)) -> Result<Self> {
        let (mut stocks, mut failure) = (BTreeMap::new(), None);
        session.scan(spaces::HOSTS, &[], &[], &mut |key, value| {
            match LaneKey::of_record(key).map(|lane| (lane, Stock::decode(value))) {
                Some((lane, Ok(stock))) => _ = stocks.insert(lane, Stock { undone: 0, ..stock }),
                Some((_, Err(error))) => failure = Some(error),
                None => {}
            }
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        // The entries of one lane and era lie side by side, so their lane is looked for once.
        let mut current = Current::default();
        session.scan(spaces::QUEUE, &[], &[], &mut |key, value| {
            let Some((lane, seq)) = LaneKey::of_entry(key) else { return ControlFlow::Continue(()) };
            if current.lane != Some(lane) {
                current.leave(&mut stocks);
                let known = stocks.get(&lane).map_or(0, |stock| stock.head);
                current = Current { lane: Some(lane), head: known, first: None, undone: 0 };
            }
            if seq >= current.head {
                current.first.get_or_insert(seq);
                current.undone += 1;
                if !entry::is_sitemap(value) {
                    visit(entry::url_of(value), lane.band);
                }
            }
            ControlFlow::Continue(())
        })?;
        current.leave(&mut stocks);
        stocks.retain(|_, stock| stock.undone > 0);
        Ok(Self(stocks))
    }

    /// The stocks of a host.
    pub fn of(&self, site: SiteId) -> impl Iterator<Item = (&LaneKey, &Stock)> {
        let lane = |group, band| LaneKey { site, group, band };
        self.0.range(lane(0, 0)..=lane(u8::MAX, u8::MAX))
    }
}

/// The lane whose entries are read now.
#[derive(Default)]
struct Current {
    lane: Option<LaneKey>,
    head: Seq,
    first: Option<Seq>,
    undone: u32,
}

impl Current {
    fn leave(&self, stocks: &mut BTreeMap<LaneKey, Stock>) {
        if let (Some(lane), Some(first)) = (self.lane, self.first) {
            let stock = stocks.entry(lane).or_insert(Stock { head: first, undone: 0 });
            stock.undone += self.undone;
        }
    }
}

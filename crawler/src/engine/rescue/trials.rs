//! The trials of the rescue: what each URL brought that was drawn, or followed because its lot had fallen, and the results of
//! lots and families.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use dedup_stage::store::{self, Session, codec};
use dedup_stage::url::{SiteId, UrlId};
use serde::{Deserialize, Serialize};

use crate::spaces;

/// A URL that was drawn, or followed because its lot has fallen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The round that drew it; 0 if its lot had fallen.
    pub round: u32,
    /// Its lot.
    pub lot: u64,
    /// Whether it brought a new page; `None` until it was answered. A trial that was never answered says nothing.
    pub new: Option<bool>,
    /// Whether its page led to a new page.
    pub led: bool,
    /// Whether its page had links that were not met before.
    pub opened: bool,
    /// The page that linked to it.
    pub source: Option<UrlId>,
    /// The family of its lot; 0 if its lot had fallen.
    pub family: u64,
}

/// The results of the trials of each lot.
pub fn results(session: &Session) -> store::Result<BTreeMap<u64, LotResults>> {
    let (mut results, mut damaged) = (BTreeMap::<u64, LotResults>::new(), None);
    session.scan(spaces::TRIALS, &[], &[], &mut |key, value| match (UrlId::read(key), decode(value)) {
        (Some(id), Ok(trial)) => {
            if trial.round > 0 {
                results.entry(trial.lot).or_default().add(id.site, trial);
            }
            ControlFlow::Continue(())
        }
        (_, Err(error)) => {
            damaged = Some(error);
            ControlFlow::Break(())
        }
        (None, _) => ControlFlow::Continue(()),
    })?;
    damaged.map_or(Ok(results), Err)
}

/// The results of a family.
#[derive(Clone, Copy, Debug, Default)]
pub struct FamilyResults {
    /// The host of one of its URLs.
    pub site: SiteId,
    /// Its lots that were tried …
    pub tried: u64,
    /// … and those of them that gained something.
    pub gained: u64,
}

/// The results of each family.
pub fn families(results: &BTreeMap<u64, LotResults>) -> BTreeMap<u64, FamilyResults> {
    let mut families = BTreeMap::<u64, FamilyResults>::new();
    // Trials of earlier versions have no family.
    for result in results.values().filter(|result| result.family != 0) {
        let family = families.entry(result.family).or_default();
        family.site = result.site;
        family.tried += 1;
        family.gained += u64::from(result.gained > 0);
    }
    families
}

/// The results of the trials of one lot.
#[derive(Clone, Copy, Debug, Default)]
pub struct LotResults {
    /// The host of its URLs.
    pub site: SiteId,
    /// The family of the lot.
    pub family: u64,
    /// The latest round that drew from it …
    pub round: u32,
    /// … the URLs that this round drew and that were answered …
    pub drawn: u64,
    /// … and those of them whose pages were new.
    pub new: u64,
    /// In all rounds: pages that were new, or led to new ones.
    pub gained: u64,
    /// Whether a page of it, in any round, had links that were not met before.
    pub opened: bool,
}

impl LotResults {
    fn add(&mut self, site: SiteId, trial: Trial) {
        let new = trial.new == Some(true);
        if trial.round > self.round {
            (self.round, self.drawn, self.new) = (trial.round, 0, 0);
        }
        if trial.round == self.round && trial.new.is_some() {
            self.drawn += 1;
            self.new += u64::from(new);
        }
        (self.site, self.family) = (site, trial.family);
        self.gained += u64::from(new || trial.led);
        self.opened |= trial.opened;
    }
}

/// The trial of a URL. One that cannot be read counts as none; `check` finds it.
pub fn read(id: UrlId, session: &Session) -> Option<Trial> {
    let bytes = session.get(spaces::TRIALS, &id.to_bytes()).ok().flatten();
    bytes.and_then(|bytes| decode(&bytes).ok())
}

/// Writes down what became of a URL.
pub fn put(id: UrlId, trial: Trial, session: &mut Session) {
    session.put(spaces::TRIALS, id.to_bytes(), codec::encode(&trial));
}

/// A trial as it was written, also by versions that wrote less of it.
fn decode(bytes: &[u8]) -> store::Result<Trial> {
    codec::decode(bytes, "a trial").or_else(|error| {
        if let Ok((round, lot, new, led, opened, source)) = codec::decode(bytes, "a trial") {
            return Ok(Trial { round, lot, new, led, opened, source, family: 0 });
        }
        let (round, lot, new) = codec::decode(bytes, "a trial").map_err(|_| error)?;
        Ok(Trial { round, lot, new, ..Trial::default() })
    })
}

//! The record of a URL that the rescue fetched: why it did, and what its page has brought.

use dedup_stage::store::{self, Session, codec};
use dedup_stage::url::UrlId;
use frontier::UrlSet;
use serde::{Deserialize, Serialize};

use crate::spaces;

/// The record of a URL that was fetched during the rescue. There are three kinds:
///
/// 1. The URL was drawn (`round` is not 0).
/// 2. It was fetched because one of its sets has fallen (`round` is 0, `set` is not).
/// 3. A page on record, which was not new, links to it, and it is not new either (both are 0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// The round that drew it; 0 if it was not drawn.
    pub round: u32,
    /// Its lot, or the section, siblings or family that had fallen; 0 if it lies behind a trial.
    pub set: UrlSet,
    /// Whether it brought a new page; `None` until it was answered or given up after its attempts. A trial that ended
    /// otherwise (robots.txt forbids it, for example) stays `None`, and is no evidence.
    pub new: Option<bool>,
    /// Whether its page led to a new page.
    pub led: bool,
    /// The number of links of its page that were not found before. (Earlier versions wrote 1 for any number, in the
    /// same format.)
    pub opened: u32,
    /// The page that linked to it.
    pub source: Option<UrlId>,
    /// The family of its lot; 0 if it was not drawn.
    pub family: UrlSet,
    /// Its section of the lot; 0 if it was not drawn.
    pub section: UrlSet,
    /// Its siblings; 0 if it was not drawn, or is not held for a counterpart.
    pub siblings: UrlSet,
    /// The round during which it was fetched: that which drew it, or the newest one then. Earlier versions did not
    /// write it (0).
    pub during: u32,
}

impl TrialRecord {
    /// Whether its page was new, or led to a new one. A list has little text of its own, but the pages that it lists
    /// would be lost.
    pub fn gained(&self) -> bool {
        self.new == Some(true) || self.led
    }
}

/// The trial of a URL. A trial that cannot be read counts as none here. The next round of the rescue will fail on it.
pub fn read(id: UrlId, session: &Session) -> Option<TrialRecord> {
    let bytes = session.get(spaces::TRIALS, &id.to_bytes()).ok().flatten();
    bytes.and_then(|bytes| decode(&bytes).ok())
}

/// Stores the trial of a URL.
pub fn put(id: UrlId, trial: TrialRecord, session: &mut Session) {
    session.put(spaces::TRIALS, id.to_bytes(), codec::encode(&trial));
}

/// Decodes a trial. Trials of earlier versions have fewer fields.
pub fn decode(bytes: &[u8]) -> store::Result<TrialRecord> {
    codec::decode(bytes, "a trial").or_else(|error| {
        let trial = if let Ok((round, set, new, led, opened, source, family, section, siblings)) =
            codec::decode(bytes, "a trial")
        {
            TrialRecord { round, set, new, led, opened, source, family, section, siblings, during: 0 }
        } else if let Ok((round, set, new, led, opened, source, family, section)) = codec::decode(bytes, "a trial") {
            TrialRecord { round, set, new, led, opened, source, family, section, ..TrialRecord::default() }
        } else if let Ok((round, set, new, led, opened, source, family)) = codec::decode(bytes, "a trial") {
            TrialRecord { round, set, new, led, opened, source, family, section: set, ..TrialRecord::default() }
        } else if let Ok((round, set, new, led, opened, source)) = codec::decode(bytes, "a trial") {
            TrialRecord { round, set, new, led, opened, source, section: set, ..TrialRecord::default() }
        } else {
            let (round, set, new) = codec::decode(bytes, "a trial").map_err(|_| error)?;
            TrialRecord { round, set, new, section: set, ..TrialRecord::default() }
        };
        Ok(trial)
    })
}

//! Counts the stopped URLs that wait, by host, rule and folder: learned rules stop them, and their representatives are
//! not fetched yet. Whether a URL waits is a part of its state, so [`Urls`](super::Urls) counts with each change of a
//! state. Nothing else counts them, so each count is the number of the records that say so. (In records of earlier
//! versions, no URL says that it waits.)

use dedup_stage::store::{Result, Session, codec};
use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};

use crate::numbers::RuleId;
use crate::spaces;

/// A rule, and a folder in which it stops URLs. The URLs that wait are counted by host, rule and folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitPlace {
    /// The rule.
    pub rule: RuleId,
    /// The hash of the folder.
    pub folder: u64,
}

/// Kind of the records of these numbers in [`spaces::RULES`].
const TAG: u8 = b'p';

/// The number of URLs of a host that wait.
pub fn waiting(site: SiteId, place: WaitPlace, session: &Session) -> Result<u32> {
    match session.get(spaces::RULES, &key(site, place))? {
        Some(bytes) => codec::decode(&bytes, "how many URLs wait"),
        None => Ok(0),
    }
}

/// Counts that a URL of a host waits at `to`, and no longer at `from`.
pub(super) fn count(site: SiteId, from: Option<WaitPlace>, to: Option<WaitPlace>, session: &mut Session) -> Result<()> {
    if from == to {
        return Ok(());
    }
    if let Some(from) = from {
        let left = waiting(site, from, session)?.saturating_sub(1);
        session.put(spaces::RULES, key(site, from), codec::encode(&left));
    }
    if let Some(to) = to {
        let more = waiting(site, to, session)?.saturating_add(1);
        session.put(spaces::RULES, key(site, to), codec::encode(&more));
    }
    Ok(())
}

fn key(site: SiteId, WaitPlace { rule, folder }: WaitPlace) -> Vec<u8> {
    [&site.to_bytes()[..], &[TAG], &rule.to_be_bytes(), &folder.to_be_bytes()].concat()
}

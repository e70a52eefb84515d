//! The keys of the ladders ([`crate::hold::ladder`]) of stops and of pairs of hosts.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;
use url::Url;

use crate::folder::folder;
use crate::hold::ladder::{self, Ladder, LadderKey};
use crate::rules::Rules;
use crate::trial::Stop;

/// The key of the ladder for a stop: the rule that a trial counts for, and the folder of the URL. A trap is one folder.
pub(super) fn stop_key(stop: &Stop, rules: &Rules, id: UrlId, url: &Url) -> Option<LadderKey> {
    let folder = if stop.representative.is_some() { folder(url) } else { 0 };
    Some(LadderKey { site: id.site, place: ladder::LadderPlace::Rule(rules.rule_of_trial(stop)?, folder) })
}

/// Whether the host of a link and that of its counterpart show different things in the folder of the link.
pub(super) fn is_unlike(id: UrlId, url: &Url, counterpart: UrlId, session: &Session) -> Result<bool> {
    let place = ladder::LadderPlace::PairIn(counterpart.site, folder(url));
    Ok(Ladder::get(LadderKey { site: id.site, place }, session)?.is_broken())
}

/// The key of the ladder for links of one host that are held for counterparts on another host.
pub(super) fn pair_key(id: UrlId, counterpart: UrlId) -> LadderKey {
    LadderKey { site: id.site, place: ladder::LadderPlace::Pair(counterpart.site) }
}

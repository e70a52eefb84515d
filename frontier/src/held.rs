//! What is queued but held back by its host: by a name that no address is known for, by a robots.txt that cannot be had.
//!
//! Such URLs stay queued, since the host may come back; a crawl that ends without it walks over them once, to say why
//! they were not fetched.

use config::Robots;
use dedup_stage::judge::Row;
use dedup_stage::store::{Result, Session};

use crate::frontier::Frontier;
use crate::hosts::{Host, Place};
use crate::job::SkipReason;
use crate::queue::{HostId, Lane, LaneKey, Seq};

/// A queued URL that is held back.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// As it would be fetched.
    pub url: Box<str>,
    /// Hash of its key.
    pub hash: u64,
    /// The page that carried it.
    pub source: Option<Row>,
    /// [`SkipReason::Address`] or [`SkipReason::Robots`].
    pub reason: SkipReason,
}

/// Where a walk over what is held back stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Walk {
    host: HostId,
    lane: usize,
    seq: Seq,
}

impl Frontier {
    /// Up to `most` further URLs that are held back; none at the end of the walk. Between two calls nothing may be handed
    /// out or reported.
    ///
    /// # Complexity
    ///
    /// O(hosts + URLs held back) for the whole walk: what else is queued is not touched.
    pub fn held(&self, walk: &mut Walk, most: usize, session: &Session) -> Result<Vec<Held>> {
        let mut found = Vec::new();
        while (walk.host as usize) < self.hosts.len() && found.len() < most {
            let host = self.hosts.get(walk.host);
            let Some(lane) = host.lanes.get(walk.lane) else {
                *walk = Walk { host: walk.host + 1, ..Walk::default() };
                continue;
            };
            if let Some(reason) = self.reason(host, lane) {
                let key = LaneKey { host: walk.host, group: lane.group, band: lane.band };
                self.queues.look(lane, key, walk.seq, session, &mut |seq, entry| {
                    walk.seq = seq + 1;
                    // Sitemaps need no rules.
                    if !(entry.sitemap && reason == SkipReason::Robots) {
                        found.push(Held { url: entry.url, hash: entry.hash, source: entry.source, reason });
                    }
                    found.len() < most
                })?;
            }
            if found.len() < most {
                *walk = Walk { lane: walk.lane + 1, seq: 0, ..*walk };
            }
        }
        Ok(found)
    }

    /// Why nothing of a lane can be handed out, if it is for its host.
    fn reason(&self, host: &Host, lane: &Lane) -> Option<SkipReason> {
        if matches!(host.place, Place::Unresolved) {
            return Some(SkipReason::Address);
        }
        let origin = host.groups.get(lane.group).and_then(|group| host.origins.get(usize::from(group.origin)))?;
        (self.settings.robots == Robots::Obey && origin.withholds()).then_some(SkipReason::Robots)
    }
}

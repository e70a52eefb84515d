//! Hosts with URLs that robots.txt forbade. Nothing else may ever be asked of such a host, so its robots.txt is asked
//! for again on behalf of these URLs (`Frontier::ask_robots_again`). Memory has a number for each such host, so that no
//! search among all URLs is needed to find them.

use std::collections::HashMap;

use dedup_stage::url::SiteId;

use super::Standing;
use crate::reason::SkipReason;

/// The number of URLs that robots.txt forbade, by the hash of the host. A host that has none has no entry.
#[derive(Debug, Default)]
pub struct Forbidden(HashMap<u64, u32>);

impl Forbidden {
    /// A URL of a host comes from one state into another.
    pub fn changes(&mut self, site: SiteId, from: Option<Standing>, to: Standing) {
        let is_forbidden = Standing::Refused(SkipReason::Robots);
        match (from == Some(is_forbidden), to == is_forbidden) {
            (false, true) => *self.0.entry(site.host).or_default() += 1,
            (true, false) => {
                if let Some(count) = self.0.get_mut(&site.host) {
                    *count -= 1;
                    if *count == 0 {
                        self.0.remove(&site.host);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether robots.txt forbade URLs of this host.
    pub fn has(&self, site: SiteId) -> bool {
        self.0.contains_key(&site.host)
    }

    /// Whether there is no such host.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

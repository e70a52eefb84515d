//! The robots rules that are in memory. A file can have 500 KiB of rules, and a crawl meets any number of hosts. So the
//! rules of all origins together have a bound. When there are more, those that were used longest ago are dropped. The
//! store has all of them, and they are read again when a URL of their origin has its turn.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dedup_stage::store::{Error, Result, Session};
use dedup_stage::url::SiteId;

use super::port::Port;
use crate::robots::RobotsRules;
use crate::spaces;

type Key = (SiteId, Port);

/// Robots rules by origin.
#[derive(Debug, Default)]
pub struct RulesKept {
    /// The rules, each with the number of its last use.
    rules: HashMap<Key, (u64, Arc<RobotsRules>)>,
    /// The origins by the number of their last use.
    by_use: BTreeMap<u64, Key>,
    /// The number of the last use of any rules.
    uses: u64,
    /// The bytes of all rules.
    bytes: usize,
    /// The bytes of the rules that were read from the store and not yet accounted for.
    read: usize,
}

impl RulesKept {
    /// At most this many bytes.
    pub const MOST: usize = config::bounds::ROBOTS;
    /// What an origin takes besides its rules, in bytes, roughly: its places in two maps, and the fixed part of its
    /// rules.
    const EACH: usize = 400;

    /// The rules of an origin, from memory or from the store. `None` if the store has none.
    pub fn get(&mut self, site: SiteId, port: Port, session: &Session) -> Result<Option<Arc<RobotsRules>>> {
        if let Some((last, rules)) = self.rules.get_mut(&(site, port)) {
            self.by_use.remove(last);
            self.uses += 1;
            *last = self.uses;
            self.by_use.insert(self.uses, (site, port));
            return Ok(Some(Arc::clone(rules)));
        }
        let Some(rules) = stored_rules(site, port, session)? else { return Ok(None) };
        self.read += rules.bytes();
        Ok(Some(self.put(site, port, rules)))
    }

    /// Keeps the rules of an origin. Sitemaps that they name are dropped: they are queued when robots.txt is answered,
    /// and are not needed after that.
    pub fn put(&mut self, site: SiteId, port: Port, rules: RobotsRules) -> Arc<RobotsRules> {
        self.forget((site, port));
        let rules = Arc::new(rules.without_sitemaps());
        // Rules that forbid nothing are never asked for: their origin knows that.
        if rules.restricts() {
            self.uses += 1;
            self.bytes += rules.bytes() + Self::EACH;
            self.by_use.insert(self.uses, (site, port));
            self.rules.insert((site, port), (self.uses, Arc::clone(&rules)));
        }
        while self.bytes > Self::MOST
            && let Some((_, first)) = self.by_use.first_key_value()
        {
            self.forget(*first);
        }
        rules
    }

    fn forget(&mut self, key: Key) {
        if let Some((last, rules)) = self.rules.remove(&key) {
            self.by_use.remove(&last);
            self.bytes -= rules.bytes() + Self::EACH;
        }
    }

    /// The bytes that all rules in memory take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes of the rules that were read from the store since this was asked last.
    pub fn take_read(&mut self) -> usize {
        std::mem::take(&mut self.read)
    }
}

/// The robots rules of an origin as the store has them.
pub fn stored_rules(site: SiteId, port: Port, session: &Session) -> Result<Option<RobotsRules>> {
    let Some(bytes) = session.get(spaces::ROBOTS, &port.key(site))? else { return Ok(None) };
    let damaged = || Error::Damaged("the robots rules of an origin cannot be read".into());
    RobotsRules::from_bytes(&bytes).map(Some).ok_or_else(damaged)
}

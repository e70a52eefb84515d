//! The origins of a host: its schemes and ports, each with its robots.txt (RFC 9309, section 2.3).
//!
//! A host may have many ports, and any page may link to all of them. So the number of origins is bounded. The default
//! ports and the ports of seeds always have room. Of the others, the least useful one makes room for a new one: of
//! those that never gave a good answer, the one whose last link is the oldest.

use config::Duration;
use dedup_stage::store::{Result, Session};
use dedup_stage::url::SiteId;
use url::Url;

pub use super::port::Port;
use super::rules_kept::{RulesKept, stored_rules};
use super::small;
use crate::numbers::Millis;
use crate::reason::Detail;
use crate::robots::RobotsRules;
use crate::spaces;

/// Whether a URL of an origin may be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Fetch it.
    Allowed,
    /// robots.txt forbids it.
    Forbidden,
    /// robots.txt must be asked for first.
    Ask,
    /// The rules are not known. Nothing is fetched before this time. Then robots.txt is asked for again.
    Wait(Millis),
}

/// One origin of a host.
#[derive(Debug)]
pub struct Origin {
    port: Port,
    /// Whether it never makes room for another: it is a default port, or the port of a seed.
    fixed: bool,
    /// Whether it has given a good answer.
    good: bool,
    /// Whether it has made room for another. Then its queued URLs are refused.
    left: bool,
    /// When it was last linked to: the number of links that this process had seen then.
    linked: u64,
    robots: Robots,
    /// The file without which its pages may not be fetched. It does not outlive the process.
    awaited: Option<Awaited>,
}

/// A queued file for which the pages of an origin wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Its identity (`UrlId::url`).
    pub file: u64,
    /// The group and the band of its lane.
    pub lane: (u8, u8),
}

/// The record of an origin: its port, and whether it is fixed, has given a good answer, has made room.
pub type Record = (Port, bool, bool, bool);

#[derive(Debug)]
enum Robots {
    /// The store was not asked yet.
    Unread,
    /// robots.txt was never asked for.
    Unknown,
    /// robots.txt was answered. The rules may have expired.
    Known(KnownRules),
    /// robots.txt has moved elsewhere, and the errand there is not answered yet. The field has what was known before it
    /// moved.
    Moved(Option<KnownRules>),
}

/// What an origin itself keeps of its robots rules. The rules are in [`RulesKept`] or in the store.
#[derive(Clone, Copy, Debug)]
struct KnownRules {
    expires_at: Millis,
    is_undefined: bool,
    /// Whether there are rules with which URLs must be compared.
    restricts: bool,
    trouble: Detail,
    crawl_delay: Option<Duration>,
}

impl KnownRules {
    fn of(rules: &RobotsRules) -> Self {
        Self {
            expires_at: rules.expires_at(),
            is_undefined: rules.is_undefined(),
            restricts: rules.restricts(),
            trouble: rules.trouble(),
            crawl_delay: rules.crawl_delay(),
        }
    }
}

/// The URL of the robots.txt of the origin of a URL.
pub fn robots_url(url: &Url) -> Url {
    let mut robots = url.clone();
    robots.set_path("/robots.txt");
    robots.set_query(None);
    robots.set_fragment(None);
    // robots.txt is asked for without user name and password. A URL with a host can always be changed in this way.
    let _ = robots.set_username("");
    let _ = robots.set_password(None);
    robots
}

impl Origin {
    fn new(port: Port, fixed: bool) -> Self {
        Self {
            port,
            fixed: fixed || port.is_default(),
            good: false,
            left: false,
            linked: 0,
            robots: Robots::Unread,
            awaited: None,
        }
    }

    /// Its scheme and port.
    pub fn port(&self) -> Port {
        self.port
    }

    /// Whether it has made room for another origin.
    pub fn has_left(&self) -> bool {
        self.left
    }

    /// From now on, its pages wait until this file has ended.
    pub fn wait_for(&mut self, awaited: Awaited) {
        self.awaited = Some(awaited);
    }

    /// The file for which its pages wait, if they do.
    pub fn awaited(&self) -> Option<Awaited> {
        self.awaited
    }

    /// Whether `url` may be fetched at `now`. It must be a URL of this origin of `site`.
    pub fn access(
        &mut self,
        url: &Url,
        site: SiteId,
        now: Millis,
        kept: &mut RulesKept,
        session: &Session,
    ) -> Result<Permission> {
        if let Robots::Unread = self.robots {
            let rules = kept.get(site, self.port, session)?;
            self.robots = rules.map_or(Robots::Unknown, |rules| Robots::Known(KnownRules::of(&rules)));
        }
        Ok(match &self.robots {
            Robots::Unread | Robots::Unknown => Permission::Ask,
            Robots::Moved(_) => Permission::Wait(Millis::MAX),
            Robots::Known(known) if known.expires_at <= now => Permission::Ask,
            Robots::Known(known) if known.is_undefined => Permission::Wait(known.expires_at),
            Robots::Known(known) if !known.restricts => Permission::Allowed,
            Robots::Known(_) => match kept.get(site, self.port, session)? {
                Some(rules) if rules.allowed(url) => Permission::Allowed,
                Some(_) => Permission::Forbidden,
                None => Permission::Ask,
            },
        })
    }

    /// Whether the store may know more of its robots.txt.
    pub fn is_unread(&self) -> bool {
        matches!(self.robots, Robots::Unread)
    }

    /// The reason for which nothing may be fetched, if robots.txt cannot be had, or has moved and could not be had
    /// there so far.
    pub fn withholds(&self) -> Option<Detail> {
        match &self.robots {
            Robots::Known(known) if known.is_undefined => Some(known.trouble),
            Robots::Moved(_) => Some(Detail::None),
            _ => None,
        }
    }

    /// robots.txt was answered, or could not be had. True if its rules have changed.
    pub fn answered(
        &mut self,
        rules: RobotsRules,
        site: SiteId,
        kept: &mut RulesKept,
        session: &mut Session,
    ) -> Result<bool> {
        let earlier = if let Robots::Unknown = self.robots { None } else { kept.get(site, self.port, session)? };
        let (rules, changed) = match earlier {
            Some(earlier) => {
                let rules = rules.after(&earlier);
                let changed = !rules.says_as(&earlier);
                (rules, changed)
            }
            None => (rules, false),
        };
        session.put(spaces::ROBOTS, self.port.key(site), rules.to_bytes());
        self.robots = Robots::Known(KnownRules::of(&rules));
        kept.put(site, self.port, rules);
        Ok(changed)
    }

    /// robots.txt has moved elsewhere.
    pub fn moved(&mut self) {
        self.robots = Robots::Moved(self.known());
    }

    fn known(&self) -> Option<KnownRules> {
        match self.robots {
            Robots::Known(known) | Robots::Moved(Some(known)) => Some(known),
            _ => None,
        }
    }

    /// The Crawl-delay that was known last.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.known()?.crawl_delay
    }
}

/// The origins of one host, by number.
#[derive(Debug, Default)]
pub struct Origins {
    all: Vec<Origin>,
    links: u64,
}

impl Origins {
    /// At most this many origins, besides those that always have room.
    const MOST: usize = config::bounds::ORIGINS;
    /// At most this many origins, those that made room included.
    const EVER: usize = 96;

    /// The number of the origin of `url`. An origin that is not known is made. `fixed`: it shall never make room.
    /// `is_idle` tells whether an origin, given by its number, has no queued URLs. `None` if there is no room.
    pub fn number(&mut self, url: &Url, fixed: bool, is_idle: &dyn Fn(u8) -> bool) -> Option<u8> {
        let port = Port::of(url);
        self.links += 1;
        let known = self.all.iter().position(|known| known.port == port);
        if let Some(at) = known.filter(|at| !self.all[*at].left) {
            self.all[at].fixed |= fixed;
            self.all[at].linked = self.links;
            return Some(at as u8);
        }
        let origin = Origin { linked: self.links, ..Origin::new(port, fixed) };
        if !(origin.fixed || self.make_room()) {
            return None;
        }
        let at = match known {
            // It made room before, and comes back.
            Some(at) => at,
            None if self.all.len() < Self::EVER => {
                small::push(&mut self.all, origin);
                return Some((self.all.len() - 1) as u8);
            }
            // The number of an origin that made room is free when its queue is empty.
            None => (0..self.all.len()).find(|at| self.all[*at].left && is_idle(*at as u8))?,
        };
        self.all[at] = origin;
        Some(at as u8)
    }

    /// Makes room for one more origin. False if that is not possible.
    fn make_room(&mut self) -> bool {
        let taken = self.all.iter().filter(|origin| !origin.fixed && !origin.left).count();
        if taken < Self::MOST {
            return true;
        }
        let useless = self.all.iter_mut().filter(|origin| !(origin.fixed || origin.left || origin.good));
        if let Some(origin) = useless.min_by_key(|origin| origin.linked) {
            origin.left = true;
            return true;
        }
        false
    }

    /// The number of the origin of `url`, if the host has it.
    pub fn find(&self, url: &Url) -> Option<u8> {
        let port = Port::of(url);
        self.all.iter().position(|known| known.port == port).map(|at| at as u8)
    }

    /// The origin with this number.
    pub fn get(&self, number: u8) -> Option<&Origin> {
        self.all.get(usize::from(number))
    }

    /// Like [`Origins::get`].
    pub fn get_mut(&mut self, number: u8) -> Option<&mut Origin> {
        self.all.get_mut(usize::from(number))
    }

    /// A URL of the origin was answered well. True if this is the first time.
    pub fn answered(&mut self, url: &Url) -> bool {
        let Some(origin) = self.find(url).and_then(|at| self.get_mut(at)) else { return false };
        !std::mem::replace(&mut origin.good, true)
    }

    /// A file was answered or given up. Pages that wait for it wait no longer.
    pub fn file_ended(&mut self, file: u64) {
        let ended = |awaited: Awaited| awaited.file == file;
        self.all.iter_mut().for_each(|origin| _ = origin.awaited.take_if(|awaited| ended(*awaited)));
    }

    /// All origins, by number.
    pub fn iter(&self) -> impl Iterator<Item = &Origin> {
        self.all.iter()
    }

    /// Reads what the store knows of the robots rules of each origin. They must be the origins of `site`.
    pub fn read(&mut self, site: SiteId, session: &Session) -> Result<()> {
        for origin in self.all.iter_mut().filter(|origin| origin.is_unread()) {
            if let Some(rules) = stored_rules(site, origin.port, session)? {
                origin.robots = Robots::Known(KnownRules::of(&rules));
            }
        }
        Ok(())
    }

    /// The records of all origins.
    pub fn records(&self) -> Vec<Record> {
        self.all.iter().map(|origin| (origin.port, origin.fixed, origin.good, origin.left)).collect()
    }

    /// The origins from their records.
    pub fn of_records(records: Vec<Record>) -> Self {
        let origin = |(port, fixed, good, left)| Origin { good, left, ..Origin::new(port, fixed) };
        Self { all: records.into_iter().map(origin).collect(), links: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(port: u16) -> Url {
        Url::parse(&format!("http://a.test:{port}/")).unwrap()
    }

    #[test]
    fn strangers_cannot_push_out_default_ports_seeds_and_what_answers() {
        let mut origins = Origins::default();
        for port in 1_000..1_080 {
            assert!(origins.number(&url(port), false, &|_| true).is_some(), "{port}");
            if port == 1_005 {
                assert!(origins.answered(&url(port)));
                assert!(!origins.answered(&url(port)));
            }
        }
        for always in ["http://a.test/", "https://a.test/"] {
            assert!(origins.number(&Url::parse(always).unwrap(), false, &|_| true).is_some(), "{always}");
        }
        assert!(origins.number(&url(9_000), true, &|_| true).is_some(), "the port of a seed");
        for port in 2_000..2_200 {
            assert!(origins.number(&url(port), false, &|_| true).is_some(), "what is recent has room");
        }
        assert!(origins.number(&url(3_000), false, &|_| false).is_none(), "unless all queues are full");
        let left = |port| origins.get(origins.find(&url(port)).unwrap()).unwrap().has_left();
        assert!(!left(1_005) && !left(80) && !left(9_000) && !left(2_199));
        assert!(origins.find(&url(1_000)).is_none_or(|at| origins.get(at).unwrap().has_left()));
        let there = origins.iter().filter(|origin| !origin.has_left()).count();
        assert!(there <= Origins::MOST + 3 && origins.iter().count() <= Origins::EVER);
    }

    #[test]
    fn origins_come_back_from_their_records() {
        let mut origins = Origins::default();
        for port in 1_000..1_040 {
            origins.number(&url(port), port == 1_039, &|_| true);
        }
        origins.answered(&url(1_020));
        let again = Origins::of_records(origins.records());
        assert_eq!(again.records(), origins.records());
    }
}

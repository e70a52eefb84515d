//! Asks for each robots.txt again that has forbidden URLs and whose rules have expired.
//!
//! A robots.txt is asked for when a page of its origin has its turn. If robots.txt forbids every URL of an origin, no
//! page ever has one, and the crawl would not notice that robots.txt has changed. So a *pass* goes over the stored rules
//! of all origins, a little at a time, and sends out an errand for each of these files. If the answer has other rules,
//! the URLs that they allow are queued (`Frontier::asker_knows`).

use std::collections::HashSet;
use std::ops::ControlFlow;

use dedup_stage::store::{Error, Result, Session};
use dedup_stage::url::SiteId;
use url::Url;

use super::Frontier;
use crate::hold::works::Works;
use crate::host::Hosts;
use crate::host::errands::{Asker, Errand};
use crate::host::origins::{Port, robots_url};
use crate::numbers::Millis;
use crate::robots::RobotsRules;
use crate::spaces;

/// The pass over the stored rules.
#[derive(Debug, Default)]
pub(super) struct RobotsAgain {
    /// The key from which the pass goes on, and the time of its beginning. `None` if it has come to its end.
    at: Option<(Vec<u8>, Millis)>,
    /// Origins whose errands have no answer yet.
    open: HashSet<(SiteId, Port)>,
}

impl RobotsAgain {
    /// At most this many errands wait for answers. A host with an errand stays in memory.
    const MOST: usize = Works::STEP;

    /// An origin has got its rules.
    pub fn answered(&mut self, asker: &Asker) {
        self.open.remove(&(asker.site, Port::of(&asker.of)));
    }
}

impl Frontier {
    /// Begins to ask for each robots.txt again that has forbidden URLs and whose rules have expired at `now`.
    /// [`Frontier::step`] does the work. The errands are as polite as all other requests. A host that has been asked
    /// since its rules expired is not asked again.
    ///
    /// # Complexity
    ///
    /// O(origins) for the whole pass, if any URL is forbidden; O(1) otherwise.
    pub fn ask_robots_again(&mut self, now: Millis) {
        // An errand whose answer is lost (that of another frontier, say) must not hold its place for ever.
        self.robots_again = RobotsAgain { at: Some((Vec::new(), now)), open: HashSet::new() };
    }

    /// Goes on with the pass. True if there is more to do now.
    pub(super) fn go_on_asking_robots(&mut self, session: &mut Session) -> Result<bool> {
        let Some((from, now)) = self.robots_again.at.take() else { return Ok(false) };
        if self.urls.forbidden().is_empty() {
            return Ok(false);
        }
        let room = RobotsAgain::MOST.saturating_sub(self.robots_again.open.len());
        if room == 0 {
            self.robots_again.at = Some((from, now));
            return Ok(false);
        }
        let (mut expired, mut seen, mut next, mut damaged) = (Vec::new(), 0, None, false);
        session.scan(spaces::ROBOTS, &from, &[], &mut |key, value| {
            if seen == 64 * Works::STEP || expired.len() == room || damaged {
                next = Some(key.to_vec());
                return ControlFlow::Break(());
            }
            seen += 1;
            if let Some(origin) = Port::of_key(key).filter(|(site, _)| self.urls.forbidden().has(*site)) {
                match RobotsRules::from_bytes(value) {
                    Some(rules) => expired.extend((rules.expires_at() <= now).then_some(origin)),
                    None => damaged = true,
                }
            }
            ControlFlow::Continue(())
        })?;
        if damaged {
            return Err(Error::Damaged("the robots rules of an origin cannot be read".into()));
        }
        self.robots_again.at = next.map(|key| (key, now));
        for (site, port) in expired {
            self.ask_origin_again(site, port, now, session)?;
        }
        Ok(self.robots_again.at.is_some() && self.robots_again.open.len() < RobotsAgain::MOST)
    }

    fn ask_origin_again(&mut self, site: SiteId, port: Port, now: Millis, session: &mut Session) -> Result<()> {
        if self.is_elsewhere(site) {
            return Ok(());
        }
        let asleep;
        let host = match self.hosts.find(site) {
            Some(id) => self.hosts.get(id),
            None => match Hosts::read(site, session)? {
                Some(host) => {
                    asleep = host;
                    &asleep
                }
                None => return Ok(()),
            },
        };
        // A host that is slowed down or set aside would keep the errand for long. The next pass comes to it again.
        let is_away = host.pace.is_troubled() && host.pace.not_before > now;
        let name = host.name.clone();
        let Some(of) = port.front(&name).filter(|_| !is_away) else { return Ok(()) };
        let errand = Errand { url: robots_url(&of), askers: vec![Asker { site, of, moves: 0 }] };
        let id = self.wake_host(site, &name, session)?;
        if self.hosts.get_mut(id).errands.add(errand).is_none() {
            self.robots_again.open.insert((site, port));
        }
        self.awake(id);
        self.make_room(session);
        Ok(())
    }

    /// Whether the rules that are known now allow a URL of this host.
    pub(super) fn robots_allow(&mut self, site: SiteId, url: &str, session: &Session) -> Result<bool> {
        let Ok(url) = Url::parse(url) else { return Ok(false) };
        let rules = self.rules_kept.get(site, Port::of(&url), session)?;
        Ok(rules.is_none_or(|rules| rules.allowed(&url)))
    }
}

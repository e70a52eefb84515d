//! Takes the answer to a request for a robots.txt: rules for every origin that asked, or a redirect to follow.

use config::Robots;
use dedup_stage::store::{Result, Session};

use super::Frontier;
use crate::hold::works::{Task, Which};
use crate::host::errands::{Asker, Errand};
use crate::host::origins::Origin;
use crate::job::Outcome;
use crate::numbers::{HostId, Millis};
use crate::reason::Detail;
use crate::robots::{Answer, RobotsRules};
use crate::schedule::HostPhase;

impl Frontier {
    /// At most this many redirects of a robots.txt are followed (RFC 9309, section 2.3.1.2).
    const MOVES: u8 = 5;
    /// A host whose job was not attempted waits at least for this time.
    pub(super) const RETURNED: Millis = 100;

    /// A job that asked for a robots.txt ended.
    pub(super) fn robots_ended(
        &mut self,
        id: HostId,
        mut errand: Errand,
        outcome: Outcome,
        at: Millis,
        session: &mut Session,
    ) -> Result<()> {
        let retry_after = match &outcome {
            Outcome::Robots(rules) => rules.retry_after(),
            _ => None,
        };
        match outcome {
            Outcome::Robots(rules) => {
                let later = errand.split_off(rules.bytes());
                self.rules_known(errand, &rules, at, session)?;
                if let Some(later) = later {
                    self.hosts.get_mut(id).errands.put_back(later);
                }
            }
            Outcome::RobotsMoved(target) => self.robots_moved(errand, &target, at, session)?,
            Outcome::Returned { .. } => {
                let host = self.hosts.get_mut(id);
                host.pace.wait_until(at + Self::RETURNED);
                // The host's own robots.txt is asked for again when a page has its turn. If there is no page, or if the
                // errand is for another host, it must be kept.
                if !host.has_pages() || errand.askers.iter().any(|asker| asker.moves > 0) {
                    host.errands.put_back(errand);
                }
            }
            Outcome::Failed(failure) => {
                self.rules_known(errand, &RobotsRules::unreachable(at, None, Detail::NoRobots(failure)), at, session)?;
            }
            Outcome::Resolved(_) | Outcome::Done { .. } | Outcome::Later | Outcome::Refused(_) => {}
        }
        // This comes last, because the answer may have named a longer delay, which holds from now on.
        let pace = &mut self.hosts.get_mut(id).pace;
        match retry_after {
            Some(wait) => pace.slowed(at, Some(wait), &self.conduct.politeness),
            None => pace.ended(at, &self.conduct.politeness),
        }
        Ok(())
    }

    /// The file is elsewhere. It is asked for there, once for all origins that are sent there.
    fn robots_moved(&mut self, errand: Errand, target: &url::Url, at: Millis, session: &mut Session) -> Result<()> {
        let (lost, mut askers): (Vec<Asker>, Vec<Asker>) =
            errand.askers.into_iter().partition(|asker| asker.moves >= Self::MOVES);
        if !lost.is_empty() {
            let errand = Errand { url: errand.url.clone(), askers: lost };
            self.rules_known(errand, &unavailable(at), at, session)?;
        }
        if askers.is_empty() {
            return Ok(());
        }
        askers.iter_mut().for_each(|asker| asker.moves += 1);
        for asker in &askers {
            if let Some((id, number)) = self.asker(asker, session)?
                && let Some(origin) = self.hosts.get_mut(id).origins.get_mut(number)
            {
                origin.moved();
            }
        }
        let errand = Errand { url: target.clone(), askers };
        if self.is_elsewhere(self.keys.site(target)) {
            self.afar.errands.push(errand);
            return Ok(());
        }
        self.run_errand(errand, at, session)
    }

    /// A robots file is to be asked for at a host of this frontier. (For others: see [`Frontier::take_errands`].)
    pub fn run_errand(&mut self, errand: Errand, at: Millis, session: &mut Session) -> Result<()> {
        let target = errand.url.clone();
        let site = self.keys.site(&target);
        if errand.askers.iter().any(|asker| self.is_elsewhere(asker.site)) {
            self.afar.asked.insert(site);
        }
        let rest = match self.host(&target, site, session)? {
            Some(host) => {
                let rest = self.hosts.get_mut(host).errands.add(errand);
                self.awake(host);
                self.make_room(session);
                rest
            }
            None => return self.rules_known(errand, &unavailable(at), at, session),
        };
        match rest {
            // There is no room for the errand. The file counts as unreachable, and is asked for again later.
            Some(errand) => self.rules_known(errand, &RobotsRules::unreachable(at, None, Detail::None), at, session),
            None => Ok(()),
        }
    }

    /// The rules of these origins were answered, by their own host or by another.
    pub(super) fn rules_known(
        &mut self,
        errand: Errand,
        rules: &RobotsRules,
        at: Millis,
        session: &mut Session,
    ) -> Result<()> {
        for asker in errand.askers {
            self.asker_knows(&asker, rules.clone(), at, session)?;
        }
        Ok(())
    }

    /// The errands since the last call for hosts of other frontiers: the robots.txt of a host of this frontier moved
    /// there. Each has to be given to the frontier that has the host ([`Frontier::run_errand`]). Errands are not
    /// stored: one that is lost has to be given again.
    pub fn take_errands(&mut self) -> Vec<Errand> {
        std::mem::take(&mut self.afar.errands)
    }

    /// Rules that were found here for hosts of other frontiers, since this was asked last. Each has to be given to the
    /// frontier that has the asker ([`Frontier::asker_knows`]).
    pub fn take_answers(&mut self) -> Vec<(Asker, RobotsRules)> {
        std::mem::take(&mut self.afar.answers)
    }

    /// The rules of an origin have been found, here or by another frontier.
    pub fn asker_knows(&mut self, asker: &Asker, rules: RobotsRules, at: Millis, session: &mut Session) -> Result<()> {
        if self.is_elsewhere(asker.site) {
            self.afar.answers.push((asker.clone(), rules));
            return Ok(());
        }
        let sitemaps = rules.sitemaps().to_vec();
        self.robots_again.answered(asker);
        let Some((id, number)) = self.asker(asker, session)? else { return Ok(()) };
        self.hosts.get_mut(id).errands.answered(asker);
        let Some(origin) = self.hosts.get_mut(id).origins.get_mut(number) else { return Ok(()) };
        let changed = origin.answered(rules, asker.site, &mut self.rules_kept, session)?;
        self.charge_for_rules(asker.site.domain);
        if changed {
            self.works.add(Task::Records { of: Some(asker.site), which: Which::Robots }, session);
        }
        let host = self.hosts.get_mut(id);
        let known = host.origins.iter().filter_map(|origin| origin.crawl_delay());
        let mut delay = known.map(|delay| delay.0).max().unwrap_or(0);
        if host.origins.iter().any(Origin::is_unread) {
            // The rules of an earlier run of the program still hold.
            delay = delay.max(host.pace.crawl_delay);
        }
        if host.pace.crawl_delay != delay && self.conduct.politeness.robots == Robots::Obey {
            let before = host.pace.delay(&self.conduct.politeness);
            host.pace.crawl_delay = delay;
            // The wait that has begun becomes longer, too.
            host.pace.not_before += host.pace.delay(&self.conduct.politeness).saturating_sub(before);
            host.record(session);
        }
        if asker.moves > 0 {
            // Another host was asked on behalf of this one. This host waits as if it had been asked itself.
            host.pace.ended(at, &self.conduct.politeness);
        }
        if let HostPhase::Waiting(..) = host.phase {
            // The host waited for these rules.
            self.settle(id);
        }
        if self.conduct.sitemaps {
            for sitemap in &sitemaps {
                self.add_sitemap_of_robots(sitemap, &asker.of, session)?;
            }
        }
        Ok(())
    }

    /// The host and the origin of an asker, by number. The host is read into memory if it is not there.
    fn asker(&mut self, asker: &Asker, session: &mut Session) -> Result<Option<(HostId, u8)>> {
        let id = self.wake_host(asker.site, dedup_stage::url::host(&asker.of), session)?;
        Ok(self.hosts.get(id).origins.find(&asker.of).map(|number| (id, number)))
    }
}

/// The rules of an origin whose robots.txt has too many redirects: none, as if there were no file (RFC 9309, section
/// 2.3.1.2).
fn unavailable(at: Millis) -> RobotsRules {
    RobotsRules::read(&Answer { url: &nowhere(), status: 404, retry_after: None, body: &[], at }, "")
}

fn nowhere() -> url::Url {
    // There is no file, so it names no sitemap, and the base URL for its sitemaps does not matter.
    url::Url::parse("http://none.invalid/").expect("a constant is a URL")
}

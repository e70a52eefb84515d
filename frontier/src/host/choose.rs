//! Chooses the lane of a host whose turn it is.

use dedup_stage::store::{Result, Session};

use super::Host;
use super::entry::Packed;
use super::lane::{Lane, Seq};
use super::queue::Queues;
use crate::numbers::Millis;

/// The front of a lane.
#[derive(Clone, Copy, Debug)]
struct Front {
    /// The score of the lane.
    score: f32,
    /// When its first URL arrived.
    bound: Seq,
    /// The group of the lane.
    group: u8,
    /// The place of the lane.
    at: usize,
}

impl Host {
    /// Lanes whose scores are at least this share of the highest score count as equally good, and the oldest of their
    /// URLs comes first. The more pages of a folder are known, the closer its factor comes to 1. Without this, a folder
    /// without end whose pages are all new would come before a new folder that is as good, and of which only one page
    /// is known. (Two bands of one group always differ by more than this.)
    const ALIKE: f32 = 0.95;
    /// In one choice, at most this many URLs of a lane move to its end because they must wait.
    const TURNED: usize = 16;
    /// One in this many choices goes by age. Otherwise a calendar without end, each of whose pages is new, would keep
    /// the crawl for ever from URLs that are only a little less promising.
    const BY_AGE: u32 = 16;
    /// In a choice by age, a group takes part if its best score is at least this share of the highest score.
    const COMPARABLE: f32 = 0.25;
    /// One in this many choices goes by age, and all groups take part, whatever their scores. Otherwise a folder whose
    /// first pages were copies would wait for ever beside a calendar without end, and nobody would learn that its other
    /// pages are new.
    const OF_ALL: u32 = 4 * Self::BY_AGE;
    /// In such a choice, a group takes part if its first URL arrived at least this many arrivals before the best URL.
    const WAITED_OF_ALL: Seq = Self::WAITED / 4;
    /// In a choice by age, a group takes part if its first URL arrived at least this many arrivals before the best URL.
    const WAITED: Seq = 1_000;
    /// At most this many pages let a file pass at once.
    const PASSED: usize = 256;

    /// The lane with the best URL of the host. This is the URL with the highest score; if several have about the same
    /// score ([`Host::ALIKE`]), the one that arrived first. One in [`Host::BY_AGE`] choices takes the oldest URL
    /// instead, among the best URLs of the groups that take part (see [`Host::COMPARABLE`], [`Host::WAITED`] and
    /// [`Host::OF_ALL`]). Reads the front of the chosen lane. Lanes of the origins in `blocked` are skipped, except for
    /// sitemaps, for which no rules are needed. A URL that was tried before, and whose next attempt must wait, moves to
    /// the end of its lane.
    pub fn choose(
        &mut self,
        blocked: &[(u8, Millis)],
        queues: &mut Queues,
        session: &mut Session,
    ) -> Result<Option<usize>> {
        // Lanes in which such URLs are at the front, and how many of them have let others pass.
        let (mut resting, mut turned) = (Vec::new(), 0);
        loop {
            let fronts = self.fronts(blocked, &resting);
            let highest = fronts.iter().map(|front| front.score).fold(0.0, f32::max);
            let alike = fronts.iter().filter(|front| front.score >= Self::ALIKE * highest);
            let Some(&best) = alike.min_by_key(|front| front.bound) else { return Ok(None) };
            // The best lane of each group, where the choice goes by age.
            let mut of_groups: Vec<Front> = Vec::new();
            if self.jobs % Self::BY_AGE == Self::BY_AGE - 1 {
                for front in fronts {
                    match of_groups.iter_mut().find(|held| held.group == front.group) {
                        Some(held) if front.score > held.score => *held = front,
                        Some(_) => {}
                        None => of_groups.push(front),
                    }
                }
            }
            let (least, waited) = match self.jobs % Self::OF_ALL == Self::OF_ALL - 1 {
                true => (0.0, Self::WAITED_OF_ALL),
                false => (Self::COMPARABLE, Self::WAITED),
            };
            let comparable = of_groups.iter().filter(|front| front.score >= least * best.score);
            let waiting = comparable.filter(|front| front.bound + waited <= best.bound);
            let Front { at, .. } = *waiting.min_by_key(|front| front.bound).unwrap_or(&best);
            let site = self.site;
            if !self.lanes[at].is_read() {
                queues.read(&mut self.lanes[at], site, session)?;
                continue;
            }
            let lane = &self.lanes[at];
            if !self.retries.wait() || !lane.front().is_some_and(Packed::is_retry) {
                return Ok(Some(at));
            }
            if turned < Self::TURNED.min(lane.len() - 1) {
                turned += 1;
                queues.turn(&mut self.lanes, at, site, session);
            } else {
                turned = 0;
                resting.push((lane.group, lane.band));
            }
        }
    }

    /// The fronts of the lanes from which a URL may be handed out: those of `blocked` origins only if a sitemap is at
    /// the front, and those in `resting` not at all.
    fn fronts(&self, blocked: &[(u8, Millis)], resting: &[(u8, u8)]) -> Vec<Front> {
        let is_blocked = |lane: &Lane| {
            let origin = self.groups.get(lane.group).map(|group| group.origin);
            let is_sitemap = lane.front().is_some_and(Packed::is_sitemap);
            !is_sitemap && blocked.iter().any(|(blocked, _)| Some(*blocked) == origin)
        };
        let rests = |lane: &Lane| resting.contains(&(lane.group, lane.band));
        let lanes = self.lanes.iter().enumerate();
        let lanes = lanes.filter(|(_, lane)| lane.len() > 0 && !rests(lane) && !is_blocked(lane));
        let front = |(at, lane): (usize, &Lane)| Front {
            score: self.score(lane.group, lane.band),
            bound: lane.bound(),
            group: lane.group,
            at,
        };
        lanes.map(front).collect()
    }

    /// Pages wait for a file that is queued in this lane, and may stand behind other pages there. Brings the file to
    /// the front, and reads the front, so that [`Host::choose`] finds it. False if so many pages stand before it that
    /// this must be called again.
    pub fn bring_forward(
        &mut self,
        (group, band): (u8, u8),
        queues: &mut Queues,
        session: &mut Session,
    ) -> Result<bool> {
        let Some(at) = self.lanes.iter().position(|lane| (lane.group, lane.band) == (group, band)) else {
            return Ok(true);
        };
        let len = self.lanes[at].len();
        for passed in 0..len {
            queues.read(&mut self.lanes[at], self.site, session)?;
            if self.lanes[at].front().is_some_and(Packed::is_sitemap) {
                break;
            }
            if passed == Self::PASSED {
                return Ok(false);
            }
            queues.turn(&mut self.lanes, at, self.site, session);
        }
        Ok(true)
    }
}

//! Chooses the lane of a host whose turn it is.

use dedup_stage::store::{Result, Session};

use super::Host;
use super::entry::Packed;
use super::lane::Seq;
use super::queue::Queues;
use crate::numbers::Millis;

impl Host {
    /// At most this many URLs of a lane let others pass at once.
    const TURNED: usize = 16;

    /// The lane with the best URL of the host: the one with the highest score; of equal ones, the one that arrived
    /// first. Reads the front of this lane. Lanes of the origins in `blocked` are skipped, except for sitemaps, for
    /// which no rules are needed. A URL that was tried before, and whose next attempt must wait, lets the others of its
    /// lane pass.
    pub fn choose(
        &mut self,
        blocked: &[(u8, Millis)],
        queues: &mut Queues,
        session: &mut Session,
    ) -> Result<Option<usize>> {
        // Lanes in which such URLs are at the front, and how many of them have let others pass.
        let (mut resting, mut turned) = (Vec::new(), 0);
        loop {
            let mut best: Option<(f32, Seq, usize)> = None;
            for (at, lane) in self.lanes.iter().enumerate().filter(|(_, lane)| lane.len() > 0) {
                if resting.contains(&(lane.group, lane.band)) {
                    continue;
                }
                let origin = self.groups.get(lane.group).map(|group| group.origin);
                let sitemap = lane.front().is_some_and(|entry| entry.is_sitemap());
                if !sitemap && blocked.iter().any(|(blocked, _)| Some(*blocked) == origin) {
                    continue;
                }
                let (score, bound) = (self.score(lane.group, lane.band), lane.bound());
                if best.is_none_or(|(s, b, _)| score > s || (score == s && bound < b)) {
                    best = Some((score, bound, at));
                }
            }
            let Some((.., at)) = best else { return Ok(None) };
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
}

//! Chooses the lane of a host whose turn it is.

use dedup_stage::store::{Result, Session};

use super::Host;
use super::lane::Seq;
use super::queue::Queues;
use crate::numbers::Millis;

impl Host {
    /// The lane with the best URL of the host: the one with the highest score; of equal ones, the one that arrived
    /// first. Reads the front of this lane. Lanes of the origins in `blocked` are skipped, except for sitemaps, for
    /// which no rules are needed.
    pub fn choose(
        &mut self,
        blocked: &[(u8, Millis)],
        queues: &mut Queues,
        session: &Session,
    ) -> Result<Option<usize>> {
        loop {
            let mut best: Option<(f32, Seq, usize)> = None;
            for (at, lane) in self.lanes.iter().enumerate().filter(|(_, lane)| lane.len() > 0) {
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
            if self.lanes[at].is_read() {
                return Ok(Some(at));
            }
            let site = self.site;
            queues.read(&mut self.lanes[at], site, session)?;
        }
    }
}

//! What a visit changes in a continuous crawl: the change rate of its cluster, which copies are trusted and checked,
//! and which page is the representative.

use dedup_stage::url::UrlId;
use frontier::Millis;
use frontier::refresh::copies::{Care, Cared, Copy};
use frontier::refresh::history::Dated;
use frontier::refresh::time::{Seconds, days, seconds};

use super::Round;
use super::continuous::Continuous;
use super::member::{Life, Member};
use crate::record::PageRecord;

impl Continuous {
    /// A member was fetched again. `dated`: see [`Member::visited`].
    pub(super) fn visited(
        &mut self,
        place: usize,
        visit: u32,
        record: &PageRecord,
        dated: Option<Dated>,
        now: Millis,
        round: &mut Round,
    ) {
        let member = &mut self.roster.members[place];
        let (was_of, checked) = (member.of, member.checked);
        let was_there = member.was_there();
        member.cluster.flags.urgent = false;
        member.visited(visit, record, dated);
        let life = member.life;
        // The representative is set again below, when the URL joins a cluster.
        let shows = std::mem::replace(&mut member.of, was_of).filter(|_| self.trusts && life == Life::Alive);
        let has_changed = record.has_changed(visit).filter(|_| life == Life::Alive);
        let is_judged = has_changed.is_some();
        round.visits += 1;
        round.changed += u64::from(has_changed == Some(true));
        round.missing += u64::from(was_there && matches!(life, Life::Missing { .. }));
        self.roster.all_pairs.fetched();
        match was_of {
            Some(_) => {
                round.checked += 1;
                self.pending.remove(&place);
                self.roster.all_pairs.spent();
                let since = days(checked, seconds(now));
                match life {
                    Life::Alive if is_judged => self.checked(place, (shows, has_changed), since, now, round),
                    Life::Missing { .. } | Life::Moved => self.depart(place, since, now, round),
                    Life::Alive | Life::Trouble { .. } => {}
                }
            }
            None => {
                round.saved += self.roster.copies(place).len() as u64;
                match life {
                    Life::Alive => {
                        let heir = self.heir(place, has_changed);
                        match self.roster.root_of(place, shows).or(heir) {
                            Some(root) => self.join_with_copies(root, place),
                            None => self.care(place, seconds(now), round),
                        }
                    }
                    Life::Missing { .. } | Life::Moved => _ = self.replace(place, round),
                    // Trouble that lasts: a copy takes the place. Otherwise the copies are cared for as ever.
                    Life::Trouble { .. } if self.roster.members[place].may_represent() => {
                        self.care(place, seconds(now), round);
                    }
                    Life::Trouble { .. } => self.give_to_copy(place, seconds(now), round),
                }
            }
        }
        self.place(place);
    }

    /// A copy was checked: the page that it repeats, and whether it has changed. `since`: days since its last check.
    fn checked(
        &mut self,
        place: usize,
        (shows, has_changed): (Option<UrlId>, Option<bool>),
        since: f32,
        now: Millis,
        round: &mut Round,
    ) {
        let Some(representative) = self.roster.representative(place) else { return };
        // A copy of another copy of the same page is a copy of that page.
        let root = self.roster.root_of(place, shows);
        // The original may be missing, or it cannot be had, and another copy has taken its place. As long as neither
        // copy changes, both show the same.
        let is_orphan = shows.and_then(|of| self.roster.place(of)).is_some_and(|of| !self.roster.can_represent(of));
        let is_as_before =
            has_changed == Some(false) && !self.roster.has_changed_since_check(representative, since, now);
        if root == Some(representative) || root.is_none() && is_orphan && is_as_before {
            self.roster.agreed(place, since);
            return;
        }
        match root {
            Some(root) => {
                self.roster.leave(place, since, false);
                self.roster.join(root, place);
            }
            None => {
                round.diverged += 1;
                self.depart(place, since, now, round);
            }
        }
    }

    /// A copy shows something else, or no page any more. It leaves its cluster, and all copies of its pair are decided
    /// about. `since`: days since its last check.
    fn depart(&mut self, place: usize, since: f32, now: Millis, round: &mut Round) {
        let alike = self.roster.members[place].of.map(|of| self.roster.alike(of, place));
        self.roster.leave(place, since, true);
        for other in alike.unwrap_or_default() {
            self.care_for(other, seconds(now), round);
        }
    }

    /// Makes a page and its copies copies of the representative `root`.
    fn join_with_copies(&mut self, root: usize, place: usize) {
        for copy in self.roster.copies(place).to_vec() {
            self.roster.leave(copy, 0.0, false);
            self.roster.join(root, copy);
        }
        self.roster.join(root, place);
    }

    /// A representative is missing or moved, or cannot be had. A copy takes its place, and is visited at once. Returns
    /// that copy; `None` if no copy can.
    pub(super) fn replace(&mut self, place: usize, round: &mut Round) -> Option<usize> {
        let next = self.roster.replace(place)?;
        round.replaced += 1;
        self.pending.remove(&next);
        self.roster.members[next].cluster.flags.urgent = true;
        self.place(next);
        Some(next)
    }

    /// A representative was visited. Decides about each of its copies.
    fn care(&mut self, place: usize, now: Seconds, round: &mut Round) {
        for copy in self.roster.copies(place).to_vec() {
            self.care_for(copy, now, round);
        }
    }

    /// Decides whether a copy is trusted, is checked, or leaves its cluster.
    fn care_for(&mut self, place: usize, now: Seconds, round: &mut Round) {
        let Some(representative) = self.roster.representative(place) else { return };
        let Member { id, checked, ref cluster, .. } = self.roster.members[place];
        let (priority, pair) = (cluster.weight, self.roster.pair(place));
        let copy = Copy { checked, pair: 0, priority, pending: self.pending.contains(&place) };
        let Member { id: of, cluster, .. } = self.roster.members[representative];
        let (host, copy_host) = (self.host(of.site), self.host(id.site));
        let belief = self.refresh.belief(host, &cluster);
        let interval = self.refresh.interval(host, of.url, &cluster);
        let cared = Cared { belief: &belief, interval };
        match self.roster.all_pairs.care(cared, &copy, &pair, self.refresh.price(copy_host), now) {
            Care::Trust => {}
            Care::Check => {
                self.pending.insert(place);
                self.place(place);
            }
            Care::Leave => {
                round.left += 1;
                self.roster.leave(place, 0.0, false);
                self.place(place);
            }
        }
    }
}

//! The roster: all URLs that were visited, and their clusters. It is read from the records of pages when a round or a
//! continuous crawl begins. (`super` explains the words.)

use std::collections::HashMap;
use std::ops::ControlFlow;

use dedup_stage::store::{Result, Session};
use dedup_stage::url::{SiteId, UrlId};
use frontier::refresh::Learned;
use frontier::refresh::copies::{Pair, Pairs};
use frontier::refresh::signals::Signals;
use frontier::refresh::time::{days, seconds};
use frontier::{Frontier, Millis, Via};

use super::listed::Records;
use super::member::{CheckShowed, Checked, Life, Member, Reach};
use crate::record::PageRecord;
use crate::{spaces, unvisited};

/// URLs, clusters, and what checks have shown.
#[derive(Debug, Default)]
pub(super) struct Roster {
    pub members: Vec<Member>,
    places: HashMap<u64, usize>,
    /// Copies by representative.
    copies: HashMap<usize, Vec<usize>>,
    /// What was learned of each pair: the host of the representative, and the host of the copy.
    pairs: HashMap<(SiteId, SiteId), Pair>,
    /// What was learned of all pairs together.
    pub all_pairs: Pairs,
    /// The number of trusted copies.
    pub trusted: u64,
    /// How far each host was believed when the records were read.
    signals: HashMap<SiteId, Signals>,
}

/// A chain of copies of copies is followed for at most this many steps.
const CHAIN: usize = 16;

impl Roster {
    /// Reads the records of all pages. `priority` gives the priority of a page, 0..1, by its depth. A page without
    /// copies is a cluster, too. If `trusts` is false, no page counts as a copy.
    pub fn read(session: &Session, trusts: bool, priority: &dyn Fn(u32) -> f32) -> Result<Self> {
        let (mut roster, mut checks, mut failure) = (Self::default(), Vec::new(), None);
        let said = Records::read(session)?;
        session.scan(spaces::PAGES, &[], &[], &mut |key, value| {
            let Some(page) = PageRecord::page_of(key) else { return ControlFlow::Continue(()) };
            match PageRecord::decode(value) {
                // Requisites (images, styles) get no visits of their own.
                Ok(record) if matches!(record.via, Via::Requisite { .. }) => {}
                Ok(record) => match roster.members.last_mut() {
                    // The visits of one URL stand side by side.
                    Some(member) if member.id == page.url => {
                        checks.extend(member.visited(page.visit, &record, said.dated(page)))
                    }
                    _ => roster.members.push(Member::new(page.url, &record, priority(record.depth))),
                },
                Err(error) => failure = Some(error),
            }
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        roster.places = roster.members.iter().enumerate().map(|(at, member)| (member.id.url, at)).collect();
        for member in &mut roster.members {
            said.of(member.id).into_iter().for_each(|listed| _ = member.hear(listed));
        }
        roster.signals = said.signals;
        roster.read_relinked(session)?;
        roster.reach(&unvisited::Records::read(session)?);
        if !trusts {
            roster.members.iter_mut().for_each(|member| member.of = None);
        }
        checks.into_iter().for_each(|check| roster.count(&check));
        roster.gather();
        Ok(roster)
    }

    /// Marks the URLs without a page to which a link has come since their last visit.
    fn read_relinked(&mut self, session: &Session) -> Result<()> {
        session.scan(spaces::RELINKED, &[], &[], &mut |key, _| {
            if let Some(place) = UrlId::read(key).and_then(|url| self.place(url)) {
                self.members[place].relinked = true;
            }
            ControlFlow::Continue(())
        })
    }

    /// Marks the URLs that could not be asked when they were to be visited last.
    fn reach(&mut self, records: &unvisited::Records) {
        let hosts: HashMap<SiteId, Reach> = records
            .unreachable
            .iter()
            .map(|(site, host)| (*site, if host.is_away() { Reach::Barred } else { Reach::Doubtful }))
            .collect();
        if !hosts.is_empty() {
            for member in &mut self.members {
                member.reach = hosts.get(&member.id.site).copied().unwrap_or_default();
            }
        }
        for (url, _) in &records.refused {
            if let Some(place) = self.place(*url) {
                self.members[place].reach = Reach::Barred;
            }
        }
    }

    /// What earlier runs have learned about a host.
    pub fn learned(&self, site: SiteId) -> Learned {
        Learned { signals: self.signals.get(&site).copied().unwrap_or_default(), ..Learned::default() }
    }

    /// The number of URLs that had a page once, and were missing at their last two visits.
    pub fn gone(&self, frontier: &Frontier) -> u64 {
        let gone = self.members.iter().filter(|member| member.seen.is_some() && frontier.is_gone(member.id.url));
        gone.count() as u64
    }

    /// The place of a URL.
    pub fn place(&self, url: UrlId) -> Option<usize> {
        self.at(url.url)
    }

    /// Whether the URL is a representative that has copies.
    pub fn has_copies(&self, url: UrlId) -> bool {
        self.place(url).is_some_and(|place| !self.copies(place).is_empty())
    }

    /// The place of the URL with this hash.
    pub fn at(&self, url: u64) -> Option<usize> {
        self.places.get(&url).copied()
    }

    /// The places of the copies of a representative.
    pub fn copies(&self, of: usize) -> &[usize] {
        self.copies.get(&of).map_or(&[], Vec::as_slice)
    }

    /// The representative of a copy.
    pub fn representative(&self, copy: usize) -> Option<usize> {
        self.members[copy].of.and_then(|of| self.place(of))
    }

    /// Probability, 0..1, that a copy has diverged within this many days.
    pub fn risk(&self, copy: usize, days: f32) -> f32 {
        -(-self.pair(copy).chance(&self.all_pairs) * days).exp_m1()
    }

    /// What was learned of the pair of a copy.
    pub fn pair(&self, copy: usize) -> Pair {
        let member = &self.members[copy];
        member.of.and_then(|of| self.pairs.get(&(of.site, member.id.site))).copied().unwrap_or_default()
    }

    /// A URL was fetched for the first time. If `trusts` is false, it does not count as a copy.
    pub fn push(&mut self, mut member: Member, trusts: bool) -> usize {
        let place = self.members.len();
        self.places.insert(member.id.url, place);
        let shows = member.of.take().filter(|_| trusts);
        self.members.push(member);
        if let Some(root) = self.root_of(place, shows) {
            self.join(root, place);
        }
        place
    }

    /// The representative of the page that this URL repeats (`shows`). `None` if that is the URL itself, or if the page
    /// is missing or moved, or cannot be had.
    pub fn root_of(&self, place: usize, shows: Option<UrlId>) -> Option<usize> {
        let shows = self.place(shows?)?;
        let root = self.representative(shows).unwrap_or(shows);
        (root != place && self.members[root].may_represent() && self.members[root].of.is_none()).then_some(root)
    }

    /// Whether a member can be a representative.
    pub fn can_represent(&self, place: usize) -> bool {
        self.members[place].may_represent()
    }

    /// Whether the content of a representative was seen to change within this many days before `now`.
    pub fn has_changed_since_check(&self, representative: usize, since: f32, now: Millis) -> bool {
        days(self.members[representative].cluster.changed, seconds(now)) < since
    }

    /// A URL becomes a copy of this representative.
    pub fn join(&mut self, representative: usize, copy: usize) {
        self.members[copy].of = Some(self.members[representative].id);
        let weight = self.members[copy].cluster.weight;
        self.members[representative].cluster.reweigh(weight);
        self.copies.entry(representative).or_default().push(copy);
        self.trusted += 1;
    }

    /// A check, this many days after the last one, has shown that a copy is still a copy.
    pub fn agreed(&mut self, copy: usize, days: f32) {
        if let Some(of) = self.members[copy].of {
            self.count(&Checked { of, site: self.members[copy].id.site, days, showed: CheckShowed::Same });
        }
    }

    /// Counts the result of a check for its pair.
    fn count(&mut self, check: &Checked) {
        // If the original does not answer with a page, a difference is no evidence that copies of this pair diverge.
        let lives = self.place(check.of).is_some_and(|of| self.members[of].life == Life::Alive);
        let agrees = match check.showed {
            CheckShowed::Same => true,
            CheckShowed::NewOf(shows) => self.end_of_chain(shows) == self.end_of_chain(check.of),
            CheckShowed::Own | CheckShowed::Gone => false,
        };
        if !agrees && !lives {
            return;
        }
        let pair = self.pairs.entry((check.of.site, check.site)).or_default();
        self.all_pairs.checked(pair, check.days, agrees);
    }

    /// Assigns each copy to a representative. A representative is no copy, and its last answer was a page or an error
    /// that may pass. If no URL of a cluster is such a page, the original of the cluster stays the representative while
    /// it may come back.
    fn gather(&mut self) {
        let of =
            |(at, member): (usize, &Member)| member.heir_of.filter(|_| member.may_represent()).map(|of| (of.url, at));
        let heirs: HashMap<u64, usize> = self.members.iter().enumerate().filter_map(of).collect();
        let roots: Vec<Option<usize>> = (0..self.members.len()).map(|at| self.root(at, &heirs)).collect();
        let mut clusters: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, root) in roots.iter().enumerate() {
            self.members[at].of = None;
            if let Some(root) = root.filter(|root| *root != at) {
                clusters.entry(root).or_default().push(at);
            }
        }
        for (root, mut copies) in clusters {
            copies.retain(|copy| self.members[*copy].life == Life::Alive);
            let original = &self.members[root];
            let next = || self.youngest(&copies).or_else(|| original.was_there().then_some(root));
            let representative = if original.may_represent() { Some(root) } else { next() };
            if let Some(representative) = representative {
                copies.retain(|copy| *copy != representative);
                self.put(representative, copies);
            }
        }
    }

    /// The end of a chain of copies. `None` if a URL of the chain was not visited, or if the chain is too long.
    fn end_of_chain(&self, url: UrlId) -> Option<usize> {
        let mut at = self.place(url)?;
        for _ in 0..CHAIN {
            match self.members[at].of {
                Some(of) => at = self.place(of)?,
                None => return Some(at),
            }
        }
        None
    }

    /// Follows a chain of copies to its end. If a page of the chain is missing or moved, the chain goes on at the copy
    /// that took its place. `None` if the chain is too long.
    fn root(&self, mut at: usize, heirs: &HashMap<u64, usize>) -> Option<usize> {
        for _ in 0..CHAIN {
            let member = &self.members[at];
            let heir = || heirs.get(&member.id.url).copied().filter(|_| !member.may_represent());
            match member.of {
                Some(of) => at = self.place(of)?,
                None => match heir() {
                    Some(heir) => at = heir,
                    None => return Some(at),
                },
            }
        }
        None
    }

    /// Of the copies that can be a representative, the one whose content was seen last.
    fn youngest(&self, copies: &[usize]) -> Option<usize> {
        let able = copies.iter().copied().filter(|copy| self.members[*copy].may_represent());
        able.max_by_key(|copy| (self.members[*copy].cluster.visited, std::cmp::Reverse(*copy)))
    }

    fn put(&mut self, representative: usize, copies: Vec<usize>) {
        let id = self.members[representative].id;
        self.members[representative].of = None;
        for copy in &copies {
            self.members[*copy].of = Some(id);
            let weight = self.members[*copy].cluster.weight;
            self.members[representative].cluster.reweigh(weight);
        }
        self.trusted += copies.len() as u64;
        self.copies.insert(representative, copies);
    }

    /// A copy leaves its cluster. `days`: since its last check. `diverged`: a check has shown that it shows something
    /// else, or no page.
    pub fn leave(&mut self, copy: usize, days: f32, diverged: bool) {
        let Some(of) = self.members[copy].of else { return };
        if diverged {
            self.count(&Checked { of, site: self.members[copy].id.site, days, showed: CheckShowed::Own });
        }
        self.members[copy].of = None;
        let Some(representative) = self.place(of) else { return };
        if let Some(copies) = self.copies.get_mut(&representative) {
            copies.retain(|other| *other != copy);
            self.trusted -= 1;
            let weight = self.members[copy].cluster.weight;
            self.members[representative].cluster.reweigh(-weight);
        }
    }

    /// A representative is missing or moved, or cannot be had, so a copy takes its place. Returns that copy. `None` if
    /// no copy can.
    pub fn replace(&mut self, dead: usize) -> Option<usize> {
        let next = self.youngest(self.copies.get(&dead)?)?;
        let mut copies = self.copies.remove(&dead)?;
        self.trusted -= copies.len() as u64;
        for copy in &copies {
            let weight = self.members[*copy].cluster.weight;
            self.members[dead].cluster.reweigh(-weight);
        }
        copies.retain(|copy| *copy != next);
        self.put(next, copies);
        Some(next)
    }

    /// All copies whose pair is that of this copy and `of`, except those that cannot be visited.
    pub fn alike(&self, of: UrlId, copy: usize) -> Vec<usize> {
        let site = self.members[copy].id.site;
        let is_alike = |member: &Member| {
            let is_of_pair = member.id.site == site && member.of.is_some_and(|other| other.site == of.site);
            is_of_pair && member.reach != Reach::Barred
        };
        (0..self.members.len()).filter(|at| is_alike(&self.members[*at])).collect()
    }
}

//! Which pages a round visits, in which order, and which copies it checks.
//!
//! The worth of a representative is the freshness that a visit buys now: the weight of its cluster, times the gain that
//! its change rate and age let expect. A page that lists new pages is also worth the days for which these wait
//! ([`super::new_links`]). Copies are trusted. The *risk* of a copy is the probability that it has
//! diverged. The copies with the largest product of risk and weight are checked; checks are a small share of the
//! visits. A copy whose risk is at least one half leaves its cluster unchecked.

use std::collections::{HashMap, HashSet, VecDeque};

use dedup_stage::url::SiteId;
use frontier::Millis;
use frontier::refresh::scheduler::Refresh;
use frontier::refresh::settings::Settings;
use frontier::refresh::time::{DAY, Seconds, days, seconds};
use frontier::refresh::turns::HostNumber;

use super::member::{Life, Member, Reach};
use super::new_links::NewLinks;
use super::roster::Roster;

/// What a round is to do.
#[derive(Debug)]
pub(super) struct RoundPlan {
    /// The places of the pages to be visited. The page that is worth most comes first.
    pub order: Vec<usize>,
    /// The places of the copies that are checked after their representatives have been visited. The copy with the
    /// largest product of risk and weight comes first.
    pub checks: Vec<usize>,
    /// The places of further copies, in the same order. They are checked in place of copies that cannot be asked.
    pub reserve: VecDeque<usize>,
    /// The places of copies that could not be asked in an earlier round: at most one of each host. A round asks for
    /// them besides its checks, so it notices when their hosts can be asked again.
    pub tries: Vec<usize>,
    /// The number of trusted copies.
    pub trusted: u64,
    /// The number of copies that leave their clusters without a check, because many copies of their pair of hosts have
    /// diverged.
    pub departed: u64,
    /// The share of pages that have not changed since their last visit, 0..1, as estimated.
    pub freshness: f64,
    /// The estimates of change rates, and how far hosts are believed.
    pub refresh: Refresh,
    /// The number of each host in `refresh`.
    pub hosts: HashMap<SiteId, HostNumber>,
}

/// Planned checks, as a share of the visits. Changes and divergences that the visits find lead to some more checks.
pub(super) const CHECKS: f64 = 0.06;
/// A copy whose risk is at least this leaves its cluster.
const LEAVES: f32 = 0.5;
/// The value of a visit to a URL that is missing, or was never answered, is multiplied by this. Few such URLs get a
/// page later.
const RETURNS: f32 = 0.1;
/// The delay that is assumed for each host, in seconds. Only estimates depend on it.
pub(super) const DELAY: f32 = 1.0;

/// Plans a round at `now_ms`. `new_links` are the records of pages that list new pages. URLs that were requested at
/// `since` or later belong to this round already; `since` is `None` at the beginning of a round. URLs that were
/// requested within `min_age` milliseconds are left out.
pub(super) fn plan(
    roster: &mut Roster,
    new_links: &HashMap<u64, NewLinks>,
    since: Option<Millis>,
    min_age: Millis,
    now_ms: Millis,
) -> RoundPlan {
    let now = seconds(now_ms);
    let (mut trusted, mut departed) = (0, 0);
    let done = |member: &Member| since.is_some_and(|since| member.asked >= since);
    let is_young = |member: &Member| now_ms.saturating_sub(member.asked) < min_age;
    let mut risks = Vec::new();
    for at in 0..roster.members.len() {
        if roster.representative(at).is_none() {
            continue;
        }
        let risk = roster.risk(at, days(roster.members[at].checked, now));
        if risk >= LEAVES {
            roster.leave(at, 0.0, false);
            departed += 1;
        } else {
            trusted += 1;
            risks.push((risk * roster.members[at].cluster.weight, at));
        }
    }
    let (refresh, hosts) = beliefs(roster, now);
    let (mut worth, mut fresh, mut weights) = (Vec::new(), 0.0, 0.0);
    for (at, member) in roster.members.iter().enumerate() {
        if member.of.is_some() {
            continue;
        }
        let host = hosts[&member.id.site];
        let belief = refresh.belief(host, &member.cluster);
        // The age counts from the last visit, whatever its answer was. Otherwise, a URL that fails or redirects at each
        // visit would come first each time.
        let age = now_ms.saturating_sub(member.asked) as f32 / (1_000.0 * DAY);
        let weight = member.cluster.weight;
        if member.life == Life::Alive {
            fresh += f64::from(weight * belief.unchanged(age));
            weights += f64::from(weight);
        }
        let value = match member.life {
            // The next visit will tell whether this page is gone for good, so it comes first.
            Life::Missing { times: 1, .. } if member.seen.is_some() => f32::INFINITY,
            Life::Missing { .. } if !member.relinked => RETURNS * weight * refresh.gain(host, &member.cluster, age),
            Life::Trouble { .. } if member.never_answered() && !member.relinked => {
                RETURNS * weight * refresh.gain(host, &member.cluster, age)
            }
            _ => {
                let waiting = new_links.get(&member.id.url).map_or(0.0, |links| links.gain(age));
                weight * (refresh.gain(host, &member.cluster, age) + waiting)
            }
        };
        if !done(member) && !is_young(member) && !member.rests(now) {
            worth.push((value, at));
        }
    }
    // Of equal pages, those whose last request is the longest ago come first.
    worth.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| roster.members[a.1].asked.cmp(&roster.members[b.1].asked)));
    let order: Vec<usize> = worth.into_iter().map(|(_, at)| at).collect();
    let freshness = if weights > 0.0 { fresh / weights } else { 1.0 };

    let checked = roster.members.iter().filter(|member| member.of.is_some() && done(member)).count();
    let wanted = (CHECKS * order.len() as f64).ceil() as usize;
    risks.retain(|(_, at)| !done(&roster.members[*at]) && !is_young(&roster.members[*at]));
    let age = |at: usize| roster.members[at].checked;
    risks.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| age(a.1).cmp(&age(b.1))).then(a.1.cmp(&b.1)));
    // Copies that cannot be asked are kept apart. Otherwise they would take up the checks of each round, because they
    // stay unchecked.
    let can_be_asked = |at: &usize| roster.members[*at].reach == Reach::Open;
    let (mut reserve, apart): (VecDeque<usize>, VecDeque<usize>) =
        risks.into_iter().map(|(_, at)| at).partition(can_be_asked);
    let mut sites = HashSet::new();
    let tries = apart.into_iter().filter(|at| sites.insert(roster.members[*at].id.site)).collect();
    let checks = reserve.drain(..wanted.saturating_sub(checked).min(reserve.len())).collect();
    RoundPlan { order, checks, reserve, tries, trusted, departed, freshness, refresh, hosts }
}

/// Learns the estimates of change rates from all visits so far.
fn beliefs(roster: &Roster, now: Seconds) -> (Refresh, HashMap<SiteId, HostNumber>) {
    let mut refresh = Refresh::new(Settings::default(), Default::default(), Default::default());
    let (mut hosts, mut pages): (HashMap<SiteId, HostNumber>, Vec<Vec<usize>>) = Default::default();
    for (at, member) in roster.members.iter().enumerate().filter(|(_, member)| member.of.is_none()) {
        let host = *hosts.entry(member.id.site).or_insert_with(|| {
            pages.push(Vec::new());
            refresh.add_host(DELAY, roster.learned(member.id.site))
        });
        refresh.add(host, member.id.url, &member.cluster);
        pages[host as usize].push(at);
    }
    // The first review finds how hosts differ. The second one finds how the pages of a host differ.
    for _ in 0..2 {
        for (host, pages) in pages.iter().enumerate() {
            refresh.review(host as HostNumber, now);
            for &at in pages {
                refresh.pass(roster.members[at].id.url, &roster.members[at].cluster);
            }
            refresh.reviewed();
        }
    }
    (refresh, hosts)
}

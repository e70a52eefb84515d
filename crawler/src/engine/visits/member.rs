//! Members: URLs that were visited, and what their visits have shown. Read from the records of pages.

use dedup_stage::url::{SiteId, UrlId};
use frontier::Millis;
use frontier::refresh::cluster::CopyCluster;
use frontier::refresh::history::Dated;
use frontier::refresh::prior::PriorKey;
use frontier::refresh::signals::Source;
use frontier::refresh::time::{Seconds, days, seconds};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::listed::Listed;
use crate::record::{PageRecord, VerdictKind};
use crate::unvisited::Unreachable;

/// The longest interval between two visits to a URL that is missing, or that never showed a page.
pub(super) const LONGEST_REST: Seconds = 60 * 86_400;

/// A URL that was visited.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// The URL.
    pub id: UrlId,
    /// Number of the last visit.
    pub visit: u32,
    /// When it was requested last, whatever the answer was.
    pub asked: Millis,
    /// How it answered last.
    pub life: Life,
    /// The times at which its content was seen, and seen to change; the history from which its change rate is
    /// estimated.
    pub cluster: CopyCluster,
    /// The representative, if this URL is a copy.
    pub of: Option<UrlId>,
    /// The former original, if this URL was a copy. Since then, the original has changed or is missing, but this page
    /// has not changed.
    pub heir_of: Option<UrlId>,
    /// The time of the last check. Before the first one, the time of the first visit.
    pub checked: Seconds,
    /// When its content was seen last, if it ever was.
    pub seen: Option<Millis>,
    /// Whether it could be asked when it was to be visited last.
    pub reach: Reach,
    /// Whether it had no page at its last visit, and a link to it has come since.
    pub relinked: bool,
    /// Whether the last request was answered at all.
    answered: bool,
}

/// Whether a URL could be asked when it was to be visited last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reach {
    /// As far as is known, it can be asked.
    #[default]
    Open,
    /// Its host could not be asked in the last round.
    Doubtful,
    /// Its host could not be asked in the last two rounds, or robots.txt or a setting forbids the visit.
    Barred,
}

/// How a URL answered last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    /// With a page.
    Alive,
    /// With a redirect.
    Moved,
    /// With 404 or 410, `times` times in a row. `since`: the time of the first of them.
    Missing { times: u32, since: Seconds },
    /// Not at all, or with another error, `times` times in a row. `since`: the time of the first of them.
    Trouble { times: u32, since: Seconds },
}

impl Life {
    /// Whether the answer says that the page is not here.
    pub fn is_gone(self) -> bool {
        matches!(self, Life::Moved | Life::Missing { .. })
    }

    /// The next answer, at the time `at`, was an error, or there was none.
    pub fn troubled(self, at: Seconds) -> Self {
        match self {
            Life::Trouble { times: times @ 1.., since } => Life::Trouble { times: times + 1, since },
            _ => Life::Trouble { times: 1, since: at },
        }
    }
}

/// The result of a check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked {
    /// The representative before the check.
    pub of: UrlId,
    /// The host of the copy.
    pub site: SiteId,
    /// Days since the last check.
    pub days: f32,
    /// What it showed.
    pub showed: CheckShowed,
}

/// What a copy showed when it was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckShowed {
    /// The content that it showed before, or a content that is known to be that of its representative.
    Same,
    /// The new content of this URL. It is still a copy if its representative shows that, too.
    NewOf(UrlId),
    /// A content of its own.
    Own,
    /// No page any more: 404, 410 or a redirect.
    Gone,
}

impl Member {
    /// From the record of the first visit.
    pub fn new(id: UrlId, record: &PageRecord, priority: f32) -> Self {
        let at = seconds(record.fetched_at);
        let group = Url::parse(&record.url).ok().map_or(0, |url| first_segment(&url));
        let mut member = Self {
            id,
            visit: 0,
            asked: record.fetched_at,
            life: Life::Trouble { times: 0, since: at },
            cluster: CopyCluster::new(at, priority, PriorKey::new(group, record.depth)),
            of: None,
            heir_of: None,
            checked: at,
            seen: None,
            reach: Reach::Open,
            relinked: false,
            answered: false,
        };
        member.visited(1, record, None);
        member
    }

    /// Adds one more visit. `dated`: what is known of the time of a change. If the URL was a copy, returns the result
    /// of the check.
    pub fn visited(&mut self, visit: u32, record: &PageRecord, dated: Option<Dated>) -> Option<Checked> {
        let at = seconds(record.fetched_at);
        (self.visit, self.asked, self.answered) = (visit, record.fetched_at, record.status > 0);
        (self.reach, self.relinked) = (Reach::Open, false);
        let was_gone = self.life.is_gone();
        self.life = match (record.status, self.life) {
            (200..300 | 304, _) => Life::Alive,
            (300..400, _) => Life::Moved,
            (404 | 410, Life::Missing { times, since }) => Life::Missing { times: times + 1, since },
            (404 | 410, _) => Life::Missing { times: 1, since: at },
            (_, life) => life.troubled(at),
        };
        if self.life != Life::Alive {
            let of = self.of.filter(|_| self.life.is_gone() && !was_gone)?;
            let since = days(std::mem::replace(&mut self.checked, at), at);
            return Some(Checked { of, site: self.id.site, days: since, showed: CheckShowed::Gone });
        }
        self.cluster.told = None;
        let before_seen = self.seen.replace(record.fetched_at);
        let has_changed = record.has_changed(visit);
        if before_seen.is_some() && has_changed.is_none() {
            // The content cannot be compared (its body was cut, for example). So only the time of the visit is kept.
            self.cluster.visited = at;
            return None;
        }
        if before_seen.is_some() {
            let span = at.saturating_sub(self.cluster.visited);
            if has_changed == Some(false) {
                self.cluster.history.unchanged(span);
            } else {
                match dated {
                    Some(dated) => self.cluster.history.change_dated(dated),
                    None => self.cluster.history.change(span),
                }
                self.cluster.changed = at;
            }
        }
        self.cluster.visited = at;
        let before = self.of;
        // A page that repeats another one for the first time at a later visit may do so by chance: many pages show the
        // same notice while a site is being mended.
        let proven = before_seen.is_none() || before.is_some() || record.verdict == VerdictKind::Unchanged;
        self.of = copy_of(self.id, record).filter(|_| proven);
        if self.of.is_none() && before.is_some() && record.verdict == VerdictKind::Unchanged {
            self.heir_of = before;
        }
        let since = days(std::mem::replace(&mut self.checked, at), at);
        let showed = match self.of {
            None => CheckShowed::Own,
            Some(shows) if has_changed == Some(true) && before != Some(shows) => CheckShowed::NewOf(shows),
            Some(_) => CheckShowed::Same,
        };
        before.map(|of| Checked { of, site: self.id.site, days: since, showed })
    }

    /// Takes what a sitemap says about the URL. True if it tells of a change after the last visit.
    pub fn hear(&mut self, listed: Listed) -> bool {
        self.cluster.flags.listed = Some(Source::Sitemap);
        self.cluster.told = listed.tells(self.cluster.visited);
        self.cluster.told.is_some()
    }

    /// Whether the URL has a page: it had one at some visit, its last answer was no redirect, and it was not missing at
    /// the last two visits.
    pub fn was_there(&self) -> bool {
        self.seen.is_some() && !matches!(self.life, Life::Moved | Life::Missing { times: 2.., .. })
    }

    /// Whether it can be a representative. One [`Life::Trouble`] does not exclude it, because most errors pass. Trouble
    /// that lasts does, and so does a host that cannot be asked.
    pub fn may_represent(&self) -> bool {
        let lasts = |since| seconds(self.asked).saturating_sub(since) >= seconds(Unreachable::APART);
        let answers = match self.life {
            Life::Alive => true,
            Life::Trouble { times, since } => times < 2 || !lasts(since),
            Life::Moved | Life::Missing { .. } => false,
        };
        answers && self.reach != Reach::Barred
    }

    /// Whether it never showed a page, and its last request was not answered.
    pub fn never_answered(&self) -> bool {
        self.seen.is_none() && !self.answered
    }

    /// Whether it must not be visited now, because its interval has not passed. It has an interval if it is missing, or
    /// if it never showed a page and its last request was not answered. The interval grows up to [`LONGEST_REST`]. A new
    /// link to it ends the interval.
    pub fn rests(&self, now: Seconds) -> bool {
        if self.relinked {
            return false;
        }
        let asked = seconds(self.asked);
        let since = match self.life {
            Life::Missing { times: 2.., since } => since,
            Life::Trouble { since, .. } if self.never_answered() => since,
            _ => return false,
        };
        now.saturating_sub(asked) < asked.saturating_sub(since).saturating_mul(2).min(LONGEST_REST)
    }
}

/// The other URL whose page has the same text as this one, or nearly the same.
fn copy_of(id: UrlId, record: &PageRecord) -> Option<UrlId> {
    let of = record.shown.as_ref()?.of?;
    let content = record.content?;
    (content.shows != id.url && of.url != id).then_some(of.url)
}

/// The path group of a URL: a hash of its first path segment.
fn first_segment(url: &Url) -> u64 {
    let mut segments = url.path_segments().into_iter().flatten();
    let first = segments.next().filter(|_| segments.next().is_some());
    xxh3_64(first.unwrap_or_default().as_bytes())
}

#[cfg(test)]
mod tests {
    use dedup_stage::judge::Shown;
    use dedup_stage::url::PageId;
    use frontier::Via;
    use frontier::rules::Content;

    use super::*;

    const DAY: u64 = 86_400_000;

    fn id(url: u64) -> UrlId {
        UrlId { url, ..UrlId::default() }
    }

    fn record(day: u64, status: u16, verdict: VerdictKind, of: Option<u64>) -> PageRecord {
        let of = of.map(|url| PageId { url: id(url), visit: 1 });
        PageRecord {
            verdict,
            status,
            depth: 1,
            offset: 0,
            graph: None,
            source: None,
            via: Via::Link,
            fetched_at: day * DAY,
            url: "http://a.test/x/y".into(),
            validators: Default::default(),
            payload: None,
            content: Some(Content { text: 1, shows: of.map_or(7, |of| of.url.url) }),
            shown: Some(Shown {
                visit: 1,
                order: 1,
                sha256: [0; 32],
                simhash: None,
                text: 1,
                odd: None,
                statement: None,
                sketch: None,
                accepted: of.is_none(),
                of,
            }),
        }
    }

    fn member(visits: &[PageRecord]) -> (Member, Vec<Checked>) {
        let mut member = Member::new(id(7), &visits[0], 1.0);
        let numbered = visits.iter().enumerate().skip(1);
        let checked = numbered.filter_map(|(at, visit)| member.visited(at as u32 + 1, visit, None)).collect();
        (member, checked)
    }

    #[test]
    fn a_copy_is_one_from_its_first_visit_on_or_once_it_was_one_twice() {
        use VerdictKind::{Exact, Unchanged, Unique};
        assert_eq!(member(&[record(1, 200, Exact, Some(3))]).0.of, Some(id(3)));
        let late = [record(1, 200, Unique, None), record(2, 200, Exact, Some(3)), record(3, 200, Unchanged, Some(3))];
        assert_eq!(member(&late[..2]).0.of, None, "it may be a notice that many pages show for a day");
        assert_eq!(member(&late).0.of, Some(id(3)));
        let near = PageRecord { content: None, ..record(1, 200, VerdictKind::Near, Some(3)) };
        assert_eq!(member(&[near]).0.of, None, "near, and not the same");
    }

    #[test]
    fn a_check_counts_for_the_pair() {
        use VerdictKind::{Exact, Unchanged, Unique};
        let first = record(1, 200, Exact, Some(3));
        let (held, checked) = member(&[first.clone(), record(4, 304, Unchanged, Some(3))]);
        assert_eq!((held.of, checked[0].showed, checked[0].days), (Some(id(3)), CheckShowed::Same, 3.0));
        let (left, checked) = member(&[first.clone(), record(4, 200, Unique, None)]);
        assert_eq!((left.of, checked[0].showed), (None, CheckShowed::Own));
        let stub = record(4, 200, VerdictKind::Near, Some(8));
        let (_, checked) = member(&[first.clone(), stub]);
        assert_eq!(checked[0].showed, CheckShowed::NewOf(id(8)), "perhaps its representative shows that, too");
        let missing = |day| record(day, 404, VerdictKind::Unjudged, None);
        let (gone, checked) = member(&[first.clone(), missing(4), missing(6)]);
        assert_eq!(gone.of, Some(id(3)), "a page that is missing says nothing of what it was");
        assert_eq!(
            checked.iter().map(|check| (check.showed, check.days)).collect::<Vec<_>>(),
            [(CheckShowed::Gone, 3.0)]
        );
        let (failed, checked) = member(&[first, record(4, 503, VerdictKind::Unjudged, None)]);
        assert_eq!((failed.of, checked.len()), (Some(id(3)), 0), "most errors pass");
    }

    #[test]
    fn what_is_gone_is_looked_for_ever_more_seldom() {
        let missing = |day| record(day, 404, VerdictKind::Unjudged, None);
        let all = [record(1, 200, VerdictKind::Unique, None), missing(2), missing(3), missing(5)];
        let gone = [2, 3, 4].map(|visits| member(&all[..visits]).0);
        let rests = |member: &Member, day: u64| member.rests(seconds(day * DAY));
        assert!(!rests(&gone[0], 2));
        assert!(rests(&gone[1], 4) && !rests(&gone[1], 5));
        assert!(rests(&gone[2], 10) && !rests(&gone[2], 11));
    }

    #[test]
    fn no_interval_is_longer_than_sixty_days_and_a_new_link_ends_it() {
        let missing = |day| record(day, 404, VerdictKind::Unjudged, None);
        let long_gone = member(&[record(1, 200, VerdictKind::Unique, None), missing(2), missing(400)]).0;
        let rests = |member: &Member, day: u64| member.rests(seconds(day * DAY));
        assert!(rests(&long_gone, 459) && !rests(&long_gone, 460));
        assert!(!rests(&Member { relinked: true, ..long_gone }, 401));
        let never = |day| record(day, 0, VerdictKind::Unjudged, None);
        let never = member(&[never(2), never(400)]).0;
        assert!(never.never_answered() && rests(&never, 459) && !rests(&never, 460));
    }
}

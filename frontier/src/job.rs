//! The messages between the engine and the frontier: links found, jobs handed out, outcomes reported.

use std::net::IpAddr;
use std::sync::Arc;

use dedup_stage::url::{PageId, SiteId, UrlId};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::failure::Failure;
use crate::numbers::Millis;
use crate::reason::SkipReason;
use crate::robots::RobotsRules;
use crate::trial::Trial;

/// How a URL came to be queued. The queue entry carries it, so that `why` can name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Via {
    /// Given by the user; depth 0.
    Seed,
    /// A link of a page.
    Link,
    /// The target of a redirect. It adds no depth. With `again`, the URL may be queued although it was visited before:
    /// source and target are one URL to the frontier, or the chain of redirects has come back to it with a cookie.
    Redirect {
        /// Hops of the chain so far, this one included (at most 10). A direct link starts again at 0.
        hops: u8,
        /// Whether it may be queued although it was visited before.
        again: bool,
    },
    /// Named by a sitemap.
    Sitemap,
    /// Named by a feed.
    Feed,
    /// Visited before, and to be visited again. It may be queued although it was met before.
    Again,
    /// A trial: rules or holds would keep the link from being fetched, or did so, and it is fetched to see whether that
    /// is right. Set by the frontier.
    Trial,
    /// It was held, stopped or refused, and is queued now. Set by the frontier.
    Released {
        /// The reason.
        why: Release,
    },
    /// It was held or stopped, and was drawn for the sample at the end of the crawl. Set by the frontier.
    Rescue,
    /// A page needs it to be shown: an image, a style, a script, a font. It is no page, so scope, rules, budgets and
    /// caps on pages do not apply to it.
    Requisite {
        /// The length of the chain of requisites that led to it. (A style that a style imports is a requisite of a
        /// requisite.)
        hops: u8,
    },
}

impl Via {
    /// The word used in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Via::Seed => "seed",
            Via::Link => "link",
            Via::Redirect { .. } => "redirect",
            Via::Sitemap => "sitemap",
            Via::Feed => "feed",
            Via::Again => "again",
            Via::Trial => "trial",
            Via::Rescue => "rescue",
            Via::Requisite { .. } => "requisite",
            Via::Released { why } => match why {
                Release::Counterpart => "released:counterpart",
                Release::Waited => "released:waited",
                Release::Template => "released:template",
                Release::Pair => "released:pair",
                Release::Rule => "released:rule",
                Release::Fallen => "released:cluster",
                Release::Reason => "released:reason",
                Release::Mode => "released:mode",
                Release::Forbidden => "released:forbidden",
            },
        }
    }
}

/// Why a URL that was held, stopped or refused is queued after all. Each reason is stored as its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Release {
    /// Its counterpart or representative failed, is missing, was refused, or was never met.
    Counterpart = 1,
    /// Its counterpart or representative was still queued when its host, or the crawl, had nothing else to do.
    Waited = 2,
    /// Links of its template brought new contents.
    Template = 3,
    /// A trial showed that its pair of hosts differs: counterparts on the other domain show something else, or are
    /// missing.
    Pair = 4,
    /// A rule that stopped it failed in its folder, or was withdrawn.
    Rule = 5,
    /// A sample of its lot, or of another of its sets ([`UrlSet`](crate::UrlSet)), brought new contents.
    /// (`released:cluster` in outputs.)
    Fallen = 6,
    /// The reason for which it was refused is gone.
    Reason = 7,
    /// The mode of the crawl has changed, or the crawl is in `demote`, where URLs that rules stop come last.
    Mode = 8,
    /// Its counterpart or representative was visited before, and robots.txt forbids it now.
    Forbidden = 9,
}

impl Release {
    const ALL: [Release; 9] = [
        Release::Counterpart,
        Release::Waited,
        Release::Template,
        Release::Pair,
        Release::Rule,
        Release::Fallen,
        Release::Reason,
        Release::Mode,
        Release::Forbidden,
    ];
}

impl From<Release> for u8 {
    fn from(why: Release) -> u8 {
        why as u8
    }
}

impl TryFrom<u8> for Release {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        Self::ALL.into_iter().find(|why| *why as u8 == number).ok_or("no such reason for a release")
    }
}

/// The parts of a priority, which outputs show. The frontier only carries them. Each part is a number of steps of
/// 1/255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merits {
    /// Novelty of the page that carried the link.
    pub novelty: u8,
    /// Links to the URL that were seen.
    pub in_links: u8,
    /// Hints of pages and sitemaps about the URL, as the crawler encodes them.
    pub hint: u8,
    /// Relevance of the link, in a focused crawl.
    pub relevance: u8,
}

impl Merits {
    /// Turns a part in 0..1 into a number of steps.
    pub fn step(part: f32) -> u8 {
        (part.clamp(0.0, 1.0) * 255.0).round() as u8
    }

    /// All parts, in the order of their declaration.
    pub fn to_bytes(self) -> [u8; 4] {
        [self.novelty, self.in_links, self.hint, self.relevance]
    }

    /// Reads the bytes of [`Merits::to_bytes`].
    pub fn from_bytes([novelty, in_links, hint, relevance]: [u8; 4]) -> Self {
        Self { novelty, in_links, hint, relevance }
    }
}

/// A link that was found.
#[derive(Clone, Debug)]
pub struct FoundLink<'a> {
    /// The URL as it was written, resolved, without fragment. This will be fetched.
    pub url: &'a Url,
    /// Identity of its key.
    pub id: UrlId,
    /// The number of links from a seed to the URL.
    pub depth: u32,
    /// Static priority, 0..1.
    pub priority: f32,
    /// The parts of that priority.
    pub merits: Merits,
    /// The page that has the link; none for seeds.
    pub source: Option<PageId>,
    /// How it was found.
    pub via: Via,
}

/// Why a link of a duplicate is to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold<'a> {
    /// The twin has this counterpart of the link. If both pages have the same link, the counterpart is the URL itself.
    /// Such a URL is queued if it was never met, because nothing else can be fetched in its place.
    For(UrlId),
    /// The link is news: the twin has no such link.
    News,
    /// A known corpus with this name has the page that carries the link.
    Known(&'a str),
}

/// The decision about a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Queued. A link of a duplicate is queued at once if it is tried, or if its counterpart has failed.
    Queued,
    /// Held or stopped.
    Held,
    /// Met before. At most its priority or its counterparts have changed.
    Seen,
    /// Refused for this reason.
    Refused(SkipReason),
    /// It belongs to a host of another frontier. Nothing was done.
    Elsewhere,
    /// The URL leads to a host that was never met, and the registrable domain of this host names hosts without end. The
    /// frontier has no record of the URL.
    LeftOut,
}

/// One job for one host. A host has at most one job open.
#[derive(Clone, Debug)]
pub struct Job {
    /// Names the job in its report; never reused in a process.
    pub id: u64,
    /// The kind of the job.
    pub kind: JobKind,
    /// The URL to fetch; for `Resolve`, any URL of the host.
    pub url: Url,
    /// The URL's identity and the number of this visit. For jobs other than pages, only the host in it has a meaning.
    pub page: PageId,
    /// The number of links from a seed to the URL.
    pub depth: u32,
    /// The priority with which it was handed out.
    pub priority: f32,
    /// The parts of that priority.
    pub merits: Merits,
    /// The page that has the link.
    pub source: Option<PageId>,
    /// Redirect hops of the chain that led here.
    pub hops: u8,
    /// Attempts at this URL before this one.
    pub attempts: u32,
    /// How it came to be queued.
    pub via: Via,
    /// The host's addresses, to which the job may connect (empty for `Resolve`).
    pub addresses: Arc<[IpAddr]>,
    /// The question that a trial answers; `None` if the job is no trial.
    pub trial: Option<Arc<Trial>>,
}

impl Job {
    /// Whether it fetches a requisite: an image, style, script or font of a page.
    pub fn is_requisite(&self) -> bool {
        matches!(self.via, Via::Requisite { .. })
    }

    /// Whether it is fetched to see what URLs like it are worth.
    pub fn is_trial(&self) -> bool {
        self.trial.is_some() || self.via == Via::Rescue
    }
}

/// Kinds of job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Find the addresses of the URL's host.
    Resolve,
    /// Fetch a robots.txt.
    Robots,
    /// Fetch a sitemap.
    Sitemap,
    /// Fetch a page.
    Page,
}

impl JobKind {
    /// Whether it takes page workers long to read the answer: it is a page or a sitemap.
    pub(crate) fn is_read(self) -> bool {
        matches!(self, JobKind::Page | JobKind::Sitemap)
    }
}

/// The cost of an answer that was taken.
#[derive(Clone, Copy, Debug)]
pub struct AnswerCost {
    /// The host that was asked.
    pub site: SiteId,
    /// The kind of the job.
    pub kind: JobKind,
    /// Whether a response came.
    pub answered: bool,
    /// Whether it was read apart from the usual answers, because it takes long to read.
    pub heavy: bool,
    /// The time from the end of the response until the answer was taken.
    pub lag: Millis,
    /// The processor time for reading and taking it, in microseconds.
    pub micros: u64,
}

/// The outcome of a job. The `at` of its report is the time at which the response ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// `Resolve`: the addresses that may be connected to. Empty if the host has none of these.
    Resolved(Vec<IpAddr>),
    /// `Robots`: the rules in the answer.
    Robots(RobotsRules),
    /// `Robots`: the file is elsewhere, perhaps on another host. The frontier asks for it there, as politely as for
    /// anything else (at most five hops, then the file counts as unavailable: RFC 9309, section 2.3.1.2).
    RobotsMoved(Url),
    /// There was an answer to a page or sitemap. The URL is done, unless the server asked for time (429, 503), or the
    /// next answer may be a better one (after most other statuses from 500 on, or a body that was cut or empty).
    Done {
        /// HTTP status.
        status: u16,
        /// The time from the request to the end of the body.
        elapsed: Millis,
        /// `Retry-After`, as a time to wait from now.
        retry_after: Option<Millis>,
        /// The target of a redirect; none for other answers, and for redirects without a target.
        target: Option<UrlId>,
        /// Whether the connection broke in the body, or the body was broken or empty.
        cut: bool,
    },
    /// There was no whole answer. This can happen to any kind of job. The frontier decides whether to try again (then
    /// [`Frontier::report`](crate::Frontier::report) returns true and no line is written) or to give the URL up.
    /// [`Failure::Address`] of a `Resolve` job: the address rules forbid all addresses of the name.
    Failed(Failure),
    /// The URL was not attempted, or its body did not fit into memory. It is queued again as it was.
    Returned {
        /// Whether a request was made, and its body did not fit. After a few of these, each counts as an attempt.
        requested: bool,
    },
    /// The URL was not attempted, because a file of its origin comes first ([`Frontier::await_file`]). It has its place
    /// in the queue again.
    ///
    /// [`Frontier::await_file`]: crate::Frontier::await_file
    Later,
    /// The URL was not attempted, and never will be: it is refused. (If it was visited before, its last visit stands.)
    Refused(SkipReason),
}

/// The frontier's answer to the question what to do next.
// A job is handed out for nearly every call: a box would cost an allocation each time.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub enum Next {
    /// Do this.
    Job(Job),
    /// No job is due before this time.
    Wait(Millis),
    /// Nothing is queued at all, or everything queued waits for open jobs.
    Idle,
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::codec;

    use super::*;

    #[test]
    fn the_reason_for_a_release_is_stored_as_its_number() {
        for (number, why) in (1u8..).zip(Release::ALL) {
            let bytes = codec::encode(&why);
            assert_eq!(bytes, [number], "{why:?}");
            assert_eq!(codec::decode::<Release>(&bytes, "a release").unwrap(), why);
        }
        assert!(codec::decode::<Release>(&[0], "a release").is_err(), "no reason has this number any more");
    }
}

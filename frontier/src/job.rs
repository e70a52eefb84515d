//! The words in which the engine and the frontier talk: links found, jobs handed out, outcomes reported.

use std::net::IpAddr;
use std::sync::Arc;

use dedup_stage::url::{PageId, UrlId};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::failure::Failure;
use crate::hold::Trial;
use crate::numbers::Millis;
use crate::reason::SkipReason;
use crate::robots::Rules;

/// How a URL came to be queued. The queue entry carries it, so that `why` can name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Via {
    /// Given by the user; depth 0.
    Seed,
    /// A link of a page.
    Link,
    /// The target of a redirect. It adds no depth. Where `same_key` it is exempt from the seen-check, since source and
    /// target are one URL to the frontier.
    Redirect {
        /// Hops of the chain so far, this one included (at most 10). A direct link starts again at 0.
        hops: u8,
        /// Whether its key equals that of the redirecting URL.
        same_key: bool,
    },
    /// Named by a sitemap.
    Sitemap,
    /// Named by a feed.
    Feed,
    /// Visited before, and to be visited again: exempt from the seen-check.
    Again,
    /// Held or stopped, and fetched to see whether that is right. Set by the frontier.
    Trial,
    /// Was held, stopped or refused, and is no more. Set by the frontier.
    Released {
        /// Why.
        why: Release,
    },
    /// Held or stopped, and drawn for the sample at the end of the crawl. Set by the frontier.
    Rescue,
    /// A page needs it to be shown: an image, a style, a script, a font. It is no page: scope, rules, budgets and caps on pages
    /// do not hold for it.
    Requisite {
        /// Requisites in a row that led to it: what a style imports is one of the style.
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
                Release::Linked => "released:linked",
                Release::Counterpart => "released:counterpart",
                Release::Waited => "released:waited",
                Release::Template => "released:template",
                Release::Pair => "released:pair",
                Release::Rule => "released:rule",
                Release::Cluster => "released:cluster",
                Release::Reason => "released:reason",
                Release::Mode => "released:mode",
            },
        }
    }
}

/// Why a URL that was held, stopped or refused is queued after all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Release {
    /// A page that is no duplicate links to it.
    Linked,
    /// Its counterpart or representative failed, is missing, was refused, or was never met.
    Counterpart,
    /// Its counterpart or representative was still not fetched when everything else was done.
    Waited,
    /// Links of its template brought new contents.
    Template,
    /// Its counterparts on another domain turned out to show something else.
    Pair,
    /// A rule that stopped it was withdrawn.
    Rule,
    /// A sample of its cluster brought new contents.
    Cluster,
    /// The reason for which it was refused is gone.
    Reason,
    /// The crawl follows the links of duplicates now.
    Mode,
}

/// What a page that was judged brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brought {
    /// Text or media that no page before it had.
    Content,
    /// Links that the page with the same text has not: it is unique, and what these are worth only trials tell.
    Links,
    /// Nothing: it is a duplicate.
    Nothing,
}

/// What a priority was made of, for whoever asks later; the frontier only carries it. Each part in steps of 1/255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merits {
    /// Novelty of the page that carried the link.
    pub novelty: u8,
    /// Links seen.
    pub in_links: u8,
    /// What pages and sitemaps say of it, as the crawler writes it.
    pub hint: u8,
    /// Relevance of the link, in a focused crawl.
    pub relevance: u8,
}

impl Merits {
    /// A part in 0..1 as a step.
    pub fn step(part: f32) -> u8 {
        (part.clamp(0.0, 1.0) * 255.0).round() as u8
    }

    /// All of them, in the order of their declaration.
    pub fn to_bytes(self) -> [u8; 4] {
        [self.novelty, self.in_links, self.hint, self.relevance]
    }

    /// From [`Merits::to_bytes`].
    pub fn from_bytes([novelty, in_links, hint, relevance]: [u8; 4]) -> Self {
        Self { novelty, in_links, hint, relevance }
    }
}

/// A link that was found.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    /// As written: resolved, without fragment. What will be fetched.
    pub url: &'a Url,
    /// Identity of its key.
    pub id: UrlId,
    /// Links from a seed.
    pub depth: u32,
    /// Static priority, 0..1.
    pub priority: f32,
    /// What it was made of.
    pub merits: Merits,
    /// The page that carried it; none for seeds.
    pub source: Option<PageId>,
    /// How it was found.
    pub via: Via,
}

/// What a link of a duplicate is held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold<'a> {
    /// For the link of the twin that corresponds to it. The URL itself, where both have the same link.
    For(UrlId),
    /// It is news: the twin has no such link.
    News,
    /// A known corpus with this name has the page.
    Known(&'a str),
}

/// What became of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Queued. A held link is queued at once where it is a trial, or where its counterpart has fallen.
    Queued,
    /// New, and held.
    Held,
    /// Met before, and nothing changed but perhaps its priority or its counterparts.
    Seen,
    /// Refused while the reason lasts.
    Refused(SkipReason),
    /// It belongs to a set of hosts that another frontier has: nothing was done.
    Foreign,
}

/// What is to be done for one host; a host has at most one job open.
#[derive(Clone, Debug)]
pub struct Job {
    /// Names the job in its report; never reused in a process.
    pub id: u64,
    /// What to do.
    pub kind: JobKind,
    /// What to fetch; for `Resolve`, any URL of the host.
    pub url: Url,
    /// What the fetch will be called: the URL's identity and the number of this visit. For jobs other than pages only the
    /// host in it means anything.
    pub page: PageId,
    /// Links from a seed.
    pub depth: u32,
    /// The priority it was fetched with.
    pub priority: f32,
    /// What that was made of.
    pub merits: Merits,
    /// The page that carried it.
    pub source: Option<PageId>,
    /// Redirect hops of the chain that led here.
    pub hops: u8,
    /// Attempts at this URL before this one.
    pub attempts: u32,
    /// How it came to be queued.
    pub via: Via,
    /// The host's addresses, to be connected to (empty for `Resolve`).
    pub addresses: Arc<[IpAddr]>,
    /// For a trial, what is tried.
    pub trial: Option<Arc<Trial>>,
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

/// What came of a job. `at` of the report is the end of the response.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// `Resolve`: the addresses that may be connected to; empty where the host has none that may.
    Resolved(Vec<IpAddr>),
    /// `Robots`: the answer.
    Robots(Rules),
    /// `Robots`: the file is elsewhere, perhaps on another host. To be asked for there, as politely as anything else
    /// (at most five hops, then the file counts as unavailable: RFC 9309, section 2.3.1.2).
    RobotsMoved(Url),
    /// A page or sitemap was answered; the URL is done, unless the server asked for time (429, 503).
    Done {
        /// HTTP status.
        status: u16,
        /// From request to end of body.
        elapsed: Millis,
        /// `Retry-After`, as a time to wait from now.
        retry_after: Option<Millis>,
        /// Where a redirect leads; none for other answers, and for redirects that lead nowhere.
        target: Option<UrlId>,
    },
    /// No whole answer, for any kind of job. The frontier decides whether to try again (then
    /// [`Frontier::report`](crate::Frontier::report) returns true and no line is written) or to give the URL up.
    /// [`Failure::Address`] of a `Resolve` job: the address rules forbid all addresses of the name.
    Failed(Failure),
    /// Not attempted, or its body did not fit: queue it again as it was.
    Returned {
        /// Whether a request was made, whose body did not fit. After a few of these, each counts as an attempt.
        requested: bool,
    },
    /// Not attempted, since something else of its host comes first: queue it again, behind its equals.
    Later,
    /// Not attempted, and never to be: the URL is refused. (A page that was visited before stays what it was.)
    Refused(SkipReason),
}

/// The frontier's answer to "what now?".
// A job is handed out for nearly every call: a box would cost an allocation each time.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub enum Next {
    /// Do this.
    Job(Job),
    /// Nothing is due before this time.
    Wait(Millis),
    /// Nothing is queued at all, or everything queued waits for open jobs.
    Idle,
}

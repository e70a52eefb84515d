//! The words in which the engine and the frontier talk: links found, jobs handed out, outcomes reported.

use std::net::IpAddr;
use std::sync::Arc;

use dedup_stage::judge::Row;
use url::Url;

use crate::robots::Rules;
use crate::rules::Stop;

/// Milliseconds since the Unix epoch.
pub type Millis = u64;

/// How a URL was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// Given by the user; depth 0.
    Seed,
    /// A link of a page.
    Link,
    /// The target of a redirect, with the number of hops so far (at most 10). It adds no depth; where `same_key` it is
    /// exempt from the seen-check, since source and target are one URL to the frontier.
    Redirect {
        /// Hops so far, this one included.
        hops: u8,
        /// Whether its key equals that of the redirecting URL.
        same_key: bool,
    },
    /// Named by a sitemap.
    Sitemap,
    /// Fetched before, and to be fetched again: exempt from the seen-check.
    Again,
    /// Met before and stopped by a rule, and to be fetched after all: exempt from the seen-check.
    Released,
}

/// What a priority was made of, for whoever asks later; the frontier only carries it. Each part in steps of 1/255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merits {
    /// Novelty of the page that carried the link.
    pub novelty: u8,
    /// Links seen.
    pub in_links: u8,
    /// Whether a sitemap names it.
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

/// A link that asks to be queued.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    /// As written: resolved, without fragment. What will be fetched.
    pub url: &'a Url,
    /// Hash of its key.
    pub hash: u64,
    /// Links from a seed.
    pub depth: u32,
    /// Static priority, 0..1.
    pub priority: f32,
    /// What it was made of.
    pub merits: Merits,
    /// The page that carried it.
    pub source: Option<Row>,
    /// How it was found.
    pub via: Via,
}

/// What became of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// New, and queued.
    Queued,
    /// Met before.
    Seen,
    /// Refused, now and later.
    Refused(SkipReason),
}

/// Why a URL was not fetched; the `reason` of `skipped.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// robots.txt forbids it, or could not be had.
    Robots,
    /// Outside the scope, or cut by `--include` and `--exclude`.
    Scope,
    /// A private or otherwise forbidden address, or none that is known.
    Address,
    /// Neither http nor https.
    Scheme,
    /// Deeper than `--max-depth`.
    Depth,
    /// A trap: repeating segments, a growing query, a folder that brings nothing new.
    Trap,
    /// Only a duplicate page links to it.
    DuplicateSource,
    /// `rel=nofollow`, or its page says so.
    Nofollow,
    /// A learned URL rule stopped it.
    Rule,
    /// A mirror of another host.
    Mirror,
    /// The budget of its host or path prefix is spent.
    Budget,
    /// Longer than a URL may be.
    TooLong,
}

impl SkipReason {
    /// Every reason.
    pub const ALL: [SkipReason; 12] = [
        SkipReason::Robots,
        SkipReason::Scope,
        SkipReason::Address,
        SkipReason::Scheme,
        SkipReason::Depth,
        SkipReason::Trap,
        SkipReason::DuplicateSource,
        SkipReason::Nofollow,
        SkipReason::Rule,
        SkipReason::Mirror,
        SkipReason::Budget,
        SkipReason::TooLong,
    ];

    /// The reason with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// A sentence for people.
    pub fn explanation(self) -> &'static str {
        match self {
            SkipReason::Robots => "robots.txt forbids it, or could not be had",
            SkipReason::Scope => "outside --scope, --include or --exclude",
            SkipReason::Address => {
                "no address is known, or only a forbidden one (--allow-private lifts that for private ones)"
            }
            SkipReason::Scheme => "neither http nor https",
            SkipReason::Depth => "deeper than --max-depth",
            SkipReason::Trap => "a trap: too many or repeating path segments, or a folder that brought nothing new",
            SkipReason::DuplicateSource => "only a duplicate page links to it",
            SkipReason::Nofollow => "the link or its page says nofollow",
            SkipReason::Rule => "a learned URL rule says that it is a copy",
            SkipReason::Mirror => "its host or folder is a mirror of another",
            SkipReason::Budget => "its host or folder has spent its budget on duplicates",
            SkipReason::TooLong => "longer than --max-url-length",
        }
    }

    /// The word used in outputs.
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::Robots => "robots",
            SkipReason::Scope => "scope",
            SkipReason::Address => "address",
            SkipReason::Scheme => "scheme",
            SkipReason::Depth => "depth",
            SkipReason::Trap => "trap",
            SkipReason::DuplicateSource => "duplicate_source",
            SkipReason::Nofollow => "nofollow",
            SkipReason::Rule => "rule",
            SkipReason::Mirror => "mirror",
            SkipReason::Budget => "budget",
            SkipReason::TooLong => "too_long",
        }
    }
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
    /// Hash of the URL's key (0 but for pages).
    pub hash: u64,
    /// Links from a seed.
    pub depth: u32,
    /// The priority it was fetched with.
    pub priority: f32,
    /// What that was made of.
    pub merits: Merits,
    /// The page that carried it.
    pub source: Option<Row>,
    /// Redirect hops that led here.
    pub hops: u8,
    /// The host's addresses, to be connected to (empty for `Resolve`).
    pub addresses: Arc<[IpAddr]>,
    /// What learned rules say of the URL: of one that they stop, or that is fetched as an audit of them.
    pub stop: Option<Arc<Stop>>,
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
    /// `Resolve`: no answer (or none but forbidden ones, with `forbidden`).
    Unresolved {
        /// The name has addresses, but the address rules forbid all of them.
        forbidden: bool,
    },
    /// `Robots`: the answer.
    Robots(Rules),
    /// `Robots`: the file is elsewhere, perhaps on another host. To be asked for there, as politely as anything else
    /// (at most five hops, then the file counts as unavailable: RFC 9309, section 2.3.1.2).
    RobotsMoved(Url),
    /// A page or sitemap was answered; the URL is done.
    Done {
        /// HTTP status.
        status: u16,
        /// From request to end of body.
        elapsed: Millis,
        /// `Retry-After`, as a time to wait from now.
        retry_after: Option<Millis>,
        /// The number under which the engine records the page, should the URL be done with this
        /// ([`Row::MAX`] for sitemaps).
        row: Row,
    },
    /// No whole answer. The frontier decides whether to try again (then [`Frontier::report`](crate::Frontier::report)
    /// returns true and no line is written) or to give the URL up.
    Failed {
        /// Whether a later attempt might succeed (time-out, reset, DNS) or not (bad TLS name, protocol garbage).
        transient: bool,
    },
    /// Not attempted, or its body did not fit the budget: queue it again as it was.
    Returned,
}

/// The frontier's answer to "what now?".
#[derive(Clone, Debug)]
pub enum Next {
    /// Do this.
    Job(Job),
    /// Nothing is due before this time.
    Wait(Millis),
    /// Nothing is queued at all, or everything queued waits for open jobs.
    Idle,
}

//! Where a URL stands: the record that the state keeps of it.

use dedup_stage::url::{PageId, UrlId};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::job::Merits;
use crate::reason::{Detail, SkipReason};
use crate::rules::RuleId;

/// Where a URL stands.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It waits for its turn, or is being fetched. Its queue entry says the rest.
    Queued {
        /// The last visit, if it was visited before.
        before: Option<Visit>,
    },
    /// Only duplicate pages link to it, and their twins have counterparts of these links: it is fetched where none of these
    /// can be.
    HeldFor {
        /// The counterparts, at most [`State::COUNTERPARTS`]; the first one decides now.
        counterparts: Vec<UrlId>,
        /// What is needed to queue it.
        link: Kept,
    },
    /// Only duplicate pages link to it, and it is held for another reason.
    HeldAs {
        /// The reason.
        cause: Cause,
        /// What is needed to queue it.
        link: Kept,
    },
    /// Learned rules say that it shows what another URL shows, or nothing new.
    Stopped {
        /// The rules, in the order in which they were applied.
        rules: Vec<RuleId>,
        /// For outputs: [`SkipReason::Rule`], [`SkipReason::Mirror`] or [`SkipReason::Trap`].
        reason: SkipReason,
        /// The URL that is fetched in its place; none for a trap.
        representative: Option<UrlId>,
        /// What is needed to queue it.
        link: Kept,
    },
    /// It is not to be fetched while the reason lasts.
    Refused {
        /// Why.
        reason: SkipReason,
        /// What can be said beside the reason.
        detail: Detail,
        /// What is needed to queue it.
        link: Kept,
    },
    /// It was answered, or given up after its attempts.
    Done(Visit),
    /// It was missing (404 or 410) at two visits in a row.
    Gone(Visit),
}

/// One visit to a URL: the fetch that wrote its line in `pages.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Visit {
    /// Its number, from 1.
    pub number: u32,
    /// How it ended.
    pub end: End,
}

/// Why a link of a duplicate is held where no counterpart decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The twin has no such link. Links of one template are tried together.
    News {
        /// Hash of host, folder and shape.
        template: u64,
    },
    /// A known corpus has the page that links to it.
    Known {
        /// Name of the corpus.
        corpus: String,
    },
}

/// How a visit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// With an answer.
    Answered {
        /// HTTP status.
        status: u16,
    },
    /// With a redirect.
    Redirected {
        /// HTTP status.
        status: u16,
        /// Where it leads.
        target: UrlId,
    },
    /// Without a whole answer.
    Failed {
        /// Why.
        failure: Failure,
    },
}

/// What is needed to queue a URL that is not queued, and to tell where it was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// As written: what would be fetched.
    pub url: Box<str>,
    /// Links from a seed.
    pub depth: u32,
    /// The page that carried it; none for seeds.
    pub source: Option<PageId>,
    /// Static priority, 0..1.
    pub priority: f32,
    /// What that was made of.
    pub merits: Merits,
}

impl State {
    /// Counterparts that a record remembers.
    pub const COUNTERPARTS: usize = 4;

    /// A word for messages.
    pub fn name(&self) -> &'static str {
        match self {
            State::Queued { .. } => "queued",
            State::HeldFor { .. } => "held for a counterpart",
            State::HeldAs { cause: Cause::News { .. }, .. } => "held as news",
            State::HeldAs { cause: Cause::Known { .. }, .. } => "held as known",
            State::Stopped { .. } => "stopped",
            State::Refused { .. } => "refused",
            State::Done(_) => "done",
            State::Gone(_) => "gone",
        }
    }

    /// What is needed to queue it, where the record says so.
    pub fn link(&self) -> Option<&Kept> {
        match self {
            State::HeldFor { link, .. }
            | State::HeldAs { link, .. }
            | State::Stopped { link, .. }
            | State::Refused { link, .. } => Some(link),
            State::Queued { .. } | State::Done(_) | State::Gone(_) => None,
        }
    }
}

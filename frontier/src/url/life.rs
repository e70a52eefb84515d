//! The state of a URL, as its record has it.

use dedup_stage::url::{PageId, UrlId};
use serde::{Deserialize, Serialize};

use super::WaitPlace;
use crate::failure::Failure;
use crate::job::Merits;
use crate::numbers::RuleId;
use crate::reason::{Detail, SkipReason};

/// The state of a URL.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It waits for its turn, or is being fetched. Its queue entry has the details.
    Queued {
        /// The last visit, if it was visited before.
        before: Option<Visit>,
    },
    /// Only duplicates, or pages whose links are treated in the same way, link to it. Their twins have counterparts of
    /// these links. It is fetched if none of the counterparts can be fetched.
    HeldFor {
        /// The counterparts, at most [`State::COUNTERPARTS`]. It waits for the first one.
        counterparts: Vec<UrlId>,
        /// What is needed to queue it.
        link: KeptLink,
    },
    /// Only duplicates, or pages whose links are treated in the same way, link to it. It is held as news, or because a
    /// known corpus has the page that links to it.
    HeldAs {
        /// The reason.
        cause: HoldCause,
        /// What is needed to queue it.
        link: KeptLink,
    },
    /// Learned rules say that it shows what another URL shows, or that it is in a trap; or its host or folder has spent
    /// its budget on duplicates (in `drop`).
    Stopped {
        /// The rules, in the order in which they were applied; none for a budget.
        rules: Vec<RuleId>,
        /// The reason that outputs give: [`SkipReason::Rule`], [`SkipReason::Mirror`], [`SkipReason::Trap`] or
        /// [`SkipReason::Budget`].
        reason: SkipReason,
        /// The URL that is fetched in its place; none for a trap or a budget.
        representative: Option<UrlId>,
        /// If the representative was not fetched yet: the place at which this URL counts as waiting.
        waits: Option<WaitPlace>,
        /// What is needed to queue it.
        link: KeptLink,
    },
    /// It is not fetched. Another link lifts the reasons scope, depth, length, trap, nofollow and scheme. A new
    /// robots.txt lifts robots. Changed settings lift scope, depth, length, trap and the caps on pages. A spent budget,
    /// an address and a purpose stay.
    Refused {
        /// The reason.
        reason: SkipReason,
        /// More about the reason.
        detail: Detail,
        /// What is needed to queue it.
        link: KeptLink,
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

/// The reason to hold a link of a duplicate that does not wait for a counterpart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HoldCause {
    /// The twin has no such link. Links of one template are tried together.
    News {
        /// Hash of the host and of the form of the URL: see `hold::template`.
        template: u64,
    },
    /// A known corpus has the page that linked to it first.
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

/// The part of a link that is kept in the record of a URL that is not queued. It is needed to queue the URL later.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeptLink {
    /// The URL as it was written. This would be fetched.
    pub url: Box<str>,
    /// Links from a seed.
    pub depth: u32,
    /// The page that has the link; none for seeds.
    pub source: Option<PageId>,
    /// Static priority, 0..1.
    pub priority: f32,
    /// The parts of that priority.
    pub merits: Merits,
}

impl State {
    /// Most counterparts in a record.
    pub const COUNTERPARTS: usize = 4;

    /// The state of a URL whose host or folder has spent its budget, in `drop`.
    pub fn stopped_for_budget(link: KeptLink) -> Self {
        State::Stopped { rules: Vec::new(), reason: SkipReason::Budget, representative: None, waits: None, link }
    }

    /// A word for messages.
    pub fn name(&self) -> &'static str {
        match self {
            State::Queued { .. } => "queued",
            State::HeldFor { .. } => "held for a counterpart",
            State::HeldAs { cause: HoldCause::News { .. }, .. } => "held as news",
            State::HeldAs { cause: HoldCause::Known { .. }, .. } => "held as known",
            State::Stopped { .. } => "stopped",
            State::Refused { .. } => "refused",
            State::Done(_) => "done",
            State::Gone(_) => "gone",
        }
    }

    /// The kept link of a URL that is held, stopped or refused.
    pub fn link(&self) -> Option<&KeptLink> {
        match self {
            State::HeldFor { link, .. }
            | State::HeldAs { link, .. }
            | State::Stopped { link, .. }
            | State::Refused { link, .. } => Some(link),
            State::Queued { .. } | State::Done(_) | State::Gone(_) => None,
        }
    }
}

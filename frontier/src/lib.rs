//! What to fetch next, and when.
//!
//! The frontier knows every URL that the crawl has met, and the state of each. It keeps the URLs that are still to be
//! fetched in the queues of their hosts. It hands them out so that no host is asked twice at once, or sooner than its
//! delay allows. It opens no socket and reads no clock: time is a parameter. State that must survive goes through a
//! [`dedup_stage::store::Session`].
//!
//! Where to read first: `url/life.rs` and `url/table.rs` (the states of a URL), `frontier/next_step.rs` (the decisions
//! before a fetch), `hold/mod.rs` (URLs that are held back), `host/queue.rs` (how millions of URLs are queued).

mod failure;
mod folder;
mod frontier;
mod hold;
mod host;
mod job;
#[cfg(test)]
mod model;
mod numbers;
mod process;
mod reason;
pub mod refresh;
pub mod robots;
pub mod rules;
mod schedule;
pub mod scope;
mod segment;
pub mod sitemap;
pub mod spaces;
mod taught;
mod trial;
mod url;

pub use crate::url::{Counters, End, HoldCause, KeptLink, State, Visit};
pub use dedup_stage::url::Keys;
pub use failure::Failure;
pub use frontier::{
    BudgetView, Counts, Frontier, HostState, HostView, NamedBy, QueuedAs, Skipped, Walk, cut, stored_budgets,
    stored_notes,
};
pub use hold::{Draw, Drawn, Prospect, Sample, SampleSpec, Strata, StrataDraw, UrlSets, shape};
pub use host::Expected;
pub use host::errands::{Asker, Errand};
pub use host::note::HostNote;
pub use job::{Admission, AnswerCost, FoundLink, Hold, Job, JobKind, Merits, Next, Outcome, Release, Via};
pub use numbers::Millis;
pub use reason::{Detail, SkipReason};
pub use taught::{Brought, Taught};
pub use trial::{Trial, UrlSet};

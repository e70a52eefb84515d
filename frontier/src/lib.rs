//! What to fetch next, and when.
//!
//! The frontier knows every URL that the crawl has met and where it stands, keeps those still to be fetched in the queues of
//! their hosts, and hands them out so that no host is asked twice at once or sooner than its delay allows. It opens no
//! socket and reads no clock: time is a parameter, and what must survive goes through a [`dedup_stage::store::Session`].

mod evidence;
mod failure;
mod frontier;
mod hold;
mod job;
mod keys;
mod reason;
pub mod robots;
pub mod rules;
pub mod scope;
pub mod sitemap;
pub mod spaces;
mod url;
mod view;

pub use crate::url::{Cause, Counters, End, Kept, State, Visit};
pub use evidence::Expected;
pub use failure::Failure;
pub use frontier::{Frontier, QueuedAs, Skipped, Walk};
pub use hold::{Cluster, Drawn, Sample};
pub use job::{Admission, Found, Hold, Job, JobKind, Merits, Millis, Next, Outcome, Release, Via};
pub use keys::Keys;
pub use reason::{Detail, SkipReason};
pub use view::{BudgetView, Counts, HostState, HostView, stored_budgets};

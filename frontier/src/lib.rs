//! What to fetch next, and when.
//!
//! The frontier knows every URL that the crawl has met, keeps those still to be fetched in the queues of their hosts, and
//! hands them out so that no host is asked twice at once or sooner than its delay allows. It opens no socket and reads no
//! clock: time is a parameter, and what must survive goes through a [`dedup_stage::store::Session`].

mod addresses;
mod codec;
mod frontier;
mod groups;
mod hosts;
mod job;
mod origins;
mod politeness;
mod queue;
mod rate;
pub mod robots;
mod schedule;
pub mod scope;
mod seen;
pub mod sitemap;

pub use frontier::{Counts, Frontier, HostState, HostView};
pub use job::{Admission, Found, Job, JobKind, Millis, Next, Outcome, SkipReason, Via};
pub use seen::{UrlState, state as url_state};

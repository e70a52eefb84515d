//! What to fetch next, and when.
//!
//! The frontier knows every URL that the crawl has met, keeps those still to be fetched in the queues of their hosts, and
//! hands them out so that no host is asked twice at once or sooner than its delay allows. It opens no socket and reads no
//! clock: time is a parameter, and what must survive goes through a [`dedup_stage::store::Session`].

mod addresses;
mod admit;
mod budget;
mod codec;
mod evidence;
mod frontier;
mod groups;
mod handout;
mod held;
mod hosts;
mod job;
mod learning;
#[cfg(test)]
mod model;
mod origins;
mod politeness;
mod queue;
mod rate;
mod report;
pub mod robots;
pub mod rules;
mod schedule;
pub mod scope;
mod seen;
pub mod sitemap;
pub mod spaces;
mod sweep;
mod view;
mod waiting;

pub use evidence::Expected;
pub use frontier::Frontier;
pub use held::{Held, Walk};
pub use job::{Admission, Found, Job, JobKind, Merits, Millis, Next, Outcome, SkipReason, Via};
pub use seen::{UrlState, state as url_state};
pub use view::{BudgetView, Counts, HostState, HostView, stored_budgets};

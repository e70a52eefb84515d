//! The engine: one thread that makes every decision. It owns the frontier, the flow (the judge and the gate) and the
//! ledger (the state, the outputs and the counters), so it needs no locks.
//!
//! The engine hands out jobs while it has credits (`jobs`), and takes one report for each. It judges pages in the order
//! of their fetches (heavy ones in the order of reading, see `line_up`), and queues or holds their links (`state`). It
//! commits the changes in groups (`ledger`). Fetchers and page workers know nothing about these decisions.
//!
//! Where to find what:
//!
//! - The loop and its parts: `main_loop`, `state`, `start`, `close`, `parts`, `message`, `error`, `stats`, `stopwatch`.
//! - Jobs, and reports in order: `jobs`, `under_way`, `unfinished`, `page_limit`.
//! - Everything between a job and its report (fetchers, page workers): `workers`.
//! - The changes that an answer makes: `answers`, and the record of them: `ledger`.
//! - What hosts have shown lately, which tells a trap from a page that is worth its fetch: `novelty`.
//! - The end of a crawl: `rescue`, `shorter_paths`, `unread`, `doubtful_sessions`.
//! - Visits to known pages: `visits`, `visit_rounds`.
//! - Logins and the conditions of sites: `login`, `usage`.
//! - What goes wrong: `trouble`, `standing`, `local_trouble`, `log`.
//! - Other processes: `peers`; pages in the common order with them: `common_order`, `proposals`.
//! - A focused crawl: `scores`.

mod answers;
mod close;
mod common_order;
mod doubtful_sessions;
mod error;
mod jobs;
mod ledger;
mod local_trouble;
mod log;
mod login;
mod main_loop;
mod message;
mod novelty;
mod page_limit;
mod parts;
mod peers;
mod proposals;
mod rescue;
mod scores;
mod shorter_paths;
mod standing;
mod start;
mod state;
mod stats;
mod stopwatch;
mod trouble;
mod under_way;
mod unfinished;
mod unread;
mod usage;
mod visit_rounds;
mod visits;
mod workers;

pub use answers::attempts::Attempt;
pub use error::{EngineError, PeersError};
pub use log::Log;
pub use parts::{Control, Parts};
pub use peers::state::{PAGES_AT, places};
pub use peers::{All, Event, PeerProgress, Peers, Phase, Proposed, QuotaRequest};
pub use rescue::{found, lost};
pub use start::run;
pub use stats::{LongDelays, Memory, Nobody, Observer, Snapshot, Stats, StopReason, TICK};
pub use trouble::WorstHost;
pub use unread::{Unread, causes as unread};
pub use visits::{AGES, Freshness, HostRate, Round};
pub use workers::worker::Context;

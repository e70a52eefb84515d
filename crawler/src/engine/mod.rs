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
//! - Jobs, and reports in order: `jobs`, `under_way`, `attempts`, `unfinished`, `page_limit`.
//! - Fetchers and page workers: `fetchers`, `batch`, `line_up`, `worker`, `reading`, `links_out`, `line`, `pdfs`, `scoring`.
//! - The changes that an answer makes: `page`, `links`, `bounce`, `lists`, `sitemaps`, `needs`, `archived`, `ledger`.
//! - What tells a trap or a copy from a page that is worth its fetch: `alike`, `barren`, `gists`, `own_words`,
//!   `rearranged`, `shown_files`, `stubs`, `twin`.
//! - The end of a crawl: `rescue`, `shorter_paths`, `unread`, `doubtful_sessions`.
//! - Visits to known pages: `visits`, `visit_rounds`, `honesty`, `vanished`.
//! - Logins and the conditions of sites: `login`, `sessions`, `usage`.
//! - What goes wrong: `trouble`, `standing`, `local_trouble`, `log`.
//! - Other processes: `peers`, `peer_state`, `common_order`, `barrier`, `proposals`, `allowance`.
//! - A focused crawl: `scores`.

mod alike;
mod allowance;
mod archived;
mod attempts;
mod barren;
mod barrier;
mod batch;
mod bounce;
mod close;
mod common_order;
mod doubtful_sessions;
mod error;
mod fetchers;
mod gists;
mod honesty;
mod jobs;
mod ledger;
mod line;
mod line_up;
mod links;
mod links_out;
mod lists;
mod local_trouble;
mod log;
mod login;
mod main_loop;
mod message;
mod needs;
mod own_words;
mod page;
mod page_limit;
mod parts;
#[cfg(feature = "pdf")]
mod pdfs;
mod peer_state;
mod peers;
mod proposals;
mod reading;
mod rearranged;
mod rescue;
mod scores;
mod scoring;
mod sessions;
mod shorter_paths;
mod shown_files;
mod sitemaps;
mod standing;
mod start;
mod state;
mod stats;
mod stopwatch;
mod stubs;
mod trouble;
mod twin;
mod under_way;
mod unfinished;
mod unread;
mod usage;
mod vanished;
mod visit_rounds;
mod visits;
mod worker;

pub use attempts::Attempt;
pub use error::EngineError;
pub use log::Log;
pub use parts::{Control, Parts};
pub use peer_state::{PAGES_AT, places};
pub use peers::{All, Event, PeerProgress, Peers, PeersError, Phase, Proposed, QuotaRequest};
pub use rescue::{found, lost};
pub use start::run;
pub use stats::{LongDelays, Memory, Nobody, Observer, Snapshot, Stats, StopReason, TICK};
pub use trouble::WorstHost;
pub use unread::{Unread, causes as unread};
pub use visits::{AGES, Freshness, HostRate, Round};
pub use worker::Context;

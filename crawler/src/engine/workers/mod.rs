//! Everything between a job and its report: fetchers, and page workers. They run on their own threads, need nothing of
//! the engine's state, and decide nothing. So they may run in any number.
//!
//! A fetcher makes the request ([`fetchers`]). PDF files are read in child processes ([`pdfs`]). The answer waits in a
//! line ([`line_up`]) for a page worker ([`worker`]), which reads its text ([`reading`]) and its links ([`links_out`]),
//! and makes the line of `pages.jsonl` ([`line`]). It keeps the session of the crawl ([`sessions`]). A program of the
//! user may score the page ([`scoring`]). Reports go to the engine in groups ([`batch`]).

pub(super) mod batch;
pub(super) mod fetchers;
pub(super) mod line;
pub(super) mod line_up;
pub(super) mod links_out;
#[cfg(feature = "pdf")]
pub(super) mod pdfs;
pub(super) mod reading;
pub(super) mod scoring;
pub(super) mod sessions;
pub(super) mod worker;

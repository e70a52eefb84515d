//! Decides when pages are visited again. It plans for content clusters: a cluster is a page with its proven copies.
//!
//! Copies change together. So the scheduler visits one page of each cluster, and trusts the others (`copies`). It estimates the
//! change rate of each cluster (`belief`): the distribution over all pages (`prior`, empirical Bayes), multiplied by the
//! likelihood of what the visits to this page have shown (`evidence`). A visit buys freshness. It is due as soon as it buys the
//! price of a fetch. The price is set so that the visits use up the budget, and on each host no more than its delay allows
//! (`market`). `scheduler` puts these parts together. Sitemaps and feeds are read for their news, at the same price (`news`).
//!
//! Nothing here fetches, reads a clock or stores the records of pages.

pub mod belief;
pub mod cluster;
pub mod copies;
pub mod evidence;
pub mod grid;
mod host;
pub mod market;
pub mod news;
mod plan;
pub mod prior;
pub mod queue;
mod review;
pub mod scheduler;
pub mod settings;
pub mod signals;
pub mod time;
pub mod turns;
pub use host::Learned;

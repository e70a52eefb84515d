//! When pages are visited again: the unit of a visit is a content cluster, a page with its proven copies.
//!
//! Copies change together, so one of them is visited and the others are trusted (`copies`). Of each cluster there is a belief
//! about its change rate (`belief`): what all pages have shown (`prior`, empirical Bayes), times what its own visits have shown
//! (`evidence`). A visit is worth the freshness that it buys; it is due where that reaches the price of a fetch (`market`),
//! which is such that the budget is spent, and on each host no more than its delay allows. `scheduler` puts this together.
//!
//! Nothing here fetches, reads a clock or keeps records of pages.

pub mod belief;
pub mod cluster;
pub mod copies;
pub mod evidence;
pub mod grid;
mod host;
pub mod market;
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

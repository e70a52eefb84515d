//! Decides when pages are visited again. It plans for clusters: a cluster is a page with its proven copies.
//!
//! Copies change together. So the scheduler visits one page of each cluster, its *representative*, and trusts the
//! copies (`copies`). It estimates the change rate of each cluster (`belief`). The estimate starts with the
//! distribution over all pages (`prior`, empirical Bayes), which is multiplied by the likelihood of what the visits to
//! this page have shown (`history`). A visit buys *freshness*: time in which the crawl has the page as it is on the
//! web. A visit is due when the freshness that it is expected to buy reaches the *price* of a fetch, a threshold in
//! days. The price is at least [`settings::Settings::least_price`], and higher on a host whose delay does not allow
//! all these visits (`market`). A budget of visits a day can raise it, too; the crawler sets this budget so high that
//! it never does. A *lesson* is a visit that is made to learn a change rate (`plan`). `signals` learns how far the
//! dates and lists of a host are true. `scheduler` puts these parts together. Sitemaps and feeds are read again for
//! their news, at the same price (`news`).
//!
//! Nothing here fetches, reads a clock or stores the records of pages.

pub mod belief;
pub mod cluster;
pub mod copies;
pub mod grid;
pub mod history;
mod host;
pub mod market;
pub mod news;
mod next_visit;
pub mod prior;
pub mod queue;
mod review;
pub mod scheduler;
pub mod settings;
pub mod signals;
pub mod time;
pub mod turns;
pub use host::Learned;

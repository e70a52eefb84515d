//! What the integration tests and comparisons need: the synthetic web in memory, a static site server, the test data.

pub mod background;
pub mod choosing;
pub mod client;
pub mod cluster;
pub mod crawl;
pub mod crowd;
pub mod data;
pub mod failing;
pub mod freshness;
pub mod fuzz;
pub mod gate;
pub mod hostile;
pub mod kill;
mod links;
pub mod memory;
pub mod pipe;
pub mod polite;
pub mod power;
pub mod programs;
pub mod real;
pub mod scripted;
pub mod site;
pub mod sound;
pub mod told;
pub mod watch;

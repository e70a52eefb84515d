//! Tools for the integration tests (`tests/integration`), the tests of clusters (`tests/cluster`), and the measuring
//! programs (`src/bin`).
//!
//! - Made-up webs and servers: [`site`], [`crowd`], [`gate`], [`hostile`], [`failing`], [`polite`], [`scripted`],
//!   [`told`].
//! - Real test data: [`data`], [`folder`], [`real`].
//! - Crawls and checks of them: [`crawl`], [`programs`], [`sound`], [`watch`].
//!
//! The other modules serve one program or one test each; their first lines say which.

pub mod background;
pub mod choosing;
pub mod client;
pub mod cluster;
pub mod crawl;
pub mod crowd;
pub mod data;
pub mod failing;
pub mod folder;
pub mod freshness;
pub mod fuzz;
pub mod gate;
pub mod hostile;
pub mod kill;
mod links;
pub mod manuals;
pub mod memory;
pub mod noticing;
pub mod pipe;
pub mod polite;
pub mod power;
pub mod programs;
pub mod real;
pub mod scripted;
pub mod shim;
pub mod site;
pub mod sound;
pub mod told;
pub mod watch;

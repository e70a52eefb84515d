//! Measures the choice of pages to fetch: webs whose contents are known are crawled in memory, and compared with gates
//! and oracles that no real crawler has. This module uses no code of the crawler's judge: the content of a URL is
//! known, not recognised.

mod curve;
mod gates;
mod odd;
mod planted;
mod runs;
mod scored;
mod shelf;
mod twins;
mod world;

pub use curve::{Curve, median};
pub use gates::{Gate, walk};
pub use odd::{Kind, ODD, Odd};
pub use planted::Planted;
pub use runs::{MODES, Mode, Run, run};
pub use scored::Scored;
pub use shelf::Shelf;
pub use twins::Twins;
pub use world::{WebKind, World, WorldFetch};

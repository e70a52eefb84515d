//! Choosing what to fetch, measured: webs with known truth, crawled in memory, beside gates and oracles that no crawler can
//! have. Nothing here uses the judging side: what a URL shows is known, not recognised.

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

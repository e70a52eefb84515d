//! What is held back: links of duplicates, and URLs that learned rules stopped. How many of them are tried, what becomes of
//! them when the URLs that they wait for are fetched, and what is left to do.
//!
//! The records themselves are those of the URLs ([`crate::url::State`]). [`crate::spaces::HELD_FOR`] says what is held for a
//! URL or for a template; [`crate::url::Urls::change`] keeps both together.

mod fate;
pub mod ladder;
pub mod news;
mod sample;
pub mod works;

use dedup_stage::url::UrlId;
use serde::{Deserialize, Serialize};

use crate::rules::Stop;
pub use fate::{Fate, fate};
pub use sample::{Cluster, Draw, Drawn, Sample, cluster, folder};

/// What a trial tries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trial {
    /// Whether a link of a duplicate that the twin does not have brings anything.
    News {
        /// Its template.
        template: u64,
    },
    /// Whether a held link shows what its counterpart on another domain shows.
    Pair {
        /// The counterpart.
        counterpart: UrlId,
    },
    /// Whether learned rules are right.
    Rules(Stop),
}

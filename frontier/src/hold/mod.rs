//! URLs that are held back: links of duplicates, and URLs that learned rules stopped.
//!
//! The files answer these questions. `fate`: what has become of the URL that another one is held or stopped for? `ladder`: is a
//! URL tried that is held across domains, or stopped by a rule? `news`: is a link tried that the twin of its page does not have?
//! `sample`: which URLs are drawn at the end of the crawl? `works`: which releases are still to be done?
//!
//! The records are those of the URLs ([`crate::url::State`]). [`crate::spaces::HELD_FOR`] is an index of them: what is held for
//! a URL or for a template. [`crate::url::Urls::change`] keeps records and index together.

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

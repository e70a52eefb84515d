//! URLs that are held back: held links of duplicates, and URLs that learned rules or a spent budget stopped.
//!
//! Trials during the crawl:
//!
//! - `ladder` decides about two kinds of trials: of URLs that are held for a counterpart on another domain, and of URLs
//!   that a rule stopped.
//! - `news` decides about trials of news: links that the twin of their page does not have.
//! - `template` tells kinds of links.
//!
//! The rescue at the end of the crawl:
//!
//! - `lot` tells which URLs most likely share their fate.
//! - `held_back` lists all URLs that are held or stopped.
//! - `sample` and `strata` draw URLs at random.
//! - `fallen` lists the lots that a sample has shown to be held or stopped wrongly.
//!
//! Both use:
//!
//! - `stand_in` follows redirects, holds and stops from a counterpart or representative to the URL that was fetched.
//! - `works` lists background work: releases, and decisions that must be made again.
//!
//! A URL that is held or stopped has a record like every other URL ([`crate::url::State`]). [`crate::spaces::HELD_FOR`]
//! is an index: it lists the URLs that are held or stopped for a URL, and those that are held for a template.
//! [`crate::url::Urls`] changes records and index together.

mod fallen;
mod held_back;
pub mod ladder;
mod lot;
pub mod news;
mod sample;
mod stand_in;
mod strata;
mod template;
pub mod works;

use dedup_stage::url::UrlId;
use serde::{Deserialize, Serialize};

use crate::rules::Stop;
pub use fallen::{Fallen, is_lot};
pub use held_back::HeldBack;
pub use lot::{Lot, Lots, folder, lots};
pub use sample::{Draw, Drawn, Prospect, Sample, SampleSpec};
pub use stand_in::{StandIn, stand_in};
pub use strata::{Strata, StrataDraw};
pub use template::{shape, template};

/// The question that a trial answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trial {
    /// A duplicate has a link, and its twin does not have it. Does the link bring anything?
    News {
        /// The template of the link.
        template: u64,
    },
    /// Does a held link show what its counterpart on another domain shows?
    Pair {
        /// The counterpart.
        counterpart: UrlId,
    },
    /// Learned rules stopped the URL. Were they right?
    Rules(Stop),
    /// Does a lot that has fallen still bring new pages?
    Lot(Lot),
}

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
//! - `url_sets` tells which URLs most likely share their fate.
//! - `held_back` lists all URLs that are held or stopped.
//! - `sample` and `strata` draw URLs at random.
//! - `fallen` lists the sets that a sample has shown to be held or stopped wrongly.
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
pub mod news;
mod sample;
mod stand_in;
mod strata;
mod template;
mod url_sets;
pub mod works;

pub use fallen::{Fallen, is_fallen_set};
pub use held_back::HeldBack;
pub use sample::{Draw, Drawn, Prospect, Sample, SampleSpec};
pub use stand_in::{StandIn, stand_in};
pub use strata::{Strata, StrataDraw};
pub use template::{shape, template};
pub use url_sets::{UrlSets, url_sets};

//! Focused crawls: the topic of the crawl, and the relevance of pages and links to it.
//!
//! The page workers find the topic's terms on a page and around its links ([`Finder`]). The engine weighs them with
//! what it knows of the crawl so far ([`Focus`]). Relevance may depend on earlier pages; fingerprints and verdicts
//! never do.

mod finder;
mod like;
mod likely;
mod topic;
mod weigh;

pub use finder::{Finder, LinkHits, PageHits};
pub use like::example;
pub use likely::Likely;
pub use topic::{Topic, TopicError};
pub use weigh::{Focus, Tally};

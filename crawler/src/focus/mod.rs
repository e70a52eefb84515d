//! Focused crawls: what the crawl is about, and how much a page or a link has to do with it.
//!
//! The workers find the topic's terms on a page and around its links ([`Finder`]); the engine weighs them with what it
//! knows of the crawl so far ([`Focus`]). Relevance may depend on the pages before; fingerprints and verdicts never do.

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

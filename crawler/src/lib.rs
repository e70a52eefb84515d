//! The crawler: an engine that owns frontier, judge, store and outputs; fetchers that bring pages; workers that read them.

pub mod archive;
pub mod cli;
pub mod clock;
pub mod crawl;
pub mod dashboard;
pub mod demo;
pub mod engine;
pub mod estimate;
pub mod fetch;
pub mod focus;
pub mod outcome;
pub mod priority;
pub mod rate;
pub mod record;
pub mod report;
pub mod sink;
pub mod spaces;

//! The crawler: an engine that owns frontier, judge, store and outputs; fetchers that bring pages; workers that read them.

pub mod demo;
pub mod fetch;
pub mod report;

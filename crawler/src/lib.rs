//! The crawler: an engine that owns frontier, judge, store and outputs; fetchers that bring pages; workers that read them.

pub mod archive;
pub mod auth;
pub mod cli;
pub mod clock;
pub mod cookies;
pub mod crawl;
pub mod dashboard;
pub mod demo;
pub mod engine;
pub mod estimate;
pub mod extract;
pub mod feeds;
pub mod fetch;
pub mod focus;
pub mod hints;
pub mod permissions;
pub mod priority;
pub mod rate;
pub mod record;
pub mod report;
pub mod signing;
pub mod sink;
pub mod wacz;

//! The crawler: an engine that makes every decision, fetchers that bring pages, and workers that read them.
//!
//! `ARCHITECTURE.md` in the folder of this crate is the map of the code. Good places to begin reading are [`engine`]
//! (the loop, and the changes that a page makes), [`crawl`] (the crawl directory, and how a crawl starts), [`fetch`]
//! (one request under caps), [`sink`] and [`record`] (outputs and records of pages), and [`cli`] (the commands).
//! [`estimate`] says how many pages were lost.

pub mod access;
pub mod archive;
pub mod auth;
pub mod cli;
pub mod clock;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod cookies;
pub mod crawl;
pub mod dashboard;
pub mod demo;
pub mod diff;
pub mod engine;
pub mod estimate;
pub mod export;
pub mod extract;
pub mod feeds;
pub mod fetch;
pub mod focus;
mod free_name;
pub mod graph;
pub mod hints;
pub mod outbound;
pub mod outcome;
#[cfg(feature = "pdf")]
pub mod pdf;
pub mod permissions;
pub mod priority;
pub mod rate;
pub mod record;
pub mod report;
pub mod requisites;
pub mod running;
pub mod score;
pub mod series;
pub mod signing;
pub mod sink;
pub mod spaces;
pub mod stub;
pub mod tags;
mod terminal;
pub mod units;
pub mod unvisited;
mod usage;
pub mod wacz;

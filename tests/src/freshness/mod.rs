//! Measures how fresh an archive stays under several policies of re-crawling, on synthetic webs that log all changes.

pub mod baselines;
pub mod changes;
pub mod lies;
pub mod optimum;
pub mod ours;
pub mod run;
pub mod sitemaps;
pub mod web;

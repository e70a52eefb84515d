//! draft
pub mod baselines;
pub mod changes;
pub mod optimum;
pub mod ours;
pub mod run;
pub mod web;

//! The commands of the `dedup-stage` program, each in a file: an `Args` that clap fills, and a `run` that does the
//! work. Data goes to stdout, messages for people go to stderr. The exit code is part of the interface.

mod cli;
pub mod cluster;
mod equal_ids;
pub mod evaluate;
pub mod experiment;
pub mod fingerprint;
pub mod health;
pub mod index;
pub mod interrupted;
mod lexicon;
pub mod pairs;
pub mod plan;
mod progress;
mod rows;
pub mod run;
mod say;
pub mod search;
pub mod signatures;
mod signed;
mod table;
pub mod warc;

pub use cli::{main, main_with};

//! Tells which pages of the web say the same thing.
//!
//! This crate only judges pages: it turns a URL into the key by which URLs are compared, a page into text, links and
//! fingerprints, and fingerprints into a verdict. It knows neither HTTP nor the frontier, and no page content makes it
//! fail.
//!
//! The path of a page: [`url`] gives its key, [`page`] reads bytes into text ([`words`]) and links, [`signature`]
//! fingerprints the text, [`judge`] compares it with every page accepted before (by SHA-256, then within a Hamming
//! distance through [`hamming`], then by a second look), and [`flow`] decides what becomes of its out-links. [`store`]
//! keeps the state. Other programs use all of it as a [`stage`], through the [`protocol`] or as a [`filter`] over
//! [`warc`] files, and [`pipeline`] spreads the work over the cores. Batch jobs over very many documents are in
//! [`corpus`].
//!
//! A crawler that only judges pages needs no feature. The feature `tools`, on by default, adds the modules that only
//! the program and other programs need.

#[cfg(feature = "tools")]
pub mod commands;
pub mod corpus;
pub mod digest;
#[cfg(feature = "tools")]
pub mod evaluate;
#[cfg(feature = "tools")]
pub mod filter;
pub mod flow;
pub mod hamming;
pub mod hex;
#[cfg(feature = "tools")]
pub mod json_lines;
pub mod judge;
pub mod page;
pub mod pipeline;
#[cfg(feature = "tools")]
pub mod protocol;
pub mod signature;
pub mod spaces;
#[cfg(feature = "tools")]
pub mod stage;
pub mod store;
#[cfg(test)]
mod testing;
pub mod url;
pub mod warc;
pub mod words;

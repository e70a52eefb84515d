//! What is held back: links of duplicates, and URLs that learned rules stopped. What becomes of them when the URLs that they
//! wait for are fetched, and how much of them is tried.

mod sample;

pub use sample::{Cluster, Drawn, Sample};

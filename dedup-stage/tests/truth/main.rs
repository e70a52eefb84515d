//! The judgement on real pages with a measured truth: documentation in two versions, versions of encyclopedia articles,
//! pages with injected noise or other markup, and the reading of pages. Run with `--nocapture` to see the figures.
//!
//! The test material is in a folder beside the repository. If it is absent, these tests are ignored.

mod borders;
mod data;
mod docs;
mod noise;
mod populations;
mod reading;
mod schemes;
mod tokens;
mod wikipedia;

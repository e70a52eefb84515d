//! Reads HTML: one pass of the tokenizer fills an [`Outline`]. No tree is built.
//!
//! The tokenizer asks its sink what a tree would know: which elements hold no markup, and where foreign content begins.

mod attributes;
mod builder;
mod media;
mod region;

use super::hints::Hints;
use super::outline::Outline;
use super::tokenizer;
pub use attributes::refresh_target;
use builder::Builder;

/// Reads `html` into `outline`.
pub fn read(html: &str, outline: &mut Outline, hints: &mut Hints) {
    let mut builder = Builder::new(outline, hints);
    tokenizer::read(html, &mut builder);
    builder.finish();
}

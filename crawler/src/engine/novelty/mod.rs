//! What hosts have shown lately, kept in memory, so that a page that only repeats it is known. The judge finds pages
//! that are copies as a whole; these tables find pages that are no copies and still bring nothing.
//!
//! - Texts like those of the last pages of the host: [`alike`].
//! - Short pages, which have no fingerprint: [`gists`].
//! - Words of its own beside a text that many pages have: [`own_words`].
//! - Known pieces in a new order: [`rearranged`].
//! - Files that pages lead to: [`shown_files`].
//!
//! `answers/page/worth.rs` decides from these what an answer is worth.

pub(super) mod alike;
pub(super) mod gists;
pub(super) mod own_words;
pub(super) mod rearranged;
pub(super) mod shown_files;

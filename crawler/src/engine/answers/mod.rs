//! What an answer changes: each file takes one kind of answer, or makes one of the records that an answer leaves.
//!
//! - A page: [`page`] (its way through judge and gate, and what it is worth), with the fate of its links ([`links`]),
//!   the page that it repeats ([`twin`]), whether it has new text ([`barren`]), and whether it is a stub ([`stubs`]).
//! - Redirects that lead back ([`bounce`]), notices that ask for consent ([`consent`]), sitemaps ([`sitemaps`],
//!   [`lists`]), requisites ([`needs`]).
//! - A visit to a known page: its links compared with those before ([`vanished`]), hosts whose "not modified" is not
//!   true ([`honesty`]), the response that a revisit record names ([`archived`]).
//! - Failures after which the URL stays queued: [`attempts`].

pub(super) mod archived;
pub(super) mod attempts;
pub(super) mod barren;
pub(super) mod bounce;
mod consent;
pub(super) mod honesty;
pub(super) mod links;
pub(super) mod lists;
pub(super) mod needs;
pub(super) mod page;
pub(super) mod sitemaps;
pub(super) mod stubs;
pub(super) mod twin;
pub(super) mod vanished;

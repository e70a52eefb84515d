//! `crawler demo`: the whole thing offline, on a synthetic web.

pub mod record;
pub mod server;
pub mod web;

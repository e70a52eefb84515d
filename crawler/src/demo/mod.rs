//! `crawler demo`: the whole thing offline, on a synthetic web.

pub mod web;

//! Getting in: HTTP authentication per host, and logins by form.
//!
//! Secrets come from environment variables that the file names, or stand in the file (which should then be readable by its
//! owner alone); nothing here prints them.
//!
//! # How the crawler uses it
//!
//! `--login FILE` is read by [`Plan::read`]. For every request the fetcher asks [`Credentials::header`] for the value of
//! `Authorization`; after a 401 with `WWW-Authenticate` it gives that to [`Credentials::challenge`] and, if that says so,
//! sends the request once more. For each [`login::Login`] of the plan the engine runs the steps of [`login::Session`] before
//! the first page of that host, and again where [`login::Session::is_lost`] recognises that an answer came without the
//! session; requests go through politeness and cookies like all others. [`logout::is_logout`] names links that are never
//! followed while logged in.

pub mod credentials;
pub mod digest;
pub mod form;
pub mod login;
pub mod logout;
mod plan;

#[cfg(test)]
mod tests;

pub use credentials::Credentials;
pub use plan::{Plan, PlanError};

/// A text that does not print itself.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

//! Getting in: HTTP authentication per host, and logins by form.
//!
//! Secrets come from environment variables that the file names, or stand in the file (which should then be readable by its
//! owner alone); nothing here prints them.
//!
//! [`crate::access::SiteAccess`] carries out what stands here. For every request it asks [`Credentials::header`] for the value of
//! `Authorization`; after a 401 with `WWW-Authenticate` it gives that to [`Credentials::challenge`] and, if that says so, the
//! request is made once more. It runs the steps of [`login::LoginSession`] before the first page, and again when a session is lost.
//! [`logout::is_logout`] names links that are never followed by a crawl with an account.

pub mod credentials;
pub mod digest;
pub mod form;
pub mod login;
mod login_file;
pub mod logout;

#[cfg(test)]
mod tests;

pub use credentials::Credentials;
pub use login_file::{LoginFile, LoginFileError};

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

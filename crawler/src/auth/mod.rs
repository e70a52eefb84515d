//! Accounts on sites: HTTP authentication per host, and logins by form.
//!
//! Secrets come from environment variables that the login file names, or from the file itself (which should then be
//! readable only by its owner). Nothing here prints them.
//!
//! [`crate::access::SiteAccess`] uses this module. For every request, it takes the value of `Authorization` from
//! [`Credentials::header`]. After every answer, it passes the challenges in `WWW-Authenticate` to
//! [`Credentials::heard`]; if that returns true, the request is made once more. It runs the steps of
//! [`login::LoginSession`] before the first page, and again when a session is lost. [`logout::is_logout`] finds the
//! links that a crawl with an account never follows.

pub mod credentials;
pub mod digest;
pub mod form;
pub mod labels;
pub mod login;
mod login_file;
pub mod logout;

#[cfg(test)]
mod tests;

pub use credentials::Credentials;
pub use login_file::{LoginFile, LoginFileError};

/// A text that is never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Makes a secret of a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text of the secret.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

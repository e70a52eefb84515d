//! What can be wrong with a configuration, told so that it can be put right: where, which key, and what was meant.

use std::fmt;
use std::path::PathBuf;

use crate::profiles::PROFILES;

/// Where a setting was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file, and the line in it, counted from 1.
    File {
        /// Its path, as it was given.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// The settings with which a directory was crawled before.
    Stored,
    /// A profile that comes with the program.
    Profile(&'static str),
    /// An environment variable.
    Variable(String),
    /// A flag.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File { path, line } => write!(f, "{}:{line}", path.display()),
            Origin::Stored => f.write_str("the stored settings of the directory"),
            Origin::Profile(name) => write!(f, "profile {name}"),
            Origin::Variable(name) => write!(f, "environment variable {name}"),
            Origin::Flag(name) => write!(f, "--{name}"),
        }
    }
}

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No such key.
    #[error("{origin}: unknown key `{key}`{}", meant(.nearest))]
    UnknownKey {
        /// Where it was written.
        origin: Origin,
        /// As it was written.
        key: String,
        /// The known key that looks most like it.
        nearest: Option<String>,
    },
    /// A value that its key does not take.
    #[error("{origin}: `{key}`: {reason}")]
    BadValue {
        /// Where it was written.
        origin: Origin,
        /// Its key.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Values that do not fit together.
    #[error("{reason}")]
    Conflict {
        /// Which, and why.
        reason: String,
    },
    /// An environment variable with the program's prefix that means nothing.
    #[error("unknown environment variable {name}{}", meant(.nearest))]
    UnknownVariable {
        /// Its name.
        name: String,
        /// The known variable that looks most like it.
        nearest: Option<String>,
    },
    /// No such profile.
    #[error("unknown profile `{name}`: there are {}", PROFILES.map(|(known, _)| format!("`{known}`")).join(" and "))]
    UnknownProfile {
        /// As it was written.
        name: String,
    },
    /// A file that is no TOML.
    #[error("{origin}: {reason}")]
    Syntax {
        /// Where it stops being TOML.
        origin: Origin,
        /// What is wrong there.
        reason: String,
    },
    /// A file that cannot be read.
    #[error("--config {}: {error}", .path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
}

fn meant(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|key| format!("; did you mean `{key}`?")).unwrap_or_default()
}

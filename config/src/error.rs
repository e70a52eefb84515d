//! Errors of a configuration. Each says where the mistake is, which key has it, and what was probably meant.

use std::fmt;
use std::path::PathBuf;

use crate::profiles::PROFILES;

/// Where a setting was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file, and the line in it, counted from 1.
    File {
        /// The path of the file, as it was given.
        path: PathBuf,
        /// The number of the line.
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

/// The reason why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// An unknown key.
    #[error("{origin}: unknown key `{key}`{}", meant(.nearest))]
    UnknownKey {
        /// Where it was written.
        origin: Origin,
        /// The key, as it was written.
        key: String,
        /// The known key that looks most like it.
        nearest: Option<String>,
    },
    /// A value that does not fit its key.
    #[error("{origin}: `{key}`: {reason}")]
    BadValue {
        /// Where it was written.
        origin: Origin,
        /// The key of the value.
        key: String,
        /// The reason why the value does not fit.
        reason: String,
    },
    /// Values of several keys that do not fit together.
    #[error("{reason}")]
    Conflict {
        /// The keys, and the reason.
        reason: String,
    },
    /// An environment variable that has the program's prefix, but is no setting.
    #[error("unknown environment variable {name}{}", meant(.nearest))]
    UnknownVariable {
        /// The name of the variable.
        name: String,
        /// The known variable that looks most like it.
        nearest: Option<String>,
    },
    /// An unknown profile.
    #[error("unknown profile `{name}`: there are {}", PROFILES.map(|(known, _)| format!("`{known}`")).join(" and "))]
    UnknownProfile {
        /// The name of the profile, as it was written.
        name: String,
    },
    /// A file that is not valid TOML.
    #[error("{origin}: {reason}")]
    Syntax {
        /// The place of the first mistake.
        origin: Origin,
        /// The kind of the mistake.
        reason: String,
    },
    /// A file that cannot be read.
    #[error("--config {}: {error}", .path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
}

fn meant(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|key| format!("; did you mean `{key}`?")).unwrap_or_default()
}

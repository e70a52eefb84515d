//! The data that an agent publishes about itself: the directory of its keys, and the header field that points to it.

use std::fmt;

use serde_json::{Value, json};

use super::Key;

/// The kind of document at the URI of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An origin with a directory at [`DIRECTORY`].
    Directory,
    /// A set of keys.
    JwksUri,
    /// A card (client identifier metadata document).
    Card,
}

/// The path of the directory.
pub const DIRECTORY: &str = "/.well-known/http-message-signatures-directory";

/// A member of the dictionary `Signature-Agent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The key of the member in the dictionary.
    pub label: String,
    /// The URI at which its keys are found.
    pub uri: String,
    /// The kind of document there.
    pub kind: Kind,
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=\"{}\"", self.label, self.uri)?;
        f.write_str(match self.kind {
            Kind::Directory => "",
            Kind::JwksUri => ";type=jwks_uri",
            Kind::Card => ";type=cimd",
        })
    }
}

/// The directory: a set of JSON Web Keys. It must be served as `application/http-message-signatures-directory+json`.
pub fn directory(keys: &[&Key]) -> Value {
    json!({"keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>()})
}

//! What an agent publishes about itself: the directory of its keys, and the header field that points there.

use std::fmt;

use serde_json::{Value, json};

use super::Key;

/// What lies behind the URI of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An origin with a directory at [`DIRECTORY`].
    Directory,
    /// A set of keys.
    JwksUri,
    /// A card (client identifier metadata document).
    Card,
}

/// Where the directory lies.
pub const DIRECTORY: &str = "/.well-known/http-message-signatures-directory";

/// A member of `Signature-Agent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its key in the dictionary.
    pub label: String,
    /// Where its keys are found.
    pub uri: String,
    /// In which form.
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

/// The directory: a set of JSON Web Keys, to be served as `application/http-message-signatures-directory+json`.
pub fn directory(keys: &[&Key]) -> Value {
    json!({"keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>()})
}

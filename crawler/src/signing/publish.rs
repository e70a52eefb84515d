//! What an agent publishes about itself: the directory of its keys, the header field that points there, and its card.

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

/// Why a card is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CardError {
    /// Two places for the keys.
    #[error("card must not contain both jwks and jwks_uri")]
    TwoKeySets,
    /// It is somebody else's.
    #[error("client_id must match the card URL")]
    OtherClient,
}

/// Checks a card that is served at `url`, before it is published.
pub fn check_card(card: &Value, url: &str) -> Result<(), CardError> {
    if card.get("jwks").is_some() && card.get("jwks_uri").is_some() {
        return Err(CardError::TwoKeySets);
    }
    if card.get("client_id").and_then(Value::as_str) == Some(url) { Ok(()) } else { Err(CardError::OtherClient) }
}

/// The cards that a registry lists: one URL a line, comments behind `#`.
pub fn registry(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()).filter(|line| !line.is_empty())
}

//! The key that signs. It is read from a file, and named by its thumbprint.

use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// An Ed25519 key pair. It is never printed.
pub struct Key {
    pair: Ed25519KeyPair,
}

/// The reasons why a file cannot be used as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The file has none of the formats that can be read.
    #[error("neither a JSON Web Key nor a PEM file with BEGIN PRIVATE KEY")]
    Format,
    /// The key is of another kind, or lacks its private part.
    #[error("not the private part of an Ed25519 key (make one with: openssl genpkey -algorithm ed25519)")]
    NotEd25519,
    /// The private and the public part do not belong together.
    #[error("the private part does not fit the public one")]
    Mismatch,
}

impl Key {
    /// Reads a key file: a JSON Web Key (RFC 8037) with `d`, or PKCS#8 as PEM.
    pub fn read(file: &str) -> Result<Self, KeyError> {
        let file = file.trim();
        if file.starts_with('{') {
            let jwk: Value = serde_json::from_str(file).map_err(|_| KeyError::Format)?;
            return Self::from_jwk(&jwk);
        }
        let (_, rest) = file.split_once("-----BEGIN PRIVATE KEY-----").ok_or(KeyError::Format)?;
        let (body, _) = rest.split_once("-----END PRIVATE KEY-----").ok_or(KeyError::Format)?;
        let body: String = body.split_ascii_whitespace().collect();
        let bytes = BASE64_STANDARD.decode(body).map_err(|_| KeyError::Format)?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&bytes).map_err(|_| KeyError::NotEd25519)?;
        Ok(Self { pair })
    }

    fn from_jwk(jwk: &Value) -> Result<Self, KeyError> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        let octets = |name| text(name).and_then(|value| BASE64_URL_SAFE_NO_PAD.decode(value).ok());
        if text("kty") != Some("OKP") || text("crv") != Some("Ed25519") {
            return Err(KeyError::NotEd25519);
        }
        let seed = octets("d").ok_or(KeyError::NotEd25519)?;
        let pair = match octets("x") {
            Some(public) => Ed25519KeyPair::from_seed_and_public_key(&seed, &public),
            None => Ed25519KeyPair::from_seed_unchecked(&seed),
        };
        Ok(Self { pair: pair.map_err(|_| KeyError::Mismatch)? })
    }

    /// Signs bytes.
    pub fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        self.pair.sign(bytes).as_ref().to_vec()
    }

    /// The public part.
    pub fn public(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    /// The public part as a JSON Web Key. Its `kid` is the thumbprint.
    pub fn jwk(&self) -> Value {
        let x = BASE64_URL_SAFE_NO_PAD.encode(self.public());
        serde_json::json!({"kty": "OKP", "crv": "Ed25519", "kid": self.thumbprint(), "x": x, "use": "sig"})
    }

    /// The name of the key: its thumbprint (RFC 7638), without padding.
    pub fn thumbprint(&self) -> String {
        let x = BASE64_URL_SAFE_NO_PAD.encode(self.public());
        thumbprint(&serde_json::json!({"kty": "OKP", "crv": "Ed25519", "x": x})).expect("a whole key")
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({})", self.thumbprint())
    }
}

/// The thumbprint of a JSON Web Key (RFC 7638; RFC 8037 for `OKP`): the SHA-256 of its required members in the order of
/// their names. `None` if a member is missing, or the kind is unknown.
pub fn thumbprint(jwk: &Value) -> Option<String> {
    let members: &[&str] = match jwk.get("kty")?.as_str()? {
        "OKP" => &["crv", "kty", "x"],
        "EC" => &["crv", "kty", "x", "y"],
        "RSA" => &["e", "kty", "n"],
        _ => return None,
    };
    let mut text = String::new();
    for name in members {
        let value = jwk.get(name)?.as_str()?;
        text.push_str(&format!("{}{}:{}", if text.is_empty() { "{" } else { "," }, json(name), json(value)));
    }
    text.push('}');
    Some(BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(text)))
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

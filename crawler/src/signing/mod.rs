//! Signed requests: HTTP message signatures (RFC 9421) as Web Bot Auth uses them
//! (`draft-ietf-webbotauth-httpsig-protocol`). With them, a site can tell this crawler from a client that only uses its
//! name.
//!
//! Every request gets three header fields: `Signature-Agent` says where the public key is, `Signature-Input` says what
//! was signed and when, and `Signature` proves it. The key is Ed25519. `ring`, which TLS needs anyway, signs.
//!
//! `--web-bot-auth KEY` reads a key file with [`Key::read`]. [`crate::access::SiteAccess`] calls [`Signer::sign`] for
//! each request, including redirect hops and robots.txt, with a random nonce and the seconds of the wall clock.
//! `crawler key` prints [`publish::directory`], which must be published at the agent's [`publish::DIRECTORY`]. Signing
//! costs no I/O, and about 30 µs.

pub mod base;
mod key;
pub mod publish;

#[cfg(test)]
mod tests;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

pub use base::{Component, Message, Parameters};
pub use key::{Key, KeyError, thumbprint};
use publish::{Agent, Kind};

/// Signs requests in the name of one agent.
#[derive(Debug)]
pub struct Signer {
    key: Key,
    agent: Agent,
    lifetime: u64,
}

/// The header fields of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The value of `Signature-Agent`.
    pub signature_agent: String,
    /// The value of `Signature-Input`.
    pub signature_input: String,
    /// The value of `Signature`.
    pub signature: String,
}

impl Signer {
    /// The name of the signature in the header fields.
    const LABEL: &'static str = "sig1";
    /// The purpose of the signature.
    const TAG: &'static str = "web-bot-auth";

    /// Makes a signer. Its directory is published at `agent` (an https origin), and its signatures are valid for
    /// `lifetime` seconds.
    pub fn new(key: Key, agent: &str, lifetime: u64) -> Self {
        let agent = Agent { label: Self::LABEL.into(), uri: agent.trim_end_matches('/').into(), kind: Kind::Directory };
        Self { key, agent, lifetime }
    }

    /// Signs a request for `url` at `now`, in seconds since the Unix epoch. The nonce is random, and is used once.
    pub fn sign(&self, method: &str, url: &url::Url, now: u64, nonce: &[u8; 64]) -> Headers {
        let signature_agent = self.agent.to_string();
        let message = Message { method, url, fields: &[("signature-agent", &signature_agent)] };
        let components =
            [Component::new("@authority"), Component::new("signature-agent").with("key", &self.agent.label)];
        let parameters = Parameters {
            created: Some(now),
            key_id: Some(self.key.thumbprint()),
            algorithm: Some("ed25519".into()),
            expires: Some(now + self.lifetime),
            nonce: Some(BASE64_STANDARD.encode(nonce)),
            tag: Some(Self::TAG.into()),
        };
        let input = base::input(&components, &parameters);
        let base = base::base(&message, &components, &input).expect("both components are there");
        let signature = BASE64_STANDARD.encode(self.key.sign(base.as_bytes()));
        Headers {
            signature_agent,
            signature_input: format!("{}={input}", Self::LABEL),
            signature: format!("{}=:{signature}:", Self::LABEL),
        }
    }
}

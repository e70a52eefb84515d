//! HTTP authentication per host (RFC 9110, section 11): basic (RFC 7617), bearer (RFC 6750), digest (RFC 7616).

use std::collections::HashMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use url::{Position, Url};

use super::Secret;
use super::digest::Challenge;

/// The way in which a host wants to know who sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A name and a password in every request.
    Basic,
    /// A proof of a password, made from the server's challenge.
    Digest,
    /// A token in every request.
    Bearer,
}

/// The account on one host.
#[derive(Clone, Debug)]
struct Account {
    scheme: Scheme,
    user: Secret,
    password: Secret,
    /// The last challenge of the host, and the number of requests that have answered it.
    challenge: Option<(Challenge, u32)>,
}

/// The accounts, by host. A host includes its port if that is not the default port of the scheme. The account of
/// `a.test` is sent to no other host, not even to `b.a.test`.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    accounts: HashMap<String, Account>,
}

impl Credentials {
    /// Adds an account. For a bearer, `password` is the token.
    pub fn add(&mut self, host: &str, scheme: Scheme, user: Secret, password: Secret) {
        let account = Account { scheme, user, password, challenge: None };
        self.accounts.insert(host.to_ascii_lowercase(), account);
    }

    /// Whether there are no accounts.
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// The value of `Authorization` for a request. `None` for hosts without an account, and for digest before the first
    /// challenge. `client_nonce` is a random number that is used once. The value is a secret: see `cookies::redact`.
    pub fn header(&mut self, method: &str, url: &Url, client_nonce: u64) -> Option<String> {
        let account = self.accounts.get_mut(&url[Position::BeforeHost..Position::AfterPort])?;
        let (user, password) = (account.user.reveal(), account.password.reveal());
        match account.scheme {
            Scheme::Basic => Some(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))),
            Scheme::Bearer => Some(format!("Bearer {password}")),
            Scheme::Digest => {
                let (challenge, count) = account.challenge.as_mut()?;
                *count += 1;
                let target = &url[Position::BeforePath..Position::AfterQuery];
                Some(challenge.answer(user, password, method, target, *count, &format!("{client_nonce:016x}")))
            }
        }
    }

    /// Takes the values of `WWW-Authenticate` of a 401. Returns whether the request should be made once more: after the
    /// first challenge of a host, and after a challenge that says that only the nonce of the last answer was too old.
    pub fn challenge<'a>(&mut self, url: &Url, values: impl IntoIterator<Item = &'a str>) -> bool {
        let Some(account) = self.accounts.get_mut(&url[Position::BeforeHost..Position::AfterPort]) else {
            return false;
        };
        if account.scheme != Scheme::Digest {
            return false;
        }
        let mut challenges: Vec<Challenge> = values.into_iter().filter_map(Challenge::read).collect();
        // The server's order is its preference (RFC 7616, section 3.7).
        if challenges.is_empty() {
            return false;
        }
        let challenge = challenges.remove(0);
        let again = account.challenge.is_none() || challenge.stale;
        account.challenge = Some((challenge, 0));
        again
    }
}

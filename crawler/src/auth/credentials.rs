//! HTTP authentication per host (RFC 9110, section 11): basic (RFC 7617), bearer (RFC 6750), digest (RFC 7616).

use std::collections::{HashMap, HashSet};

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
    /// Whether basic and bearer are sent without TLS although the host is asked with TLS, too.
    without_tls: bool,
    /// Whether the crawl asks the host with TLS.
    has_tls: bool,
    /// The last challenge of the host, and the number of requests that have answered it.
    challenge: Option<(Challenge, u32)>,
    /// Whether the host has accepted an answer to a challenge.
    has_worked: bool,
}

/// The accounts, by host. A host includes its port if that is not the default port of the scheme. The account of
/// `a.test` is sent to no other host, not even to `b.a.test`.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    accounts: HashMap<String, Account>,
    /// The URLs that are asked once more, because of a challenge. A request is repeated only once.
    repeated: HashSet<Url>,
}

impl Credentials {
    /// More URLs than are requested at once.
    const MOST_REPEATED: usize = 4_096;

    /// Adds an account. For a bearer, `password` is the token. Basic and bearer show the password to everyone who can
    /// read the connection. So they are not sent without TLS on a host that the crawl asks with TLS, unless
    /// `without_tls` is true.
    pub fn add(&mut self, host: &str, scheme: Scheme, user: Secret, password: Secret, without_tls: bool) {
        let (has_tls, challenge, has_worked) = (false, None, false);
        let account = Account { scheme, user, password, without_tls, has_tls, challenge, has_worked };
        self.accounts.insert(host.to_ascii_lowercase(), account);
    }

    /// Whether there are no accounts.
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// Takes the seeds of the crawl. The hosts of those with https are asked with TLS.
    pub fn guard(&mut self, seeds: &[Url]) {
        for seed in seeds.iter().filter(|seed| seed.scheme() == "https") {
            self.account(seed).into_iter().for_each(|account| account.has_tls = true);
        }
    }

    /// The account of a URL. A host may be given with its default port. Then the account is for that port alone.
    fn account(&mut self, url: &Url) -> Option<&mut Account> {
        let short = &url[Position::BeforeHost..Position::AfterPort];
        let long =
            format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
        let name = if self.accounts.contains_key(&long) { long.as_str() } else { short };
        self.accounts.get_mut(name)
    }

    /// The value of `Authorization` for a request. `None` for hosts without an account, for digest before the first
    /// challenge, and where a password would be sent without TLS. `client_nonce` is a random number that is used once.
    /// The value is a secret: see `cookies::redact`.
    pub fn header(&mut self, method: &str, url: &Url, client_nonce: u64) -> Option<String> {
        let account = self.account(url)?;
        account.has_tls |= url.scheme() == "https";
        let is_open = url.scheme() != "https" && account.has_tls && !account.without_tls;
        let (user, password) = (account.user.reveal(), account.password.reveal());
        match account.scheme {
            Scheme::Basic | Scheme::Bearer if is_open => None,
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

    /// Learns from an answer of `url`: its status, and the values of its `WWW-Authenticate` if the status is 401.
    /// `sent` is the `Authorization` of the request. Returns whether the request should be made once more: if it has
    /// not answered this challenge. After an answer to another challenge, this holds only if such answers have been
    /// accepted, or if the server says that the nonce was too old: the password may be wrong.
    pub fn heard<'a>(
        &mut self,
        url: &Url,
        status: u16,
        values: impl IntoIterator<Item = &'a str>,
        sent: Option<&str>,
    ) -> bool {
        let is_first = !self.repeated.remove(url);
        let Some(account) = self.account(url).filter(|account| account.scheme == Scheme::Digest) else { return false };
        if status != 401 {
            account.has_worked |= sent.is_some() && status < 400;
            return false;
        }
        // The server's order is its preference (RFC 7616, section 3.7).
        let Some(challenge) = values.into_iter().find_map(Challenge::read) else { return false };
        let is_new = !sent.is_some_and(|sent| challenge.is_answered_by(sent));
        let again = match sent {
            None => true,
            Some(_) => challenge.stale || is_new && account.has_worked,
        };
        match &mut account.challenge {
            // The numbers of the answers to one nonce must rise.
            Some((known, _)) if known.has_nonce_of(&challenge) => *known = challenge,
            known => *known = Some((challenge, 0)),
        }
        if again && is_first {
            // Requests that were never answered leave their URLs here.
            if self.repeated.len() >= Self::MOST_REPEATED {
                self.repeated.clear();
            }
            self.repeated.insert(url.clone());
        }
        again && is_first
    }
}

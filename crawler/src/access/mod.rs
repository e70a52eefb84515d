//! The part of each request that identifies the crawl to a site: cookies, accounts and logins, and the signature.

mod login;
mod reaction;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use config::Switch;
use dedup_stage::store::{self, Session};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::auth::{Credentials, LoginFile, login as steps};
use crate::cookies::{Jars, Limits, file};
use crate::fetch::fields::METHOD;
use crate::signing::{Key, Signer};
use crate::spaces;

pub use login::{LoggedIn, LoginError, LoginRequest};
pub use reaction::SiteReaction;

/// The reason for which the cookies, accounts or keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// A file of `[access]`: its setting, its path, and what is wrong with it. The text has nothing of the content of
    /// the file.
    #[error("--{0} {1}: {2}")]
    File(&'static str, String, String),
    /// A key, and no place at which it is published.
    #[error("--web-bot-auth needs --web-bot-auth-agent: the https origin at which the key is published")]
    NoAgent,
    /// A file with a login by form, and no cookies.
    #[error("--login {0}: a login by form needs cookies, and --cookies is off")]
    NoCookies(String),
    /// The state could not be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The system gives no random numbers.
    #[error("no random numbers: {0}")]
    Random(getrandom::Error),
}

/// Cookies, accounts, logins and the key.
#[derive(Clone, Debug, Default)]
pub struct SiteAccess {
    /// `None` with `--cookies off`.
    jars: Option<Jars>,
    credentials: Credentials,
    logins: Vec<steps::LoginSession>,
    /// The registrable domains of the cookies of `--cookies-file`.
    file_sites: Arc<HashSet<String>>,
    signer: Option<Arc<Signer>>,
    /// Whether a copy is logging in now.
    is_away: bool,
}

/// The header fields that are special to one request.
#[derive(Clone, Debug, Default)]
pub struct AccessFields {
    /// The fields. They contain secrets: see [`crate::cookies::redact`].
    pub fields: HeaderMap,
    /// Whether they show an account. Then the answer may be meant only for the owner of the account.
    pub is_private: bool,
}

/// A signature is valid for this many seconds.
const SIGNATURE_LIFE: u64 = 300;

impl SiteAccess {
    /// Reads the files that `settings` name, and the cookies of the state. On hosts of `seeds` with https, accounts are
    /// not shown without TLS.
    pub fn open(settings: &config::Access, seeds: &[Url], session: &mut Session) -> Result<Self, AccessError> {
        let mut access = Self::default();
        if settings.cookies == Switch::On {
            let (jars, sites) = jars(&settings.cookies_file, session)?;
            (access.jars, access.file_sites) = (Some(jars), Arc::new(sites));
        }
        if !settings.login.is_empty() {
            let file = read("login", &settings.login, |text| LoginFile::read(text, |name| std::env::var(name).ok()))?;
            if access.jars.is_none() && !file.logins.is_empty() {
                return Err(AccessError::NoCookies(settings.login.clone()));
            }
            access.credentials = file.credentials;
            access.credentials.guard(seeds);
            access.logins = file.logins.into_iter().map(steps::LoginSession::new).collect();
        }
        if !settings.web_bot_auth.is_empty() {
            let agent = &settings.web_bot_auth_agent;
            if agent.is_empty() {
                return Err(AccessError::NoAgent);
            }
            if !agent.starts_with("https://") {
                let wrong = "a key needs the https origin at which it is published".to_owned();
                return Err(AccessError::File("web-bot-auth-agent", agent.clone(), wrong));
            }
            let key = read("web-bot-auth", &settings.web_bot_auth, Key::read)?;
            access.signer = Some(Arc::new(Signer::new(key, &settings.web_bot_auth_agent, SIGNATURE_LIFE)));
        }
        Ok(access)
    }

    /// The fields of a request for `url` at the time `now`, in milliseconds since the Unix epoch.
    pub fn fields(&mut self, url: &Url, now: u64) -> Result<AccessFields, AccessError> {
        let mut access_fields = AccessFields::default();
        if let Some(cookies) = self.jars.as_mut().and_then(|jars| jars.header(url)) {
            put(&mut access_fields.fields, header::COOKIE, &cookies, true);
            access_fields.is_private = self.logins.iter().any(|login| login.is_inside() && login.concerns(url));
        }
        if !self.credentials.is_empty()
            && let Some(value) = self.credentials.header(METHOD, url, u64::from_le_bytes(random()?))
        {
            put(&mut access_fields.fields, header::AUTHORIZATION, &value, true);
            access_fields.is_private = true;
        }
        if let Some(signer) = &self.signer {
            let signed = signer.sign(METHOD, url, now / 1_000, &random()?);
            for (name, value) in [
                ("signature-agent", signed.signature_agent),
                ("signature-input", signed.signature_input),
                ("signature", signed.signature),
            ] {
                put(&mut access_fields.fields, HeaderName::from_static(name), &value, false);
            }
        }
        Ok(access_fields)
    }

    /// Learns from an answer from `url`. True if the same request should be made once more: because the server has
    /// asked for an account, or because a session was lost (then [`SiteAccess::must_log_in`] is true, too).
    pub fn hear(&mut self, url: &Url, status: u16, heard: &SiteReaction, session: &mut Session) -> bool {
        self.take_cookies(url, &heard.cookies, session);
        if !self.credentials.is_empty() {
            let challenges = heard.challenges.iter().map(String::as_str);
            let sent = heard.sent.as_ref().and_then(|value| value.to_str().ok());
            if self.credentials.heard(url, status, challenges, sent) {
                return true;
            }
        }
        let own = self.logins.iter().position(|login| login.login().url.host() == url.host());
        let login = own.or_else(|| self.logins.iter().position(|login| login.concerns(url)));
        login.is_some_and(|at| self.logins[at].saw(url, status, heard.is_lost))
    }

    /// Whether a request for `url` has a cookie with one of these [`names`](crate::cookies::names).
    pub fn sends(&mut self, url: &Url, names: &[u64]) -> bool {
        self.jars.as_mut().is_some_and(|jars| jars.sends(url, names))
    }

    /// The logins, which the page workers need in order to recognise pages for clients that are not logged in.
    pub fn logins(&self) -> Vec<steps::Login> {
        self.logins.iter().map(|login| login.login().clone()).collect()
    }

    /// Whether the crawl is logged in, has an account on a host, or has the cookies of a browser. Then links that end a
    /// session are not followed.
    pub fn has_account(&self) -> bool {
        !(self.logins.is_empty() && self.credentials.is_empty() && self.file_sites.is_empty())
    }

    /// The registrable domains of the cookies of `--cookies-file`. The crawl has a session there.
    pub fn file_sites(&self) -> Arc<HashSet<String>> {
        Arc::clone(&self.file_sites)
    }

    /// Takes the cookies that were set during a login. They make room for no others.
    fn take_login_cookies(&mut self, url: &Url, cookies: &[String], session: &mut Session) {
        let Some(jars) = self.jars.as_mut().filter(|_| !cookies.is_empty()) else { return };
        let stored = jars.store_lasting(url, cookies.iter().map(String::as_str));
        keep(jars, &stored.changed, session);
    }

    fn take_cookies(&mut self, url: &Url, cookies: &[String], session: &mut Session) {
        let Some(jars) = self.jars.as_mut().filter(|_| !cookies.is_empty()) else { return };
        let stored = jars.store(url, cookies.iter().map(String::as_str));
        keep(jars, &stored.changed, session);
    }
}

/// The jars from the file and from the state, and the sites of the file. If both have a cookie, the one of the state
/// counts, because it is newer.
fn jars(path: &str, session: &mut Session) -> Result<(Jars, HashSet<String>), AccessError> {
    let mut jars = Jars::new(Limits::default());
    let (mut changed, mut sites) = (Vec::new(), HashSet::new());
    if !path.is_empty() {
        let records = read("cookies-file", path, file::read)?;
        let count = records.len();
        changed = jars.load(records).changed;
        sites = jars.sites().map(str::to_owned).collect();
        if jars.is_empty() {
            let why = if count == 0 { "it has none" } else { "all have expired, or cannot be sent" };
            tracing::warn!("--cookies-file {path}: no cookie in it is used: {why}");
        }
    }
    session.scan(spaces::COOKIES, &[], &[], &mut |_, bytes| {
        if !jars.restore(bytes) {
            tracing::warn!("the cookies of one site cannot be read from the state");
        }
        ControlFlow::Continue(())
    })?;
    keep(&jars, &changed, session);
    Ok((jars, sites))
}

/// Writes the jars of these sites to the state.
fn keep(jars: &Jars, sites: &[String], session: &mut Session) {
    for site in sites {
        match jars.to_bytes(site) {
            Some(bytes) => session.put(spaces::COOKIES, site.as_bytes(), bytes),
            None => session.delete(spaces::COOKIES, site.as_bytes()),
        }
    }
}

fn read<T, E: std::fmt::Display>(
    flag: &'static str,
    path: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, AccessError> {
    let wrong = |error: String| AccessError::File(flag, path.to_owned(), error);
    let text = std::fs::read_to_string(Path::new(path)).map_err(|error| wrong(error.to_string()))?;
    parse(&text).map_err(|error| wrong(error.to_string()))
}

/// Adds a header field. A value that no header field may have is left out, because it comes from a stranger.
fn put(fields: &mut HeaderMap, name: HeaderName, value: &str, is_secret: bool) {
    if let Ok(mut value) = HeaderValue::from_str(value) {
        value.set_sensitive(is_secret);
        fields.insert(name, value);
    }
}

fn random<const N: usize>() -> Result<[u8; N], AccessError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(AccessError::Random)?;
    Ok(bytes)
}

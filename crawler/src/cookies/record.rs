//! A cookie as it is written in files and in the state.

use cookie_store::{Cookie, CookieDomain, CookieExpiration, RawCookie};
use serde::{Deserialize, Serialize};
use url::Url;

/// One cookie. The names of its fields are those of the JSON files that browsers and their tools export. Other
/// spellings are read, too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// The host or domain, with or without a dot before it.
    pub domain: String,
    /// Whether the cookie is for this host alone. If the file does not say, a dot before the domain means that it is
    /// not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_only: Option<bool>,
    /// The path.
    pub path: String,
    /// Whether it is sent only over TLS.
    pub secure: bool,
    /// Whether scripts cannot see it.
    pub http_only: bool,
    /// The name.
    pub name: String,
    /// The value. It is a secret.
    pub value: String,
    /// The time at which it expires, in seconds since the Unix epoch. 0, -1 or nothing: at the end of the session,
    /// which is here the end of the crawl.
    #[serde(alias = "expirationDate", skip_serializing_if = "Option::is_none")]
    pub expires: Option<f64>,
}

impl Record {
    /// Makes a record of a stored cookie.
    pub fn of(cookie: &Cookie<'_>) -> Self {
        let (domain, host_only) = match &cookie.domain {
            CookieDomain::HostOnly(host) => (host.clone(), true),
            CookieDomain::Suffix(domain) => (domain.clone(), false),
            CookieDomain::NotPresent | CookieDomain::Empty => (String::new(), true),
        };
        Self {
            domain,
            host_only: Some(host_only),
            path: String::from(&cookie.path),
            secure: cookie.secure() == Some(true),
            http_only: cookie.http_only() == Some(true),
            name: cookie.name().to_owned(),
            value: cookie.value().to_owned(),
            expires: match cookie.expires {
                CookieExpiration::AtUtc(moment) => Some(moment.unix_timestamp() as f64),
                CookieExpiration::SessionEnd => None,
            },
        }
    }

    /// The cookie, and a URL whose answer could have set it. `None` if the record makes no sense.
    pub fn as_answer(&self) -> Option<(Url, RawCookie<'static>)> {
        let host = self.domain.trim().trim_start_matches('.');
        let path = if self.path.starts_with('/') { self.path.as_str() } else { "/" };
        let mut url = Url::parse(&format!("https://{host}/")).ok().filter(|url| url.host_str().is_some())?;
        url.set_path(path);
        let text = [&self.name, &self.value];
        if text.iter().any(|text| text.bytes().any(|byte| byte < 0x20 || byte == 0x7f || byte == b';')) {
            return None;
        }
        let mut cookie = RawCookie::new(self.name.clone(), self.value.clone());
        cookie.set_path(path.to_owned());
        cookie.set_secure(self.secure);
        cookie.set_http_only(self.http_only);
        if !self.host_only.unwrap_or(!self.domain.starts_with('.')) {
            cookie.set_domain(host.to_owned());
        }
        if let Some(seconds) = self.expires.filter(|seconds| *seconds > 0.0) {
            // Some browsers count in microseconds or milliseconds. Such a time is bounded by the end of the year 9999.
            let seconds = (seconds as i64).min(253_402_300_799);
            cookie.set_expires(time::OffsetDateTime::from_unix_timestamp(seconds).ok()?);
        }
        Some((url, cookie))
    }
}

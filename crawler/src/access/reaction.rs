//! Reads from an answer how a site treats the client: cookies, a challenge for credentials, or the end of a session.
//! Page workers do this.

use http::HeaderValue;
use http::header::AUTHORIZATION;
use url::Url;

use super::AccessFields;
use crate::auth::login::Login;
use crate::fetch::Response;

/// The reaction of a site to the cookies and credentials of one request. Empty for most answers.
#[derive(Debug, Default)]
pub struct SiteReaction {
    /// Values of `Set-Cookie`.
    pub cookies: Vec<String>,
    /// Values of `WWW-Authenticate` of a 401.
    pub challenges: Vec<String>,
    /// The value of `Authorization` that the request had. It is a secret.
    pub sent: Option<HeaderValue>,
    /// Whether the answer is that for a client that is not logged in. The login file describes such answers.
    pub is_lost: bool,
}

impl SiteReaction {
    /// Reads the answer from `url` to a request with these fields.
    pub fn read(url: &Url, access_fields: &AccessFields, response: &Response, logins: &[Login]) -> Self {
        let redirect = response.redirect_target(url);
        let values = |name| response.values(name).collect();
        let is_lost = |login: &Login| login.is_lost(response.status, redirect.as_ref(), &response.body);
        Self {
            cookies: values("set-cookie"),
            challenges: if response.status == 401 { values("www-authenticate") } else { Vec::new() },
            sent: access_fields.fields.get(AUTHORIZATION).cloned(),
            is_lost: logins.iter().any(|login| login.concerns(url) && is_lost(login)),
        }
    }
}

//! `login.toml`: the accounts of the crawl, and the hosts to which they belong.
//!
//! ```toml
//! [[login]]                              # a form
//! url = "https://a.test/login"           # the page with the form
//! form = "login"                         # id, name or action of the form; else the first with a password field
//! fields.user = { env = "A_USER" }       # from an environment variable,
//! fields.password = { env = "A_PASSWORD" }
//! fields.remember = "1"                  # or as it stands here
//! check = { url = "https://a.test/account", contains = "Log out" }
//! lost = { redirect = "/login", contains = "Please sign in" }
//!
//! [[auth]]                               # HTTP authentication
//! host = "b.test"
//! scheme = "digest"                      # basic, digest or bearer
//! http = true                            # basic and bearer: also without TLS on a host that the crawl reads with TLS
//! user = "me"
//! password = { env = "B_PASSWORD" }
//! ```

use std::collections::BTreeMap;

use config::without_user;
use serde::Deserialize;
use url::Url;

use super::Secret;
use super::credentials::{Credentials, Scheme};
use super::login::{Check, FormAt, Login, LoginHosts, Lost};

/// The content of a login file.
#[derive(Debug, Default)]
pub struct LoginFile {
    /// The logins by form, in their order.
    pub logins: Vec<Login>,
    /// The accounts for HTTP authentication.
    pub credentials: Credentials,
}

/// The errors of a login file. Their texts never contain values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginFileError {
    /// The text is no TOML, or it has unknown keys.
    #[error("{0}")]
    Toml(String),
    /// A value that is not valid for its key.
    #[error("{0}: {1}")]
    Value(String, &'static str),
    /// An environment variable that is not set.
    #[error("the environment variable {0} is not set")]
    NotSet(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    login: Vec<LoginEntry>,
    #[serde(default)]
    auth: Vec<AuthEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoginEntry {
    url: String,
    form: Option<String>,
    #[serde(default)]
    fields: BTreeMap<String, Value>,
    check: Option<CheckEntry>,
    #[serde(default)]
    lost: LostEntry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckEntry {
    url: Option<String>,
    contains: Option<String>,
    lacks: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LostEntry {
    redirect: Option<String>,
    contains: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuthEntry {
    host: String,
    scheme: String,
    user: Option<Value>,
    password: Option<Value>,
    token: Option<Value>,
    #[serde(default)]
    http: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Text(String),
    Environment { env: String },
}

impl LoginFile {
    /// Reads a file. `variable` looks up environment variables.
    pub fn read(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, LoginFileError> {
        let file: File = toml::from_str(text).map_err(|error| LoginFileError::Toml(without_source(&error, text)))?;
        let secret = |value: &Value| match value {
            Value::Text(text) => Ok(Secret::new(text.as_str())),
            Value::Environment { env } => {
                variable(env).map(Secret::new).ok_or_else(|| LoginFileError::NotSet(env.clone()))
            }
        };
        let address = |text: &str| {
            let wrong = |what| LoginFileError::Value(without_user(text), what);
            let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
            let url = url.ok_or_else(|| wrong("not an http or https URL"))?;
            let has_user = !url.username().is_empty() || url.password().is_some();
            if has_user {
                Err(wrong("no user name or password may be in a URL; [[auth]] has accounts"))
            } else {
                Ok(url)
            }
        };
        let mut read = Self::default();
        for entry in &file.login {
            let fields = entry.fields.iter().map(|(name, value)| Ok((name.clone(), secret(value)?)));
            let url = address(&entry.url)?;
            let check = entry.check.as_ref().map(|check| {
                Ok(Check {
                    url: check.url.as_deref().map(&address).transpose()?,
                    contains: check.contains.clone(),
                    lacks: check.lacks.clone(),
                })
            });
            read.logins.push(Login {
                form: entry.form.clone(),
                fields: fields.collect::<Result<_, LoginFileError>>()?,
                check: check.transpose()?.unwrap_or_default(),
                lost: Lost { redirect: entry.lost.redirect.clone(), contains: entry.lost.contains.clone() },
                form_at: FormAt::default(),
                reach: LoginHosts::default(),
                url,
            });
        }
        for entry in &file.auth {
            let missing = |what| LoginFileError::Value(without_user(&entry.host), what);
            let host = host(&entry.host).ok_or_else(|| {
                missing(
                    "not a host, with its port if that is not the default one (a.test, a.test:8443), and nothing else",
                )
            })?;
            let need = |value: &Option<Value>, what| secret(value.as_ref().ok_or_else(|| missing(what))?);
            let scheme = match entry.scheme.as_str() {
                "basic" => Scheme::Basic,
                "digest" => Scheme::Digest,
                "bearer" => Scheme::Bearer,
                _ => return Err(LoginFileError::Value(entry.scheme.clone(), "not one of basic, digest, bearer")),
            };
            let (user, password) = match scheme {
                Scheme::Bearer => (Secret::default(), need(&entry.token, "a bearer needs a token")?),
                _ => (need(&entry.user, "needs a user")?, need(&entry.password, "needs a password")?),
            };
            read.credentials.add(&host, scheme, user, password, entry.http);
        }
        Ok(read)
    }
}

/// The host and port of an account in the form in which URLs have them; `None` if the text is something else.
fn host(text: &str) -> Option<String> {
    if text.contains(|c: char| c.is_whitespace() || c.is_control() || "/\\@?#".contains(c)) {
        return None;
    }
    let url = Url::parse(&format!("http://{text}/")).ok()?;
    let host = url.host_str().filter(|host| !host.is_empty())?;
    // The parser drops a port that is the default one.
    let port = url.port().or(text.ends_with(":80").then_some(80));
    Some(port.map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

/// The error's own message and the number of its line, without the text of the line: that may be a password.
fn without_source(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().lines().next().unwrap_or_default();
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message.to_owned(),
    }
}

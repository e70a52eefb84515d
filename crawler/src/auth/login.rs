//! The steps of a login by form, for the code that sends requests: get the page with the form, send the form, check
//! whether that worked.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use cookie_store::RawCookie;
use dedup_stage::url::registrable_domain;
use encoding_rs::Encoding;
use url::Url;

use super::Secret;
use super::form::{Form, Submission, choose, forms};

/// The description of one login in the login file.
#[derive(Clone, Debug)]
pub struct Login {
    /// The page with the form.
    pub url: Url,
    /// The `id`, `name` or `action` of the form; `None`: see [`choose`].
    pub form: Option<String>,
    /// The names and values of the fields to fill in.
    pub fields: Vec<(String, Secret)>,
    /// The signs of success.
    pub check: Check,
    /// The signs of a lost session.
    pub lost: Lost,
    /// The place where the form was found. The page workers read it while logins run, so all copies share it.
    pub form_at: FormAt,
    /// The hosts to which the session is shown, besides that of `url`. All copies share it.
    pub reach: LoginHosts,
}

/// The hosts of the same site that get the cookies of a login: those that set cookies after the form was sent, and the
/// domains of these cookies.
#[derive(Clone, Debug, Default)]
pub struct LoginHosts(Arc<RwLock<BTreeSet<(String, bool)>>>);

impl LoginHosts {
    /// The most hosts and domains.
    const MOST: usize = 64;

    /// Takes a host, or with `is_domain` a domain with its sub-domains.
    fn add(&self, name: String, is_domain: bool) {
        let mut names = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if names.len() < Self::MOST {
            names.insert((name, is_domain));
        }
    }

    fn has(&self, host: &str) -> bool {
        let names = self.0.read().unwrap_or_else(PoisonError::into_inner);
        names.iter().any(|(name, is_domain)| match host.strip_suffix(name.as_str()) {
            Some(sub) => sub.is_empty() || *is_domain && sub.ends_with('.'),
            None => false,
        })
    }
}

/// The place where the form of a login was found. It is needed because the URL of the login file may redirect.
#[derive(Clone, Debug, Default)]
pub struct FormAt(Arc<OnceLock<Url>>);

/// The signs of success. If none of them is given, any answer below 400 without a password field is a success.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// A page to look at; `None`: the answer to the form is looked at.
    pub url: Option<Url>,
    /// A text that the page must contain.
    pub contains: Option<String>,
    /// A text that the page must not contain.
    pub lacks: Option<String>,
}

/// The signs of a lost session, besides an answer 401.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    /// A part of the URL to which pages redirect without a session. If it is not given, this is the host and path of
    /// the login page, or of the page to which the login page redirects.
    pub redirect: Option<String>,
    /// A text that pages contain without a session.
    pub contains: Option<String>,
}

/// The next step of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Get this URL, follow redirects, and pass the answer to [`LoginSession::answer`].
    Get(Url),
    /// Send this form, follow redirects, and pass the answer to [`LoginSession::answer`].
    Submit(Submission),
    /// The login has succeeded.
    Done,
    /// The login has failed, for this reason.
    Failed(Arc<str>),
}

/// An answer after redirects.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The URL at which the redirects ended.
    pub url: &'a Url,
    /// HTTP status.
    pub status: u16,
    /// The page.
    pub html: &'a str,
    /// The encoding in which the page was sent.
    pub encoding: &'static Encoding,
}

/// The state of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Outside,
    Asked,
    Sent,
    Checked,
    Inside,
    Failed(Arc<str>),
}

/// One login, and whether its session is valid now.
#[derive(Clone, Debug)]
pub struct LoginSession {
    login: Login,
    state: State,
    /// The number of logins since the last page that came with the session. It is bounded, so that the crawl does not
    /// try for ever at a site that accepts no login.
    attempts: u32,
    /// Other hosts that have shown pages since the last login.
    shown: BTreeSet<String>,
    /// URLs at which the session was lost, until they are answered again.
    lost_at: BTreeSet<String>,
    /// What is said if the login fails: fields of the login file that the form does not have.
    odd_fields: String,
}

impl LoginSession {
    /// The most logins in a row without a page between them.
    pub const MAX_ATTEMPTS: u32 = 3;
    /// The most hosts, and the most URLs, that are remembered.
    const MOST_KNOWN: usize = 256;

    /// A login that has not begun.
    pub fn new(login: Login) -> Self {
        Self {
            login,
            state: State::Outside,
            attempts: 0,
            shown: BTreeSet::new(),
            lost_at: BTreeSet::new(),
            odd_fields: String::new(),
        }
    }

    /// The first step of a login. Call this also after the session was lost.
    pub fn begin(&mut self) -> Step {
        if self.attempts >= Self::MAX_ATTEMPTS {
            self.state = State::Failed("the session was lost again and again".into());
        }
        match &self.state {
            State::Failed(why) => Step::Failed(Arc::clone(why)),
            State::Inside => Step::Done,
            _ => {
                self.attempts += 1;
                self.shown.clear();
                self.state = State::Asked;
                Step::Get(self.login.url.clone())
            }
        }
    }

    /// The step after an answer.
    pub fn answer(&mut self, answer: &Answer<'_>) -> Step {
        match self.state {
            State::Asked => self.send(answer),
            State::Sent if self.login.check.url.is_some() => {
                self.state = State::Checked;
                self.login.check.url.clone().map_or(Step::Done, Step::Get)
            }
            State::Sent | State::Checked => self.see(answer),
            State::Outside | State::Inside | State::Failed(_) => self.begin(),
        }
    }

    fn send(&mut self, answer: &Answer<'_>) -> Step {
        if answer.status >= 400 {
            return self.fail("the login page answers with an error");
        }
        let forms = forms(answer.html);
        let Some(form) = choose(&forms, self.login.form.as_deref()) else {
            return self.fail("the login page has no such form");
        };
        if form.password.is_some() {
            // The first place is kept, because a later login begins at the same URL.
            let _ = self.login.form_at.0.set(answer.url.clone());
        }
        self.odd_fields = odd_fields(form, &self.login.fields);
        let Some(submission) = form.submit(answer.url, answer.encoding, &self.login.fields) else {
            return self.fail("the form leads nowhere");
        };
        // Passwords are sent only to the site that the login file names, and never from a page with TLS to one without.
        let page = &self.login.url;
        let host = submission.url.host_str().unwrap_or_default();
        if registrable_domain(&submission.url) != registrable_domain(page) {
            return self.fail(&format!(
                "the form would be sent to another host, {host}. If the account belongs to it, give the URL of its form"
            ));
        }
        if [page, answer.url].iter().any(|url| url.scheme() == "https") && submission.url.scheme() != "https" {
            return self.fail(&format!("the form would be sent without TLS to {host}"));
        }
        self.state = State::Sent;
        Step::Submit(submission)
    }

    fn see(&mut self, answer: &Answer<'_>) -> Step {
        let Check { url, contains, lacks } = &self.login.check;
        let silent = contains.is_none() && lacks.is_none();
        let has = |text: &&String| answer.html.contains(text.as_str());
        let wrong = if answer.status >= 400 {
            format!("answers with status {}", answer.status)
        } else if let Some(text) = contains.as_ref().filter(|text| !has(text)) {
            format!("does not contain {text:?}")
        } else if let Some(text) = lacks.as_ref().filter(has) {
            format!("contains {text:?}")
        } else if silent && forms(answer.html).iter().any(|form| form.password.is_some()) {
            "asks for a password again".to_owned()
        } else {
            self.state = State::Inside;
            return Step::Done;
        };
        // A query may have a token in it.
        let mut page = url.clone().unwrap_or_else(|| answer.url.clone());
        if url.is_none() {
            page.set_query(None);
        }
        self.fail(&format!(
            "the check after the login failed: {page} {wrong}. {}The user or the password is wrong, or the site wants \
             more than a form",
            self.odd_fields
        ))
    }

    fn fail(&mut self, why: &str) -> Step {
        let why = Arc::from(why);
        self.state = State::Failed(Arc::clone(&why));
        Step::Failed(why)
    }

    /// Takes a cookie that `url` has set during the login, with its attributes. If the form was sent before, the hosts
    /// that get the cookie belong to the login from now on, as far as they are of its site.
    pub fn was_given(&self, url: &Url, cookie: &str) {
        let site = registrable_domain(&self.login.url);
        if !matches!(self.state, State::Sent | State::Checked) || registrable_domain(url) != site {
            return;
        }
        let host = url.host_str().unwrap_or_default();
        let Ok(cookie) = RawCookie::parse(cookie) else { return };
        let domain = cookie.domain().map(|domain| domain.trim_start_matches('.').to_ascii_lowercase());
        match domain.filter(|domain| !domain.is_empty()) {
            Some(domain) if domain == site || domain.ends_with(&format!(".{site}")) => {
                self.login.reach.add(domain, true);
            }
            Some(_) => {}
            None => self.login.reach.add(host.to_owned(), false),
        }
    }

    /// Records an answer of this site from `url`. `is_lost` is the result of [`Login::is_lost`] for it. Returns whether
    /// the session was lost: then the URL is queued again, and [`LoginSession::begin`] begins a new login. A 401 of
    /// another host than that of the login counts only if the host has shown pages since the last login, because it
    /// may ask for another account. If the session is lost at one URL twice, the URL itself may end sessions: then the
    /// second answer counts as that of the URL.
    pub fn saw(&mut self, url: &Url, status: u16, is_lost: bool) -> bool {
        if matches!(self.state, State::Failed(_)) {
            return false;
        }
        let other = url.host_str().filter(|_| url.host() != self.login.url.host());
        let is_lost = is_lost && !(status == 401 && other.is_some_and(|host| !self.shown.contains(host)));
        if let Some(host) = other.filter(|_| status < 400 && !is_lost && self.shown.len() < Self::MOST_KNOWN) {
            self.shown.insert(host.to_owned());
        }
        if self.state != State::Inside {
            // It was requested before the session was lost.
            return is_lost;
        }
        if !is_lost {
            self.attempts = if status < 400 { 0 } else { self.attempts };
            self.lost_at.remove(url.as_str());
            return false;
        }
        self.state = State::Outside;
        if self.lost_at.remove(url.as_str()) {
            self.attempts = self.attempts.saturating_sub(1);
            return false;
        }
        if self.lost_at.len() < Self::MOST_KNOWN {
            self.lost_at.insert(url.as_str().to_owned());
        }
        true
    }

    /// The description of the login.
    pub fn login(&self) -> &Login {
        &self.login
    }

    /// Whether pages are fetched with the session now.
    pub fn is_inside(&self) -> bool {
        self.state == State::Inside
    }

    /// Whether a URL belongs to the site of this login.
    pub fn concerns(&self, url: &Url) -> bool {
        self.login.concerns(url)
    }
}

impl Login {
    /// Whether a URL belongs to the site of this login: to its host, or to one that gets the cookies of the login.
    pub fn concerns(&self, url: &Url) -> bool {
        url.host() == self.url.host() || url.host_str().is_some_and(|host| self.reach.has(host))
    }

    /// Whether an answer of this site is that for a client that is not logged in. `redirect` is the target of a 3xx
    /// answer.
    pub fn is_lost(&self, status: u16, redirect: Option<&Url>, body: &[u8]) -> bool {
        let to_login = redirect.is_some_and(|target| match &self.lost.redirect {
            Some(part) => target.as_str().contains(part.as_str()),
            None => [Some(&self.url), self.form_at.0.get()]
                .into_iter()
                .flatten()
                .any(|page| target.path() == page.path() && target.host() == page.host()),
        });
        let said = |text: &String| memchr::memmem::find(body, text.as_bytes()).is_some();
        status == 401 || to_login || self.lost.contains.as_ref().is_some_and(said)
    }
}

/// A sentence about the fields of the login file that the form does not have; empty if it has all. (A script of the
/// page may add such a field, so the login is tried all the same.)
fn odd_fields(form: &Form, values: &[(String, Secret)]) -> String {
    let odd = values.iter().map(|(name, _)| name).find(|name| !form.has(name));
    let Some(odd) = odd else { return String::new() };
    // The names come from the page. A name may be long, and have control characters, which are escaped.
    let short = |(name, _): &(String, String)| name.chars().take(40).collect::<String>();
    let names: Vec<String> = form.fields.iter().map(short).take(12).collect();
    format!("The form has no field {odd:?} (it has {names:?}). ")
}

//! A login by form, as steps for whoever sends requests: fetch the page with the form, send the form, see whether it worked.

use std::sync::{Arc, OnceLock};

use url::Url;

use super::Secret;
use super::form::{Submission, choose, forms};

/// What the login file says of one login.
#[derive(Clone, Debug)]
pub struct Login {
    /// The page with the form.
    pub url: Url,
    /// Which form.
    pub form: Option<String>,
    /// What is typed into which field.
    pub fields: Vec<(String, Secret)>,
    /// How success is told.
    pub check: Check,
    /// How a lost session is told.
    pub lost: Lost,
    /// Where the form was found. The page workers read it while logins run, so all copies share it.
    pub form_at: FormAt,
}

/// Where the form of a login was found: the URL of the login file may redirect to it.
#[derive(Clone, Debug, Default)]
pub struct FormAt(Arc<OnceLock<Url>>);

/// How success is told. Without any of these, any answer below 400 that shows no password field again is a success.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// A page to look at; else the answer to the form.
    pub url: Option<Url>,
    /// What it must contain.
    pub contains: Option<String>,
    /// What it must not contain.
    pub lacks: Option<String>,
}

/// How a lost session is told, beside an answer 401.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    /// Part of the URL to which pages redirect then. Without it, the host and path of the login page, or of the page to which that
    /// redirects.
    pub redirect: Option<String>,
    /// What a page says then.
    pub contains: Option<String>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Fetch this, following redirects, and give the answer to [`LoginSession::answer`].
    Get(Url),
    /// Send this, following redirects, and give the answer to [`LoginSession::answer`].
    Submit(Submission),
    /// Logged in.
    Done,
    /// Not logged in, and why.
    Failed(Arc<str>),
}

/// An answer after redirects.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// Where the redirects ended.
    pub url: &'a Url,
    /// HTTP status.
    pub status: u16,
    /// The page.
    pub html: &'a str,
}

/// How far a login has come.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Outside,
    Asked,
    Sent,
    Checked,
    Inside,
    Failed(Arc<str>),
}

/// One login, and whether it holds.
#[derive(Clone, Debug)]
pub struct LoginSession {
    login: Login,
    state: State,
    /// Logins since the last page that came with the session; bounded, so that a site that lets nobody in is not asked for ever.
    attempts: u32,
}

impl LoginSession {
    /// Logins in a row without a page in between.
    pub const MAX_ATTEMPTS: u32 = 3;

    /// A login that has not begun.
    pub fn new(login: Login) -> Self {
        Self { login, state: State::Outside, attempts: 0 }
    }

    /// The first step, and the first after the session was lost.
    pub fn begin(&mut self) -> Step {
        if self.attempts >= Self::MAX_ATTEMPTS {
            self.state = State::Failed("the session was lost again and again".into());
        }
        match &self.state {
            State::Failed(why) => Step::Failed(Arc::clone(why)),
            State::Inside => Step::Done,
            _ => {
                self.attempts += 1;
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
            // The first place stays: a later login begins at the same URL.
            let _ = self.login.form_at.0.set(answer.url.clone());
        }
        let Some(submission) = form.submit(answer.url, &self.login.fields) else {
            return self.fail("the form leads nowhere");
        };
        // Passwords go to the site that the login file names, and never from TLS to plain text.
        let page = &self.login.url;
        if submission.url.host() != page.host() && submission.url.host() != answer.url.host() {
            return self.fail("the form would be sent to another host");
        }
        if page.scheme() == "https" && submission.url.scheme() != "https" {
            return self.fail("the form would be sent without TLS");
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
            "the check after the login failed: {page} {wrong}. The user or the password is wrong, or the site wants more than a form"
        ))
    }

    fn fail(&mut self, why: &str) -> Step {
        let why = Arc::from(why);
        self.state = State::Failed(Arc::clone(&why));
        Step::Failed(why)
    }

    /// An answer of this site has come; `is_lost` is what [`Login::is_lost`] says of it. True if the session is lost by it:
    /// then the URL is queued again, and [`LoginSession::begin`] gives the way back in.
    pub fn saw(&mut self, status: u16, is_lost: bool) -> bool {
        if self.state != State::Inside {
            return false;
        }
        if is_lost {
            self.state = State::Outside;
        } else if status < 400 {
            self.attempts = 0;
        }
        is_lost
    }

    /// What the login file says.
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
    /// Whether a URL belongs to the site of this login.
    pub fn concerns(&self, url: &Url) -> bool {
        url.host() == self.url.host()
    }

    /// Whether an answer of this site looks as it does to somebody who is not logged in. `redirect` is where a 3xx answer
    /// points.
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

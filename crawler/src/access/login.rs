//! Logs in: makes the requests for the steps of [`crate::auth::login`].
//!
//! The user has named these pages, so robots.txt is not asked about them. The delay of the crawl lies between two
//! requests. A login takes a while. So a copy of [`SiteAccess`] logs in on a thread of its own ([`SiteAccess::leave`]),
//! and [`SiteAccess::come_back`] takes over its results. Until then, requests to the sites of the logins wait
//! ([`SiteAccess::waits`]).

use std::sync::Arc;
use std::time::Duration;

use config::Settings;
use dedup_stage::page::charset;
use dedup_stage::store::Session;
use dedup_stage::url::{drop_user, registrable_domain};
use frontier::{JobKind, Millis};
use url::Url;

use super::{AccessError, SiteAccess};
use crate::auth::Secret;
use crate::auth::login::{Answer, LoginSession, Step};
use crate::clock::Clock;
use crate::fetch::budget::ByteBudget;
use crate::fetch::{Fetch, FetchError, Request, Response};

/// The reason for which a login failed.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The login could not be carried out.
    #[error("login at {}: {}", shown(.0), .1)]
    Failed(Url, Arc<str>),
    /// An answer did not come.
    #[error("login at {}: {}", shown(.0), .1)]
    Fetch(Url, FetchError),
    /// A request could not be made.
    #[error(transparent)]
    SiteAccess(#[from] AccessError),
}

/// The URL of a login in a form that messages may show. The query of a form that is sent with GET has the password.
fn shown(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_query(None);
    drop_user(&mut url);
    url
}

/// At most this many redirects of one request are followed.
const MAX_HOPS: usize = 10;

/// The result of the logins.
#[derive(Debug)]
pub struct LoggedIn {
    logins: Vec<LoginSession>,
    trail: Trail,
    result: Result<(), LoginError>,
}

/// What logins leave for the crawl.
#[derive(Debug, Default)]
struct Trail {
    /// Cookies that were set, with the URL that set them.
    cookies: Vec<(Url, Vec<String>)>,
    requests: Vec<LoginRequest>,
}

/// A request of a login, for the crawl log.
#[derive(Debug)]
pub struct LoginRequest {
    /// The URL, without its query, which may have the fields of a form.
    pub url: Url,
    /// When the answer ended.
    pub ended_at: Millis,
    /// HTTP status; `None`, as the next two, if there was no answer.
    pub status: Option<u16>,
    /// Bytes of the body as received.
    pub bytes: Option<u64>,
    /// Milliseconds from the request to the end of the answer.
    pub elapsed: Option<Millis>,
    /// What went wrong.
    pub error: Option<String>,
}

impl LoginRequest {
    fn of(url: &Url, response: &Result<Response, FetchError>, now: Millis) -> Self {
        let mut url = url.clone();
        url.set_query(None);
        let answer = response.as_ref().ok();
        Self {
            url,
            ended_at: answer.map_or(now, |answer| answer.ended_at),
            status: answer.map(|answer| answer.status),
            bytes: answer.map(|answer| answer.wire_bytes),
            elapsed: answer.map(|answer| answer.ended_at.saturating_sub(answer.sent_at)),
            error: response.as_ref().err().map(FetchError::to_string),
        }
    }
}

impl LoggedIn {
    /// The requests that were made.
    pub fn requests(&self) -> &[LoginRequest] {
        &self.trail.requests
    }
}

impl SiteAccess {
    /// Whether a login has not been done yet, or its session was lost, and no copy does it now.
    pub fn must_log_in(&self) -> bool {
        !self.is_away && self.logins.iter().any(|login| !login.is_inside())
    }

    /// Whether a copy is logging in now.
    pub fn is_away(&self) -> bool {
        self.is_away
    }

    /// Returns a copy that will [log in](SiteAccess::log_in).
    pub fn leave(&mut self) -> Self {
        self.is_away = true;
        self.clone()
    }

    /// Takes over what the copy brings back. From now on, its cookies and sessions are those of the crawl.
    pub fn come_back(&mut self, logged_in: LoggedIn, session: &mut Session) -> Result<(), LoginError> {
        self.is_away = false;
        for (url, cookies) in logged_in.trail.cookies {
            self.take_login_cookies(&url, &cookies, session);
        }
        self.logins = logged_in.logins;
        logged_in.result
    }

    /// Whether a request must wait because the copy is logging in to its site.
    pub fn waits(&self, url: &Url) -> bool {
        let is_near = |login: &LoginSession| registrable_domain(url) == registrable_domain(&login.login().url);
        self.is_away && self.logins.iter().any(|login| !login.is_inside() && is_near(login))
    }

    /// Does all logins that have not been done.
    pub async fn log_in<F: Fetch>(mut self, fetch: &F, settings: &Settings, clock: &Clock) -> LoggedIn {
        let mut trail = Trail::default();
        let result = self.steps(fetch, settings, clock, &mut trail).await;
        LoggedIn { logins: self.logins, trail, result }
    }

    async fn steps<F: Fetch>(
        &mut self,
        fetch: &F,
        settings: &Settings,
        clock: &Clock,
        trail: &mut Trail,
    ) -> Result<(), LoginError> {
        for at in 0..self.logins.len() {
            if self.logins[at].is_inside() {
                continue;
            }
            let url = self.logins[at].login().url.clone();
            let mut step = self.logins[at].begin();
            loop {
                let (target, form) = match step {
                    Step::Done => break,
                    Step::Failed(why) => return Err(LoginError::Failed(url, why)),
                    Step::Get(target) => (target, None),
                    Step::Submit(submission) => (submission.url, submission.body),
                };
                let first = trail.cookies.len();
                let (reached, response) = self.follow(fetch, target, form, settings, clock, trail).await?;
                for (url, set) in &trail.cookies[first..] {
                    set.iter().for_each(|cookie| self.logins[at].was_given(url, cookie));
                }
                let content_type = response.values("content-type").next();
                let domain = reached.domain().and_then(|host| host.rsplit('.').next());
                let encoding = charset::detect(&response.body, content_type.as_deref(), domain);
                let html = charset::decode(&response.body, encoding);
                step =
                    self.logins[at].answer(&Answer { url: &reached, status: response.status, html: &html, encoding });
            }
        }
        // The next request is one of the crawl, so the delay is kept.
        tokio::time::sleep(Duration::from_millis(settings.politeness.delay.0)).await;
        Ok(())
    }

    /// Makes one request of a login, and follows its redirects. A form is sent again after 307 and 308, but only to its
    /// own origin. After other redirects, the request becomes a GET without the fields of the form.
    async fn follow<F: Fetch>(
        &mut self,
        fetch: &F,
        mut url: Url,
        mut form: Option<Secret>,
        settings: &Settings,
        clock: &Clock,
        trail: &mut Trail,
    ) -> Result<(Url, Response), LoginError> {
        for _ in 0..MAX_HOPS {
            let response = self.send(fetch, &url, form.clone(), settings, clock, trail).await?;
            let Some(target) = response.redirect_target(&url) else { return Ok((url, response)) };
            if form.is_some() && matches!(response.status, 307 | 308) {
                if target.origin() != url.origin() {
                    let host = target.host_str().unwrap_or_default();
                    let why = format!("the form would be sent on to another host or port, {host}");
                    return Err(LoginError::Failed(url, why.into()));
                }
            } else {
                form = None;
            }
            url = target;
        }
        Err(LoginError::Failed(url, "too many redirects".into()))
    }

    async fn send<F: Fetch>(
        &mut self,
        fetch: &F,
        url: &Url,
        form: Option<Secret>,
        settings: &Settings,
        clock: &Clock,
        trail: &mut Trail,
    ) -> Result<Response, LoginError> {
        let failed = |error| LoginError::Fetch(url.clone(), error);
        tokio::time::sleep(Duration::from_millis(settings.politeness.delay.0)).await;
        let addresses = fetch.resolve(url.clone()).await.map_err(failed)?;
        let budget = ByteBudget::new(settings.fetch.body_budget.0);
        let access_fields = self.fields(url, clock.now())?;
        let request = Request {
            fields: access_fields.fields,
            form,
            ..Request::new(url.clone(), JobKind::Page, addresses, budget)
        };
        let response = fetch.fetch(request).await;
        trail.requests.push(LoginRequest::of(url, &response, clock.now()));
        let response = response.map_err(failed)?;
        let set: Vec<String> = response.values("set-cookie").collect();
        if let Some(jars) = &mut self.jars {
            jars.store_lasting(url, set.iter().map(String::as_str));
        }
        trail.cookies.push((url.clone(), set));
        Ok(response)
    }
}

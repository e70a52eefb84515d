//! Logging in: the steps of [`crate::auth::login`], each with the requests it takes.
//!
//! The user has named these pages, so robots.txt is not asked about them; between two requests lies the delay of the crawl.

use std::time::Duration;

use config::Settings;
use dedup_stage::store::Session;
use frontier::JobKind;
use url::Url;

use super::{Access, AccessError};
use crate::auth::Secret;
use crate::auth::login::{Answer, Step};
use crate::clock::Clock;
use crate::fetch::budget::Budget;
use crate::fetch::{Fetch, FetchError, Request, Response};

/// Why nobody is logged in.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The plan could not be carried out.
    #[error("login at {0}: {1}")]
    Failed(Url, &'static str),
    /// An answer did not come.
    #[error("login at {0}: {1}")]
    Fetch(Url, FetchError),
    /// The request could not be made.
    #[error(transparent)]
    Access(#[from] AccessError),
}

/// Redirects that one request may lead over.
const MAX_HOPS: usize = 10;

impl Access {
    /// Whether a login has not been done yet, or was lost.
    pub fn must_log_in(&self) -> bool {
        self.logins.iter().any(|login| !login.is_inside())
    }

    /// Does every login that is not done. Blocks until all are.
    pub async fn log_in<F: Fetch>(
        &mut self,
        fetch: &F,
        settings: &Settings,
        clock: &Clock,
        session: &mut Session,
    ) -> Result<(), LoginError> {
        for at in 0..self.logins.len() {
            let url = self.logins[at].login().url.clone();
            let mut step = self.logins[at].begin();
            loop {
                let (target, form) = match step {
                    Step::Done => break,
                    Step::Failed(why) => return Err(LoginError::Failed(url, why)),
                    Step::Get(target) => (target, None),
                    Step::Submit(submission) => (submission.url, submission.body),
                };
                let (reached, response) = self.follow(fetch, target, form, settings, clock, session).await?;
                let html = String::from_utf8_lossy(&response.body);
                step = self.logins[at].answer(&Answer { url: &reached, status: response.status, html: &html });
            }
        }
        Ok(())
    }

    /// One request of a login, and those that its redirects lead to. A form goes on with 307 and 308 to its own origin alone;
    /// with the others it becomes a GET without its fields.
    async fn follow<F: Fetch>(
        &mut self,
        fetch: &F,
        mut url: Url,
        mut form: Option<Secret>,
        settings: &Settings,
        clock: &Clock,
        session: &mut Session,
    ) -> Result<(Url, Response), LoginError> {
        for _ in 0..MAX_HOPS {
            let response = self.send(fetch, &url, form.clone(), settings, clock, session).await?;
            let Some(target) = response.redirect_target(&url) else { return Ok((url, response)) };
            if form.is_some() && matches!(response.status, 307 | 308) {
                if target.origin() != url.origin() {
                    return Err(LoginError::Failed(url, "the form would be sent on to another host"));
                }
            } else {
                form = None;
            }
            url = target;
        }
        Err(LoginError::Failed(url, "too many redirects"))
    }

    async fn send<F: Fetch>(
        &mut self,
        fetch: &F,
        url: &Url,
        form: Option<Secret>,
        settings: &Settings,
        clock: &Clock,
        session: &mut Session,
    ) -> Result<Response, LoginError> {
        let failed = |error| LoginError::Fetch(url.clone(), error);
        tokio::time::sleep(Duration::from_millis(settings.politeness.delay.0)).await;
        let addresses = fetch.resolve(url.clone()).await.map_err(failed)?;
        let budget = Budget::new(settings.fetch.body_budget.0);
        let worn = self.wear(url, clock.now())?;
        let request =
            Request { fields: worn.fields, form, ..Request::new(url.clone(), JobKind::Page, addresses, budget) };
        let response = fetch.fetch(request).await.map_err(failed)?;
        let cookies: Vec<String> = response.values("set-cookie").collect();
        self.take_cookies(url, &cookies, session);
        Ok(response)
    }
}

//! Keeps the sessions of the crawl: page workers find the URLs that would end a session, whether links, redirects,
//! sitemaps or requisites lead to them.

use dedup_stage::url::registrable_domain;
use url::Url;

use super::worker::{Answered, Worker};
use crate::auth::labels::labelled;
use crate::auth::logout::is_logout;

impl Worker<'_> {
    /// Whether a request for this URL would end the session of the crawl.
    pub(super) fn logs_out(&self, url: &Url) -> bool {
        self.context.has_account && is_logout(url)
    }

    /// Whether the crawl has a session where this link of a page leads: on the site of a login or of a cookie of a
    /// browser, and on the host of a page that was fetched with an account.
    pub(super) fn has_session(&self, answered: &Answered<'_>, url: &Url) -> bool {
        answered.access_fields.is_private && url.host() == answered.job.url.host()
            || self.context.logins.iter().any(|login| login.concerns(url))
            || self.context.file_sites.contains(registrable_domain(url))
    }

    /// The links of a page whose labels say that they end a session, if the crawl has one.
    pub(in crate::engine) fn labelled(&self, answered: &Answered<'_>) -> Vec<Url> {
        let Answered { job, response, .. } = *answered;
        let is_read = self.context.has_account && self.has_session(answered, &job.url);
        if is_read { labelled(&response.body, &job.url) } else { Vec::new() }
    }
}

//! Logs in while the crawl goes on. Each round of logins has a thread of its own, so that only the sites in question
//! wait.

use std::io;
use std::sync::Arc;

use config::Settings;
use crossbeam_channel::{Receiver, bounded};

use crate::access::{LoggedIn, SiteAccess};
use crate::clock::Clock;
use crate::fetch::Fetch;

/// Begins a round of logins. The channel brings the result. It is closed without a result if the thread panics.
pub(super) type LogIn = Box<dyn Fn(SiteAccess) -> io::Result<Receiver<LoggedIn>>>;

/// Logs in with this fetcher. Each round has a runtime of its own, whose connections end with it.
pub(super) fn with<F: Fetch>(fetch: &Arc<F>, settings: &Settings, clock: &Clock) -> LogIn {
    let (fetch, settings, clock) = (Arc::clone(fetch), Arc::new(settings.clone()), clock.clone());
    Box::new(move |access| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (done, logged_in) = bounded(1);
        let (fetch, settings, clock) = (Arc::clone(&fetch), Arc::clone(&settings), clock.clone());
        std::thread::Builder::new().name("login".into()).spawn(move || {
            // If the crawl was stopped meanwhile, the receiver is gone.
            let _ = done.send(runtime.block_on(access.log_in(&*fetch, &settings, &clock)));
        })?;
        Ok(logged_in)
    })
}

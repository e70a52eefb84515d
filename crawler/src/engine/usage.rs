//! The statements of origins about the use of their pages that are known before a page is fetched: in robots.txt, and
//! for some purposes in `tdmrep.json`.
//!
//! Both are kept in the state, so that a later run need not ask for them. The frontier keeps the rules of robots.txt
//! about fetching; they are not here.

use std::collections::HashMap;
use std::sync::Arc;

use dedup_stage::store::{Result, Session};
use frontier::{Job, JobKind};
use url::{Position, Url};

use crate::permissions::robots::UsageRules;
use crate::permissions::tdm::TdmFile;
use crate::permissions::{Decision, Permissions, Purpose};
use crate::spaces;

/// The statements of at most this many origins are held in memory.
const MOST: usize = 65_536;
/// While the `tdmrep.json` of its origin is being fetched, a page is put back at most this often. After that, the file
/// counts as absent.
const MOST_WAITS: u32 = 600;

/// The statements of one origin.
#[derive(Debug, Default)]
pub struct Said {
    robots: Option<UsageRules>,
    tdm: Option<TdmFile>,
}

impl Said {
    /// The statements about one of its URLs.
    pub fn of(&self, url: &Url) -> Permissions {
        Permissions::of_url(url, self.robots.as_ref(), self.tdm.as_ref())
    }
}

/// The decision about a page that could be fetched now.
pub(super) enum Decided {
    /// Fetch it.
    Fetch,
    /// Fetch the `tdmrep.json` of its origin first. True if it has not been asked for yet.
    Wait(bool),
    /// It may not be used for the purpose of the crawl.
    Forbidden,
}

/// The statements of all origins.
pub(super) struct Usage {
    token: String,
    purpose: Option<Purpose>,
    known: HashMap<String, Option<Arc<Said>>>,
    /// Origins whose `tdmrep.json` is being fetched, with the number of pages that were put back for it.
    waits: HashMap<String, u32>,
}

impl Usage {
    /// Makes the statements for this product token, and for this purpose if there is one.
    pub fn new(token: &str, purpose: &str) -> Self {
        let (known, waits) = Default::default();
        Self { token: token.to_owned(), purpose: Purpose::named(purpose), known, waits }
    }

    /// Takes the robots.txt or `tdmrep.json` of an origin, which may have statements about the use of its pages. `file`
    /// is empty if it has none, or if there is no such file.
    pub fn heard(&mut self, url: &Url, file: Vec<u8>, session: &mut Session) {
        self.known.remove(origin(url));
        self.waits.remove(origin(url));
        let key = url[..Position::AfterPath].as_bytes();
        if file.is_empty() && !is_tdm(url) {
            session.delete(spaces::USAGE, key);
        } else {
            session.put(spaces::USAGE, key, file);
        }
    }

    /// The statements of the origin of a URL; `None` if it makes none.
    pub fn of(&mut self, url: &Url, session: &Session) -> Result<Option<Arc<Said>>> {
        if let Some(known) = self.known.get(origin(url)) {
            return Ok(known.clone());
        }
        let get = |path: &str| session.get(spaces::USAGE, format!("{}{path}", origin(url)).as_bytes());
        let said = Said {
            robots: get("/robots.txt")?.map(|file| UsageRules::read(&file, &self.token, url)),
            tdm: get(TdmFile::PATH)?.map(|file| TdmFile::read(&file)),
        };
        let said = (said.robots.is_some() || said.tdm.is_some()).then(|| Arc::new(said));
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(origin(url).to_owned(), said.clone());
        Ok(said)
    }

    /// Decides whether a page may be fetched, by the statements of its origin.
    pub fn decide(&mut self, url: &Url, said: Option<&Said>) -> Decided {
        let Some(purpose) = self.purpose else { return Decided::Fetch };
        if said.is_some_and(|said| matches!(said.of(url).decide(purpose, false), Decision::Forbidden { .. })) {
            return Decided::Forbidden;
        }
        let is_asked = matches!(purpose, Purpose::Train | Purpose::Input | Purpose::Mine);
        if !is_asked || said.is_some_and(|said| said.tdm.is_some()) {
            return Decided::Fetch;
        }
        let waits = self.waits.entry(origin(url).to_owned()).or_default();
        *waits += 1;
        if *waits > MOST_WAITS { Decided::Fetch } else { Decided::Wait(*waits == 1) }
    }
}

/// The URL of the `tdmrep.json` of a URL's origin.
pub(super) fn tdm_of(url: &Url) -> Option<Url> {
    url.join(TdmFile::PATH).ok()
}

/// Whether a URL is that of a `tdmrep.json`.
pub(super) fn is_tdm(url: &Url) -> bool {
    url.path() == TdmFile::PATH
}

/// Whether a job asks for a sitemap. (`tdmrep.json` is fetched in the same way.)
pub(super) fn is_sitemap(job: &Job) -> bool {
    job.kind == JobKind::Sitemap && !is_tdm(&job.url)
}

/// Scheme, host and port.
fn origin(url: &Url) -> &str {
    &url[..Position::BeforePath]
}

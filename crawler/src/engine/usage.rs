//! What origins say about the use of their pages, as far as that is known before a page is fetched: their robots.txt and, for
//! purposes to which it matters, their `tdmrep.json`.
//!
//! Both are kept in the state, so that a later run knows what they say without asking. The frontier keeps rules of its own of
//! robots.txt, which are only about fetching.

use std::collections::HashMap;
use std::sync::Arc;

use dedup_stage::store::{Result, Session};
use url::{Position, Url};

use crate::permissions::robots::UsageRules;
use crate::permissions::tdm::TdmFile;
use crate::permissions::{Decision, Permissions, Purpose};
use crate::spaces;

/// Origins whose statements are held in memory.
const MOST: usize = 65_536;
/// How often a page is put back while its origin's `tdmrep.json` is on its way; then it is taken for absent.
const MOST_WAITS: u32 = 600;

/// What one origin says.
#[derive(Debug, Default)]
pub struct Said {
    robots: Option<UsageRules>,
    tdm: Option<TdmFile>,
}

impl Said {
    /// What it says about a URL of its own.
    pub fn of(&self, url: &Url) -> Permissions {
        Permissions::of_url(url, self.robots.as_ref(), self.tdm.as_ref())
    }
}

/// What is to be done with a page that could be fetched now.
pub(super) enum Decided {
    /// Fetch it.
    Fetch,
    /// Its origin's `tdmrep.json` is asked for first, for the first time where this is true.
    Wait(bool),
    /// It may not be used for the purpose of the crawl.
    Forbidden,
}

/// The statements of all origins.
pub(super) struct Usage {
    token: String,
    purpose: Option<Purpose>,
    known: HashMap<String, Option<Arc<Said>>>,
    /// Origins whose `tdmrep.json` is on its way, and how many pages were put back for it.
    waits: HashMap<String, u32>,
}

impl Usage {
    /// For this product token, and this purpose if there is one.
    pub fn new(token: &str, purpose: &str) -> Self {
        let (known, waits) = Default::default();
        Self { token: token.to_owned(), purpose: Purpose::named(purpose), known, waits }
    }

    /// A file at `url` has come that may speak about the use of its origin's pages: its robots.txt or `tdmrep.json`. Empty
    /// where it does not, or where there is none.
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

    /// What the origin of a URL says, where it says anything.
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

    /// Whether a page may be fetched, by what its origin has said.
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

/// Where the `tdmrep.json` of a URL's origin lies.
pub(super) fn tdm_of(url: &Url) -> Option<Url> {
    url.join(TdmFile::PATH).ok()
}

/// Whether a URL is that of a `tdmrep.json`.
pub(super) fn is_tdm(url: &Url) -> bool {
    url.path() == TdmFile::PATH
}

/// Scheme, host and port.
fn origin(url: &Url) -> &str {
    &url[..Position::BeforePath]
}

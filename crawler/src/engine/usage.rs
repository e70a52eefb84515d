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

/// The statements of one origin.
#[derive(Debug, Default)]
pub struct OriginStatements {
    robots: Option<UsageRules>,
    tdm: Option<TdmFile>,
}

impl OriginStatements {
    /// The statements about one of its URLs.
    pub fn of(&self, url: &Url) -> Permissions {
        Permissions::of_url(url, self.robots.as_ref(), self.tdm.as_ref())
    }

    /// Whether it is known what the `tdmrep.json` says, or that there is none.
    pub fn has_tdm(&self) -> bool {
        self.tdm.is_some()
    }

    /// The memory that it takes, roughly.
    fn bytes(&self) -> usize {
        self.robots.as_ref().map_or(0, UsageRules::bytes) + self.tdm.as_ref().map_or(0, TdmFile::bytes)
    }
}

/// The decision about a page that could be fetched now.
pub(super) enum Decided {
    /// Fetch it.
    Fetch,
    /// Fetch the `tdmrep.json` of its origin first.
    Wait,
    /// It may not be used for the purpose of the crawl.
    Forbidden,
}

/// The statements of all origins.
pub(super) struct OriginUsage {
    token: String,
    purpose: Option<Purpose>,
    known: HashMap<String, Option<Arc<OriginStatements>>>,
    /// The bytes of all that is known, roughly.
    bytes: usize,
}

impl OriginUsage {
    /// Begins without statements, for a crawler with this product token, and for this purpose if there is one.
    pub fn new(token: &str, purpose: &str) -> Self {
        let (known, bytes) = Default::default();
        Self { token: token.to_owned(), purpose: Purpose::named(purpose), known, bytes }
    }

    /// Takes the robots.txt or `tdmrep.json` of an origin, which may have statements about the use of its pages. `file`
    /// is empty if it has none, or if there is no such file.
    pub fn heard(&mut self, url: &Url, file: Vec<u8>, session: &mut Session) {
        self.known.remove(origin(url));
        let key = url[..Position::AfterPath].as_bytes();
        if file.is_empty() && !is_tdm(url) {
            session.delete(spaces::USAGE, key);
        } else {
            session.put(spaces::USAGE, key, file);
        }
    }

    /// The statements of the origin of a URL; `None` if it makes none.
    pub fn of(&mut self, url: &Url, session: &Session) -> Result<Option<Arc<OriginStatements>>> {
        if let Some(known) = self.known.get(origin(url)) {
            return Ok(known.clone());
        }
        let get = |path: &str| session.get(spaces::USAGE, format!("{}{path}", origin(url)).as_bytes());
        let said = OriginStatements {
            robots: get("/robots.txt")?.map(|file| UsageRules::read(&file, &self.token, url)),
            tdm: get(TdmFile::PATH)?.map(|file| TdmFile::read(&file)),
        };
        let said = (said.robots.is_some() || said.tdm.is_some()).then(|| Arc::new(said));
        let bytes = said.as_ref().map_or(0, |said| said.bytes());
        if self.known.len() >= MOST || self.bytes + bytes > config::bounds::USAGE {
            self.known.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.known.insert(origin(url).to_owned(), said.clone());
        Ok(said)
    }

    /// Decides whether a page may be fetched, by the statements of its origin.
    pub fn decide(&self, url: &Url, said: Option<&OriginStatements>) -> Decided {
        let Some(purpose) = self.purpose else { return Decided::Fetch };
        if said.is_some_and(|said| matches!(said.of(url).decide(purpose, false), Decision::Forbidden { .. })) {
            return Decided::Forbidden;
        }
        let is_asked = matches!(purpose, Purpose::Train | Purpose::Input | Purpose::Mine);
        if is_asked && !said.is_some_and(OriginStatements::has_tdm) { Decided::Wait } else { Decided::Fetch }
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

/// Whether a job asks for the `tdmrep.json` of an origin. (It is fetched as a sitemap is. A link to it is a page.)
pub(super) fn is_tdm_file(job: &Job) -> bool {
    job.kind == JobKind::Sitemap && is_tdm(&job.url)
}

/// Whether a job asks for a sitemap.
pub(super) fn is_sitemap(job: &Job) -> bool {
    job.kind == JobKind::Sitemap && !is_tdm(&job.url)
}

/// Scheme, host and port.
fn origin(url: &Url) -> &str {
    &url[..Position::BeforePath]
}

#[cfg(test)]
mod tests {
    use dedup_stage::store::Memory;

    use super::*;

    /// Catches statements that are kept for every origin that has any: some hundred of them take gigabytes.
    #[test]
    fn statements_in_memory_are_bounded_by_their_bytes() {
        let (mut usage, mut session) = (OriginUsage::new("test", "train"), Session::new(Box::new(Memory::default())));
        let line = |n: usize| format!("Content-Usage: /{n}{} train-ai=n\n", "x".repeat(300));
        let file = (0..1_000).map(line).collect::<String>().into_bytes();
        for n in 0..40 {
            let url = Url::parse(&format!("http://{n}.test/robots.txt")).unwrap();
            usage.heard(&url, [b"User-agent: *\n", file.as_slice()].concat(), &mut session);
            let page = url.join("/7").unwrap();
            assert!(usage.of(&page, &session).unwrap().is_some());
            let held: usize = usage.known.values().flatten().map(|said| said.bytes()).sum();
            assert!(held > 0 && held <= config::bounds::USAGE, "{held} bytes after {n} origins");
        }
        assert!(usage.known.len() < 40);
        let early = usage.of(&Url::parse("http://0.test/7").unwrap(), &session).unwrap();
        assert!(early.is_some(), "it is read again");
    }
}

//! Webs whose contents are known, and a fetcher that lets a crawl fetch from them without sockets.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crawler::clock::Clock;
use crawler::demo::web::{Answer, Options, Truth, Web};
use crawler::fetch::{Fetch, FetchError, Request, Response};
use url::{Position, Url};
use xxhash_rust::xxh3::xxh3_64;

use super::{Curve, Gate, walk};
use crate::data;
use crate::memory::respond;
use crate::real::{Copies, RealWeb};

/// A web whose contents are known.
pub trait World: Send + Sync {
    /// The seeds of crawls.
    fn seeds(&self) -> Vec<String>;
    /// The number of a host; `None` if it does not exist.
    fn host(&self, name: &str) -> Option<u32>;
    /// The answer for a URL.
    fn answer(&self, url: &Url) -> Answer;
    /// The content at a URL.
    fn shows(&self, url: &Url) -> Truth;
    /// A number that is equal for all URLs that show the same content and link to the same contents.
    fn class(&self, url: &Url) -> u64;
    /// The number of fetches of a crawler that knows everything; `contents` can be reached.
    fn all_knowing(&self, contents: u64) -> u64 {
        contents
    }
}

impl World for Web {
    fn seeds(&self) -> Vec<String> {
        Web::seeds(self)
    }

    fn host(&self, name: &str) -> Option<u32> {
        self.hosts().iter().position(|host| host == name).map(|host| host as u32)
    }

    fn answer(&self, url: &Url) -> Answer {
        let found = Web::answer(self, url.host_str().unwrap_or_default(), target(url));
        found.unwrap_or_else(|| missing("text/html"))
    }

    fn shows(&self, url: &Url) -> Truth {
        self.shown_at(url.host_str().unwrap_or_default(), target(url)).unwrap_or(Truth::Missing)
    }

    fn class(&self, url: &Url) -> u64 {
        self.class_at(url.host_str().unwrap_or_default(), target(url)).unwrap_or_default()
    }

    fn all_knowing(&self, _contents: u64) -> u64 {
        self.oracle().pages
    }
}

impl World for RealWeb {
    fn seeds(&self) -> Vec<String> {
        RealWeb::seeds(self)
    }

    fn host(&self, name: &str) -> Option<u32> {
        RealWeb::host(self, name)
    }

    fn answer(&self, url: &Url) -> Answer {
        match self.html(url) {
            Some(body) => {
                Answer { status: 200, content_type: "text/html", location: None, body, delay: Duration::ZERO }
            }
            None => missing("text/html"),
        }
    }

    fn shows(&self, url: &Url) -> Truth {
        self.content(url).map_or(Truth::Missing, Truth::Content)
    }

    fn class(&self, url: &Url) -> u64 {
        self.content(url).unwrap_or_else(|| xxh3_64(url.as_str().as_bytes()))
    }
}

fn target(url: &Url) -> &str {
    &url[Position::BeforePath..Position::AfterQuery]
}

fn missing(content_type: &'static str) -> Answer {
    Answer { status: 404, content_type, location: None, body: String::new(), delay: Duration::ZERO }
}

/// The webs on which choosing is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum WebKind {
    /// 20,000 pages on 20 hosts, about 30 % copies
    Copies,
    /// Two versions each of two documentations, under two names, with print copies and sessions
    Real,
    /// A shop with filters, an endless calendar, and a forum with three URLs for each post
    Traps,
    /// 200 templates, with a different content on each page
    Templates,
    /// The documentation sites as they are
    Docs,
}

impl WebKind {
    /// The documentation sites.
    pub const DOCS: [&str; 4] = ["postgresql-15", "postgresql-17", "python-3.11", "python-3.13"];

    /// The web for a seed. `pages` is its number of pages if that can be chosen (0: the number at which its bar
    /// applies). Returns `None` if test data is absent.
    pub fn make(self, seed: u64, pages: usize) -> anyhow::Result<Option<Arc<dyn World>>> {
        let synthetic = |options: Options| {
            let pages = if pages == 0 { options.pages } else { pages };
            Some(Arc::new(Web::new(options.with_pages(pages))) as Arc<dyn World>)
        };
        let real = |copies| -> anyhow::Result<Option<Arc<dyn World>>> {
            let mut folders = Vec::new();
            for name in Self::DOCS {
                let Some(folder) = data::docs(name)? else { return Ok(None) };
                folders.push(folder);
            }
            Ok(Some(Arc::new(RealWeb::new(folders.iter().map(|folder| folder.as_path()), copies, seed)?)))
        };
        Ok(match self {
            WebKind::Copies => synthetic(Options::benchmark(seed)),
            WebKind::Traps => synthetic(Options::traps(seed)),
            WebKind::Templates => synthetic(Options::templates(seed)),
            WebKind::Real => real(Copies::ALL)?,
            WebKind::Docs => real(Copies::NONE)?,
        })
    }

    /// The number of contents that can be reached from the seeds. The ideal gate loses none of them on any of these
    /// webs.
    pub fn contents(self, world: &dyn World) -> u64 {
        walk(world, Gate::Truth, u64::MAX).contents()
    }
}

/// Fetches from a world, and records the curve of contents. Clones share the curve.
#[derive(Clone)]
pub struct WorldFetch {
    world: Arc<dyn World>,
    clock: Clock,
    progress: Arc<Mutex<Progress>>,
}

#[derive(Debug, Default)]
struct Progress {
    curve: Curve,
    contents: BTreeSet<u64>,
}

impl WorldFetch {
    /// A fetcher whose answers take no time on this clock.
    pub fn new(world: Arc<dyn World>, clock: Clock) -> Self {
        Self { world, clock, progress: Arc::default() }
    }

    /// The curve so far.
    pub fn curve(&self) -> Curve {
        self.lock().curve.clone()
    }

    /// The contents that were found so far.
    pub fn contents(&self) -> BTreeSet<u64> {
        self.lock().contents.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fetch for WorldFetch {
    async fn fetch(&self, request: Request) -> Result<Response, FetchError> {
        let answer = self.world.answer(&request.url);
        let mut share = request.budget.share();
        if !share.grow(answer.body.len() as u64) {
            return Err(FetchError::Budget);
        }
        if request.url.path() != "/robots.txt" {
            let shown = self.world.shows(&request.url);
            let Progress { curve, contents } = &mut *self.lock();
            curve.fetched(matches!(shown, Truth::Content(content) if contents.insert(content)));
        }
        Ok(respond(answer, &request, share, &self.clock))
    }

    /// Gives every host an address of its own, so that no two hosts share the delay of an address.
    async fn resolve(&self, url: Url) -> Result<Vec<IpAddr>, FetchError> {
        let host = url.host_str().and_then(|name| self.world.host(name));
        let host = host.ok_or_else(|| FetchError::Dns(format!("{url} does not exist")))?;
        Ok(vec![IpAddr::V4(Ipv4Addr::from_bits(0x0100_0001 + host))])
    }
}

//! A crawl and its directory: what is opened, cut back and put together before the engine runs.
//!
//! `DIR/state/` is the store and the only truth; `DIR/*.jsonl` and `DIR/warc/` are outputs, which a start cuts back to the
//! lengths that the state vouches for.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::{OnDuplicate, Robots, Settings};
use crossbeam_channel::Receiver;
use dedup_stage::judge::{Judge, Row};
use dedup_stage::store::{self, Disk, Session, Space};
use dedup_stage::url::{Canonicalizer, KeyHasher, KeySet};
use frontier::rules::Keys;
use frontier::scope::Scope;
use frontier::{Admission, Found, Frontier, Merits, SkipReason, Via};
use serde::de::DeserializeOwned;
use url::Url;

use crate::clock::Clock;
use crate::engine::{Context, Control, HeldLink, Parts, Stats, StopReason, skip_key};
use crate::focus::{Topic, TopicError};
use crate::priority::{self, OfLink, Scoring};
use crate::record::PageRecord;
use crate::sink::{Lengths, PagesJsonl, Sink, SkippedJsonl, Warc};
use crate::spaces;

/// Format of the state; another format is refused.
const FORMAT: &str = "crawl-3";

/// Redirects followed in a row.
const MAX_HOPS: u8 = 10;

/// Why a crawl cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory holds something else.
    #[error("{} is not empty and no crawl directory: name an empty one with --dir", .0.display())]
    Foreign(PathBuf),
    /// There is nothing to report on.
    #[error("{} holds no crawl", .0.display())]
    Missing(PathBuf),
    /// The state cannot be used.
    #[error("{}: {error}{}", .dir.display(), advice(.error))]
    Store {
        /// The crawl directory.
        dir: PathBuf,
        /// What is wrong.
        error: store::Error,
    },
    /// An output cannot be used.
    #[error("{}: {error}", .dir.display())]
    Output {
        /// The crawl directory.
        dir: PathBuf,
        /// What is wrong.
        error: std::io::Error,
    },
    /// Nothing to start from.
    #[error("no seeds: give at least one URL to start from, as in: crawler crawl https://some.site/")]
    NoSeeds,
    /// What a focused crawl is about.
    #[error(transparent)]
    Topic(#[from] TopicError),
    /// A pattern of `--include` or `--exclude`.
    #[error("{0}")]
    Pattern(String),
}

/// What to do about a state that cannot be used.
fn advice(error: &store::Error) -> &'static str {
    match error {
        store::Error::Damaged(_) | store::Error::Engine(_) => {
            ". Its pages.jsonl can still be read; to crawl anew, name another directory with --dir"
        }
        store::Error::Locked => ": another crawl runs in this directory; wait for it or stop it",
        store::Error::Io(_) | store::Error::Foreign(_) => "",
    }
}

/// An open crawl directory.
#[derive(Debug)]
pub struct CrawlDir {
    path: PathBuf,
    session: Session,
}

impl CrawlDir {
    /// Opens a crawl directory, or makes one of a directory that is empty or not there.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let state = path.join("state");
        let output = |error| OpenError::Output { dir: path.to_owned(), error };
        if !state.exists() && path.exists() && path.read_dir().map_err(output)?.next().is_some() {
            return Err(OpenError::Foreign(path.to_owned()));
        }
        std::fs::create_dir_all(&state).map_err(output)?;
        let disk = Disk::open(&state, &spaces::of_crawl())
            .map_err(|error| OpenError::Store { dir: path.to_owned(), error })?;
        Self::with_session(path, Session::new(Box::new(disk)))
    }

    /// Whether there is a crawl directory.
    pub fn is_at(path: &Path) -> bool {
        path.join("state").exists()
    }

    /// Opens a directory that must hold a crawl.
    pub fn existing(path: &Path) -> Result<Self, OpenError> {
        if Self::is_at(path) { Self::open(path) } else { Err(OpenError::Missing(path.to_owned())) }
    }

    /// Opens a crawl directory whose state lives elsewhere (in memory, or behind a fault-injecting store).
    pub fn with_session(path: &Path, mut session: Session) -> Result<Self, OpenError> {
        let store_error = |error| OpenError::Store { dir: path.to_owned(), error };
        match session.get(Space::META, b"format").map_err(store_error)? {
            Some(format) if format == FORMAT.as_bytes() => {}
            Some(format) => {
                let format = String::from_utf8_lossy(&format).into_owned();
                let reason = format!("its format is {format:?}, this program writes {FORMAT:?}");
                return Err(store_error(store::Error::Damaged(reason)));
            }
            None => session.put(Space::META, *b"format", FORMAT),
        }
        Ok(Self { path: path.to_owned(), session })
    }

    /// The settings of the crawl's last run, as TOML.
    pub fn settings(&self) -> Result<Option<String>, OpenError> {
        let bytes = self.session.get(Space::META, b"settings").map_err(|error| self.store_error(error))?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Counters of the crawl so far, and why its last run ended.
    pub fn stats(&self) -> Result<(Stats, Option<StopReason>), OpenError> {
        let stats = self.meta(b"stats")?.unwrap_or_default();
        let reason: Option<String> = self.meta(b"stop-reason")?;
        Ok((stats, reason.as_deref().and_then(StopReason::from_name)))
    }

    /// Where it started.
    pub fn seeds(&self) -> Result<Vec<Url>, OpenError> {
        Ok(self.meta(b"seeds")?.unwrap_or_default())
    }

    /// Lengths of the outputs that the state vouches for.
    pub fn lengths(&self) -> Result<Lengths, OpenError> {
        Ok(self.meta(b"outputs")?.unwrap_or_default())
    }

    /// The secret of the crawl's URL hashes.
    pub fn secret(&mut self) -> Result<[u8; KeyHasher::SECRET], OpenError> {
        let dir = self.path.clone();
        secret(&mut self.session).map_err(|error| OpenError::Store { dir, error })
    }

    /// The state, for those who only read.
    pub fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the crawl together: earlier seeds and new ones, queues and counters as the last commit left them.
    pub fn start(
        self,
        settings: &Settings,
        seeds: Vec<Url>,
        clock: Clock,
        control: Receiver<Control>,
    ) -> Result<Parts<'_>, OpenError> {
        let store_error = |dir: &Path, error| OpenError::Store { dir: dir.to_owned(), error };
        let lengths: Lengths = self.meta(b"outputs")?.unwrap_or_default();
        let stats: Stats = self.meta(b"stats")?.unwrap_or_default();
        let mut all_seeds: Vec<Url> = self.meta(b"seeds")?.unwrap_or_default();
        for seed in seeds {
            if !all_seeds.contains(&seed) {
                all_seeds.push(seed);
            }
        }
        if all_seeds.is_empty() {
            return Err(OpenError::NoSeeds);
        }
        let Self { path, mut session } = self;
        let now = clock.now();
        let scope = Scope::new(&settings.scope, &settings.urls, &all_seeds)
            .map_err(|error| OpenError::Pattern(error.to_string()))?;
        let topic = Topic::open(&settings.focus, &mut session, &mut |url| {
            Err(TopicError::Example { url: url.to_string(), reason: "was not fetched before the crawl".into() })
        })?;
        let hasher = KeyHasher::new(secret(&mut session).map_err(|error| store_error(&path, error))?);
        let context = Context {
            canonicalizer: Canonicalizer::new(&settings.urls),
            hasher,
            scope,
            token: settings.fetch.user_agent.clone(),
            obey_robots: settings.politeness.robots == Robots::Obey,
            max_hops: MAX_HOPS,
            topic: topic.map(Arc::new),
            archive: settings.output.warc.then(|| request_fields(settings)),
        };
        let mut open = || -> store::Result<(Frontier, Judge)> {
            let seeds = serde_json::to_vec(&all_seeds).map_err(std::io::Error::from)?;
            session.put(Space::META, *b"seeds", seeds);
            session.put(Space::META, *b"settings", lasting(settings).to_toml());
            session.delete(Space::META, *b"stop-reason");
            let judge = Judge::open(settings.dedup.distance, &mut session)?;
            let mut frontier = Frontier::open(settings, &mut session, now)?;
            if uses_rules(settings) {
                let (canonicalizer, hasher) = (context.canonicalizer.clone(), context.hasher.clone());
                let audits = if settings.dedup.on_duplicate == OnDuplicate::Drop { 100 } else { 400 };
                frontier.use_rules(Keys { canonicalizer, hasher }, audits, &session)?;
            }
            for seed in &all_seeds {
                add(&mut frontier, &mut session, &context, seed, 0, priority::SEED)?;
            }
            if settings.dedup.on_duplicate != OnDuplicate::Drop {
                let scoring = Scoring::new(&settings.priority);
                release(&mut frontier, &mut session, &context, &scoring, !uses_rules(settings))?;
            }
            if settings.fetch.recrawl && frontier.counts().queued == 0 {
                fetch_again(&mut frontier, &mut session)?;
            }
            session.commit()?;
            Ok((frontier, judge))
        };
        let (frontier, judge) = open().map_err(|error| store_error(&path, error))?;
        let sinks = sinks(&path, &lengths, settings).map_err(|error| OpenError::Output { dir: path, error })?;
        let context = Arc::new(context);
        Ok(Parts { settings, session, frontier, judge, sinks, stats, context, clock, control })
    }

    fn meta<T: DeserializeOwned>(&self, key: &[u8]) -> Result<Option<T>, OpenError> {
        let Some(bytes) = self.session.get(Space::META, key).map_err(|error| self.store_error(error))? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            let key = String::from_utf8_lossy(key);
            self.store_error(store::Error::Damaged(format!("{key} cannot be read: {error}")))
        })
    }

    fn store_error(&self, error: store::Error) -> OpenError {
        OpenError::Store { dir: self.path.clone(), error }
    }
}

/// The settings that a later run starts from: what was asked of this run alone is left out.
fn lasting(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.fetch.recrawl = false;
    settings
}

/// Queues every URL that was answered before, with the depth it had.
fn fetch_again(frontier: &mut Frontier, session: &mut Session) -> store::Result<()> {
    let mut pages = Vec::new();
    let mut met = KeySet::default();
    session.scan(spaces::PAGES, &[], &[], &mut |_, value| {
        if let Ok(page) = PageRecord::decode(value)
            && page.status > 0
            && met.insert(page.hash)
        {
            pages.push(page);
        }
        ControlFlow::Continue(())
    })?;
    for page in pages {
        if let Ok(url) = Url::parse(&page.url) {
            let PageRecord { hash, depth, source, .. } = page;
            frontier.add(
                &Found {
                    url: &url,
                    hash,
                    depth,
                    priority: priority::AGAIN,
                    merits: Merits::default(),
                    source,
                    via: Via::Again,
                },
                session,
            )?;
        }
    }
    Ok(())
}

fn sinks(dir: &Path, lengths: &Lengths, settings: &Settings) -> std::io::Result<Vec<Box<dyn Sink>>> {
    let mut sinks: Vec<Box<dyn Sink>> =
        vec![Box::new(PagesJsonl::open(dir, lengths)?), Box::new(SkippedJsonl::open(dir, lengths)?)];
    if settings.output.warc {
        sinks.push(Box::new(Warc::open(dir, lengths, &settings.fetch.user_agent)?));
    }
    Ok(sinks)
}

/// The header fields of every request, for the archive.
fn request_fields(settings: &Settings) -> Vec<(String, Vec<u8>)> {
    let headers = crate::fetch::http::request_headers(&settings.fetch).unwrap_or_default();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect()
}

/// The secret of the crawl's URL hashes.
fn secret(session: &mut Session) -> store::Result<[u8; KeyHasher::SECRET]> {
    if let Some(secret) = session.get(Space::META, b"secret")? {
        return secret.try_into().map_err(|_| store::Error::Damaged("the crawl's secret has the wrong length".into()));
    }
    let mut secret = [0; KeyHasher::SECRET];
    getrandom::fill(&mut secret).map_err(|error| store::Error::Io(std::io::Error::other(error.to_string())))?;
    session.put(Space::META, *b"secret", secret);
    Ok(secret)
}

fn add(
    frontier: &mut Frontier,
    session: &mut Session,
    context: &Context,
    url: &Url,
    depth: u32,
    priority: f32,
) -> store::Result<Admission> {
    let hash = context.canonicalizer.hash(url, &context.hasher);
    let merits = Merits { novelty: u8::MAX, relevance: u8::MAX, ..Merits::default() };
    frontier.add(&Found { url, hash, depth, priority, merits, source: None, via: Via::Seed }, session)
}

/// Whether rules are learned and applied: not where everything is to be fetched, for the first time or again.
fn uses_rules(settings: &Settings) -> bool {
    settings.dedup.rules && settings.dedup.on_duplicate != OnDuplicate::Keep && !settings.fetch.recrawl
}

/// Queues what an earlier run in `drop` mode kept aside for the sake of its page, and what rules stopped if `stopped` is set.
/// (While rules are used, what they stopped comes after everything else.)
fn release(
    frontier: &mut Frontier,
    session: &mut Session,
    context: &Context,
    scoring: &Scoring,
    stopped: bool,
) -> store::Result<()> {
    let mut held = Vec::new();
    session.scan(spaces::HELD, &[], &[], &mut |hash, link| {
        let link = HeldLink::decode(link).filter(|link| stopped || link.rules.is_empty());
        held.extend(link.map(|link| (hash.to_vec(), link)));
        ControlFlow::Continue(())
    })?;
    for (key, link) in held {
        if let Ok(url) = Url::parse(&link.url) {
            let hash = context.canonicalizer.hash(&url, &context.hasher);
            let (source, depth) = (Some(link.source).filter(|row| *row != Row::MAX), link.depth);
            let via = if link.rules.is_empty() { Via::Link } else { Via::Released };
            let (priority, merits) = scoring.link(scoring.page(0.0, depth), OfLink::default());
            let found = Found { url: &url, hash, depth, priority, merits, source, via };
            frontier.add(&found, session)?;
            for reason in [SkipReason::DuplicateSource, SkipReason::Rule, SkipReason::Mirror, SkipReason::Trap] {
                session.delete(spaces::SKIPPED, skip_key(hash, reason));
            }
        }
        session.delete(spaces::HELD, key);
    }
    Ok(())
}

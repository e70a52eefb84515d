//! Makes the parts of a crawl: seeds, scope, judge, frontier and outputs, as the last commit left them.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use config::{Layers, OnDuplicate, Robots, Settings};
use crossbeam_channel::Receiver;
use dedup_stage::corpus::Corpora;
use dedup_stage::flow::Flow;
use dedup_stage::store::{self, Session, Space};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys, Sites};
use frontier::scope::Scope;
use frontier::{FoundLink, Frontier, Merits, Via};
use url::Url;

use super::{CrawlDir, OpenError};
use crate::access::SiteAccess;
use crate::clock::Clock;
use crate::engine::{Context, Control, Parts, Stats};
use crate::extract::Forms;
use crate::focus::{Topic, TopicError};
use crate::graph::LinksGraph;
#[cfg(feature = "pdf")]
use crate::pdf::Program;
use crate::permissions::Purpose;
use crate::priority;
use crate::sink::{Lengths, PagesJsonl, Sink, SkippedJsonl, TextJsonl, Warc};

impl CrawlDir {
    /// Makes the parts of the crawl. The seeds are the earlier ones and the new ones. Queues and counters are as the
    /// last commit left them.
    pub fn start(
        self,
        settings: &Settings,
        seeds: Vec<Url>,
        clock: Clock,
        control: Receiver<Control>,
    ) -> Result<Parts<'_>, OpenError> {
        self.check_whole()?;
        let sites = self.sites().map_err(|error| self.store_error(error))?;
        let lengths: Lengths = self.meta(b"outputs")?.unwrap_or_default();
        let mut stats: Stats = self.meta(b"stats")?.unwrap_or_default();
        let known: Vec<Url> = self.meta(b"seeds")?.unwrap_or_default();
        let mut all_seeds = known.clone();
        let mut met: HashSet<Url> = known.iter().cloned().collect();
        all_seeds.extend(seeds.into_iter().filter(|seed| met.insert(seed.clone())));
        if all_seeds.is_empty() {
            return Err(OpenError::NoSeeds);
        }
        let before = self.settings()?;
        let Self { path, mut session, .. } = self;
        let store_error = |error| OpenError::Store { dir: path.clone(), error };
        let scope = Scope::new(&settings.scope, &settings.urls, &all_seeds)
            .map_err(|error| OpenError::Pattern(error.to_string()))?;
        let topic = Topic::open(&settings.focus, &mut session, &mut |url| {
            Err(TopicError::Example { url: url.to_string(), reason: "was not fetched before the crawl".into() })
        })?;
        let access = SiteAccess::open(&settings.access, &all_seeds, &mut session)?;
        let config::Dedup { known: files, distance, threads, .. } = &settings.dedup;
        let corpora = Corpora::open(files, *distance, *threads)?;
        let hasher = KeyHasher::new(secret(&mut session).map_err(store_error)?);
        let context = Arc::new(Context {
            keys: Keys { canonicalizer: Canonicalizer::new(&settings.urls), hasher },
            scope: Arc::new(scope),
            token: settings.fetch.user_agent.clone(),
            obey_robots: settings.politeness.robots == Robots::Obey,
            max_hops: Frontier::MOST_HOPS,
            topic: topic.map(Arc::new),
            scores: settings.focus.has_program(),
            requisites: settings.output.requisites && settings.output.warc,
            archive: settings.output.warc.then(|| request_fields(settings)),
            logins: access.logins(),
            has_account: access.has_account(),
            file_sites: access.file_sites(),
            purpose: Purpose::named(&settings.access.purpose),
            forms: Forms { text: settings.output.text, markdown: settings.output.markdown },
        });
        let lasting = lasting(settings, before.as_deref()).to_toml();
        let changed = before.is_some_and(|before| before != lasting) || known != all_seeds;
        let open = || -> store::Result<(Frontier, Flow)> {
            let seeds = serde_json::to_vec(&all_seeds).map_err(std::io::Error::from)?;
            session.put(Space::META, *b"seeds", seeds);
            session.put(Space::META, *b"settings", lasting);
            session.delete(Space::META, *b"stop-reason");
            let mut flow = Flow::open(&settings.dedup, context.keys.clone(), &mut session)?;
            flow.judge_mut().know(Arc::new(corpora));
            let frontier = frontier(settings, sites, &all_seeds, &context, changed, clock.now(), &mut session)?;
            // The seeds have been met now. If the crawl is killed here, its counters must include them.
            stats.take_counts(&frontier.counts());
            stats.put(&mut session)?;
            session.commit()?;
            Ok((frontier, flow))
        };
        let (frontier, flow) = open().map_err(store_error)?;
        let sinks = sinks(&path, &lengths, settings);
        let sinks = sinks.map_err(|error| OpenError::Output { dir: path.clone(), error })?;
        #[cfg(feature = "pdf")]
        let pdf = Program::own().map_err(|error| OpenError::Output { dir: path.clone(), error })?;
        Ok(Parts {
            settings,
            dir: path,
            session,
            frontier,
            flow,
            access,
            sinks,
            stats,
            context,
            #[cfg(feature = "pdf")]
            pdf,
            clock,
            control,
            only_visits: false,
            peers: None,
        })
    }
}

/// The frontier of the crawl, with its seeds. `changed`: whether the scope or the settings differ from those of the
/// last run.
fn frontier(
    settings: &Settings,
    sites: Sites,
    seeds: &[Url],
    context: &Context,
    changed: bool,
    now: u64,
    session: &mut Session,
) -> store::Result<Frontier> {
    let mut frontier = Frontier::open(settings, &context.keys, session, now)?;
    if sites != Sites::all() {
        frontier.own(sites);
    }
    if uses_rules(settings) {
        frontier.use_rules(session)?;
    }
    frontier.cap_pages(settings.limits.max_pages_per_host, settings.limits.max_pages_per_domain, session)?;
    frontier.use_scope(Arc::clone(&context.scope), changed, session);
    for url in seeds {
        let (id, _) = context.keys.identify(url);
        let merits = Merits { novelty: u8::MAX, relevance: u8::MAX, ..Merits::default() };
        let found = FoundLink { url, id, depth: 0, priority: priority::SEED, merits, source: None, via: Via::Seed };
        frontier.add(&found, session)?;
    }
    if settings.dedup.on_duplicate != OnDuplicate::Drop {
        // An earlier run in `drop` mode may have held links. If rules are used, the URLs that they stopped come after
        // everything else.
        frontier.release_all(!uses_rules(settings), session);
    }
    Ok(frontier)
}

/// The settings from which a later run starts. Settings for this run alone are left out, and so are the log and the
/// live page, which belong to a process (a log that cannot be written must not stop a later run without it). In a round
/// of visits, the limits of the round are left out, too, if an earlier run has stored limits.
fn lasting(settings: &Settings, before: Option<&str>) -> Settings {
    let mut lasting = settings.clone();
    lasting.fetch.recrawl = false;
    lasting.output.log.clear();
    lasting.output.dashboard.clear();
    let stored = before.map(|before| Layers::new().text(Path::new("stored settings"), before)?.finish());
    if settings.fetch.recrawl
        && let Some(Ok(stored)) = stored
    {
        lasting.limits = stored.limits;
        lasting.refresh.continuous = stored.refresh.continuous;
    }
    lasting
}

/// Whether rules are learned and applied. They are not if everything is to be fetched.
fn uses_rules(settings: &Settings) -> bool {
    settings.dedup.rules && settings.dedup.on_duplicate != OnDuplicate::Keep
}

fn sinks(dir: &Path, lengths: &Lengths, settings: &Settings) -> std::io::Result<Vec<Box<dyn Sink>>> {
    let most = settings.rotation().size;
    let mut sinks: Vec<Box<dyn Sink>> = vec![Box::new(PagesJsonl::open(dir, lengths, most)?)];
    let skipped = dir.join(SkippedJsonl::NAME);
    if !skipped.exists() {
        // The file is written when the run ends. Until then, readers find it empty.
        std::fs::write(skipped, b"")?;
    }
    sinks.push(Box::new(LinksGraph::open(dir, lengths, most)?));
    if settings.output.text {
        sinks.push(Box::new(TextJsonl::text(dir, lengths, most)?));
    }
    if settings.output.markdown {
        sinks.push(Box::new(TextJsonl::markdown(dir, lengths, most)?));
    }
    if settings.output.warc {
        sinks.push(Box::new(Warc::open(dir, lengths, most, &settings.fetch.user_agent)?));
    }
    Ok(sinks)
}

/// The header fields that every request has, for the archive.
fn request_fields(settings: &Settings) -> Vec<(String, Vec<u8>)> {
    let headers = crate::fetch::fields::request_headers(&settings.fetch).unwrap_or_default();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect()
}

/// The secret of the crawl's URL hashes.
pub(super) fn secret(session: &mut Session) -> store::Result<[u8; KeyHasher::SECRET]> {
    if let Some(secret) = session.get(Space::META, b"secret")? {
        return secret.try_into().map_err(|_| store::Error::Damaged("the crawl's secret has the wrong length".into()));
    }
    let mut secret = [0; KeyHasher::SECRET];
    getrandom::fill(&mut secret).map_err(|error| store::Error::Io(std::io::Error::other(error.to_string())))?;
    session.put(Space::META, *b"secret", secret);
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_and_live_page_belong_to_a_run_and_not_to_the_crawl() {
        let mut settings = Settings::default();
        settings.output.log = "/nowhere/log".into();
        settings.output.dashboard = "127.0.0.1:1".into();
        settings.output.text = true;
        let kept = lasting(&settings, None).output;
        assert_eq!((kept.log.as_str(), kept.dashboard.as_str(), kept.text), ("", "", true));
    }
}

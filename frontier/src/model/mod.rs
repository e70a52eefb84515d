//! The frontier against a naive model of what it promises, under random links, holds, answers, crashes and commits.

mod cut;
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use config::{Duration, Robots, Settings};
use dedup_stage::store::{Double, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher, PageId, Sites, UrlId};
use url::Url;

use crate::robots::{Answer, RobotsRules};
use crate::rules::{Content, Lesson};
use crate::{
    Admission, Brought, Detail, End, Failure, FoundLink, Frontier, Hold, Job, JobKind, Keys, Merits, Millis, Next,
    Outcome, SkipReason, State, Taught, Via, Walk,
};

pub const HOSTS: u8 = 5;
pub const PAGES: u8 = 24;

/// One page of the made-up web.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelPage {
    pub host: u8,
    pub page: u8,
}

impl ModelPage {
    /// The first two hosts are of one domain, the others of one each.
    pub fn url(self) -> Url {
        let Self { host, page } = self;
        let name = if host < 2 { format!("h{host}.one.test") } else { format!("h{host}.test") };
        Url::parse(&format!("http://{name}/{}/{page}", page % 3)).unwrap()
    }
}

/// How a job ends.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// With a page; whether it is a duplicate, and of what its text is.
    Fine {
        duplicate: bool,
        text: u8,
    },
    /// With 503 and a Retry-After.
    Busy,
    Missing,
    Fail(Failure),
    Return {
        requested: bool,
    },
    Moved(ModelPage),
}

/// What the frontier must know, kept in the plainest way.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Every URL ever found.
    met: BTreeSet<u64>,
    /// Attempts at a URL so far, and how often its body found no room.
    attempts: BTreeMap<u64, (u32, u32)>,
    /// URLs whose only visit is over, with what their pages showed.
    done: BTreeMap<u64, Option<Content>>,
}

pub struct World {
    pub disk: Double,
    pub session: Session,
    pub frontier: Frontier,
    pub model: Model,
    /// The hosts that are this frontier's.
    pub sites: Sites,
    /// Links to hosts that are another frontier's.
    pub returned: Vec<Returned>,
    /// The model, what every URL's record was, and how many links were returned at the last commit.
    durable: (Model, BTreeMap<ModelPage, Option<State>>, usize),
    pub now: Millis,
    pub open: Vec<Job>,
    /// Earliest next request, by host.
    not_before: BTreeMap<String, Millis>,
    last_start: Option<Millis>,
}

/// A link that was not queued, because another frontier has its host.
#[derive(Clone, Copy, Debug)]
pub enum Returned {
    Add(ModelPage, u8, Via),
    Hold(ModelPage, Option<ModelPage>),
    Refuse(ModelPage),
}

pub fn keys() -> Keys {
    Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([9; KeyHasher::SECRET]) }
}

pub fn id(place: ModelPage) -> UrlId {
    keys().id(&place.url())
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.politeness.delay = Duration(500);
    settings.politeness.delay_factor = 0.0;
    settings.politeness.address_delay = Duration(100);
    settings.politeness.attempts = 3;
    settings.politeness.robots = Robots::Obey;
    settings
}

pub fn places() -> impl Iterator<Item = ModelPage> {
    (0..HOSTS).flat_map(|host| (0..PAGES).map(move |page| ModelPage { host, page }))
}

impl World {
    pub fn new() -> Self {
        let disk = Double::default();
        let mut session = Session::new(Box::new(disk.clone()));
        let frontier = Frontier::open(&settings(), &keys(), &mut session, 0).unwrap();
        session.commit().unwrap();
        let durable = (Model::default(), places().map(|place| (place, None)).collect(), 0);
        let (model, open, not_before) = (Model::default(), Vec::new(), BTreeMap::new());
        let (sites, returned) = (Sites::all(), Vec::new());
        Self { disk, session, frontier, model, sites, returned, durable, now: 0, open, not_before, last_start: None }
    }

    fn found<'a>(&self, url: &'a Url, priority: u8, via: Via) -> FoundLink<'a> {
        let source = Some(PageId { url: UrlId { url: 7, ..UrlId::default() }, visit: 1 });
        let (merits, priority) = (Merits::default(), f32::from(priority) / 4.0);
        FoundLink { url, id: keys().id(url), depth: 1, priority, merits, source, via }
    }

    pub fn add(&mut self, place: ModelPage, priority: u8, via: Via) {
        let url = place.url();
        let found = self.found(&url, priority, via);
        let before = self.frontier.state(found.id, &self.session).unwrap();
        let admission = self.frontier.add(&found, &mut self.session).unwrap();
        if self.is_elsewhere(found.id, admission) {
            return self.returned.push(Returned::Add(place, priority, via));
        }
        self.model.met.insert(found.id.url);
        let expected = match before {
            None | Some(State::HeldFor { .. } | State::HeldAs { .. }) => Admission::Queued,
            Some(State::Refused { reason: SkipReason::Nofollow, .. }) => Admission::Queued,
            Some(_) => Admission::Seen,
        };
        match admission {
            // The eleventh redirect in a row.
            Admission::Refused(SkipReason::Trap) => assert!(matches!(via, Via::Redirect { hops: 11.., .. })),
            admission => assert_eq!(admission, expected, "{before:?}"),
        }
    }

    pub fn hold(&mut self, place: ModelPage, other: Option<ModelPage>) {
        let url = place.url();
        let found = self.found(&url, 0, Via::Link);
        let hold = other.map_or(Hold::News, |other| Hold::For(id(other)));
        let new = !self.model.met.contains(&found.id.url);
        let admission = self.frontier.hold(&found, hold, &mut self.session).unwrap();
        if self.is_elsewhere(found.id, admission) {
            return self.returned.push(Returned::Hold(place, other));
        }
        assert!(!new || matches!(admission, Admission::Held | Admission::Queued), "{admission:?}");
        self.model.met.insert(found.id.url);
    }

    pub fn refuse(&mut self, place: ModelPage) {
        let url = place.url();
        let found = self.found(&url, 0, Via::Link);
        let admission = self.frontier.refuse(&found, SkipReason::Nofollow, &mut self.session).unwrap();
        if self.is_elsewhere(found.id, admission) {
            return self.returned.push(Returned::Refuse(place));
        }
        let new = self.model.met.insert(found.id.url);
        assert_eq!(admission, if new { Admission::Refused(SkipReason::Nofollow) } else { Admission::Seen });
    }

    /// Whether a link was returned: that happens to links to hosts of others, and to these alone.
    fn is_elsewhere(&self, id: UrlId, admission: Admission) -> bool {
        let is_elsewhere = admission == Admission::Elsewhere;
        assert_eq!(is_elsewhere, !self.sites.has(id.site));
        is_elsewhere
    }

    pub fn ask(&mut self) -> Next {
        loop {
            let next = self.frontier.next(self.now, &mut self.session).unwrap();
            if matches!(next, Next::Wait(time) if time == self.now) {
                // There is work to be done in the background first.
                while self.frontier.step(&mut self.session).unwrap() {}
                continue;
            }
            let Next::Job(job) = next else { return next };
            let host = job.url.host_str().unwrap().to_owned();
            assert!(self.open.iter().all(|open| open.url.host_str() != Some(&host)), "two jobs open for {host}");
            if job.kind != JobKind::Resolve {
                let due = self.not_before.get(&host).copied().unwrap_or(0);
                assert!(self.now >= due, "{host} asked at {}, not before {due}", self.now);
                assert!(!job.addresses.is_empty());
                assert!(self.last_start.is_none_or(|last| self.now >= last + 100), "the address of all has a floor");
                self.last_start = Some(self.now);
            }
            if job.kind == JobKind::Page {
                let url = job.page.url.url;
                assert!(self.model.met.contains(&url) && !self.model.done.contains_key(&url), "twice: {job:?}");
                assert_eq!((job.page.visit, job.page.url), (1, keys().id(&job.url)));
            }
            self.open.push(job);
        }
    }

    /// The open job with this number ends.
    pub fn end(&mut self, at: usize, how: How) {
        let job = self.open.swap_remove(at);
        let how = match how {
            How::Moved(to) if to.url() == job.url => How::Missing,
            how => how,
        };
        let host = job.url.host_str().unwrap().to_owned();
        let done = |status| Outcome::Done { status, elapsed: 10, retry_after: None, target: None, cut: false };
        let busy = Outcome::Done { status: 503, elapsed: 10, retry_after: Some(4_000), target: None, cut: false };
        let trouble = Detail::NoRobots(Failure::Timeout);
        let (outcome, wait) = match (job.kind, how) {
            (_, How::Return { requested }) => (Outcome::Returned { requested }, 500),
            (JobKind::Resolve, How::Fail(_)) => (Outcome::Failed(Failure::Name), 1_000),
            (JobKind::Resolve, _) => (Outcome::Resolved(vec![IpAddr::from([192, 0, 2, 1])]), 0),
            (JobKind::Robots, How::Fail(_)) => {
                (Outcome::Robots(RobotsRules::unreachable(self.now, None, trouble)), 500)
            }
            (JobKind::Robots, _) => (Outcome::Robots(rules(&job.url, self.now)), 500),
            (_, How::Fail(failure)) => (Outcome::Failed(failure), 500),
            (_, How::Busy) => (busy, 4_000),
            (_, How::Fine { .. }) => (done(200), 500),
            (_, How::Missing) => (done(404), 500),
            (_, How::Moved(to)) => {
                let target = Some(id(to));
                (Outcome::Done { status: 301, elapsed: 10, retry_after: None, target, cut: false }, 500)
            }
        };
        let again = self.frontier.report(&job, outcome, self.now, &mut self.session).unwrap();
        if job.kind != JobKind::Resolve {
            let due = self.not_before.entry(host).or_default();
            *due = (*due).max(self.now + wait);
        }
        if job.kind == JobKind::Page {
            self.page_ended(&job, how, again);
        }
    }

    fn page_ended(&mut self, job: &Job, how: How, again: bool) {
        let url = job.page.url.url;
        let (attempts, returned) = self.model.attempts.entry(url).or_default();
        let mut failed_once_more = || {
            *attempts += 1;
            *attempts < 3
        };
        let expected = match how {
            How::Fine { .. } | How::Missing | How::Moved(_) => false,
            How::Busy => failed_once_more(),
            How::Fail(failure) => failure.is_transient() && failed_once_more(),
            How::Return { requested: false } => true,
            How::Return { requested: true } => {
                *returned += 1;
                *returned <= 3 || failed_once_more()
            }
        };
        assert_eq!(again, expected, "{how:?}, attempts {:?}", self.model.attempts[&url]);
        if again {
            return;
        }
        let content = match how {
            How::Fine { text, .. } => Some(Content { text: text.into(), shows: text.into() }),
            _ => None,
        };
        self.model.done.insert(url, content);
        if let How::Moved(to) = how {
            self.add(to, 2, Via::Redirect { hops: job.hops + 1, again: false });
        }
        let (taught, barren) = match how {
            How::Fine { duplicate: true, .. } => (Taught::Page { brought: Brought::Nothing, novelty: 0.5 }, true),
            How::Fine { .. } => (Taught::Page { brought: Brought::Content, novelty: 0.5 }, false),
            _ => (Taught::Error, false),
        };
        self.frontier.teach(job, taught, content.is_some(), &mut self.session).unwrap();
        if let Some(content) = content {
            let done = &self.model.done;
            let lesson =
                Lesson { url: &job.url, id: job.page.url, content, twin: None, barren, depth: job.depth, offspring: 0 };
            let shows = |page: PageId, _: &Session| Ok(done.get(&page.url.url).copied().flatten());
            self.frontier.learn(job, &lesson, &shows, &mut self.session).unwrap();
        }
    }

    pub fn commit(&mut self) {
        self.frontier.save(&mut self.session);
        self.session.commit().unwrap();
        self.durable = (self.model.clone(), self.records(), self.returned.len());
    }

    fn records(&self) -> BTreeMap<ModelPage, Option<State>> {
        let state = |place| self.frontier.state(id(place), &self.session).unwrap();
        places().map(|place| (place, state(place))).collect()
    }

    /// The process dies, and comes back with what was committed.
    pub fn crash(&mut self) {
        self.session = Session::new(Box::new(self.disk.clone()));
        self.open_frontier();
        self.model = self.durable.0.clone();
        self.returned.truncate(self.durable.2);
        self.open.clear();
        for place in places() {
            self.not_before.insert(place.url().host_str().unwrap().to_owned(), self.now + 500);
        }
        assert_eq!(self.records(), self.durable.1, "every URL stands where it stood at the commit");
        self.check();
    }

    fn open_frontier(&mut self) {
        self.frontier = Frontier::open(&settings(), &keys(), &mut self.session, self.now).unwrap();
        if self.sites != Sites::all() {
            self.frontier.own(self.sites.clone());
        }
    }

    /// What can be told at any time, in little time.
    pub fn glance(&self) {
        let counts = self.frontier.counts();
        assert_eq!(counts.seen, self.model.met.len() as u64);
        assert_eq!(counts.states.fetched(), self.model.done.len() as u64);
        assert_eq!(counts.hosts_fetching, self.open.len() as u64);
        let open = self.open.iter().filter(|job| job.kind == JobKind::Page).count() as u64;
        assert_eq!(counts.states.open, open);
    }

    /// Whether the views together are the records, and the records hold together.
    pub fn check(&mut self) {
        self.glance();
        self.frontier.save(&mut self.session);
        assert_eq!(self.frontier.check(&self.session).unwrap(), Vec::<String>::new());
        let mut skipped = BTreeSet::new();
        let mut walk = Walk::new(false);
        loop {
            let part = self.frontier.skipped(&mut walk, 7, &self.session).unwrap();
            if part.is_empty() {
                break;
            }
            for one in part {
                assert!(skipped.insert(one.id.url), "{one:?} comes twice");
                assert!(!self.model.done.contains_key(&one.id.url), "{one:?} was fetched");
            }
        }
        let states = self.frontier.counts().states;
        assert_eq!(skipped.len() as u64, states.held() + states.stopped() + states.refused());
        let queued = self.model.met.len() - skipped.len() - self.model.done.len();
        assert_eq!(queued as u64, states.queued + states.open);
    }

    /// Everything that is queued is handed out, once, in bounded time; what waits for it is decided.
    pub fn finish(&mut self) {
        for _ in 0..20_000 {
            while self.frontier.step(&mut self.session).unwrap() {}
            match self.ask() {
                _ if !self.open.is_empty() => self.end(0, How::Fine { duplicate: true, text: 1 }),
                Next::Wait(time) => {
                    assert!(time > self.now, "a wait for the past");
                    self.now = time;
                }
                Next::Idle if self.frontier.drain(&mut self.session).unwrap() => {}
                Next::Idle => return self.finished(),
                Next::Job(_) => unreachable!("ask ends where there is no job"),
            }
        }
        panic!("no end");
    }

    /// In a finished crawl nothing is queued, and what is held is held for something that was fetched well, or as news.
    /// (It is not known here what became of a URL of another frontier.)
    fn finished(&mut self) {
        self.check();
        assert_eq!(self.frontier.counts().queued, 0);
        for place in places() {
            if let Some(State::HeldFor { counterparts, .. }) = self.frontier.state(id(place), &self.session).unwrap() {
                if !self.sites.has(counterparts[0].site) {
                    continue;
                }
                let other = self.frontier.state(counterparts[0], &self.session).unwrap();
                let well =
                    matches!(&other, Some(State::Done(visit)) if matches!(visit.end, End::Answered { status: 200 }));
                assert!(well, "{place:?} is held for {other:?}");
            }
        }
    }
}

pub fn rules(url: &Url, at: Millis) -> RobotsRules {
    RobotsRules::read(&Answer { url, status: 404, retry_after: None, body: &[], at }, "once")
}

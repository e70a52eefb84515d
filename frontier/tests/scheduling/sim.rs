//! Jobs answered on a simulated clock.

use std::collections::BTreeMap;
use std::net::IpAddr;

use config::{Duration, Settings};
use dedup_stage::store::{Double, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher, Keys, PageId, UrlId};
use frontier::robots::{Answer, RobotsRules};
use frontier::rules::{Content, Lesson};
use frontier::{
    Admission, AnswerCost, Failure, FoundLink, Frontier, Hold, Job, JobKind, Merits, Millis, NamedBy, Next, Outcome,
    SkipReason, Via, Walk,
};
use url::Url;

/// Answers jobs on a simulated clock. Every answer takes `RESPONSE`, except those of hosts whose name begins with
/// `slow`: they lose their slot after `SLOW`. The pages of hosts whose name begins with `late` take `LATE`. There is never room for the bodies of hosts whose name begins with
/// `huge`. Hosts whose name begins with `busy` ask for a year of time at first.
pub struct Sim {
    pub frontier: Frontier,
    pub session: Session,
    now: Millis,
    /// What a robots.txt says, by its URL; 404 where there is nothing.
    pub robots: BTreeMap<String, Answered>,
    /// The address of a host.
    pub address: fn(&str) -> [u8; 4],
    /// Jobs that may be open at once.
    pub slots: usize,
    /// The time for which each answer waits until it is read, as far as the frontier is told.
    pub lag: Millis,
    /// Whether answers are read one after the other, each for as long as it costs. Then `lag` does not count.
    pub reads_in_turn: bool,
    /// The cost of reading the answer to a URL, in microseconds.
    pub cost: fn(&str) -> u64,
    /// The content of the page at a URL, if the frontier is to learn rules from the pages.
    pub shows: Option<fn(&str) -> u64>,
    /// The first URL with each content, and the content of each URL.
    first: BTreeMap<u64, Url>,
    shown: BTreeMap<u64, Content>,
    /// Requests: start, end, URL.
    pub log: Vec<(Millis, Millis, String)>,
    /// Jobs not answered yet, by the time of the answer.
    open: BTreeMap<(Millis, u64), Job>,
    /// Answers that are being read, by the time at which this ends, each with the time at which it came.
    reading: BTreeMap<(Millis, u64), (Job, Millis)>,
    /// The time at which all these answers have been read, in microseconds.
    read_until: u64,
}

#[derive(Clone)]
pub enum Answered {
    Says(&'static str),
    Status(u16),
    /// 503, with a Retry-After.
    Busy(Millis),
    Moved(&'static str),
}

pub const RESPONSE: Millis = 10;
pub const SLOW: Millis = 3_000;
const LATE: Millis = 2_700;
const YEAR: Millis = 365 * 24 * 3_600_000;

fn is_slow(url: &Url) -> bool {
    url.host_str().is_some_and(|host| host.starts_with("slow"))
}

fn is_huge(url: &Url) -> bool {
    url.host_str().is_some_and(|host| host.starts_with("huge"))
}

pub fn polite(delay: Millis) -> Settings {
    let mut settings = Settings::default();
    settings.politeness.delay = Duration(delay);
    settings.politeness.delay_factor = 0.0;
    settings
}

pub fn hash(url: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(url.as_bytes())
}

pub fn keys() -> Keys {
    Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([9; KeyHasher::SECRET]) }
}

pub fn id(url: &str) -> UrlId {
    keys().id(&Url::parse(url).unwrap())
}

fn link_to(url: &Url, priority: f32, via: Via) -> FoundLink<'_> {
    let id = id(url.as_str());
    FoundLink { url, id, depth: 0, priority, merits: Merits::default(), source: None, via }
}

impl Sim {
    pub fn new(settings: &Settings) -> Self {
        let mut session = Session::new(Box::new(Double::default()));
        let frontier = Frontier::open(settings, &keys(), &mut session, 0).unwrap();
        let address = |name: &str| {
            let number = hash(name) as u16;
            [10, 0, (number >> 8) as u8, number as u8]
        };
        let (robots, log, open) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        let (slots, cost) = (usize::MAX, |_: &str| 500);
        let (now, lag, reads_in_turn, reading, read_until) = (1_000, 0, false, BTreeMap::new(), 0);
        Self {
            frontier,
            session,
            now,
            robots,
            address,
            slots,
            lag,
            reads_in_turn,
            cost,
            shows: None,
            first: BTreeMap::new(),
            shown: BTreeMap::new(),
            log,
            open,
            reading,
            read_until,
        }
    }

    /// Adds a seed.
    pub fn add(&mut self, url: &str, priority: f32) -> Admission {
        self.found(url, priority, Via::Seed)
    }

    /// Adds a sitemap that the robots.txt of its host names.
    pub fn sitemap(&mut self, url: &str) {
        let url = Url::parse(url).unwrap();
        self.frontier.add_sitemap(&url, NamedBy::Robots(&url), 0, &mut self.session).unwrap();
    }

    /// Adds a sitemap that another sitemap names.
    pub fn sitemap_of_index(&mut self, url: &str, index: &str) -> Admission {
        let (url, index) = (Url::parse(url).unwrap(), Url::parse(index).unwrap());
        self.frontier.add_sitemap(&url, NamedBy::Sitemap(&index), 1, &mut self.session).unwrap()
    }

    /// Adds a link of a page.
    pub fn link(&mut self, url: &str) -> Admission {
        self.found(url, 0.5, Via::Link)
    }

    /// Adds a link of a duplicate, whose counterpart on the twin is `counterpart`.
    pub fn hold(&mut self, url: &str, counterpart: &str) -> Admission {
        let parsed = Url::parse(url).unwrap();
        let hold = Hold::For(id(counterpart));
        self.frontier.hold(&link_to(&parsed, 0.5, Via::Link), hold, &mut self.session).unwrap()
    }

    fn found(&mut self, url: &str, priority: f32, via: Via) -> Admission {
        let url = Url::parse(url).unwrap();
        self.frontier.add(&link_to(&url, priority, via), &mut self.session).unwrap()
    }

    fn is_first_of_busy(&self, url: &Url) -> bool {
        let is_page = |url: &&(Millis, Millis, String)| url.2.contains("//busy") && !url.2.ends_with("/robots.txt");
        url.host_str().is_some_and(|host| host.starts_with("busy")) && self.log.iter().filter(is_page).count() == 1
    }

    fn answer(&self, job: &Job) -> Outcome {
        match job.kind {
            JobKind::Resolve if job.url.host_str().unwrap().starts_with("nowhere") => Outcome::Failed(Failure::Name),
            JobKind::Resolve => Outcome::Resolved(vec![IpAddr::from((self.address)(job.url.host_str().unwrap()))]),
            JobKind::Robots => {
                let answer_after = |status, retry_after, body: &'static str| {
                    let answer = Answer { url: &job.url, status, retry_after, body: body.as_bytes(), at: self.now };
                    Outcome::Robots(RobotsRules::read(&answer, "once"))
                };
                let answer = |status, body| answer_after(status, None, body);
                match self.robots.get(job.url.as_str()) {
                    Some(Answered::Busy(wait)) => answer_after(503, Some(*wait), ""),
                    None => answer(404, ""),
                    Some(Answered::Says(text)) => answer(200, text),
                    Some(Answered::Status(status)) => answer(*status, ""),
                    Some(Answered::Moved(target)) => Outcome::RobotsMoved(Url::parse(target).unwrap()),
                }
            }
            JobKind::Page | JobKind::Sitemap if is_slow(&job.url) => Outcome::Failed(Failure::Slow),
            JobKind::Page if is_huge(&job.url) => Outcome::Returned { requested: true },
            JobKind::Page if self.is_first_of_busy(&job.url) => {
                Outcome::Done { status: 429, elapsed: RESPONSE, retry_after: Some(YEAR), target: None, cut: false }
            }
            JobKind::Page | JobKind::Sitemap => {
                Outcome::Done { status: 200, elapsed: RESPONSE, retry_after: None, target: None, cut: false }
            }
        }
    }

    /// Nothing happens for this time, as if the crawl was paused.
    pub fn pause(&mut self, time: Millis) {
        self.now += time;
    }

    /// Goes on with another frontier, as a crawl that is continued.
    pub fn restart(&mut self, settings: &Settings) {
        assert!(self.open.is_empty());
        self.frontier = Frontier::open(settings, &keys(), &mut self.session, self.now).unwrap();
    }

    /// Runs for this time, or until nothing is due.
    pub fn run_for(&mut self, time: Millis) {
        self.run(self.now + time, usize::MAX);
    }

    /// Runs until nothing is due before `end`, or `requests` were made.
    pub fn run(&mut self, end: Millis, requests: usize) {
        while self.now < end && self.log.len() < requests {
            let is_full = self.open.len() + self.reading.len() >= self.slots;
            let next = if is_full { Next::Idle } else { self.frontier.next(self.now, &mut self.session).unwrap() };
            let wake = match next {
                Next::Job(job) => {
                    let took = match job.kind {
                        JobKind::Resolve => 1,
                        JobKind::Page if is_slow(&job.url) => SLOW,
                        JobKind::Page if job.url.host_str().unwrap().starts_with("late") => LATE,
                        JobKind::Sitemap if job.url.host_str().unwrap().starts_with("drip") => 60_000,
                        _ => RESPONSE,
                    };
                    if job.kind != JobKind::Resolve {
                        self.log.push((self.now, self.now + took, job.url.to_string()));
                    }
                    self.open.insert((self.now + took, job.id), job);
                    continue;
                }
                Next::Wait(time) => Some(time),
                Next::Idle => None,
            };
            let ends = self.open.keys().next().into_iter().chain(self.reading.keys().next()).map(|(time, _)| *time);
            let Some(time) = wake.into_iter().chain(ends).min() else {
                return;
            };
            self.now = self.now.max(time).min(end);
            while let Some(entry) = self.open.first_entry()
                && entry.key().0 <= self.now
            {
                let ((came, _), job) = entry.remove_entry();
                if self.reads_in_turn {
                    self.read_until = self.read_until.max(1_000 * came) + (self.cost)(job.url.as_str());
                    self.reading.insert((self.read_until.div_ceil(1_000), job.id), (job, came));
                } else {
                    self.take(&job, self.now, self.lag);
                }
            }
            while let Some(entry) = self.reading.first_entry()
                && entry.key().0 <= self.now
            {
                let ((read, _), (job, came)) = entry.remove_entry();
                self.take(&job, came, read - came);
            }
            while self.frontier.step(&mut self.session).unwrap() {}
        }
    }

    /// An answer that came at this time was read.
    fn take(&mut self, job: &Job, came: Millis, lag: Millis) {
        let outcome = self.answer(job);
        self.frontier.report(job, outcome, came, &mut self.session).unwrap();
        self.teach(job);
        let micros = (self.cost)(job.url.as_str());
        let (site, kind) = (job.page.url.site, job.kind);
        let taken = AnswerCost { site, kind, answered: true, heavy: false, lag, micros };
        self.frontier.taken(&taken, self.now);
    }

    /// The frontier learns from the page of a job.
    fn teach(&mut self, job: &Job) {
        let Some(shows) = self.shows.filter(|_| job.kind == JobKind::Page) else { return };
        let (id, text) = (job.page.url, shows(job.url.as_str()));
        let twin = self.first.get(&text).cloned();
        let first = twin.as_ref().map_or(id, |twin| keys().id(twin));
        let content = Content { text, shows: first.url };
        self.shown.insert(id.url, content);
        self.first.entry(text).or_insert_with(|| job.url.clone());
        let (twin, barren) = (twin.as_ref(), twin.is_some());
        let lesson = Lesson { url: &job.url, id, content, twin, barren, depth: 1, offspring: 1 };
        let shown = |page: PageId, _: &Session| Ok(self.shown.get(&page.url.url).copied());
        self.frontier.learn(job, &lesson, &shown, &mut self.session).unwrap();
    }

    /// What is not fetched for good, by URL.
    pub fn skipped(&self) -> Vec<(String, SkipReason)> {
        let (mut walk, mut all) = (Walk::new(false), Vec::new());
        loop {
            let some = self.frontier.skipped(&mut walk, 100, &self.session).unwrap();
            if some.is_empty() {
                break;
            }
            all.extend(some.into_iter().map(|skipped| (skipped.url.into(), skipped.reason)));
        }
        all.sort();
        all
    }

    pub fn pages(&self) -> Vec<&str> {
        self.log.iter().map(|(.., url)| url.as_str()).filter(|url| !url.ends_with("/robots.txt")).collect()
    }
}

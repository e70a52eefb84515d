//! Jobs answered on a simulated clock.

use std::collections::BTreeMap;
use std::net::IpAddr;

use config::{Duration, Settings};
use dedup_stage::store::{Double, Session};
use frontier::robots::{Answer, Rules};
use frontier::{Admission, Found, Frontier, Job, JobKind, Merits, Millis, Next, Outcome, SkipReason, Via};
use url::Url;

/// Answers jobs on a simulated clock; every answer takes `RESPONSE`.
pub struct Sim {
    pub frontier: Frontier,
    pub session: Session,
    now: Millis,
    /// What a robots.txt says, by its URL; 404 where there is nothing.
    pub robots: BTreeMap<String, Answered>,
    /// The address of a host.
    pub address: fn(&str) -> [u8; 4],
    /// Requests: start, end, URL.
    pub log: Vec<(Millis, Millis, String)>,
    /// Jobs not answered yet, by the time of the answer.
    open: BTreeMap<(Millis, u64), Job>,
    pub skipped: Vec<(String, SkipReason)>,
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

pub fn polite(delay: Millis) -> Settings {
    let mut settings = Settings::default();
    settings.politeness.delay = Duration(delay);
    settings.politeness.delay_factor = 0.0;
    settings
}

pub fn hash(url: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(url.as_bytes())
}

impl Sim {
    pub fn new(settings: &Settings) -> Self {
        let mut session = Session::new(Box::new(Double::default()));
        let frontier = Frontier::open(settings, &mut session, 0).unwrap();
        let address = |name: &str| {
            let number = hash(name) as u16;
            [10, 0, (number >> 8) as u8, number as u8]
        };
        Self {
            frontier,
            session,
            now: 1_000,
            robots: BTreeMap::new(),
            address,
            log: vec![],
            open: BTreeMap::new(),
            skipped: vec![],
        }
    }

    pub fn add(&mut self, url: &str, priority: f32) -> Admission {
        let (hash, url) = (hash(url), Url::parse(url).unwrap());
        let found =
            Found { url: &url, hash, depth: 0, priority, merits: Merits::default(), source: None, via: Via::Seed };
        self.frontier.add(&found, &mut self.session).unwrap()
    }

    fn answer(&self, job: &Job) -> Outcome {
        match job.kind {
            JobKind::Resolve if job.url.host_str().unwrap().starts_with("nowhere") => {
                Outcome::Unresolved { forbidden: false }
            }
            JobKind::Resolve => Outcome::Resolved(vec![IpAddr::from((self.address)(job.url.host_str().unwrap()))]),
            JobKind::Robots => {
                let answer_after = |status, retry_after, body: &'static str| {
                    let answer = Answer { url: &job.url, status, retry_after, body: body.as_bytes(), at: self.now };
                    Outcome::Robots(Rules::read(&answer, "once"))
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
            JobKind::Page | JobKind::Sitemap => {
                Outcome::Done { status: 200, elapsed: RESPONSE, retry_after: None, row: 0 }
            }
        }
    }

    /// Runs until nothing is due before `end`, or `requests` were made.
    pub fn run(&mut self, end: Millis, requests: usize) {
        while self.now < end && self.log.len() < requests {
            let skipped = &mut self.skipped;
            let next = self
                .frontier
                .next(self.now, &mut self.session, &mut |job, reason| {
                    skipped.push((job.url.to_string(), reason));
                })
                .unwrap();
            let wake = match next {
                Next::Job(job) => {
                    let took = if job.kind == JobKind::Resolve { 1 } else { RESPONSE };
                    if job.kind != JobKind::Resolve {
                        self.log.push((self.now, self.now + took, job.url.to_string()));
                    }
                    self.open.insert((self.now + took, job.id), job);
                    continue;
                }
                Next::Wait(time) => Some(time),
                Next::Idle => None,
            };
            let Some(time) = wake.into_iter().chain(self.open.keys().next().map(|(time, _)| *time)).min() else {
                return;
            };
            self.now = self.now.max(time).min(end);
            while let Some(entry) = self.open.first_entry()
                && entry.key().0 <= self.now
            {
                let job = entry.remove();
                let outcome = self.answer(&job);
                self.frontier.report(&job, outcome, self.now, &mut self.session).unwrap();
            }
        }
    }

    pub fn pages(&self) -> Vec<&str> {
        self.log.iter().map(|(.., url)| url.as_str()).filter(|url| !url.ends_with("/robots.txt")).collect()
    }
}

//! The frontier and its store under load, with no network: what a page costs, whether that grows, what memory and disk
//! hold, how long a restart takes.
//!
//! ```text
//! cargo bench -p dedup-stage-frontier --bench load -- steady [PAGES]     a crawl that finds one new URL a page among 21 links
//! cargo bench -p dedup-stage-frontier --bench load -- grow [URLS]        a crawl that finds 20, until so many are queued
//! cargo bench -p dedup-stage-frontier --bench load -- restart DIR MADE   what `grow` left, with KEEP set in the environment
//! ```
//!
//! CPU is of the whole process (store threads included), in ticks of 10 ms; politeness is off; a commit comes every 256
//! pages.

use std::net::IpAddr;
use std::path::Path;
use std::time::Instant;

use config::{Duration, Robots, Settings};
use dedup_stage::store::{Disk, Session};
use dedup_stage::url::{Canonicalizer, KeyHasher, PageId, SiteId, UrlId};
use frontier::{FoundLink, Frontier, JobKind, Keys, Merits, Next, Outcome, Via};
use url::Url;

/// As in the crawler.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HOSTS: u64 = 20;
const LINKS: u64 = 21;
const PAGES_PER_COMMIT: u64 = 256;
/// Pages over which costs are compared: enough that each lane is read again, and that the store has flushed and merged.
const STEADY: u64 = 300_000;

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let mode = args.next().unwrap_or_else(|| "steady".into());
    let dir = args.next();
    let size = dir.as_ref().and_then(|size| size.parse().ok());
    match mode.as_str() {
        "grow" => grow(size.unwrap_or(10_000_000)),
        "restart" => {
            let made = args.next().and_then(|made| made.parse().ok()).unwrap_or(0);
            let mut crawl = restart(Path::new(&dir.expect("a directory")), made);
            if made > 0 {
                println!("after it: {:.1} CPU-µs a page", crawl.measure(STEADY, 1));
            }
        }
        "steady" => steady(size.unwrap_or(200_000)),
        other => panic!("{other:?}: say steady or grow"),
    }
}

/// A crawl of the generated web.
struct Crawl {
    session: Session,
    frontier: Frontier,
    /// URLs made so far; their numbers are their names.
    made: u64,
    pages: u64,
    hosts: u64,
    now: u64,
}

impl Crawl {
    fn open(dir: &Path, hosts: u64, made: u64) -> Self {
        let mut settings = Settings::default();
        settings.politeness.delay = Duration(0);
        settings.politeness.address_delay = Duration(0);
        settings.politeness.delay_factor = 0.0;
        settings.politeness.robots = Robots::Ignore;
        let mut session = Session::new(Box::new(
            Disk::open(dir, &dedup_stage::store::Spaces::new(&[frontier::spaces::FRONTIER])).unwrap(),
        ));
        let keys = Keys { canonicalizer: Canonicalizer::default(), hasher: KeyHasher::new([7; KeyHasher::SECRET]) };
        let frontier = Frontier::open(&settings, &keys, &mut session, 0).unwrap();
        Self { session, frontier, made, pages: 0, hosts, now: 1 }
    }

    fn link(&mut self, number: u64, source: Option<PageId>) -> bool {
        let (host, section) = (number % self.hosts, number / self.hosts % 23);
        let url = format!("http://host-{host:05}.example/section-{section}/page-{number:08}.html");
        let url = Url::parse(&url).unwrap();
        let found = FoundLink {
            url: &url,
            id: self.id(number),
            depth: 3,
            priority: 0.5,
            merits: Merits::default(),
            source,
            via: Via::Link,
        };
        self.frontier.add(&found, &mut self.session).unwrap() == frontier::Admission::Queued
    }

    /// The identity of a URL by its number, made up: hashing is not what is measured.
    fn id(&self, number: u64) -> UrlId {
        let host = hash(u64::MAX - number % self.hosts);
        UrlId { site: SiteId { domain: !host, host }, url: hash(number) }
    }

    /// One page: a pop, its report, links of which `new` are new.
    fn page(&mut self, new: u64) {
        let page = loop {
            match self.frontier.next(self.now, &mut self.session).unwrap() {
                Next::Job(job) if job.kind == JobKind::Resolve => {
                    let number = job.url.host_str().unwrap()[5..10].parse::<u32>().unwrap();
                    let address = IpAddr::from((0x0a00_0000 + number).to_be_bytes());
                    let outcome = Outcome::Resolved(vec![address]);
                    self.frontier.report(&job, outcome, self.now, &mut self.session).unwrap();
                }
                Next::Job(job) => {
                    let outcome =
                        Outcome::Done { status: 200, elapsed: 10, retry_after: None, target: None, cut: false };
                    self.frontier.report(&job, outcome, self.now, &mut self.session).unwrap();
                    break Some(job.page);
                }
                Next::Wait(time) => self.now = time.max(self.now + 1),
                Next::Idle => panic!("nothing queued"),
            }
        };
        let made = self.made;
        let old = (0..LINKS.max(new) - new).map(|n| hash(hash(self.pages * LINKS + n) % made));
        self.frontier.expect(old.chain((made..made + new).map(hash)));
        for n in 0..LINKS.max(new) - new {
            let old = hash(self.pages * LINKS + n) % self.made;
            assert!(!self.link(old, page));
        }
        for _ in 0..new {
            self.made += 1;
            assert!(self.link(self.made - 1, page));
        }
        self.pages += 1;
        if self.pages.is_multiple_of(PAGES_PER_COMMIT) {
            self.session.commit().unwrap();
        }
    }

    fn seed(&mut self, seeds: u64) {
        for number in self.made..self.made + seeds {
            self.link(number, None);
        }
        self.made += seeds;
        self.session.commit().unwrap();
    }

    /// CPU-µs a page over so many pages.
    fn measure(&mut self, pages: u64, new: u64) -> f64 {
        let before = cpu();
        for _ in 0..pages {
            self.page(new);
        }
        self.session.commit().unwrap();
        (cpu() - before) / pages as f64 * 1e6
    }
}

fn steady(pages: u64) {
    let dir = tempfile::tempdir().unwrap();
    let mut crawl = Crawl::open(dir.path(), HOSTS, 0);
    crawl.seed(HOSTS * 50);
    println!(
        "{pages} pages, {LINKS} links each, 1 new; making the links themselves costs {:.1} µs a page",
        links_alone()
    );
    for tenth in 1..=10 {
        let cost = crawl.measure(pages / 10, 1);
        println!("tenth {tenth}: {cost:.1} CPU-µs a page, RSS {:.1} MB", memory("VmRSS"));
    }
    drop(crawl);
    println!("peak RSS {:.1} MB, disk {:.1} MB", memory("VmHWM"), disk(dir.path()) / 1e6);
}

fn grow(urls: u64) {
    const NEW: u64 = 20;
    let hosts = 1_000;
    let dir = tempfile::tempdir().unwrap();
    let mut crawl = Crawl::open(dir.path(), hosts, 0);
    crawl.seed(hosts * 10);
    let slice = urls / NEW / 10;
    let at_start = crawl.measure(STEADY, 1);
    println!("start: {at_start:.1} CPU-µs a page of 1 pop, 1 push, {} links seen", LINKS - 1);
    let first = crawl.made;
    for tenth in 1..=10 {
        let cost = crawl.measure(slice, NEW);
        println!(
            "tenth {tenth}: {cost:.1} CPU-µs a page of 1 pop and {NEW} pushes, {} queued, RSS {:.0} MB",
            crawl.frontier.counts().queued,
            memory("VmRSS")
        );
    }
    let at_end = crawl.measure(STEADY, 1);
    println!(
        "end: {at_end:.1} CPU-µs a page of 1 pop, 1 push, {} links seen ({:+.0} %)",
        LINKS - 1,
        (at_end / at_start - 1.0) * 100.0
    );
    let queued = crawl.frontier.counts().queued;
    println!("queued {queued}, grown by {}, peak RSS {:.0} MB", crawl.made - first, memory("VmHWM"));
    let made = crawl.made;
    drop(crawl);
    println!("disk {:.1} bytes a queued URL", disk(dir.path()) / queued as f64);
    if std::env::var_os("KEEP").is_some() {
        println!("kept in {}, {made} made", dir.keep().display());
        return;
    }
    let mut crawl = restart(dir.path(), made);
    assert_eq!(crawl.frontier.counts().queued, queued);
    println!("after it: {:.1} CPU-µs a page", crawl.measure(50_000, 1));
}

fn restart(dir: &Path, made: u64) -> Crawl {
    let (start, before) = (Instant::now(), cpu());
    drop(Disk::open(dir, &dedup_stage::store::Spaces::new(&[frontier::spaces::FRONTIER])).unwrap());
    println!("the store alone opens in {:.1} s ({:.1} s CPU)", start.elapsed().as_secs_f64(), cpu() - before);
    let (start, before) = (Instant::now(), cpu());
    let crawl = Crawl::open(dir, 1_000, made);
    let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu() - before);
    println!("restart {wall:.1} s ({cpu:.1} s CPU), RSS {:.0} MB", memory("VmRSS"));
    crawl
}

/// What the generator itself costs a page.
fn links_alone() -> f64 {
    let before = cpu();
    let mut bytes = 0;
    for number in 0..LINKS * 20_000 {
        let url = format!("http://host-{:05}.example/section-{}/page-{number:08}.html", number % 20, number % 23);
        bytes += Url::parse(&url).unwrap().as_str().len();
    }
    assert!(bytes > 0);
    (cpu() - before) / 20_000.0 * 1e6
}

/// A permutation of the 64-bit numbers (SplitMix64's finaliser).
fn hash(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// CPU seconds of this process.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = &stat[stat.rfind(')').unwrap() + 2..];
    let ticks: u64 = after_name.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    ticks as f64 / 100.0
}

/// A field of /proc/self/status, in MB.
fn memory(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1e3
}

/// Bytes of the files under a directory.
fn disk(dir: &Path) -> f64 {
    std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                disk(&entry.path())
            } else {
                entry.metadata().unwrap().len() as f64
            }
        })
        .sum()
}

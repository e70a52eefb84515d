//! The cost of choosing the next visit and of learning from it, by the number of pages that are visited. It should grow
//! with the logarithm of this number.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use frontier::refresh::cluster::CopyCluster;
use frontier::refresh::prior::PriorKey;
use frontier::refresh::scheduler::{Refresh, VisitDecision, VisitFinding};
use frontier::refresh::settings::Settings;
use frontier::refresh::time::Seconds;
use frontier::refresh::turns::HostNumber;

const HOSTS: usize = 1_000;
const START: Seconds = 1_000_000_000;

/// Pages of many hosts, all just fetched.
struct Pages {
    refresh: Refresh,
    records: Vec<CopyCluster>,
    now: Seconds,
}

impl Pages {
    fn new(pages: usize) -> Self {
        let settings = Settings { budget: pages as f32 / 5.0, ..Settings::default() };
        let mut refresh = Refresh::new(settings, Default::default(), Default::default());
        (0..HOSTS).for_each(|_| _ = refresh.add_host(1.0, Default::default()));
        let records = vec![CopyCluster::new(START, 1.0, PriorKey::new(0, 3)); pages];
        for (page, cluster) in records.iter().enumerate() {
            refresh.add((page % HOSTS) as HostNumber, page as u64, cluster);
        }
        for host in 0..HOSTS {
            refresh.review(host as HostNumber, START);
            (host..pages).step_by(HOSTS).for_each(|page| refresh.pass(page as u64, &records[page]));
            refresh.reviewed();
        }
        Self { refresh, records, now: START }
    }

    /// Chooses a page, visits it, and learns whether it has changed.
    fn visit(&mut self) {
        loop {
            self.now += 1;
            let Some(turn) = self.refresh.next(self.now) else { continue };
            let cluster = &mut self.records[turn.page as usize];
            match self.refresh.judge(turn, cluster, self.now) {
                VisitDecision::Visit => {
                    self.refresh.take(turn);
                    let seen = VisitFinding { changed: turn.page % 3 == 0, modified: None };
                    self.refresh.rest(turn.host, self.now);
                    return self.refresh.visited(turn.host, turn.page, cluster, self.now, seen);
                }
                VisitDecision::Stale => self.refresh.drop(turn),
                VisitDecision::Wait(until) => self.refresh.defer(turn, until),
            }
        }
    }
}

fn visits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("visits");
    for pages in [10_000, 100_000, 1_000_000] {
        let mut visited = Pages::new(pages);
        let bytes = visited.refresh.allocated() as f64 / pages as f64;
        println!("{pages} pages: {bytes:.1} bytes of memory for each, and {} for its record", CopyCluster::BYTES);
        group.bench_function(BenchmarkId::new("visit", pages), |bencher| bencher.iter(|| visited.visit()));
    }
}

criterion_group!(benches, visits);
criterion_main!(benches);

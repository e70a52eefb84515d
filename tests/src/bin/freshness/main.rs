//! `freshness`: measures how fresh an archive stays under several policies of re-crawling, on synthetic webs that log
//! all changes. Fetches and time are simulated; only the scheduler is real. Prints one line for each cell, with the
//! bars that it misses. The exit code is 1 if any bar is missed.

use std::ops::Range;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::{Parser, ValueEnum};
use frontier::refresh::settings::Settings;
use tests::freshness::baselines::{ByPage, ClusterOptimum, Known, Multiply, Uniform};
use tests::freshness::changes::Pattern;
use tests::freshness::lies::Lies;
use tests::freshness::ours::Ours;
use tests::freshness::run::{Policy, run};
use tests::freshness::web::{Web, WebSpec};

/// Time-averaged freshness from day 20 to day 100, under a budget and a delay for each host.
#[derive(Debug, Parser)]
struct Args {
    /// URLs of a web, copies included
    #[arg(long, default_value_t = 2_000)]
    pages: usize,
    /// Hosts of a web
    #[arg(long, value_delimiter = ',', default_values_t = [30, 300])]
    hosts: Vec<usize>,
    /// Shares of copies
    #[arg(long, value_delimiter = ',', default_values_t = [0.12, 0.25, 0.47])]
    copies: Vec<f64>,
    /// Fetches a page and day
    #[arg(long, value_delimiter = ',', default_values_t = [0.1, 0.3, 1.0])]
    budgets: Vec<f64>,
    /// Which webs: changes by Poisson's law, or what must not do worse than uniform visits
    #[arg(long, value_delimiter = ',', default_values_t = [Kind::Poisson, Kind::Bursty, Kind::Daily, Kind::Equal, Kind::Alone])]
    webs: Vec<Kind>,
    /// Webs of each kind; the mean of all is printed
    #[arg(long, default_value_t = 2)]
    seeds: u64,
    /// Seed of the first web
    #[arg(long, default_value_t = 1)]
    first_seed: u64,
    /// Share of the copies that diverge
    #[arg(long, default_value_t = 0.05)]
    lying: f64,
}

/// A kind of web.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Changes follow Poisson's law, at rates that are log-normal around one a day, σ = 1.
    Poisson,
    /// Changes come in bursts.
    Bursty,
    /// Changes come by day only.
    Daily,
    /// All rates are equal.
    Equal,
    /// No copies.
    Alone,
}

/// The parameters of one line of the table.
#[derive(Clone, Copy, Debug)]
struct Cell {
    kind: Kind,
    hosts: usize,
    copies: f64,
    budget: f64,
    lying: f64,
}

/// The results of the policies in one cell.
#[derive(Clone, Debug, Default)]
struct Found {
    proportional: f64,
    storm: f64,
    nutch: f64,
    uniform: f64,
    pages: f64,
    clusters: f64,
    ours: f64,
    checks: f64,
    lies: Lies,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Kind::Poisson => "poisson",
            Kind::Bursty => "bursty",
            Kind::Daily => "daily",
            Kind::Equal => "equal",
            Kind::Alone => "alone",
        })
    }
}

impl Cell {
    fn web(&self, pages: usize, seed: u64) -> Web {
        Web::new(WebSpec {
            pages,
            hosts: self.hosts,
            copies: self.copies,
            lying: self.lying,
            pattern: match self.kind {
                Kind::Bursty => Pattern::Bursty,
                Kind::Daily => Pattern::Daily,
                Kind::Poisson | Kind::Equal | Kind::Alone => Pattern::Poisson,
            },
            deviation: if self.kind == Kind::Equal { 0.0 } else { 1.0 },
            seed,
        })
    }

    fn run(&self, pages: usize, seeds: Range<u64>) -> Found {
        let mut mean = Found::default();
        let count = (seeds.end - seeds.start) as f64;
        for seed in seeds {
            let web = &self.web(pages, seed);
            let budget = self.budget;
            let fresh = |policy: &mut dyn Policy| run(web, budget, policy).freshness / count;
            mean.proportional += fresh(&mut ByPage::new(web, Known::proportional(web, budget)));
            mean.storm += fresh(&mut ByPage::new(web, Multiply::new(web, budget, 0.5, 1.5)));
            mean.nutch += fresh(&mut ByPage::new(web, Multiply::new(web, budget, 0.8, 1.4)));
            mean.uniform += fresh(&mut ByPage::new(web, Uniform::new(web, budget)));
            mean.pages += fresh(&mut ByPage::new(web, Known::optimum(web, budget)));
            mean.clusters += fresh(&mut ClusterOptimum::new(web, budget));
            let settings = Settings { budget: (budget * pages as f64) as f32, ..Settings::default() };
            let mut ours = Ours::new(web, settings);
            mean.ours += fresh(&mut ours);
            mean.checks += ours.tally.checks as f64 / ours.tally.fetches.max(1) as f64 / count;
            mean.lies.add(Lies::of(web, &ours.tally));
        }
        mean
    }

    /// The bar: the share of the freshness of the cluster optimum that is required, if changes follow Poisson's law.
    fn bar(&self) -> Option<f64> {
        const BARS: [(f64, [(f64, f64); 3]); 3] = [
            (1.0, [(0.12, 0.95), (0.25, 0.97), (0.47, 0.98)]),
            (0.3, [(0.12, 0.93), (0.25, 0.95), (0.47, 0.97)]),
            (0.1, [(0.12, 0.82), (0.25, 0.89), (0.47, 0.94)]),
        ];
        let (_, bars) =
            BARS.iter().find(|(budget, _)| *budget == self.budget).filter(|_| self.kind == Kind::Poisson)?;
        bars.iter().find(|(copies, _)| *copies == self.copies).map(|(_, bar)| *bar)
    }

    /// The bars that are missed.
    fn missed(&self, found: &Found) -> Vec<String> {
        let mut missed = Vec::new();
        let share = found.ours / found.clusters;
        if let Some(bar) = self.bar().filter(|bar| share < *bar) {
            missed.push(format!("{share:.3} of the cluster optimum, wanted {bar}"));
        }
        if self.kind == Kind::Poisson && self.copies >= 0.25 && found.ours <= found.pages {
            missed.push("not above the page optimum".into());
        }
        if found.ours < found.uniform - 0.005 {
            missed.push(format!("below uniform by {:.3}", found.uniform - found.ours));
        }
        // A few copies are not enough to judge a share.
        if found.lies.after.len() >= 40 && found.lies.in_time() < 0.95 {
            missed.push(format!("{:.3} of the lies of watched pairs found in time", found.lies.in_time()));
        }
        if found.checks > 0.1 {
            missed.push(format!("checks take {:.1} %", 100.0 * found.checks));
        }
        missed
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let mut cells = Vec::new();
    for &kind in &args.webs {
        let copies = match kind {
            Kind::Poisson => &args.copies[..],
            Kind::Bursty | Kind::Daily | Kind::Equal => &[0.25],
            Kind::Alone => &[0.0],
        };
        let hosts = if kind == Kind::Poisson { &args.hosts[..] } else { &args.hosts[..1] };
        for &hosts in hosts {
            for &copies in copies {
                cells.extend(args.budgets.iter().map(|&budget| Cell {
                    kind,
                    hosts,
                    copies,
                    budget,
                    lying: args.lying,
                }));
            }
        }
    }
    println!("{} pages, mean of {} webs", args.pages, args.seeds);
    println!(
        "web     hosts copies budget  prop. x.5/1.5 x.8/1.4 uniform page-opt cluster-opt  ours  share checks  lies: found after days  watched: in time  missed"
    );
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(cells.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = cell.run(args.pages, args.first_seed..args.first_seed + args.seeds);
                    let bars = cell.missed(&found);
                    let mut missed = missed.lock().unwrap_or_else(PoisonError::into_inner);
                    *missed += bars.len();
                    println!("{}", line(cell, &found, &bars));
                }
            });
        }
    });
    let missed = missed.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{missed} bars missed");
    ExitCode::from(u8::from(missed > 0))
}

fn line(cell: &Cell, found: &Found, missed: &[String]) -> String {
    let Cell { kind, hosts, copies, budget, .. } = cell;
    let Found { proportional, storm, nutch, uniform, pages, clusters, ours, checks, lies } = found;
    format!(
        "{kind:7} {hosts:5} {copies:6.2} {budget:6.1}  {proportional:.3}   {storm:.3}   {nutch:.3}   {uniform:.3}    {pages:.3}       {clusters:.3} {ours:.3}  {:.3}  {:.3}  {:16.1} of {:3}  {:6.3} of {:3}  {}",
        ours / clusters,
        checks,
        lies.median_before(),
        lies.before.len(),
        lies.in_time(),
        lies.after.len(),
        if missed.is_empty() { "-".into() } else { missed.join("; ") }
    )
}

use tests::freshness::{baselines::*, changes::Pattern, ours::Ours, run::run, web::{Plan, Web}};
use frontier::refresh::settings::Settings;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let f = |i: usize| a[i].parse::<f64>().unwrap();
    let plan = Plan { pages: f(1) as usize, hosts: f(2) as usize, copies: f(3), lying: f(4), pattern: match a[6].as_str(){"p"=>Pattern::Poisson,"b"=>Pattern::Bursty,_=>Pattern::Daily}, deviation: f(7), seed: std::env::var("SEED").map_or(1, |s| s.parse().unwrap()) };
    let b = f(5);
    let web = Web::new(plan);
    let go = |name: &str, p: &mut dyn tests::freshness::run::Policy| { let t = cpu(); let o = run(&web, b, p); println!("{name:14} {:.4} unspent {:.3}  {:.2}s", o.freshness, o.unspent, cpu() - t); o.freshness };
    if a.get(8).is_none() {
    go("uniform", &mut ByPage::new(&web, Uniform::new(&web, b)));
    go("nutch", &mut ByPage::new(&web, Multiply::new(&web, b, 0.8, 1.4)));
    go("storm", &mut ByPage::new(&web, Multiply::new(&web, b, 0.5, 1.5)));
    go("proportional", &mut ByPage::new(&web, Known::proportional(&web, b)));
    go("page optimum", &mut ByPage::new(&web, Known::optimum(&web, b)));
    }
    let best = go("cluster opt", &mut ClusterOptimum::new(&web, b));
        let mut ours = Ours::new(&web, Settings { budget: (b * f(1)) as f32, ..Settings::default() });
        let o = go("ours", &mut ours);
        println!("    share {:.4} checks {:.4} left {} watched {} liars {}", o / best, ours.tally.checks as f64 / ours.tally.fetches as f64, ours.tally.left.len(), ours.tally.watched.len(), web.pages.iter().filter(|p| p.diverges.is_some()).count());
}
fn cpu() -> f64 { let s = std::fs::read_to_string("/proc/self/stat").unwrap(); let f: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect(); f[11].parse::<f64>().unwrap() / 100.0 }

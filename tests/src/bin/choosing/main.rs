//! `choosing`: measures how soon each way of choosing finds the contents of a web, compared with gates and oracles that
//! know the truth.
//!
//! `cargo run --release -p tests --bin choosing -- [WEB]... [--seeds 5] [--modes
//! keep,bytes,drop,drop+rules,demote,demote+rules]`
//!
//! For each web, it prints the number of fetches until a share of the contents was found, as a multiple of all fetches
//! of the ideal near-duplicate gate (which judges after the fetch, and follows no link of a duplicate). The figures are
//! medians over the seeds. Beside them are the contents that were lost. `--csv FILE` writes the curves themselves.

mod cost;
mod table;

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;
use tests::choosing::{Curve, Gate, MODES, WebKind, run, walk};

use table::Table;

/// Measure ways of choosing on webs whose contents are known.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The webs to crawl.
    #[arg(value_enum, default_values_t = [WebKind::Copies, WebKind::Real, WebKind::Traps, WebKind::Templates, WebKind::Docs])]
    webs: Vec<WebKind>,
    /// The number of seeds.
    #[arg(long, default_value_t = 5)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// The ways of choosing, by name.
    #[arg(long, value_delimiter = ',')]
    modes: Vec<String>,
    /// The number of pages of a synthetic web; 0 for the number at which the bars apply.
    #[arg(long, default_value_t = 0)]
    pages: usize,
    /// More settings of the crawler, as `key=value`.
    #[arg(long = "set")]
    set: Vec<String>,
    /// Print the time that choosing takes, and nothing else.
    #[arg(long)]
    cost: bool,
    /// Write the curves to this file: web, seed, way, fetches, contents.
    #[arg(long)]
    csv: Option<PathBuf>,
}

/// On a web without end, a crawl ends after this many times the fetches of an all-knowing crawler.
const ENDLESS: u64 = 6;

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if arguments.cost {
        return cost::print();
    }
    let more: Vec<(&str, &str)> = arguments.set.iter().filter_map(|pair| pair.split_once('=')).collect();
    let wanted = |name: &str| arguments.modes.is_empty() || arguments.modes.iter().any(|mode| mode == name);
    let mut csv = arguments.csv.as_ref().map(File::create).transpose()?;
    for kind in &arguments.webs {
        let mut table = Table::default();
        for seed in arguments.first..arguments.first + arguments.seeds {
            let Some(world) = kind.make(seed, arguments.pages)? else { return Ok(()) };
            let ideal = walk(&*world, Gate::Truth, u64::MAX);
            let contents = ideal.contents();
            let limit = world.all_knowing(contents) * ENDLESS;
            let mut curves = vec![
                ("all-knowing".to_owned(), straight(world.all_knowing(contents), contents)),
                ("ideal gate".to_owned(), ideal.clone()),
            ];
            if wanted("bytes") {
                curves.push(("exact bytes".to_owned(), walk(&*world, Gate::Bytes, limit)));
            }
            for mode in MODES.iter().filter(|mode| wanted(mode.name)) {
                let started = Instant::now();
                let run = run(&world, *mode, limit, &more)?;
                eprintln!(
                    "{kind:?} seed {seed} {}: {} fetches, {} of {contents} contents, {:.1} s",
                    mode.name,
                    run.curve.fetches,
                    run.curve.contents(),
                    started.elapsed().as_secs_f64()
                );
                curves.push((mode.name.to_owned(), run.curve));
            }
            for (name, curve) in curves.iter().filter(|(name, _)| name.starts_with("demote")) {
                bars(*kind, name, curve, &ideal, world.all_knowing(contents));
            }
            for (name, curve) in curves {
                if let Some(csv) = &mut csv {
                    write_curve(csv, *kind, seed, &name, &curve)?;
                }
                table.add(&name, curve, &ideal);
            }
        }
        println!("\n{kind:?}, {} seeds\n{table}", arguments.seeds);
    }
    Ok(())
}

/// Prints the figures that count for each web, with the bars that they should meet in brackets.
fn bars(kind: WebKind, name: &str, curve: &Curve, ideal: &Curve, all_knowing: u64) {
    let contents = ideal.contents();
    let over = |share: f64, of: u64| {
        curve.fetches_for(share, contents).map_or(f64::INFINITY, |fetches| fetches as f64 / of as f64)
    };
    match kind {
        WebKind::Copies => {
            let (all, most) = (over(1.0, ideal.fetches), over(0.95, ideal.fetches));
            println!("{name}: all contents by {all:.3} x the ideal gate (1.02), 95 % by {most:.3} x (0.95)");
        }
        WebKind::Real => println!("{name}: all contents by {:.3} x their number (1.15)", over(1.0, contents)),
        WebKind::Traps => {
            println!("{name}: 99 % by {:.3} x the all-knowing crawler (1.3)", over(0.99, all_knowing))
        }
        WebKind::Templates | WebKind::Docs => {
            println!("{name}: {} of {contents} contents lost (0)", contents.saturating_sub(curve.contents()));
        }
    }
}

/// The curve of a crawl that finds contents evenly over its fetches.
fn straight(fetches: u64, contents: u64) -> Curve {
    Curve { fetches, found_at: (1..=contents).map(|content| (content * fetches).div_ceil(contents)).collect() }
}

fn write_curve(csv: &mut File, kind: WebKind, seed: u64, name: &str, curve: &Curve) -> std::io::Result<()> {
    let step = (curve.fetches / 200).max(1);
    let mut out = String::new();
    for fetches in (0..=curve.fetches).step_by(step as usize) {
        out += &format!("{kind:?},{seed},{name},{fetches},{}\n", curve.contents_by(fetches));
    }
    csv.write_all(out.as_bytes())
}

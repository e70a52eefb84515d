//! `noticing`: checks whether visits are judged correctly. It prints the share of visits with `changed: content`, both
//! of those where the content of the page was the same and of those where a paragraph of 30 words changed; then the
//! same for documentation and its next version.
//!
//! `cargo run --release -p tests --bin noticing`

use clap::Parser;
use tests::data;
use tests::noticing::noise::{self, Noise};
use tests::noticing::{Called, docs};

/// Judge visits to pages that change, and to pages on which only parts change that are not their content.
#[derive(Debug, Parser)]
struct Args {
    /// The number of pages of each site
    #[arg(long, default_value_t = 60)]
    pages: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Also print the paths of documentation pages for which the judge is wrong
    #[arg(long)]
    wrong: bool,
}

fn main() -> anyhow::Result<()> {
    let Args { pages, seed, wrong } = Args::parse();
    println!("pages    beside the page  marked  called changed: equal visits  a paragraph of 30 words");
    let mut sites = vec![("made up", noise::made_up(pages, seed))];
    if let Some(real) = noise::documentation(pages)? {
        sites.push(("real", real));
    }
    sites.push(("short", noise::short(pages, seed)));
    for (name, site) in &sites {
        for noise in Noise::ALL {
            for marked in [true, false] {
                let found = noise::visit(site, noise, marked, seed)?;
                let marked = if marked { "yes" } else { "no" };
                println!("{name:8} {:16} {marked:7} {:28} {:24}", noise.name(), of(found.equal), of(found.changed));
            }
        }
    }
    for (old, new) in [("postgresql-15", "postgresql-17"), ("python-3.11", "python-3.13")] {
        let (Some(before), Some(after)) = (data::docs(old)?, data::docs(new)?) else { continue };
        let found = docs::visit(&before, &after)?;
        println!("{old} to {new}, called changed:");
        println!("  equal words {}", of(found.equal));
        println!("  less than a paragraph of 30 words {}", of(found.less));
        println!("  at least that {}", of(found.more));
        println!("  resemblance below .9 if numbers count {}", of(found.unlike));
        found.wrong.iter().filter(|_| wrong).for_each(|page| println!("  wrong: {page}"));
        println!("  precision {:.4}", found.precision());
    }
    Ok(())
}

fn of(called: Called) -> String {
    format!("{:.4} ({} of {})", called.share(), called.content, called.visits)
}

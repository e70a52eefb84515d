//! Crawls webs with planted quality, with a program that scores pages and breadth-first.

use tests::choosing::{Planted, Scored, median};

/// Prints the number of fetches until 95 % of the good texts are found.
pub fn print() -> anyhow::Result<()> {
    println!("\nplanted quality: {:.0} % of the texts good", 100.0 * Planted::GOOD);
    let heads = ["good to good", "texts", "hosts", "seed", "good", "breadth", "scored", "ratio"];
    println!("{}", heads.map(|head| format!("{head:>14}")).concat());
    for good_to_good in [0.7, 0.8] {
        let mut ratios = Vec::new();
        for (contents, hosts, seed) in [(4_000, 1, 1), (4_000, 1, 2), (4_000, 20, 3)] {
            let run = Scored::run(contents, hosts, good_to_good, seed)?;
            let fetches = |fetches: Option<u64>| fetches.map_or("never".into(), |fetches| fetches.to_string());
            let columns = [
                format!("{:.0} %", 100.0 * good_to_good),
                contents.to_string(),
                hosts.to_string(),
                seed.to_string(),
                run.good.to_string(),
                fetches(run.breadth.fetches_for(0.95, run.good)),
                fetches(run.scored.fetches_for(0.95, run.good)),
                format!("{:.3}", run.ratio(0.95)),
            ];
            println!("{}", columns.map(|column| format!("{column:>14}")).concat());
            ratios.push(run.ratio(0.95));
        }
        println!("scored over breadth first, median: {:.3} (bar: 0.400)", median(ratios));
    }
    Ok(())
}

//! Odd sites: everything that they show is found, whatever looks like a copy, and what has no end is left in time.

use std::sync::Arc;

use crawler::clock::Clock;
use crawler::crawl::CrawlDir;
use crawler::engine::{self, Nobody};
use dedup_stage::store::{Double, Session};
use frontier::rules::stored;
use tests::choosing::{Gate, ODD, World, WorldFetch, walk};
use tests::crawl::settings;

#[test]
fn nothing_is_lost_on_odd_sites() -> anyhow::Result<()> {
    let only = std::env::var("ODD").unwrap_or_default();
    for odd in ODD.iter().filter(|odd| odd.name.contains(&only)) {
        let world: Arc<dyn World> = Arc::new(*odd);
        let ideal = walk(&*world, Gate::Truth, 5_000);
        println!(
            "{}: {} contents ({} by the ideal gate with {} fetches)",
            odd.name,
            odd.contents,
            ideal.contents(),
            ideal.fetches
        );
        for (mode, rules) in [("drop", "false"), ("drop", "true"), ("demote", "false"), ("demote", "true")] {
            let settings = settings(&[
                ("dedup.on-duplicate", mode),
                ("dedup.rules", rules),
                ("dedup.audits", "false"),
                ("limits.max-pages", "5000"),
            ])?;
            let clock = Clock::at(1_700_000_000_000);
            let fetch = WorldFetch::new(Arc::clone(&world), clock.clone());
            let dir = tempfile::tempdir()?;
            let (_keep, control) = crossbeam_channel::unbounded();
            let seeds = world.seeds().iter().map(|seed| seed.parse()).collect::<Result<_, _>>()?;
            let store = Double::default();
            let parts = CrawlDir::with_session(dir.path(), Session::new(Box::new(store.clone())))?;
            let (reason, stats) =
                engine::run(parts.start(&settings, seeds, clock, control)?, fetch.clone(), &mut Nobody)?;
            let session = Session::new(Box::new(store));
            let curve = fetch.curve();
            println!(
                "   {mode:7}{rules:6} {} fetched, {} found, {} lost, all at {:?}, {reason:?} {} unique {} near {} unjudged",
                curve.fetches,
                curve.contents(),
                odd.contents - curve.contents(),
                curve.fetches_for(1.0, odd.contents),
                stats.unique,
                stats.near,
                stats.unjudged
            );
            for rule in stored(&session)? {
                println!(
                    "      {:9} {:?} proof {}:{} audits {}:{} stopped {}  {rule}",
                    rule.kind(),
                    rule.status,
                    rule.proof.agreed,
                    rule.proof.differed,
                    rule.audits.agreed,
                    rule.audits.differed,
                    rule.stopped
                );
            }
        }
    }
    Ok(())
}

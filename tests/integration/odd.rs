//! Odd sites: rules lose nothing that the gate alone finds, `demote` finds everything, and URLs for which rules are
//! made are stopped.

use std::sync::Arc;

use tests::choosing::{Kind, MODES, ODD, Odd, Run, World, run};

/// A crawl of at most 1,000 pages: some sites have no end.
fn crawl(odd: Odd, mode: &str) -> anyhow::Result<Run> {
    let mode = MODES.into_iter().find(|known| known.name == mode).expect("a way of choosing");
    let world: Arc<dyn World> = Arc::new(odd);
    // The rescue draws at random. It is off, so that only the rules make a difference.
    run(&world, mode, 1_000, &[("dedup.rescue", "0%")])
}

#[test]
fn no_rule_loses_what_the_gate_finds() -> anyhow::Result<()> {
    for odd in ODD {
        let [drop, rules] = [crawl(odd, "drop")?, crawl(odd, "drop+rules")?].map(|run| run.curve);
        let (found, fetches) = ((drop.contents(), rules.contents()), (drop.fetches, rules.fetches));
        println!("{}: {found:?} of {}, {fetches:?} fetches, without and with rules", odd.name, odd.contents);
        assert!(rules.contents() >= drop.contents(), "{}", odd.name);
        // Half of the months of a calendar with a dozen words each are judged unique. Chance decides how far trials
        // follow such a calendar, with rules and without.
        assert!(odd.kind == Kind::Endless || rules.fetches <= drop.fetches, "{}", odd.name);
    }
    Ok(())
}

#[test]
fn demote_with_rules_finds_everything() -> anyhow::Result<()> {
    for odd in ODD.into_iter().filter(|odd| odd.kind != Kind::Alike) {
        let curve = crawl(odd, "demote+rules")?.curve;
        let all = curve.fetches_for(1.0, odd.contents);
        println!("{}: {} contents by {all:?} fetches", odd.name, odd.contents);
        let fetches = all.unwrap_or_else(|| panic!("{}: {} found", odd.name, curve.contents()));
        if matches!(odd.kind, Kind::Copies | Kind::Endless) {
            assert!(fetches * 2 <= odd.contents * 3, "{}: {fetches} fetches", odd.name);
        }
    }
    Ok(())
}

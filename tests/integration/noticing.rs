//! Whether visits report changes right: a change around the content of a page is no change of the page, and a changed
//! paragraph is one. The program `noticing` prints the figures.

use tests::data;
use tests::noticing::noise::{self, Noise};
use tests::noticing::{Called, docs};

/// Catches dates, counters, sessions, advertisements, boxes of related pages and new templates that count as changes,
/// whether they are marked or not. Also catches a paragraph of 30 words in a page of 600 that is missed because of
/// them.
#[test]
fn what_changes_around_a_page_is_no_change_of_it() -> anyhow::Result<()> {
    let pages = noise::made_up(40, 3);
    for noise in Noise::ALL {
        for marked in [true, false] {
            let found = noise::visit(&pages, noise, marked, 3)?;
            assert!(found.equal.visits > 500 && found.changed.visits > 50, "{found:?}");
            // There is no aim for these two cases if the noise is not marked, but they must not get worse. The judge
            // has to see about thirty differences between twenty advertisements before it knows them all, and a site
            // of forty pages does not have many visits to learn from.
            let most = if matches!(noise, Noise::All | Noise::Inserted) && !marked { 0.05 } else { 0.02 };
            assert!(found.equal.share() < most, "{noise:?}, marked {marked}: {found:?}");
            assert!(found.changed.share() >= 0.97, "{noise:?}, marked {marked}: {found:?}");
        }
    }
    Ok(())
}

/// The same test with pages that have too little text for a fingerprint. They stay so short only if what changes is
/// marked, or is short itself.
#[test]
fn what_changes_around_a_short_page_is_no_change_of_it() -> anyhow::Result<()> {
    let pages = noise::short(40, 5);
    let marked = Noise::ALL.into_iter().filter(|noise| *noise != Noise::Teasers).map(|noise| (noise, true));
    for (noise, marked) in marked.chain([(Noise::Date, false), (Noise::Counter, false)]) {
        let found = noise::visit(&pages, noise, marked, 5)?;
        assert!(found.equal.visits > 500 && found.changed.visits > 50, "{found:?}");
        assert!(found.equal.share() < 0.02, "{noise:?}, marked {marked}: {found:?}");
        assert!(found.changed.share() >= 0.97, "{noise:?}, marked {marked}: {found:?}");
    }
    Ok(())
}

/// The same test with real pages.
#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn what_changes_around_a_real_page_is_no_change_of_it() -> anyhow::Result<()> {
    let Some(pages) = noise::documentation(40)? else { return Ok(()) };
    let (mut equal, mut changed) = (Called::default(), Called::default());
    for noise in [Noise::Date, Noise::Advertisement, Noise::Related, Noise::Teasers, Noise::Template] {
        let found = noise::visit(&pages, noise, false, 4)?;
        assert!(found.equal.share() < 0.025, "{noise:?}: {found:?}");
        equal = equal.and(found.equal);
        changed = changed.and(found.changed);
    }
    assert!(equal.share() < 0.02 && changed.share() >= 0.97, "{equal:?} and {changed:?}");
    Ok(())
}

/// Documentation and its next version, counted exactly.
#[test]
#[cfg_attr(not(shared_data), ignore = "there is no ../shared/data")]
fn the_next_version_of_documentation_is_told_right() -> anyhow::Result<()> {
    for (old, new) in [("postgresql-15", "postgresql-17"), ("python-3.11", "python-3.13")] {
        let (Some(before), Some(after)) = (data::docs(old)?, data::docs(new)?) else { return Ok(()) };
        let found = docs::visit(&before, &after)?;
        println!("{old} to {new}: {found:?}, precision {:.4}", found.precision());
        assert!(found.more.share() >= 0.97, "{found:?}");
        assert!(found.equal.visits < 100 || found.equal.share() < 0.02, "{found:?}");
        assert!(found.precision() >= 0.97, "{found:?}");
    }
    Ok(())
}

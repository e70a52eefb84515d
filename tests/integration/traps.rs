//! Sites that look like traps: their menus all say the same, and only the pages below say something. In `demote`, URLs
//! that a rule for traps stops come last, if a sample shows that they are worth it. A real trap costs little more than
//! the sample.

use std::sync::Arc;

use tests::gate::{Menu, Menus, Page, Reply, Site, run, walk};
use url::Url;

const DEMOTE: &[(&str, &str)] = &[("dedup.on-duplicate", "demote")];
const STRICT: &[(&str, &str)] = &[("dedup.on-duplicate", "demote"), ("dedup.rescue", "0%")];
/// The text of every menu.
const TEXT: &str = "Choose one of these. All that we have is listed here, and more is added every week by our readers, who \
                    find it, write about it and send it to us. Thank you for your patience, and for reading this page.";

/// A home page with links to this many tags. Each tag links to another tag, without end.
struct Tags(u64);

impl Site for Tags {
    fn seeds(&self) -> Vec<String> {
        vec!["http://tags1.test/".into()]
    }

    fn reply(&self, url: &Url) -> Reply {
        let parts: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
        Reply::Page(match parts[..] {
            [] => (0..self.0)
                .fold(Page::new("Home").text(1 << 20, 80), |page, tag| page.link(&format!("/tag/{tag}/"), "A tag")),
            ["tag", tag] => {
                let Ok(tag) = tag.parse::<u64>() else { return Reply::Missing };
                Page::new("Tag").paragraph(TEXT).link(&format!("/tag/{}/", tag.wrapping_mul(2) + 1), "More")
            }
            _ => return Reply::Missing,
        })
    }
}

/// Catches a crawl in `demote` that never fetches the URLs that a rule for traps stops, although it has nothing else to
/// do.
#[test]
fn what_is_no_trap_is_found_in_demote() -> anyhow::Result<()> {
    for kind in [Menu::Regions, Menu::Nodes] {
        // There are so many menus that the rule is proven before the first article.
        let sites = (1..).map(|seed| Arc::new(Menus::draw(seed, kind)) as Arc<dyn Site>);
        let large = |site: Arc<dyn Site>| Some((walk(&*site).things.len(), site)).filter(|(all, _)| *all > 200);
        let Some((all, site)) = sites.take(100).find_map(large) else { anyhow::bail!("no site is large enough") };
        let [without, found] = [run(&site, STRICT)?, run(&site, DEMOTE)?].map(|crawled| crawled.seen.things.len());
        println!("{kind:?}: {found} of {all} things, {without} without a sample");
        assert!(without * 2 < all, "a rule takes the menus for a trap, or this test tests nothing: {without}");
        assert!(found * 100 >= all * 99, "{found} of {all}");
    }
    Ok(())
}

/// Catches a sample that a trap can exploit.
#[test]
fn a_trap_costs_no_more_than_a_sample_in_demote() -> anyhow::Result<()> {
    let site: Arc<dyn Site> = Arc::new(Tags(400));
    let limit = ("limits.max-pages", "3000");
    let without = run(&site, &[STRICT, &[limit]].concat())?.seen.urls.len();
    let with = run(&site, &[DEMOTE, &[limit]].concat())?.seen.urls.len();
    println!("{with} fetches, {without} without a sample");
    assert!(with <= without + (without / 20).max(40), "{with} fetches, {without} without a sample");
    Ok(())
}

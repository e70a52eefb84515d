//! Sites that look like traps: their menus all say the same, and only what lies below them says something. What a rule for
//! traps stops comes last in `demote`, as far as a sample of it is worth it; a real trap costs little more than the sample.

use std::sync::Arc;

use tests::gate::{Page, Reply, Site, run, walk};
use url::Url;

const DEMOTE: &[(&str, &str)] = &[("dedup.on-duplicate", "demote")];
const STRICT: &[(&str, &str)] = &[("dedup.on-duplicate", "demote"), ("dedup.rescue", "0%")];
/// What stands on every menu.
const TEXT: &str = "Choose one of these. All that we have is listed here, and more is added every week by our readers, who \
                    find it, write about it and send it to us. Thank you for your patience, and for reading this page.";

/// A home page with links to `tags`, each of which has one link to a page of its own; or to nothing but tags, without end.
struct Tags {
    tags: u64,
    endless: bool,
}

impl Site for Tags {
    fn seeds(&self) -> Vec<String> {
        vec!["http://tags1.test/".into()]
    }

    fn reply(&self, url: &Url) -> Reply {
        let parts: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
        let number = |part: &str| part.parse::<u64>().ok().filter(|tag| self.endless || *tag < self.tags);
        let page = match parts[..] {
            [] => (0..self.tags)
                .fold(Page::new("Home").text(1 << 20, 80), |page, tag| page.link(&format!("/tag/{tag}/"), "A tag")),
            ["tag", tag] => {
                let Some(tag) = number(tag) else { return Reply::Missing };
                let page = Page::new("Tag").paragraph(TEXT);
                if self.endless {
                    page.link(&format!("/tag/{}/", tag * 2 + 1), "More")
                } else {
                    page.link("post.html", "More")
                }
            }
            ["tag", tag, "post.html"] if !self.endless => {
                let Some(tag) = number(tag) else { return Reply::Missing };
                Page::new("Post").text(tag, 120)
            }
            _ => return Reply::Missing,
        };
        Reply::Page(page)
    }
}

/// Catches a crawl in `demote` that never fetches what a rule for traps stops, although it finds nothing else to do.
#[test]
fn what_is_no_trap_is_found_in_demote() -> anyhow::Result<()> {
    let site: Arc<dyn Site> = Arc::new(Tags { tags: 400, endless: false });
    let truth = walk(&*site);
    let [without, found] = [run(&site, STRICT)?, run(&site, DEMOTE)?].map(|crawled| crawled.seen.things.len());
    println!("{found} of {} things, {without} without a sample", truth.things.len());
    assert!(
        without * 2 < truth.things.len(),
        "a rule takes the tags for a trap, or this test tests nothing: {without}"
    );
    assert_eq!(found, truth.things.len());
    Ok(())
}

/// Catches a sample that a trap can feed on.
#[test]
fn a_trap_costs_no_more_than_a_sample_in_demote() -> anyhow::Result<()> {
    let site: Arc<dyn Site> = Arc::new(Tags { tags: 400, endless: true });
    let limit = ("limits.max-pages", "3000");
    let without = run(&site, &[STRICT, &[limit]].concat())?.seen.urls.len();
    let with = run(&site, &[DEMOTE, &[limit]].concat())?.seen.urls.len();
    println!("{with} fetches, {without} without a sample");
    assert!(with <= without + (without / 20).max(40), "{with} fetches, {without} without a sample");
    Ok(())
}

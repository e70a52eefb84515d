//! Sites that make new URLs for their pages at each visit.

use tests::crawl::text;
use tests::scripted::{html, words};

use super::Site;

/// The number of pages of the site, without the front page.
const PAGES: u64 = 80;

/// Catches a site with a new token in all its links at each visit, which is fetched twice in each round, for ever: the
/// old URLs are visited, and the new ones are fetched. From the pairs of both, the crawl learns that the token makes no
/// difference.
#[test]
fn a_token_that_is_new_in_each_round_is_learned() -> anyhow::Result<()> {
    let site = Site::new(|path, round| {
        let link = |page: u64| format!("<a href=/t{}?tok=a{}b>{page}</a> ", page % PAGES, round * 7_919);
        let number = path.strip_prefix("/t").and_then(|number| number.parse::<u64>().ok());
        match (path, number) {
            ("/", _) => Some(html(format!("<p>{}</p>{}", words(0, 80), (0..PAGES).map(link).collect::<String>()))),
            (_, Some(number)) => {
                let links: String = (1..4).map(|step| link(number + step)).collect();
                Some(html(format!("<title>{number}</title><p>{}</p>{links}", words(3_000 + number, 120))))
            }
            _ => None,
        }
    })?;
    let mut new = Vec::new();
    for _ in 2..=4 {
        let (asked, crawled) = site.refresh()?;
        let last = &crawled.pages[crawled.pages.len() - asked.len()..];
        new.push(last.iter().filter(|page| page["visit"] == 1).count() as u64);
        assert!(last.iter().all(|page| page["visit"] != 1 || text(page, "verdict") != "unique"), "nothing is new");
    }
    assert!(new[0] < PAGES && new[1] <= 5 && new[2] <= 5, "first visits in each round: {new:?}");
    Ok(())
}

//! The `spider` crate on the seeds given: one `Website` a seed, all at once, as its users would crawl several hosts.

use spider::tokio;
use spider::website::Website;

#[tokio::main]
async fn main() {
    let crawls: Vec<_> = std::env::args()
        .skip(1)
        .map(|seed| {
            tokio::spawn(async move {
                let mut website = Website::new(&seed);
                website.with_respect_robots_txt(false).with_delay(0).with_depth(0);
                website.crawl().await;
                website.get_all_links_visited().await.len()
            })
        })
        .collect();
    let mut pages = 0;
    for crawl in crawls {
        pages += crawl.await.unwrap_or_default();
    }
    println!("{pages}");
}

//! What a robots.txt says to a crawler: `cargo run -p dedup-stage-frontier --example read_robots -- robots.txt mybot /a
//! /b/c`

use frontier::robots::{Answer, RobotsRules};
use url::Url;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, token, paths @ ..] = arguments.as_slice() else {
        return Err("say a file, a product token and paths".into());
    };
    let (url, body) = (Url::parse("https://some.site/robots.txt")?, std::fs::read(file)?);
    let rules = RobotsRules::read(&Answer { url: &url, status: 200, retry_after: None, body: &body, at: 0 }, token);
    for path in paths {
        let word = if rules.allowed(&url.join(path)?) { "may be fetched" } else { "may not be fetched" };
        println!("{path} {word}");
    }
    if let Some(delay) = rules.crawl_delay() {
        println!("{} s between requests", delay.0 as f64 / 1000.0);
    }
    rules.sitemaps().iter().for_each(|sitemap| println!("sitemap {sitemap}"));
    Ok(())
}

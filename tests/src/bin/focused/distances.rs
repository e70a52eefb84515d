//! An open question of Manku, Jain and Das Sarma, section 6.F: is simhash good enough in a focused crawl, where pages
//! resemble each other? This module measures the Hamming distances between the fingerprints of all pairs of pages of a
//! topic, and of all pairs of pages of a site.

use std::collections::BTreeMap;
use std::sync::Arc;

use dedup_stage::page::{Input, Reader};
use tests::choosing::World;
use url::Url;

use super::by_anchors;
use super::topics::TOPICS;

/// Prints the distributions.
pub fn print(sites: &BTreeMap<&str, Arc<dyn World>>) -> anyhow::Result<()> {
    println!("\nHamming distances between fingerprints of pages with other words (paper, 6.F)");
    println!("{:<74}{:>7}{:>10}{:>7}{:>7}{:>8}{:>10}{:>10}", "", "pages", "pairs", "1%", "10%", "median", "<=3", "<=7");
    for (site, world) in sites {
        let pages = fingerprints(&**world)?;
        row(&format!("{site}: all"), pages.iter().collect());
        for topic in TOPICS.iter().filter(|topic| topic.site == *site) {
            row(&format!("{site}: {}", topic.words), pages.iter().filter(|(path, ..)| topic.has(path)).collect());
        }
    }
    Ok(())
}

/// The path, fingerprint and content of a reachable page.
type Print = (String, u64, u64);

fn fingerprints(world: &dyn World) -> anyhow::Result<Vec<Print>> {
    let mut reader = Reader::default();
    let mut prints = Vec::new();
    for url in by_anchors(world, "", usize::MAX) {
        let url: Url = url.parse()?;
        let answer = world.answer(&url);
        let (status, body) = (answer.status, answer.body.as_bytes());
        let page = reader.read(&Input { url: &url, status, content_type: Some(answer.content_type), body });
        if let Some(signature) = page.signature {
            prints.push((url.path().trim_start_matches('/').to_owned(), signature.simhash, world.class(&url)));
        }
    }
    Ok(prints)
}

fn row(name: &str, pages: Vec<&Print>) {
    let mut counts = [0u64; 65];
    for (at, (_, a, content)) in pages.iter().enumerate() {
        for (_, b, _) in pages[..at].iter().filter(|(.., other)| other != content) {
            counts[(a ^ b).count_ones() as usize] += 1;
        }
    }
    let pairs: u64 = counts.iter().sum();
    let quantile = |share: f64| {
        let mut left = (share * pairs as f64).ceil() as u64;
        counts.iter().position(|count| {
            let here = left <= *count;
            left -= left.min(*count);
            here
        })
    };
    let below = |most: usize| 100.0 * counts[..=most].iter().sum::<u64>() as f64 / pairs.max(1) as f64;
    let [low, tenth, median] = [0.01, 0.1, 0.5].map(|share| quantile(share).unwrap_or_default());
    println!(
        "{:<74}{:>7}{pairs:>10}{low:>7}{tenth:>7}{median:>8}{:>9.4}%{:>9.4}%",
        name.chars().take(72).collect::<String>(),
        pages.len(),
        below(3),
        below(7)
    );
}

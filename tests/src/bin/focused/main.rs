//! `focused`: measures focused crawls. First, the harvest rates of focused crawls of the documentation sites on ten
//! topics, compared with a breadth-first crawler and with a best-first crawler that reads only anchors. Then, the
//! distances between the fingerprints of the pages of a topic. Last, crawls with a program that scores pages.
//!
//! `cargo run --release -p tests --bin focused` (`-- --planted` for the last part alone)

mod distances;
mod planted;
mod topics;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::sync::Arc;

use clap::Parser;
use crawler::clock::Clock;
use tests::choosing::{Gate, World, WorldFetch, median, walk};
use tests::crawl::{crawl_with, settings};
use tests::data;
use tests::real::{Copies, RealWeb};
use url::Url;

use topics::{TOPICS, Topic};

/// Measure focused crawls.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The share of the pages of a site that is fetched.
    #[arg(long, default_value_t = 0.2)]
    share: f64,
    /// More settings of the crawler, as `key=value`.
    #[arg(long = "set")]
    set: Vec<String>,
    /// Only the crawls with a program that scores pages.
    #[arg(long)]
    planted: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if arguments.planted {
        return planted::print();
    }
    let more: Vec<(&str, &str)> = arguments.set.iter().filter_map(|pair| pair.split_once('=')).collect();
    let mut sites = BTreeMap::new();
    for site in TOPICS.map(|topic| topic.site) {
        let Some(folder) = data::docs(site)? else { return Ok(()) };
        let web: Arc<dyn World> = Arc::new(RealWeb::new([folder.as_path()], Copies::NONE, 1)?);
        sites.entry(site).or_insert(web);
    }
    println!(
        "{:<14}{:<58}{:>8}{:>8}{:>9}{:>9}{:>9}",
        "site", "topic", "section", "fetched", "breadth", "anchors", "focused"
    );
    let mut rates: [Vec<f64>; 3] = Default::default();
    for topic in TOPICS {
        let world = &sites[topic.site];
        let (pages, section) = reachable(world, &topic);
        let limit = (arguments.share * pages as f64) as usize;
        let rate = |urls: &[String]| {
            let has = |url: &&String| Url::parse(url).is_ok_and(|url| topic.has(url.path().trim_start_matches('/')));
            urls.iter().take(limit).filter(has).count() as f64 / limit as f64
        };
        let ways = [
            crawl(world, &[("dedup.on-duplicate", "keep")], limit)?,
            by_anchors(&**world, topic.words, limit),
            crawl(
                world,
                &[&[("focus.topic", topic.words), ("dedup.on-duplicate", "demote")], &more[..]].concat(),
                limit,
            )?,
        ];
        let [breadth, anchors, focused] = ways.map(|urls| rate(&urls));
        println!(
            "{:<14}{:<58}{section:>8}{limit:>8}{:>8.1}%{:>8.1}%{:>8.1}%",
            topic.site,
            topic.words.chars().take(56).collect::<String>(),
            100.0 * breadth,
            100.0 * anchors,
            100.0 * focused
        );
        rates.iter_mut().zip([breadth, anchors, focused]).for_each(|(all, one)| all.push(one));
    }
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    let [breadth, anchors, focused] = [0, 1, 2].map(|way| mean(&rates[way]));
    println!("mean harvest rate: breadth-first {breadth:.3}, anchors alone {anchors:.3}, focused {focused:.3}");
    println!(
        "focused over breadth-first: {:.2} (bar: 2), median over topics {:.2}; over anchors alone: {:.2} (bar: 1)",
        focused / breadth,
        median(rates[2].iter().zip(&rates[0]).map(|(focused, breadth)| focused / breadth)),
        focused / anchors
    );
    distances::print(&sites)?;
    planted::print()
}

/// The number of reachable pages, and how many of them are in the section.
fn reachable(world: &Arc<dyn World>, topic: &Topic) -> (u64, usize) {
    let mut section = HashSet::new();
    let urls = by_anchors(&**world, "", usize::MAX);
    for url in urls.iter().filter_map(|url| Url::parse(url).ok()) {
        let path = url.path().trim_start_matches('/').to_owned();
        if topic.has(&path) {
            section.insert(path);
        }
    }
    (walk(&**world, Gate::None, u64::MAX).fetches, section.len())
}

/// The URLs that the crawler fetches, in order.
fn crawl(world: &Arc<dyn World>, keys: &[(&str, &str)], limit: usize) -> anyhow::Result<Vec<String>> {
    let limit = limit.to_string();
    let settings = settings(&[keys, &[("limits.max-pages", limit.as_str()), ("fetch.concurrency", "1")]].concat())?;
    let clock = Clock::at(1_700_000_000_000);
    let dir = tempfile::tempdir()?;
    let fetch = WorldFetch::new(Arc::clone(world), clock.clone());
    let crawled = crawl_with(fetch, &clock, dir.path(), &world.seeds(), &settings)?;
    Ok(crawled.urls().into_iter().map(str::to_owned).collect())
}

/// The URLs that a best-first crawler fetches, in order. It ranks a link by the number of words of the topic in its
/// anchor. Among equal links, the one that was found first comes first.
fn by_anchors(world: &dyn World, topic: &str, limit: usize) -> Vec<String> {
    let wanted = words(topic);
    let mut queue = BinaryHeap::new();
    let (mut best, mut fetched, mut urls) = (BTreeMap::new(), HashSet::new(), Vec::new());
    let mut arrivals = 0u64;
    for seed in world.seeds() {
        queue.push((u32::MAX, Reverse(arrivals), seed));
    }
    while let Some((_, _, url)) = queue.pop() {
        if urls.len() == limit {
            break;
        }
        if !fetched.insert(url.clone()) {
            continue;
        }
        urls.push(url.clone());
        let Ok(base) = Url::parse(&url) else { continue };
        let answer = world.answer(&base);
        for tag in answer.body.split("<a ").skip(1) {
            let Some((attributes, rest)) = tag.split_once('>') else { continue };
            let href = attributes.split_once("href=\"").and_then(|(_, value)| value.split('"').next());
            let Some(Ok(mut target)) = href.map(|href| base.join(&href.replace("&amp;", "&"))) else { continue };
            target.set_fragment(None);
            if target.host_str().and_then(|host| world.host(host)).is_none() {
                continue;
            }
            let anchor = words(rest.split("</a>").next().unwrap_or_default());
            let share = wanted.intersection(&anchor).count() as u32;
            let target = String::from(target);
            if best.get(&target).is_none_or(|known| *known < share) {
                best.insert(target.clone(), share);
                arrivals += 1;
                queue.push((share, Reverse(arrivals), target));
            }
        }
    }
    urls
}

/// The words of a text in lower case, without tags.
fn words(html: &str) -> HashSet<String> {
    let text: String =
        html.split('<').flat_map(|part| [part.split_once('>').map_or(part, |(_, text)| text), " "]).collect();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

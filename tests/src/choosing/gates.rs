//! Gates and oracles for comparison: breadth-first crawls that judge pages by the truth, by their bytes, or not at all.

use std::collections::{BTreeSet, HashSet, VecDeque};

use crawler::demo::web::Truth;
use url::Url;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::{Curve, World};

/// The rule that decides the links of which pages are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// All pages.
    None,
    /// Pages whose bytes were not seen before.
    Bytes,
    /// Pages that show new content: the ideal near-duplicate gate, which judges after the fetch.
    Truth,
}

/// Crawls breadth-first from all seeds, follows the links of pages that pass the gate, and ends after `limit` fetches.
pub fn walk(world: &dyn World, gate: Gate, limit: u64) -> Curve {
    let mut queue: VecDeque<Url> = world.seeds().iter().filter_map(|seed| seed.parse().ok()).collect();
    let mut queued: HashSet<u64> = queue.iter().map(hash).collect();
    let (mut contents, mut expanded) = (BTreeSet::new(), BTreeSet::new());
    let mut curve = Curve::default();
    while let Some(url) = queue.pop_front().filter(|_| curve.fetches < limit) {
        let shown = world.shows(&url);
        curve.fetched(matches!(shown, Truth::Content(content) if contents.insert(content)));
        let answer = world.answer(&url);
        if let Some(location) = answer.location {
            follow(&url, &location, world, &mut queued, &mut queue);
            continue;
        }
        let pass = answer.status == 200
            && match gate {
                Gate::None => true,
                Gate::Bytes => expanded.insert(xxh3_128(answer.body.as_bytes())),
                Gate::Truth => expanded.insert(u128::from(world.class(&url))),
            };
        if pass {
            for href in hrefs(&answer.body) {
                follow(&url, &href.replace("&amp;", "&"), world, &mut queued, &mut queue);
            }
        }
    }
    curve
}

/// The targets of links, found by searching the text. The method is independent of the crawler's.
fn hrefs(html: &str) -> impl Iterator<Item = &str> {
    html.split("<a ").skip(1).filter_map(|tag| tag.split('>').next()?.split("href=\"").nth(1)?.split('"').next())
}

fn follow(base: &Url, href: &str, world: &dyn World, queued: &mut HashSet<u64>, queue: &mut VecDeque<Url>) {
    let Ok(mut url) = base.join(href) else { return };
    url.set_fragment(None);
    let known = url.host_str().and_then(|host| world.host(host)).is_some();
    if known && queued.insert(hash(&url)) && world.shows(&url) != Truth::Forbidden {
        queue.push_back(url);
    }
}

fn hash(url: &Url) -> u64 {
    xxh3_64(url.as_str().as_bytes())
}

//! The truth about a web: everything that links lead to, found without the crawler.

use std::collections::{BTreeSet, HashSet, VecDeque};

use url::Url;

use super::{Reply, Site, Thing};

/// What links lead to.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// URLs that are answered with a page.
    pub pages: BTreeSet<String>,
    /// What they bring.
    pub things: BTreeSet<Thing>,
}

/// Follows every link from the seeds. The web must have an end.
pub fn walk(site: &dyn Site) -> Walked {
    let mut queue: VecDeque<Url> = site.seeds().iter().filter_map(|seed| seed.parse().ok()).collect();
    let mut met: HashSet<Url> = queue.iter().cloned().collect();
    let mut walked = Walked::default();
    while let Some(url) = queue.pop_front() {
        let Reply::Page(page) = site.reply(&url) else { continue };
        walked.pages.insert(url.to_string());
        walked.things.extend(&page.things);
        for href in &page.links {
            if let Ok(next) = url.join(href)
                && met.insert(next.clone())
            {
                queue.push_back(next);
            }
        }
    }
    walked
}

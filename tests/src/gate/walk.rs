//! The truth about a web: all pages to which links lead, found without the crawler.

use std::collections::{BTreeSet, HashSet, VecDeque};

use url::Url;

use super::{Reply, Site, Thing};

/// The pages to which links lead.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// The URLs that are answered with a page.
    pub pages: BTreeSet<String>,
    /// The content of these pages.
    pub things: BTreeSet<Thing>,
}

/// Follows every link from the seeds. The web must be finite.
pub fn walk(site: &dyn Site) -> Walked {
    let mut queue: VecDeque<Url> = site.seeds().iter().filter_map(|seed| seed.parse().ok()).collect();
    let mut met: HashSet<Url> = queue.iter().cloned().collect();
    let mut walked = Walked::default();
    while let Some(url) = queue.pop_front() {
        let page = match site.reply(&url) {
            Reply::Page(page) => page,
            Reply::File(number) => {
                walked.things.insert(Thing::File(number));
                continue;
            }
            Reply::Missing | Reply::Silence => continue,
        };
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

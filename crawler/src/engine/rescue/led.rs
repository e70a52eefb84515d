//! The pages that led to others. A page leads to another one if the other one's URL was found on it first.
//!
//! A URL is held because another page, its counterpart, was fetched in its place. If the counterpart led to many pages,
//! the held URL may lead to as many, which nobody knows yet. So it is a better URL to try than one whose counterpart
//! led nowhere ([`Led`]), and a whole copy of a site may lie behind a few held URLs ([`behind`]).

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use dedup_stage::store::{self, Session};

use crate::record::PageRecord;
use crate::spaces;

/// At most this many pages are looked at; they take about 4 MB.
pub const MOST: usize = 1 << 17;

/// The number of pages that each page led to, by the hash of its URL. Pages that led nowhere are not in it.
#[derive(Debug, Default)]
pub struct Led(HashMap<u64, u32>);

impl Led {
    /// Reads all records of pages in the state.
    pub fn read(session: &Session) -> store::Result<Self> {
        let mut led = HashMap::new();
        each_page(session, &mut |page| {
            let is_room = led.len() < MOST;
            // Later visits to a page have the source of the first one.
            match page.source.filter(|_| page.visit == 1).map(|source| (source, led.get_mut(&source))) {
                Some((_, Some(pages))) => *pages += 1,
                Some((source, None)) if is_room => _ = led.insert(source, 1),
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        Ok(Self(led))
    }

    /// The number of pages to which a page led.
    pub fn of(&self, url: u64) -> u32 {
        self.0.get(&url).copied().unwrap_or(0)
    }
}

/// About how many URLs that were never met lie behind the URLs that are held back, if these lead to as many pages as
/// their counterparts did. `held` has the counterparts, by the hashes of their URLs, with the number of URLs that are
/// held back for each. A page that was found behind a counterpart does not count if it is a counterpart itself, or if
/// another page shows the same. (Then its copy, and the URLs to which the copy leads, were met already.)
pub fn behind(held: &HashMap<u64, u64>, session: &Session) -> store::Result<u64> {
    let (mut sources, mut shown, mut left_out) = (HashMap::new(), HashSet::new(), 0_u64);
    if held.is_empty() {
        return Ok(0);
    }
    each_page(session, &mut |page| {
        if page.shows.is_some_and(|shows| shows != page.url) {
            shown.extend(page.shows);
        } else if sources.len() < MOST {
            sources.insert(page.url, page.source);
        } else {
            left_out += 1;
        }
        ControlFlow::Continue(())
    })?;
    // For each page, the number of held URLs behind which it lies.
    let mut known = HashMap::<u64, u64>::new();
    let mut way = Vec::new();
    for page in sources.keys() {
        let mut at = Some(*page);
        let count = loop {
            let Some(url) = at else { break 0 };
            if let Some(count) = known.get(&url) {
                break *count;
            }
            if let Some(count) = held.get(&url) {
                break *count;
            }
            if shown.contains(&url) || way.len() > sources.len() {
                break 0;
            }
            way.push(url);
            at = sources.get(&url).copied().flatten();
        };
        known.extend(way.drain(..).map(|url| (url, count)));
    }
    let found: u64 = known.values().fold(0, |all, count| all.saturating_add(*count));
    let looked_at = sources.len() as u64;
    Ok(found.saturating_mul(looked_at + left_out) / looked_at.max(1))
}

/// The part of the record of a page that is used here.
struct Page {
    /// The hash of its URL.
    url: u64,
    /// The number of the visit.
    visit: u32,
    /// The hash of the URL of the page that led to it.
    source: Option<u64>,
    /// The hash of the URL of the first page that shows the same; `None` if it was not judged.
    shows: Option<u64>,
}

/// Calls `visit` with each record of a page in the state. A page has a record for each visit.
fn each_page(session: &Session, visit: &mut dyn FnMut(Page) -> ControlFlow<()>) -> store::Result<()> {
    let mut failure = None;
    session.scan(
        spaces::PAGES,
        &[],
        &[],
        &mut |key, value| match (PageRecord::page_of(key), PageRecord::decode(value)) {
            (Some(id), Ok(PageRecord { source, content, .. })) => visit(Page {
                url: id.url.url,
                visit: id.visit,
                source: source.map(|page| page.url.url),
                shows: content.map(|content| content.shows),
            }),
            (None, _) => ControlFlow::Continue(()),
            (_, Err(error)) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        },
    )?;
    failure.map_or(Ok(()), Err)
}

#[cfg(test)]
pub(super) mod tests {
    use dedup_stage::store::Memory;
    use dedup_stage::url::{PageId, UrlId};
    use frontier::Via;
    use frontier::rules::Content;

    use super::*;
    use crate::fetch::Validators;
    use crate::record::VerdictKind;

    pub fn page(url: u64) -> PageId {
        PageId { url: UrlId { url, ..UrlId::default() }, visit: 1 }
    }

    /// A crawl of pages, given as URL, source, and the page that shows the same.
    pub fn crawl(pages: &[(u64, Option<u64>, u64)]) -> Session {
        let mut session = Session::new(Box::new(Memory::default()));
        for (url, source, shows) in pages {
            let record = PageRecord {
                verdict: VerdictKind::Unique,
                status: 200,
                depth: 0,
                offset: 0,
                graph: None,
                source: source.map(page),
                via: Via::Link,
                fetched_at: 0,
                url: String::new(),
                validators: Validators::default(),
                payload: None,
                content: Some(Content { text: 0, shows: *shows }),
                shown: None,
            };
            record.put(page(*url), &mut session);
        }
        session
    }

    #[test]
    fn what_lies_behind_a_counterpart_counts_up_to_the_next_page_that_is_known_there() {
        // A chain of lists, 1 to 4, each of which has two pages: 10 and 11, 20 and 21, and so on.
        let mut pages = vec![(1, None, 1)];
        for list in 1..=4 {
            pages.extend([list * 10, list * 10 + 1].map(|page| (page, Some(list), page)));
            pages.push((list + 1, Some(list), list + 1));
        }
        // The copy of list 1 was fetched, that of list 2 is held, and so are those of the pages of list 1.
        pages.push((101, None, 1));
        let held = [(2, 1), (10, 1), (11, 1)].into();
        let session = crawl(&pages);
        assert_eq!(behind(&held, &session).unwrap(), 9, "lists 3 to 5, and two pages of lists 2 to 4 each");
        // Three copies of list 4 are held, too.
        assert_eq!(behind(&[(2, 1), (4, 3), (10, 1)].into(), &session).unwrap(), 5 + 3 * 3);
        assert_eq!(behind(&[(11, 1)].into(), &session).unwrap(), 0);
        assert_eq!(behind(&HashMap::new(), &session).unwrap(), 0);
        assert_eq!(Led::read(&session).unwrap().of(2), 3);
    }

    #[test]
    fn pages_that_lead_to_each_other_have_no_end_and_are_counted_once() {
        let session = crawl(&[(1, Some(2), 1), (2, Some(1), 2), (3, Some(2), 3)]);
        assert_eq!(behind(&[(9, 1)].into(), &session).unwrap(), 0);
        assert_eq!(behind(&[(1, 1)].into(), &session).unwrap(), 2);
    }
}

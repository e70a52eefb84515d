//! How many pages each page led to first.
//!
//! A URL is held because another page was fetched in its place. If that page led to many pages, the held one may lead to
//! as many, which nobody knows yet. So it is a better URL to try than one whose counterpart led nowhere.

use std::collections::HashMap;
use std::ops::ControlFlow;

use dedup_stage::store::{self, Session};

use crate::record::PageRecord;
use crate::spaces;

/// The number of pages that each page led to first, by the hash of its URL. Pages that led nowhere are not in it.
#[derive(Debug, Default)]
pub struct Led(HashMap<u64, u32>);

impl Led {
    /// At most this many pages are in it; they take about 4 MB.
    const MOST: usize = 1 << 17;

    /// Reads the records of all pages of this process.
    pub fn read(session: &Session) -> store::Result<Self> {
        let (mut led, mut failure) = (HashMap::new(), None);
        session.scan(spaces::PAGES, &[], &[], &mut |_, value| {
            match PageRecord::decode(value) {
                Ok(PageRecord { source: Some(source), .. }) => {
                    let is_room = led.len() < Self::MOST;
                    match led.get_mut(&source.url.url) {
                        Some(pages) => *pages += 1,
                        None if is_room => _ = led.insert(source.url.url, 1),
                        None => {}
                    }
                }
                Ok(_) => {}
                Err(error) => failure = Some(error),
            }
            if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        failure.map_or(Ok(Self(led)), Err)
    }

    /// The number of pages to which a page led first.
    pub fn of(&self, url: u64) -> u32 {
        self.0.get(&url).copied().unwrap_or(0)
    }
}

//! Moves the accepted pages of a set of hosts to another state of the same crawl.
//!
//! The keys of the judge's spaces are made from the contents of pages, so the entries of a host lie all over these
//! spaces. Each entry names the URL of its page, and this URL tells whether the entry moves. After a page has moved, no
//! page here is a duplicate of it any more.

use super::accepted::put_earliest_first;
use super::entry::Entry;
use super::followed::{self, Followed};
use super::owner::Owner;
use crate::spaces;
use crate::store::cut::{self, KeyRange};
use crate::store::{Result, Session, Space};
use crate::url::Sites;

/// Copies the accepted pages of `sites` to another state, which has no pages (or some of these, after a crash). Returns
/// the number of entries.
pub fn copy(sites: &Sites, from: &Session, to: &mut Session) -> Result<u64> {
    let mut count = 0;
    for space in BY_HOST {
        count += cut::copy(from, &sites.keys(space, &[]), &cut::as_it_is, to)?;
    }
    for (range, of) in by_content() {
        let copied = |_: &[u8], value: &[u8]| Ok(of(value, sites)?.then(|| value.to_vec()));
        count += cut::copy(from, &[range], &copied, to)?;
    }
    // Pages that other processes judged are copied as pages that were judged here.
    followed::each(from, &mut |order, known, evidence| {
        if sites.has(evidence.id().url.site) {
            followed::write_alone(order, known, evidence, to);
            count += 1;
            if count % AT_ONCE == 0 {
                to.commit()?;
            }
        }
        Ok(())
    })?;
    put_earliest_first(to)?;
    Ok(count)
}

/// Deletes the accepted pages of `sites`. Returns the number of entries.
pub fn delete(sites: &Sites, from: &mut Session) -> Result<u64> {
    let mut count = 0;
    for space in BY_HOST {
        count += cut::delete(from, &sites.keys(space, &[]), &cut::all)?;
    }
    for (range, of) in by_content() {
        count += cut::delete(from, &[range], &|_, value| of(value, sites))?;
    }
    let mut leaving = Vec::new();
    followed::each(from, &mut |_, _, evidence| {
        leaving.extend(Some(evidence.id()).filter(|page| sites.has(page.url.site)));
        Ok(())
    })?;
    count += leaving.len() as u64;
    leaving.into_iter().try_for_each(|page| Followed::note_parted(page, from))?;
    put_earliest_first(from)?;
    Ok(count)
}

/// The number of pages that are committed together.
const AT_ONCE: u64 = 4_096;

/// The spaces whose keys begin with a host.
const BY_HOST: [Space; 2] = [spaces::LINKS, spaces::TEMPLATES];

/// Tells whether the page of an entry belongs to a host of the set.
type Of = fn(&[u8], &Sites) -> Result<bool>;

/// The spaces whose keys are made from the contents of pages.
fn by_content() -> [(KeyRange, Of); 2] {
    let of_digest: Of = |value, sites| Ok(sites.has(Owner::read(value)?.id.url.site));
    let of_page: Of = |value, sites| Ok(sites.has(Entry::read(value)?.id.url.site));
    [(KeyRange::whole(spaces::DIGESTS), of_digest), (KeyRange::whole(spaces::ACCEPTED), of_page)]
}

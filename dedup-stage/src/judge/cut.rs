//! Moving what the judge has accepted of a set of hosts to another state of the same crawl.
//!
//! The judge finds pages by what they show, so their entries lie all over its spaces: each names the URL of its page, and
//! that tells whether it moves. A page that moves condemns no page here any more.

use super::accepted::put_earliest_first;
use super::digests::Owner;
use super::entry::Entry;
use crate::spaces;
use crate::store::cut::{self, KeyRange};
use crate::store::{Result, Session, codec};
use crate::url::Sites;

/// Copies the accepted pages of `sites` to a state that has none but, after a crash, some of these. Returns how many entries
/// there were.
pub fn copy(sites: &Sites, from: &Session, to: &mut Session) -> Result<u64> {
    let mut count = cut::copy(from, &sites.keys(spaces::LINKS, &[]), &cut::as_it_is, to)?;
    for (range, of) in by_content() {
        let copied = |_: &[u8], value: &[u8]| Ok(of(value, sites)?.then(|| value.to_vec()));
        count += cut::copy(from, &[range], &copied, to)?;
    }
    put_earliest_first(to)?;
    Ok(count)
}

/// Deletes the accepted pages of `sites`. Returns how many entries there were.
pub fn delete(sites: &Sites, from: &mut Session) -> Result<u64> {
    let mut count = cut::delete(from, &sites.keys(spaces::LINKS, &[]), &cut::all)?;
    for (range, of) in by_content() {
        count += cut::delete(from, &[range], &|_, value| of(value, sites))?;
    }
    put_earliest_first(from)?;
    Ok(count)
}

/// Tells whether the page of an entry is one of a host of the set.
type Of = fn(&[u8], &Sites) -> Result<bool>;

/// The spaces whose keys are made of what pages show.
fn by_content() -> [(KeyRange, Of); 2] {
    let of_digest: Of = |value, sites| {
        let owner: Owner = codec::decode(value, "the owner of a digest")?;
        Ok(sites.has(owner.id.url.site))
    };
    let of_page: Of = |value, sites| Ok(sites.has(Entry::read(value)?.id.url.site));
    [(KeyRange::whole(spaces::DIGESTS), of_digest), (KeyRange::whole(spaces::ACCEPTED), of_page)]
}

//! How a URL came to be queued, as a sentence of `crawler why`.

use config::{OnDuplicate, Settings};
use dedup_stage::store::{Result, Session};
use dedup_stage::url::PageId;
use frontier::{Release, Via};

use crate::record::{PageRecord, VerdictKind};

/// How a URL came to be queued. Where links of duplicates are followed, the page that has the link may be a duplicate.
pub(super) fn how(via: Via, source: Option<PageId>, settings: &Settings, session: &Session) -> Result<&'static str> {
    let follows = settings.dedup.on_duplicate != OnDuplicate::Drop;
    let Some(source) = source.filter(|_| via == Via::Link && follows) else { return Ok(words(via)) };
    let record = PageRecord::get(source, session)?;
    Ok(match record.map(|record| record.verdict) {
        Some(VerdictKind::Exact | VerdictKind::Near) => {
            "queued because a page links to it, which is a duplicate: --on-duplicate demote and keep follow such links"
        }
        _ => "queued because a page links to it",
    })
}

/// The same without a look at the page that has the link.
pub(super) fn words(via: Via) -> &'static str {
    match via {
        Via::Seed => "queued as a seed",
        Via::Link => "queued because a page that is no duplicate links to it",
        Via::Redirect { .. } => "queued as the target of a redirect",
        Via::Sitemap => "queued because a sitemap names it",
        Via::Feed => "queued because a feed names it",
        Via::Requisite { .. } => "queued because a page needs it to be shown",
        Via::Again => "queued to be visited again",
        Via::Trial => "queued as a trial: it was held or stopped, to see whether that is right",
        Via::Rescue => "queued as part of the sample of what was held or stopped at the end",
        Via::Released { why } => match why {
            Release::Counterpart => "released: what it was held for failed, was refused or does not exist",
            Release::Waited => "released: what it was held for was not fetched when everything else was done",
            Release::Template => "released: links like it brought new pages",
            Release::Pair => "released: the pages of the other domain show something else",
            Release::Rule => "released: the rule that stopped it was withdrawn",
            Release::Lot => "released: a sample of URLs like it brought new pages",
            Release::Reason => "released: the reason for which it was refused is gone",
            Release::Mode => "released: the crawl follows the links of duplicates now",
        },
    }
}

//! Checks, after a visit, what the host had said about changes of the page: did the sitemap announce the change, and
//! did the page change when the sitemap said so?

use dedup_stage::store::{Session, codec};
use dedup_stage::url::PageId;
use frontier::refresh::history::Dated;
use frontier::refresh::scheduler::{Refresh, VisitFinding};
use frontier::refresh::signals::Signals;
use frontier::refresh::time::seconds;
use frontier::refresh::turns::HostNumber;

use super::member::Member;
use crate::record::PageRecord;
use crate::{hints, spaces};

/// A page was visited again: compares what its host said of it with what the visit shows. `member` is the URL before
/// this visit, `visit` the number of the visit. If the page has changed, returns what is known of the time of the
/// change.
pub(super) fn hear(
    refresh: &mut Refresh,
    host: HostNumber,
    member: &Member,
    visit: u32,
    record: &PageRecord,
) -> Option<Dated> {
    let is_page = matches!(record.status, 200..300 | 304) && member.seen.is_some();
    let changed = record.has_changed(visit).filter(|_| is_page)?;
    let modified = record.validators.last_modified.as_deref().and_then(hints::http_date);
    let seen = VisitFinding { changed, modified: modified.map(seconds) };
    refresh.heard(host, &member.cluster, seconds(record.fetched_at), seen)
}

/// Stores what [`hear`] has found out.
pub(super) fn keep(page: PageId, dated: Option<Dated>, signals: &Signals, session: &mut Session) {
    if let Some(dated) = dated {
        session.put(spaces::DATED, PageRecord::key(page), codec::encode(&dated));
    }
    if *signals != Signals::default() {
        session.put(spaces::SIGNALS, page.url.site.to_bytes(), codec::encode(signals));
    }
}

//! The way in which a URL came to be queued, or the reason why it was refused, as a sentence of `crawler why`.

use config::{OnDuplicate, Settings};
use dedup_stage::store::{Result, Session};
use dedup_stage::url::PageId;
use frontier::{Detail, Release, SkipReason, Via};
use url::Url;

use crate::auth::logout::is_logout;
use crate::record::{PageRecord, VerdictKind};

/// The way in which a URL came to be queued. If links of duplicates are followed, the page that has the link may be a
/// duplicate.
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

/// The same description, if nothing is known about the page that has the link.
pub(super) fn words(via: Via) -> &'static str {
    match via {
        Via::Seed => "queued as a seed",
        Via::Link => "queued because a page that is no duplicate links to it",
        Via::Redirect { .. } => "queued as the target of a redirect",
        Via::Sitemap => "queued because a sitemap names it",
        Via::Feed => "queued because a feed names it",
        Via::Requisite { .. } => "queued because a page needs it to be shown",
        Via::Again => "queued for another visit, because one was due",
        Via::Trial => "queued as a trial: it was held or stopped, to see whether that is right",
        Via::Rescue => "queued as part of the sample of what was held or stopped at the end",
        Via::Released { why } => match why {
            Release::Counterpart => "released: what it was held for failed, was refused or does not exist",
            Release::Waited => "released: what it was held for was still queued when there was nothing else to do",
            Release::Template => "released: links like it brought new pages",
            Release::Pair => "released: the pages of the other domain show something else, or are missing",
            Release::Rule => "released: the rule that stopped it failed in its folder, or was withdrawn",
            Release::Fallen => "released: a sample of URLs like it brought new pages",
            Release::Reason => "released: the reason for which it was refused is gone",
            Release::Forbidden => "released: robots.txt forbids now what it was held for",
            Release::Mode => "released: the mode of the crawl changed, or `demote` fetches stopped URLs last",
        },
    }
}

/// The reason why a URL was refused. If a reason has several causes, the cause is named.
pub(super) fn refusal(settings: &Settings, url: &Url, reason: SkipReason, detail: Detail) -> &'static str {
    let has_account = !(settings.access.login.is_empty() && settings.access.cookies_file.is_empty());
    match (reason, detail) {
        (SkipReason::Nofollow, _) if has_account && is_logout(url) => {
            "it would end the session of the crawl (--login, --cookies-file)"
        }
        (SkipReason::Nofollow, _) if has_account => {
            "the link or its page says nofollow, or the text of the link says that it ends the session of the crawl \
             (--login, --cookies-file)"
        }
        (SkipReason::Budget, Detail::HostCap) => "beyond --max-pages-per-host",
        (SkipReason::Budget, Detail::DomainCap) => "beyond --max-pages-per-domain",
        _ => reason.explanation(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_cause() {
        let mut settings = Settings::default();
        let url = Url::parse("http://a.test/logout").unwrap();
        let nofollow = |settings: &Settings| refusal(settings, &url, SkipReason::Nofollow, Detail::None);
        assert_eq!(nofollow(&settings), SkipReason::Nofollow.explanation());
        settings.access.login = "login.toml".into();
        assert!(nofollow(&settings).contains("would end the session"));
        let url = Url::parse("http://a.test/session/end").unwrap();
        let said = refusal(&settings, &url, SkipReason::Nofollow, Detail::None);
        assert!(said.contains("says nofollow, or the text of the link"), "{said}");
        let budget = |detail| refusal(&settings, &url, SkipReason::Budget, detail);
        assert_eq!(budget(Detail::HostCap), "beyond --max-pages-per-host");
        assert_eq!(budget(Detail::None), SkipReason::Budget.explanation());
    }
}

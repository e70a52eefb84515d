//! How a continuous crawl reads its sitemaps again: they wait for their turn in the queue of the visits.

use dedup_stage::store::{Result, Session};
use dedup_stage::url::UrlId;
use frontier::Frontier;
use frontier::refresh::time::Seconds;
use frontier::refresh::turns::VisitTurn;
use url::Url;

use super::continuous::{Continuous, DEFER};
use super::lists::{Entry, List};

impl Continuous {
    /// Whether neither sitemaps nor feeds are known.
    pub fn has_no_lists(&self) -> bool {
        self.lists.all.is_empty()
    }

    /// A list was read, or is known from earlier runs.
    pub fn list_read(&mut self, id: UrlId, list: List) {
        let host = self.host(id.site);
        let is_feed = list.is_feed;
        let known = self.lists.all.insert(id.url, Entry { host, list, asked: None });
        if is_feed {
            // Its page is put into the queue when the visit is recorded.
            return;
        }
        match known {
            Some(_) => self.count_visit(host),
            None => self.lists.sitemaps.entry(host).or_default().push(id.url),
        }
        self.queue_list(id.url);
    }

    /// A page is no feed any more.
    pub fn list_gone(&mut self, id: UrlId) {
        self.lists.all.remove(&id.url);
    }

    fn queue_list(&mut self, url: u64) {
        if let (Some(entry), Some(due)) = (self.lists.all.get(&url), self.lists.due(url, &self.refresh, &self.settings))
        {
            self.refresh.queue_fixed(entry.host, url, due);
        }
    }

    /// The turn of a URL has come. If the URL is a sitemap, queues it, or gives it a later turn; true if it was queued.
    /// `None` if the URL is a page.
    pub(super) fn turn_of_sitemap(
        &mut self,
        turn: VisitTurn,
        now: Seconds,
        frontier: &mut Frontier,
        session: &mut Session,
    ) -> Result<Option<bool>> {
        if self.lists.is_feed(turn.page) {
            return Ok(None);
        }
        let Some(due) = self.lists.due(turn.page, &self.refresh, &self.settings) else { return Ok(None) };
        if due > now {
            self.refresh.drop(turn);
            self.refresh.queue_fixed(turn.host, turn.page, due);
            return Ok(Some(false));
        }
        let Some(entry) = self.lists.all.get(&turn.page) else { return Ok(None) };
        let url = Url::parse(&entry.list.url).ok();
        let waits = url.as_ref().is_some_and(|url| frontier.queued_of(frontier.id(url).site) > 0);
        if waits && self.has_its_share(turn.host) {
            self.refresh.defer(turn, now + DEFER);
            return Ok(Some(false));
        }
        if let Some(entry) = self.lists.all.get_mut(&turn.page) {
            entry.asked = Some(now);
        }
        self.refresh.take(turn);
        self.refresh.rest(turn.host, now);
        self.queue_list(turn.page);
        match url {
            Some(url) => frontier.poll_sitemap(&url, session).map(|_| Some(true)),
            None => Ok(Some(false)),
        }
    }
}

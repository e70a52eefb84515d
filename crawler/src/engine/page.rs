//! What one answer changes: the verdict on the page, the fate of its links, its line in the outputs.

use dedup_stage::gate::{Passage, gate};
use dedup_stage::judge::{Case, Judge, Judgement, Row, UNJUDGED, Verdict};
use dedup_stage::store::Session;
use frontier::rules::{Content, Family, Lesson, RuleId};
use frontier::{Admission, Found, Job, JobKind, Merits, Millis, Outcome, UrlState, Via};

use url::Url;

use super::audit::Mark;
use super::message::{OutLink, PageFinding, SitemapFinding};
use super::{Engine, Result};
use crate::archive::Exchange;
use crate::fetch::{FetchError, Validators};
use crate::focus::LinkHits;
use crate::priority::OfLink;
use crate::record::PageRecord;
use crate::sink::{PageOut, Twin};

/// What became of the links of one page.
#[derive(Clone, Copy, Debug, Default)]
struct LinkCounts {
    new: u32,
    admitted: u32,
    dropped: u32,
    /// New links out of the page's family, if it has nothing else that is new …
    beyond: u32,
    /// … and within it.
    within: u32,
}

/// An answer, or that there was none, as it is recorded.
struct Answered<'a> {
    /// HTTP status; 0 where there was no answer.
    status: u16,
    at: Millis,
    line: &'a [u8],
    relevance: Option<f32>,
    validators: Validators,
    exchange: Option<&'a Exchange>,
    /// For a 304, what was recorded of the page before.
    earlier: Option<PageRecord>,
    /// The page that it repeats.
    twin: Option<PageRecord>,
    content: Option<Content>,
}

impl Engine<'_> {
    pub(super) fn take_page(&mut self, job: Job, ended_at: Millis, finding: PageFinding) -> Result<()> {
        let row = self.next_row;
        let earlier = if finding.unchanged { self.earlier(job.hash)? } else { None };
        let PageFinding { status, elapsed, retry_after, .. } = finding;
        let outcome = Outcome::Done { status, elapsed, retry_after, row };
        if retry_after.is_some() || matches!(status, 429 | 503) {
            self.commit_soon();
        }
        if self.frontier.report(&job, outcome, ended_at, &mut self.session)? {
            // The server asked to come back later: the URL is queued again, and nothing has been fetched yet.
            return Ok(());
        }
        self.next_row += 1;
        let judgement = if finding.redirect.is_some() || finding.unchanged {
            UNJUDGED
        } else {
            let case = Case { row, key: job.hash, judgeable: finding.judgeable, page: &finding.page };
            self.judge.judge(&case, &mut self.session)?
        };
        if judgement.verdict != Verdict::Unjudged {
            let duplicate = judgement.verdict.duplicate_of().is_some();
            self.frontier.verdict(&job, Some(duplicate), judgement.novelty, &mut self.session);
        } else if status >= 400 {
            self.frontier.verdict(&job, None, 0.0, &mut self.session);
        }
        self.frontier.received(finding.wire_bytes, ended_at);
        let relevance = match (&mut self.focus, &finding.hits) {
            (Some(focus), Some(hits)) => {
                let relevance = focus.page(hits);
                self.stats.scored += 1;
                self.stats.relevance += f64::from(relevance);
                Some(relevance)
            }
            _ => None,
        };
        let twin = match judgement.verdict.duplicate_of() {
            Some(of) => PageRecord::get(of, &self.session)?,
            None => None,
        };
        let read = finding.judgeable && finding.redirect.is_none() && !finding.unchanged;
        let text = Some(finding.page.text).filter(|text| read && *text != 0);
        let content = text.map(|text| content(row, &judgement, twin.as_ref(), text));
        let links = self.take_links(row, &job, &judgement, relevance, &finding)?;
        if let Some(content) = content.filter(|_| judgement.verdict != Verdict::Unjudged) {
            self.learn(&job, &judgement, content, twin.as_ref(), links)?;
        }
        self.stats.count(&judgement.verdict);
        self.stats.redirects += u64::from(finding.redirect.is_some());
        self.stats.bytes += finding.bytes;
        self.stats.wire_bytes += finding.wire_bytes;
        let (line, exchange) = (&finding.line[..], finding.exchange.as_ref());
        let validators = finding.validators;
        let answered = Answered { status, at: ended_at, line, relevance, validators, exchange, earlier, twin, content };
        self.record(row, &job, &judgement, links, answered)
    }

    pub(super) fn take_failure(&mut self, job: Job, at: Millis, error: FetchError, line: Vec<u8>) -> Result<()> {
        let outcome = match (&error, job.kind) {
            (FetchError::Budget, _) => Outcome::Returned,
            (_, JobKind::Resolve) => Outcome::Unresolved { forbidden: matches!(error, FetchError::Address(_)) },
            _ => Outcome::Failed { transient: error.is_transient() },
        };
        if matches!(job.kind, JobKind::Resolve | JobKind::Robots) {
            self.note_trouble(job.url.host_str(), &error);
        }
        let again = self.frontier.report(&job, outcome, at, &mut self.session)?;
        if again || job.kind != JobKind::Page {
            return Ok(());
        }
        let row = self.next_row;
        self.next_row += 1;
        self.stats.failed += 1;
        let validators = Validators::default();
        let (relevance, exchange, earlier, twin, content) = (None, None, None, None, None);
        let nothing = Answered { status: 0, at, line: &line, relevance, validators, exchange, earlier, twin, content };
        self.record(row, &job, &UNJUDGED, LinkCounts::default(), nothing)
    }

    pub(super) fn take_sitemap(&mut self, job: Job, at: Millis, finding: SitemapFinding) -> Result<()> {
        let SitemapFinding { status, elapsed, retry_after, links, sitemaps } = finding;
        let outcome = Outcome::Done { status, elapsed, retry_after, row: Row::MAX };
        if retry_after.is_some() {
            self.commit_soon();
        }
        self.frontier.report(&job, outcome, at, &mut self.session)?;
        let page = self.scoring.page(1.0, 1);
        for link in links {
            let score = self.scoring.link(page, OfLink { hint: true, ..OfLink::default() });
            self.admit(&link, 1, score, None, Via::Sitemap)?;
        }
        for sitemap in sitemaps {
            self.frontier.add_sitemap(&sitemap, &mut self.session)?;
        }
        Ok(())
    }

    /// The gate: the links of one page reach the frontier, or are held.
    fn take_links(
        &mut self,
        row: Row,
        job: &Job,
        judgement: &Judgement,
        relevance: Option<f32>,
        finding: &PageFinding,
    ) -> Result<LinkCounts> {
        let mut counts = LinkCounts::default();
        let (via, depth) = match &finding.redirect {
            Some(redirect) => (Via::Redirect { hops: job.hops + 1, same_key: redirect.same_key }, job.depth),
            None => (Via::Link, job.depth + 1),
        };
        let audit = self.audits.contains_key(&job.hash);
        let passage = if audit { Passage::Hold } else { gate(judgement, self.settings.dedup.on_duplicate) };
        let novelty = if let Passage::Follow(novelty) = passage { novelty } else { 0.0 };
        let of_page = self.scoring.page(novelty, depth);
        let worth = self.focus.as_ref().map(|focus| focus.worth(relevance, f32::from(job.merits.relevance) / 255.0));
        // Of a page that says something new nobody asks where its links lead.
        let family = if is_known(judgement) { Family::of(&job.url) } else { None };
        let place = |counts: &mut LinkCounts, link: &OutLink| {
            if let Some(family) = &family {
                let within = family.has(&link.url);
                counts.within += u32::from(within);
                counts.beyond += u32::from(!within);
            }
        };
        self.frontier.expect(finding.links.iter().map(|link| link.hash));
        for link in &finding.links {
            self.stats.links_found += 1;
            match passage {
                Passage::Hold if link.refusal.is_none() => {
                    if !self.frontier.seen(link.hash) && self.hold(&link.url, link.hash, depth, (row, &job.url))? {
                        counts.new += 1;
                        counts.dropped += 1;
                        place(&mut counts, link);
                    }
                }
                Passage::Hold => {}
                Passage::Follow(_) => {
                    let score = if finding.redirect.is_some() {
                        (job.priority, job.merits)
                    } else {
                        let in_links = self.in_links.as_mut().map_or(0, |counts| counts.count(link.hash));
                        let relevance = match (&self.focus, worth) {
                            (Some(focus), Some(worth)) => {
                                Some(focus.link(worth, link.hits.as_deref().unwrap_or(&LinkHits::default())))
                            }
                            _ => None,
                        };
                        self.scoring.link(of_page, OfLink { in_links, relevance, ..OfLink::default() })
                    };
                    match self.admit(link, depth, score, Some((row, &job.url)), via)? {
                        Admission::Queued => {
                            counts.new += 1;
                            counts.admitted += 1;
                            place(&mut counts, link);
                        }
                        Admission::Seen => {}
                        Admission::Refused(_) => counts.new += u32::from(link.refusal.is_none()),
                    }
                }
            }
        }
        self.stats.links_new += u64::from(counts.new);
        self.stats.links_admitted += u64::from(counts.admitted);
        self.stats.links_dropped += u64::from(counts.dropped);
        Ok(counts)
    }

    /// What the rules learn from a page; where that refutes one, what it stopped is queued again.
    fn learn(
        &mut self,
        job: &Job,
        judgement: &Judgement,
        content: Content,
        twin: Option<&PageRecord>,
        links: LinkCounts,
    ) -> Result<()> {
        if self.frontier.rules().is_none() {
            return Ok(());
        }
        let same = |twin: &&PageRecord| twin.content.is_some_and(|twin| twin.agrees(content));
        let twin = twin.filter(same).and_then(|twin| Url::parse(&twin.url).ok());
        let barren = is_known(judgement) && links.beyond == 0;
        let lesson =
            Lesson { url: &job.url, hash: job.hash, content, twin: twin.as_ref(), barren, offspring: links.within };
        let (frontier, session) = (&mut self.frontier, &mut self.session);
        let shows = |row, session: &Session| Ok(PageRecord::get(row, session)?.and_then(|page| page.content));
        let withdrawn = frontier.learn(job, &lesson, &shows, session)?;
        if !withdrawn.is_empty() {
            let fallen = |rules: &[RuleId]| rules.iter().any(|rule| withdrawn.contains(rule));
            self.release(&|_, link| Ok(fallen(&link.rules)))?;
        }
        Ok(())
    }

    /// One link asks to be queued.
    pub(super) fn admit(
        &mut self,
        link: &OutLink,
        depth: u32,
        (priority, merits): (f32, Merits),
        source: Option<(Row, &Url)>,
        via: Via,
    ) -> Result<Admission> {
        let admission = match link.refusal {
            Some(reason) => Admission::Refused(reason),
            None => {
                let source = source.map(|(row, _)| row);
                let found = Found { url: &link.url, hash: link.hash, depth, priority, merits, source, via };
                self.frontier.add(&found, &mut self.session)?
            }
        };
        if let Admission::Refused(reason) = admission {
            self.skip(&link.url, link.hash, source, reason)?;
        }
        Ok(admission)
    }

    /// Writes a page to the outputs and to the state.
    fn record(
        &mut self,
        row: Row,
        job: &Job,
        judgement: &Judgement,
        links: LinkCounts,
        answered: Answered<'_>,
    ) -> Result<()> {
        let Answered { status, at, line, relevance, mut validators, exchange, earlier, twin, content } = answered;
        let twin = twin.or_else(|| earlier.clone()).map(|twin| Twin {
            url: twin.url,
            fetched_at: twin.fetched_at,
            payload: twin.payload,
        });
        if let Some(earlier) = earlier {
            // A 304 need not repeat what it confirms.
            validators.etag = validators.etag.or(earlier.validators.etag);
            validators.last_modified = validators.last_modified.or(earlier.validators.last_modified);
        }
        let out =
            PageOut { line, judgement, twin, exchange, relevance, links: [links.new, links.admitted, links.dropped] };
        let mut offset = None;
        for sink in &mut self.sinks {
            let at = sink.page(&out)?;
            offset.get_or_insert(at);
        }
        let record = PageRecord {
            verdict: judgement.verdict.into(),
            status,
            depth: job.depth,
            hash: job.hash,
            offset: offset.unwrap_or(0),
            source: job.source,
            fetched_at: at,
            url: job.url.as_str().to_owned(),
            validators,
            payload: exchange.map(|exchange| exchange.payload.0),
            content,
        };
        record.put(row, &mut self.session);
        let sampled = job.stop.as_ref().is_some_and(|stop| stop.sampled);
        let mark = self.audits.get(&job.hash).copied().or(sampled.then_some(Mark::Rule));
        if let Some(mark) = mark {
            self.note_audit(job.hash, mark, row);
        }
        self.pages_since_commit += 1;
        Ok(())
    }

    /// What to send along so that an unchanged page costs no body.
    pub(super) fn validators(&self, job: &Job) -> Result<Option<Validators>> {
        if !self.settings.fetch.recrawl || job.kind != JobKind::Page {
            return Ok(None);
        }
        Ok(self.earlier(job.hash)?.map(|page| page.validators).filter(|known| *known != Validators::default()))
    }

    /// What was recorded when this URL was last answered.
    fn earlier(&self, hash: u64) -> Result<Option<PageRecord>> {
        match frontier::url_state(hash, &self.session)? {
            Some(UrlState::Done { row: Some(row), .. }) => Ok(PageRecord::get(row, &self.session)?),
            _ => Ok(None),
        }
    }
}

/// Whether the text of a page was known before: of a copy, or of one page of a list.
fn is_known(judgement: &Judgement) -> bool {
    match judgement.verdict {
        Verdict::Exact { .. } => true,
        Verdict::Near { resemblance, .. } => resemblance >= Judge::SAME_TEXT,
        Verdict::Unique => judgement.acquitted,
        Verdict::Unjudged => false,
    }
}

/// What a page shows: what its twin does, if it is as good as equal to it. A page with too little text to be judged shows
/// what it says.
fn content(row: Row, judgement: &Judgement, twin: Option<&PageRecord>, text: u64) -> Content {
    let shown = twin.and_then(|twin| twin.content);
    let of = match judgement.verdict {
        Verdict::Exact { of } => of,
        Verdict::Near { of, resemblance, .. } if resemblance >= Judge::SAME_TEXT => of,
        Verdict::Near { .. } | Verdict::Unique | Verdict::Unjudged => return Content { text, row },
    };
    Content { text, row: shown.map_or(of, |shown| shown.row) }
}

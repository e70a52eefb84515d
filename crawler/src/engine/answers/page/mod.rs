//! Takes the answer to a request for a page: gets the verdict, decides the fate of the links, teaches the frontier
//! (`teach`), and writes the line in the outputs.

mod own_words;
mod rearranges;
mod teach;
mod worth;

use std::sync::Arc;

use dedup_stage::flow::FlowResult;
use dedup_stage::judge::{Case, Changed, Judgement, Shown, Verdict};
use dedup_stage::url::PageId;
use frontier::rules::Content;
use frontier::{Frontier, Job, Millis, Outcome, SkipReason};
use url::Url;

use super::attempts::Attempt;
use super::barren::content;
use super::bounce::Leads;
use super::links::LinkCounts;
use super::twin::TwinPage;
use super::vanished::Vanished;
use crate::engine::error::Result;
use crate::engine::ledger;
use crate::engine::message::PageFinding;
use crate::engine::novelty::alike::Likeness;
use crate::engine::novelty::own_words::OwnWords;
use crate::engine::standing::{LOOP, NOWHERE, OUT};
use crate::engine::state::EngineState;
use crate::engine::visits::{Ended, NewLinks};
use crate::fetch::is_redirect;
use crate::record::PageRecord;
use crate::sink::PageOut;
use crate::stub::Label;

use teach::Seen;
use worth::{Says, Worth};

/// If a page has more links than this, the store is not asked when their URLs were first fetched.
const MOST_ASKED: usize = 1_000;

impl EngineState<'_> {
    /// Notes which links of a page that was visited before lead to URLs that were known at its last visit. A URL that
    /// was first fetched after that visit was not known. This is not asked at the second visit: when a crawl begins,
    /// most pages are fetched before the pages that they lead to. It is not asked of a page with very many links,
    /// either.
    pub(in crate::engine) fn note_known_links(
        &self,
        job: &Job,
        before: &PageRecord,
        finding: &mut PageFinding,
    ) -> Result<()> {
        if before.shown.as_ref().is_none_or(|shown| shown.sha256 == finding.page.sha256) {
            return Ok(());
        }
        let is_asked = job.page.visit > 2 && finding.links.len() <= MOST_ASKED;
        for link in &mut finding.links {
            link.met = self.frontier.met(link.id.url);
            if link.met && link.content && is_asked {
                let first = self.ledger.page(PageId { url: link.id, visit: 1 })?;
                link.met = first.is_none_or(|first| first.fetched_at <= before.fetched_at);
            }
        }
        Ok(())
    }

    /// Takes an answer to a request for a page.
    pub(in crate::engine) fn take_page(&mut self, job: Job, ended_at: Millis, mut finding: PageFinding) -> Result<()> {
        let PageFinding { status, elapsed, retry_after, .. } = finding;
        self.local.answered();
        if retry_after.is_some() || matches!(status, 429 | 503) {
            self.ledger.commit_soon(self.clock.now());
        }
        let target = finding.redirect.as_ref().map(|redirect| redirect.target);
        let broken = finding.cut.filter(|_| status < 300 && finding.is_broken).map(|kind| format!("cut_{kind}"));
        let broken = broken.or_else(|| finding.is_empty.then(|| Attempt::EMPTY.to_owned()));
        let outcome = Outcome::Done { status, elapsed, retry_after, target, cut: broken.is_some() };
        if self.frontier.report(&job, outcome, ended_at, &mut self.ledger.session)? {
            // The URL is queued again, and nothing has been fetched yet: the server asked to come back later, or the
            // answer may be better the next time.
            return self.failed_for_now(&job, broken.unwrap_or_else(|| status.to_string()), ended_at);
        }
        self.no_more_attempts(&job)?;
        let leads = self.lead(&job, &mut finding)?;
        let before = self.before(&job)?;
        // With other processes, this was noted when the page was proposed, and all of them judge by that.
        if let Some(before) = before.as_ref().filter(|_| self.peer_state.is_none()) {
            self.note_known_links(&job, before, &mut finding)?;
        }
        let (result, alike) = self.judge(&job, &finding, before.as_ref().and_then(|before| before.shown.as_ref()))?;
        let relevance = self.scores.relevance(&job, finding.hits.as_ref(), finding.score);
        let own_words = self.own_words(&job, &finding, &result.judgement);
        let has_own_words = own_words == OwnWords::Few;
        let needs_record = finding.exchange.is_some() || has_own_words;
        let twin = TwinPage::of(&result, needs_record, &self.ledger)?;
        let FlowResult { judgement, fate, shown, .. } = result;
        let content = content(&job, &finding, (&judgement, has_own_words), twin.as_ref(), before.as_ref());
        let label = self.label(&job, &finding, &judgement, content, twin.as_ref())?;
        let says_little = self.says_little(&job, &finding, &judgement);
        let rearranges = self.rearranges(&job, &finding, &judgement, says_little);
        let (counts, new_links) = self.take_links(&job, &judgement, relevance, &finding, (fate, rearranges))?;
        let new_urls = counts.new;
        let vanished = self.vanished(&job, &finding, &judgement, before.as_ref())?;
        self.note_relinked(&job, &finding, before.as_ref())?;
        self.need(&job, &judgement, &finding)?;
        let likeness = self.likeness(&job, &finding);
        if let Some(little) = brings_little(&finding, likeness) {
            self.frontier.brought(&job, little, &mut self.ledger.session);
        }
        let is_file = finding.file.filter(|_| job.page.visit == 1 && judgement.verdict == Verdict::Unjudged);
        let new_file = is_file.map(|digest| self.shown_files.is_new(digest));
        let is_same = likeness.is_some_and(|likeness| likeness.is_same);
        let says = Says { little: says_little, rearranges, is_same, own_words, new_file };
        let worth = Worth::of(status, &judgement, says, counts);
        self.teach(&job, &judgement, Seen { content, twin: twin.as_ref(), counts, worth })?;
        self.learn_parted(&job, &judgement, content, before.as_ref().and_then(|before| before.shown.as_ref()))?;

        let changed = judgement.changed(before.as_ref().and_then(|before| before.shown.as_ref()), shown.as_ref());
        self.learn_honesty(&job, before.as_ref(), &finding, changed)?;
        if let Some(before) = before.as_ref().filter(|_| !finding.is_feed) {
            NewLinks::note(job.page.url, before.fetched_at, ended_at, new_urls, &mut self.ledger.session)?;
        }
        // A near-duplicate with words of its own is no copy that could be trusted.
        let has_own_content = content.is_some_and(|content| content.shows == job.page.url.url);
        let copy_of = judgement.verdict.twin().filter(|_| !has_own_content);
        let ended = Ended::of(status, copy_of.map(|twin| twin.url), changed);
        let asks_for_consent = self.note_consent(&job, shown.as_ref())?;
        let shown = if self.is_to_forget(&job, ended)? { self.forget(&job, shown)? } else { shown };
        let trouble = trouble(&job, &finding, leads);
        let cut = cut(&finding).filter(|cut| trouble.as_ref() != Some(cut));
        let troubles: Vec<_> = trouble.iter().chain(&cut).map(String::as_str).collect();
        self.note_troubles(&job, &troubles)?;
        self.rescue.fetched(&job, worth.is_new, counts.new, &mut self.frontier, &mut self.ledger.session);
        self.ledger.stats.count(&judgement.verdict, status);
        self.count_answer(&job, &finding, trouble.as_deref(), relevance);
        self.record(
            &job,
            ended_at,
            &finding,
            PageResults {
                judgement,
                before,
                twin,
                content,
                shown,
                changed,
                relevance,
                counts,
                new_links,
                vanished,
                alike,
                label,
            },
        )?;
        if asks_for_consent {
            // It was asked for before the cookie was there, and answered later.
            self.request_again(job.page)?;
        }
        self.feed_read(&job, ended_at, &finding, new_urls)?;
        self.visit_ended(&job, ended_at, ended)
    }

    /// How much a page is like others of its host. `None` if it is no page with text, or has no fingerprint.
    fn likeness(&mut self, job: &Job, finding: &PageFinding) -> Option<Likeness> {
        let signature = finding.page.signature.as_ref().filter(|_| is_page_with_text(finding))?;
        Some(self.alike.page(job.page.url.site.host, &signature.sketch))
    }

    /// Counts an answer, and its trouble if it has any.
    fn count_answer(&mut self, job: &Job, finding: &PageFinding, trouble: Option<&str>, relevance: Option<f32>) {
        let stats = &mut self.ledger.stats;
        if finding.redirect.is_some() {
            stats.redirects += 1;
            stats.redirects_endless += u64::from(trouble == Some(LOOP));
            stats.redirects_out += u64::from(trouble == Some(OUT));
        }
        stats.redirects_nowhere += u64::from(trouble == Some(NOWHERE));
        if let Some(kind) = finding.cut {
            *stats.cut.entry(kind.to_owned()).or_default() += 1;
        }
        stats.not_kept += u64::from(finding.not_kept);
        stats.documents_unread += u64::from(finding.is_unread_document && job.page.visit == 1);
        stats.bytes += finding.bytes;
        stats.wire_bytes += finding.wire_bytes;
        stats.links_cut += u64::from(finding.page.links_cut);
        stats.doubtful_sessions += self.doubtful_sessions.add(&finding.doubtful_sessions);
        stats.unscored += u64::from(finding.is_unscored());
        stats.text_cut += finding.page.text_cut;
        if let Some(relevance) = relevance {
            stats.scored += 1;
            stats.relevance += f64::from(relevance);
        }
    }

    /// The direction in which a redirect leads. If it leads back to a URL that must be requested once more, the finding
    /// says so from now on.
    fn lead(&mut self, job: &Job, finding: &mut PageFinding) -> Result<Leads> {
        let (Some(redirect), Some(link)) = (&mut finding.redirect, finding.links.first()) else { return Ok(Leads::On) };
        let leads = self.leads(job, redirect, &link.url)?;
        redirect.again |= leads == Leads::BackWithCookie;
        Ok(leads)
    }

    /// The verdict on an answer, the fate of its links, and the resemblance to what its URL showed before.
    fn judge(&mut self, job: &Job, finding: &PageFinding, before: Option<&Shown>) -> Result<(FlowResult, Option<f32>)> {
        if finding.redirect.is_some() {
            return Ok((FlowResult::follow(Judgement::UNJUDGED, before.cloned()), None));
        }
        if finding.unchanged {
            let not_modified = before.filter(|_| finding.is_not_modified);
            let judgement = not_modified.map_or(Judgement::UNJUDGED, Judgement::not_modified);
            return Ok((FlowResult::follow(judgement, before.cloned()), not_modified.map(|_| 1.0)));
        }
        let case = Case {
            order: self.ledger.next_order(),
            id: job.page,
            url: &job.url,
            before,
            judgeable: finding.shows(),
            page: &finding.page,
            links: &finding.links,
            ahead: finding.ahead.as_ref(),
        };
        let alike = self.flow.judge_mut().resemblance_to_before(&case, &self.ledger.session)?;
        Ok((self.flow.page(&case, &ledger::url_of, &mut self.ledger.session)?, alike))
    }

    /// Writes a page to the outputs and to the state.
    fn record(&mut self, job: &Job, at: Millis, finding: &PageFinding, results: PageResults) -> Result<()> {
        let PageResults {
            judgement,
            before,
            twin,
            content,
            shown,
            changed,
            relevance,
            counts,
            new_links,
            vanished,
            alike,
            label,
        } = results;
        let mut validators = finding.validators.clone();
        if finding.unchanged
            && let Some(before) = &before
        {
            // A 304 need not repeat what it confirms.
            validators.etag = validators.etag.or_else(|| before.validators.etag.clone());
            validators.last_modified = validators.last_modified.or_else(|| before.validators.last_modified.clone());
        }
        let earlier = match (judgement.verdict, judgement.verdict.twin()) {
            _ if finding.exchange.is_none() => None,
            (Verdict::Unchanged { .. }, _) => before.as_ref().map(|before| self.archived(job.page.url, before)),
            (_, of) => {
                let record = twin.as_ref().and_then(|twin| twin.record.as_ref());
                of.zip(record).map(|(of, record)| self.archived(of.url, record))
            }
        };
        let corpora = Arc::clone(self.flow.judge().known());
        let out = PageOut {
            line: &finding.line,
            judgement: &judgement,
            twin: twin.as_ref().map(|twin| twin.url.as_str()),
            known: judgement.verdict.known().map(|corpus| corpora.get(corpus).name()),
            earlier: earlier.transpose()?,
            exchange: finding.exchange.as_ref(),
            graph: &finding.graph,
            is_requisite: false,
            texts: Some(&finding.texts),
            relevance,
            label: label.map(Label::name),
            links: [counts.new, counts.admitted, counts.dropped],
            changed,
            resemblance_before: alike,
            new_links: new_links.as_deref(),
            vanished: vanished.as_ref().map(|links| (links.count, &links.named[..])),
        };
        self.note_archived(job, &out);
        let payload = finding.exchange.as_ref().map(|exchange| exchange.payload.0);
        // An answer that shows the content of the URL has all its links. After any other answer, the links of the last
        // one count.
        let graph = before.as_ref().and_then(|before| before.graph).filter(|_| !finding.shows());
        let record = PageRecord {
            verdict: judgement.verdict.into(),
            graph,
            validators,
            payload: payload.filter(|_| !finding.unchanged).or(before.and_then(|before| before.payload)),
            content,
            shown,
            ..PageRecord::of(job, at, finding.status)
        };
        self.ledger.record(job.page, &out, record)
    }
}

/// The word for the trouble with an answer, if there is any.
fn trouble(job: &Job, finding: &PageFinding, leads: Leads) -> Option<String> {
    if finding.redirect.is_some() {
        let out = finding.notes.iter().any(|note| note.refusal == Some(SkipReason::Scope));
        let endless = job.hops >= Frontier::MOST_HOPS || leads == Leads::Round;
        return if out { Some(OUT) } else { endless.then_some(LOOP) }.map(str::to_owned);
    }
    if is_redirect(finding.status) {
        return Some(NOWHERE.to_owned());
    }
    if finding.status >= 400 { Some(finding.status.to_string()) } else { cut(finding) }
}

/// The word for the reason why a body is not whole, if it is not.
fn cut(finding: &PageFinding) -> Option<String> {
    finding.cut.map(|kind| format!("cut_{kind}"))
}

/// The results for one answer, for the outputs.
struct PageResults {
    judgement: Judgement,
    /// The URL's last visit.
    before: Option<PageRecord>,
    /// The page of another URL that this page repeats.
    twin: Option<TwinPage>,
    content: Option<Content>,
    shown: Option<Shown>,
    /// The change since the last visit to the URL.
    changed: Option<Changed>,
    relevance: Option<f32>,
    counts: LinkCounts,
    /// At a later visit, the links that the crawl had not met before.
    new_links: Option<Vec<Url>>,
    /// The links that the last visit showed and this one does not.
    vanished: Option<Vanished>,
    /// Resemblance to what the URL showed at its last visit.
    alike: Option<f32>,
    label: Option<Label>,
}

/// Whether an answer is a page with text: no file, no redirect, no error, and no feed, which is a list.
pub(super) fn is_page_with_text(finding: &PageFinding) -> bool {
    finding.judgeable && finding.redirect.is_none() && !finding.is_feed
}

/// Whether a page brings little text of its own: hardly any text, or text like that of other pages of its host. `None`
/// if this cannot be said.
fn brings_little(finding: &PageFinding, likeness: Option<Likeness>) -> Option<bool> {
    let is_tiny = is_page_with_text(finding) && finding.stub.is_some_and(|stub| stub.is_tiny);
    likeness.map(|likeness| likeness.is_alike || is_tiny).or(is_tiny.then_some(true))
}

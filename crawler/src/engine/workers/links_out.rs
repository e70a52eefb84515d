//! Reads the links of an answer in a page worker: each with its relations and hints, and the reason why it may not be
//! followed, if there is one.

use std::collections::HashMap;

use dedup_stage::judge::OutLink;
use dedup_stage::page::{self, LinkTexts, Page, Rels};
use frontier::SkipReason;
use url::Url;

use super::worker::{Answered, Worker, header};
use crate::auth::logout::says_logout;
use crate::cookies;
use crate::engine::doubtful_sessions::SameKey;
use crate::engine::message::{LinkNote, RedirectFinding};
use crate::fetch::Response;
use crate::focus::{LinkHits, PageHits};
use crate::graph::{self, Edge};
use crate::hints::{self, Hints};

/// The links of an answer. The first three vectors have an entry for each link.
#[derive(Default)]
pub(super) struct LinksOut {
    pub links: Vec<OutLink>,
    pub notes: Vec<LinkNote>,
    /// The relations of the links. Empty for a redirect.
    pub rels: Vec<Rels>,
    pub redirect: Option<RedirectFinding>,
    /// Links that were left out, and are probably pages of their own ([`crate::engine::doubtful_sessions`]).
    pub doubtful_sessions: Vec<u64>,
    /// In a focused crawl, the words of the topic on the page.
    pub hits: Option<PageHits>,
}

impl Worker<'_> {
    /// The links of an answer: of a page, or the link that stands for a redirect. The page gives its links away.
    pub(in crate::engine) fn links_out(
        &mut self,
        answered: &Answered<'_>,
        page: &mut Page,
        redirect: Option<&Url>,
    ) -> LinksOut {
        if let Some(target) = redirect {
            let (link, note, finding) = self.redirect(answered, target);
            return LinksOut { links: vec![link], notes: vec![note], redirect: Some(finding), ..LinksOut::default() };
        }
        let is_topical = page.is_text && (200..300).contains(&answered.response.status);
        let (hits, link_hits) = match self.finder.as_mut().filter(|_| is_topical) {
            Some(finder) => (Some(finder.page(page, &self.reader)), finder.links(page, &self.reader)),
            None => (None, Vec::new()),
        };
        LinksOut { hits, ..self.links(answered, page, link_hits) }
    }

    /// A redirect to `target`: its link, and what the engine wants to know about it.
    fn redirect(&self, answered: &Answered<'_>, target: &Url) -> (OutLink, LinkNote, RedirectFinding) {
        let Answered { job, response, .. } = *answered;
        let link = OutLink::new(target.clone(), false, &self.context.keys);
        let finding = RedirectFinding {
            again: link.id == job.page.url,
            cookies: cookies::names(response.values("set-cookie")),
            target: link.id,
        };
        // The frontier refuses a redirect with too many hops, and records it, because another link may lead to its
        // target.
        let withheld = self.logs_out(target).then_some(SkipReason::Nofollow);
        let refusal = self.refusal(target, job.depth).or(withheld);
        let note = LinkNote { refusal, withheld: withheld.is_some(), ..LinkNote::default() };
        (link, note, finding)
    }

    /// The links of a page, one per identity, with their notes and relations. In a focused crawl, `hits` has the words
    /// of the topic near each link.
    fn links(&self, answered: &Answered<'_>, page: &mut Page, hits: Vec<LinkHits>) -> LinksOut {
        let job = answered.job;
        let mut hits = hits.into_iter();
        let own = Hints::from_bits(job.merits.hint);
        let labelled = self.labelled(answered);
        let mut known = HashMap::with_capacity(page.links.len());
        let mut links = Vec::<OutLink>::with_capacity(page.links.len());
        let mut notes = Vec::with_capacity(page.links.len());
        let mut all_rels: Vec<Rels> = Vec::with_capacity(page.links.len());
        // The texts of links are compared with those of an earlier visit.
        let mut link_texts = std::mem::take(&mut page.link_texts);
        if job.page.visit < 2 {
            link_texts = LinkTexts::default();
        }
        let mut numbers = Vec::new();
        let mut same_key = SameKey::new(&self.context.keys.canonicalizer);
        for page::Link { url, nofollow, content, rels, anchor } in std::mem::take(&mut page.links) {
            let hits = hits.next().map(Box::new);
            let link = OutLink::new(url, content, &self.context.keys);
            let number = *known.entry(link.id.url).or_insert(links.len());
            if !link_texts.is_empty() {
                numbers.push(number as u32);
            }
            if number < links.len() {
                all_rels[number] |= rels;
                same_key.add(number, &links[number].url, &link.url);
                continue;
            }
            let withheld = self.context.obey_robots && (page.nofollow || nofollow)
                || self.logs_out(&link.url)
                || self.context.has_account
                    && (says_logout(&anchor) || labelled.contains(&link.url))
                    && self.has_session(answered, &link.url);
            let withheld = if withheld {
                Some(SkipReason::Nofollow)
            } else {
                own.ends_languages(rels).then_some(SkipReason::Trap)
            };
            let refusal = self.refusal(&link.url, job.depth + 1).or(withheld);
            links.push(link);
            notes.push(LinkNote { refusal, withheld: withheld.is_some(), hits, hints: Hints::of_link(rels, own) });
            all_rels.push(rels);
        }
        link_texts.renumber(&numbers);
        page.link_texts = link_texts;
        let doubtful_sessions = same_key.probably_pages();
        LinksOut { links, notes, rels: all_rels, doubtful_sessions, ..LinksOut::default() }
    }
}

/// Adds the links of the header fields `Link` and `Refresh`, and their relations to links that the page has.
pub(super) fn header_links(response: &Response, page: &mut Page, url: &Url) {
    let values = response.headers.get_all("link").iter().filter_map(|value| value.to_str().ok());
    let refresh = header(response, "refresh").and_then(page::refresh_target).map(|target| (target, Rels::REFRESH));
    for (target, rels) in hints::link_header(values).into_iter().chain(refresh) {
        let Ok(mut target) = url.join(target) else { continue };
        target.set_fragment(None);
        match page.links.iter_mut().find(|link| link.url == target) {
            Some(known) => known.rels |= rels,
            None if matches!(target.scheme(), "http" | "https") => {
                page.links.push(page::Link { rels, ..link(target) });
            }
            None => {}
        }
    }
}

/// The links of a page for the link graph.
pub(in crate::engine) fn edges<'a>(
    links: &'a [OutLink],
    notes: &'a [LinkNote],
    rels: &'a [Rels],
    is_redirect: bool,
    is_feed: bool,
) -> impl Iterator<Item = Edge> + 'a {
    links.iter().zip(notes).enumerate().map(move |(at, (link, note))| {
        let kind = match (is_redirect, is_feed) {
            (true, _) => graph::Kind::Redirect,
            (_, true) => graph::Kind::Entry,
            _ => graph::Kind::Link(rels.get(at).copied().unwrap_or_default()),
        };
        Edge { target: link.id, kind, may_follow: !note.withheld }
    })
}

/// A link that no markup describes.
pub(in crate::engine) fn link(url: Url) -> page::Link {
    page::Link { url, nofollow: false, anchor: String::new(), content: false, rels: Rels::ANCHOR }
}

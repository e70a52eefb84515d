//! Reads the answer to a request for a page in a page worker: text and links (from HTML, PDF, feeds and others), the
//! permissions of its site, and the bytes of the outputs.

#[cfg(feature = "pdf")]
use dedup_stage::digest::sha256;
use dedup_stage::page::{self, LinkTexts, Page, Rels};
use dedup_stage::url::drop_user;
use frontier::{Job, Millis, robots};
use url::Url;

use super::line::{Facts, line};
use super::links_out::{LinksOut, edges, header_links, link};
use super::worker::{Answered, Worker, header, validators, wait};
use crate::archive::Exchange;
use crate::engine::message::{Need, PageFinding};
use crate::extract::Texts;
use crate::extract::page_lines;
use crate::feeds::{self, Kind, markdown};
use crate::fetch::{Response, Truncation, Validators, file_digest, is_redirect};
use crate::graph;
use crate::permissions::Permissions;
use crate::permissions::markup::Markup;
use crate::stub::Stub;
use crate::{requisites, score};

/// A longer canonical URL counts as none, and only so many bytes of a Content-Type are written down.
const LONGEST: usize = 8_192;

impl Worker<'_> {
    /// Reads the answer to a request for a page.
    pub(in crate::engine) fn page(&mut self, answered: &Answered<'_>) -> PageFinding {
        let Answered { job, ended_at, access_fields, response, .. } = *answered;
        let content_type = header(response, "content-type");
        let redirect = response.redirect_target(&job.url);
        let unchanged = response.status == 304;
        let kind = feeds::kind(content_type, &job.url, &response.body);
        let mut page = if redirect.is_some() || unchanged || job.is_requisite() {
            Page::default()
        } else {
            self.text(answered, kind, content_type)
        };
        if job.page.visit > 1 {
            page.passages = self.reader.passages(&page);
        }
        let stub = self.stub(response, &page);
        let is_good_text = page.is_text && (200..300).contains(&response.status);
        let pieces = if answered.cut && is_good_text { self.reader.pieces(&page, &job.url) } else { Vec::new() };
        let word_marks = if job.is_trial() && is_good_text { self.reader.word_marks(&job.url) } else { Vec::new() };
        let markup = if page.is_text { Markup::read(&response.body, &self.context.token) } else { Markup::default() };
        let permissions = self.permissions(answered, &page, &markup);
        let forbidden = self.context.purpose.and_then(|purpose| permissions.forbids(purpose, is_image(content_type)));
        self.obey(response, &markup, &mut page);

        if redirect.is_none() && !unchanged && !job.is_requisite() {
            header_links(response, &mut page, &job.url);
        }
        // A password in a link is not sent, and is written nowhere.
        for link in &mut page.links {
            drop_user(&mut link.url);
        }
        let canonical = page.links.iter().find(|link| link.rels.has(Rels::CANONICAL) && link.url != job.url);
        // It goes into each line of this page, and stays in the state.
        let canonical = canonical.filter(|link| link.url.as_str().len() <= LONGEST);
        let canonical = canonical.map(|link| link.url.clone());
        let LinksOut { links, notes, rels, redirect: redirect_finding, doubtful_sessions, hits } =
            self.links_out(answered, &mut page, redirect.as_ref());

        let needs = self.needs(answered, content_type, redirect.as_ref());
        let is_feed = matches!(kind, Kind::Feed | Kind::JsonFeed);
        let graph = graph::encode(job.page, edges(&links, &notes, &rels, redirect.is_some(), is_feed));
        // A body that is no page was not asked for. It does not count as cut.
        let cut = response.truncated.filter(|why| *why != Truncation::NotAPage);
        let is_good = (200..300).contains(&response.status) && forbidden.is_none();
        let judgeable = is_good && response.truncated.is_none();
        let is_unread_file = is_good && response.truncated == Some(Truncation::NotAPage);
        let of_body = || (!response.body.is_empty()).then(|| file_digest::digest(&page.sha256, None));
        let is_whole_file = judgeable && !page.is_text && file_digest::is_file(content_type);
        let file = if is_whole_file { of_body() } else { response.file.filter(|_| is_unread_file) };
        let ahead = page.signature.as_ref().filter(|_| judgeable && page.is_text);
        let ahead = self.searcher.as_ref().zip(ahead).map(|(searcher, signature)| searcher.search(signature.simhash));
        let texts =
            if judgeable && page.is_text { self.texts(job, ended_at, response, &page) } else { Texts::default() };
        let is_scored = self.context.scores && judgeable && page.is_text && redirect.is_none();
        let question = if is_scored { score::question(&job.url, &page, &self.reader) } else { Vec::new() };
        if forbidden.is_some() {
            // The page may not be used, so nothing of it is kept: no fingerprint, no title, no archive.
            (page.signature, page.title) = (None, String::new());
        }
        let unread = if cut.is_none() { unread(answered, kind) } else { None };
        let error = match &redirect {
            Some(_) if job.hops >= self.context.max_hops => Some("too many redirects"),
            None if is_redirect(response.status) => Some("redirect without a usable Location"),
            _ => forbidden.as_deref().or(cut.map(Truncation::name)).or(unread.as_deref()),
        };
        let permissions = permissions.record().map(|record| record.to_string());
        let line = line(&Facts {
            job,
            ended_at,
            status: Some(response.status),
            content_type: content_type.map(|text| text.get(..LONGEST).unwrap_or(text)),
            bytes: response.body.len() as u64,
            page: &page,
            links: links.len(),
            redirect_to: redirect.as_ref(),
            canonical: canonical.as_ref(),
            error,
            truncated: cut.is_some(),
            unchanged,
            has_body: !response.body.is_empty() && response.truncated.is_none() && redirect.is_none(),
            is_private: access_fields.is_private,
            permissions: permissions.as_deref(),
        });
        let validators = validators(response);
        let exchange =
            if forbidden.is_none() { self.exchange(answered, validators.clone(), permissions) } else { None };
        PageFinding {
            status: response.status,
            elapsed: response.ended_at.saturating_sub(response.sent_at),
            retry_after: wait(response, ended_at),
            bytes: response.body.len() as u64,
            wire_bytes: response.wire_bytes,
            cut: cut.map(Truncation::kind),
            is_broken: cut.is_some_and(Truncation::is_broken),
            is_empty: response.status == 200
                && response.body.is_empty()
                && page::Kind::of(content_type).is_fetched()
                && !job.is_requisite(),
            judgeable,
            is_unread_file,
            file,
            is_unread_document: unread.is_some() && forbidden.is_none(),
            not_kept: forbidden.is_some() && redirect.is_none(),
            ahead,
            stub: stub.filter(|_| judgeable),
            page,
            pieces,
            word_marks,
            links,
            notes,
            doubtful_sessions,
            is_feed,
            hits,
            question,
            score: None,
            redirect: redirect_finding,
            needs,
            graph,
            validators,
            texts,
            exchange,
            unchanged,
            is_not_modified: unchanged && answered.is_conditional,
            line,
        }
    }

    /// Takes over what meta elements and headers say to robots about a page.
    fn obey(&self, response: &Response, markup: &Markup, page: &mut Page) {
        let headers = response.headers.get_all("x-robots-tag").iter().filter_map(|value| value.to_str().ok());
        // The reader has read the meta elements for all robots. Those for this crawler are left.
        let directives = robots::page_directives(markup.metas_of(&self.context.token), headers, &self.context.token);
        page.noindex |= directives.noindex;
        page.nofollow |= directives.nofollow;
    }

    /// The exchange for the archive, if the crawl writes one.
    fn exchange(
        &self,
        answered: &Answered<'_>,
        validators: Validators,
        permissions: Option<String>,
    ) -> Option<Exchange> {
        let Answered { job, access_fields, response, .. } = *answered;
        let fields = self.context.archive.as_ref()?;
        let own =
            access_fields.fields.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()));
        let fields: Vec<_> = fields.iter().cloned().chain(own).collect();
        let exchange = Exchange::new(&job.url, &fields, response, validators, permissions);
        exchange.inspect_err(|error| tracing::error!("{}: not archived: {error}", job.url)).ok()
    }

    /// The words in which a page with little text describes itself.
    fn stub(&self, response: &Response, page: &Page) -> Option<Stub> {
        if response.status != 200 || !page.is_text {
            return None;
        }
        let all = self.reader.content().next().is_none().then(|| self.reader.text());
        Stub::read(&page.title, page.words, self.reader.content().chain(all), &response.body)
    }

    /// Reads text and links of an answer, by the kind of its content.
    fn text(&mut self, answered: &Answered<'_>, kind: Kind, content_type: Option<&str>) -> Page {
        let Answered { job, response, .. } = *answered;
        let input = page::Input { url: &job.url, status: response.status, content_type, body: &response.body };
        // The text of a feed is no text of a page, whatever type its server gives.
        let input = match kind {
            Kind::Feed => page::Input { content_type: Some("application/xml"), ..input },
            Kind::JsonFeed => page::Input { content_type: Some("application/feed+json"), ..input },
            _ => input,
        };
        let (links, list, cut) = match kind {
            Kind::Pdf => return self.pdf(answered, &input),
            Kind::Feed | Kind::JsonFeed => {
                let feeds::Entries { links, cut, digest } = feeds::entries(kind, &response.body, &job.url);
                (links, Some(digest), cut)
            }
            Kind::Markdown => {
                let (links, cut) = markdown::links(&String::from_utf8_lossy(&response.body), &job.url);
                (links, None, cut)
            }
            Kind::Text | Kind::Office | Kind::Other => return self.reader.read(&input),
        };
        let mut page = self.reader.read(&input);
        page.links = links.into_iter().map(link).collect();
        page.link_texts = LinkTexts::default();
        page.links_cut = u32::try_from(cut).unwrap_or(u32::MAX);
        // The text of a feed is its list of entries.
        page.text = list.unwrap_or(page.text);
        page
    }

    /// Reads the text of a PDF file as a page of plain text. A child process extracted the text before.
    #[cfg(feature = "pdf")]
    fn pdf(&mut self, answered: &Answered<'_>, input: &page::Input<'_>) -> Page {
        let document = match answered.document {
            Some(Ok(document)) => document,
            Some(Err(error)) => {
                tracing::info!("{}: {error}", input.url);
                return self.reader.read(input);
            }
            None => return self.reader.read(input),
        };
        let text =
            page::Input { content_type: Some("text/plain; charset=utf-8"), body: document.text.as_bytes(), ..*input };
        let mut page = self.reader.read(&text);
        page.sha256 = sha256(input.body);
        page.title = document.title.clone();
        page.links_cut = u32::try_from(document.links_cut).unwrap_or(u32::MAX);
        let links = document.links.iter().filter_map(|href| input.url.join(href).ok());
        page.links = links.filter(|url| matches!(url.scheme(), "http" | "https")).map(link).collect();
        page
    }

    #[cfg(not(feature = "pdf"))]
    fn pdf(&mut self, _answered: &Answered<'_>, input: &page::Input<'_>) -> Page {
        self.reader.read(input)
    }

    /// Reads what the origin, the header and the page say about the use of an answer.
    fn permissions(&self, answered: &Answered<'_>, page: &Page, markup: &Markup) -> Permissions {
        let Answered { job, said, response, .. } = *answered;
        let headers = response.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let metas = markup.metas.iter().map(|(name, content)| (name.as_str(), content.as_str()));
        // The reader has read `noindex` already. The markup is read again only if it may have other statements.
        let metas = metas.chain(page.noindex.then_some(("robots", "noindex")));
        let known = said.map(|said| said.of(&job.url)).unwrap_or_default();
        let mut permissions = known.of_answer(headers, metas, &self.context.token);
        permissions.licence(markup.licences.iter().filter_map(|href| without_user(&job.url, href)));
        permissions
    }

    /// The main text of a page in the forms that are written.
    fn texts(&self, job: &Job, ended_at: Millis, response: &Response, page: &Page) -> Texts {
        let (forms, content_type) = (self.context.forms, header(response, "content-type"));
        page_lines(forms, job, ended_at, content_type, &response.body, page, self.reader.text())
    }

    /// The requisites of an answer, if requisites are fetched. If the answer is a requisite and a redirect, its target.
    fn needs(&self, answered: &Answered<'_>, content_type: Option<&str>, redirect: Option<&Url>) -> Vec<Need> {
        let Answered { job, response, .. } = *answered;
        let (is_requisite, is_good) = (job.is_requisite(), (200..300).contains(&response.status));
        let urls = match redirect {
            _ if !self.context.requisites => Vec::new(),
            Some(target) if is_requisite => vec![target.clone()],
            None if is_good => requisites::of_answer(&job.url, content_type, &response.body, is_requisite),
            _ => Vec::new(),
        };
        let urls = urls.into_iter().filter(|url| !self.logs_out(url));
        urls.map(|url| Need { id: self.context.keys.identify(&url).0, url }).collect()
    }
}

/// The reason why nothing was read of a document of a kind that has text. `None` if it was read, and for other kinds.
fn unread(answered: &Answered<'_>, kind: Kind) -> Option<String> {
    match kind {
        _ if answered.job.is_requisite() || !(200..300).contains(&answered.response.status) => None,
        Kind::Office => Some("not_read: a file of an office program".into()),
        #[cfg(feature = "pdf")]
        Kind::Pdf => {
            let error = answered.document.as_ref()?.as_ref().err()?;
            Some(format!("not_read: {error}"))
        }
        #[cfg(not(feature = "pdf"))]
        Kind::Pdf => Some("not_read: this program was built without the reader of PDF files".into()),
        _ => None,
    }
}

/// A URL as written on a page, resolved, without user name and password.
fn without_user(base: &Url, href: &str) -> Option<Url> {
    let mut url = base.join(href).ok()?;
    drop_user(&mut url);
    Some(url)
}

fn is_image(content_type: Option<&str>) -> bool {
    content_type
        .is_some_and(|value| value.trim_start().get(..6).is_some_and(|kind| kind.eq_ignore_ascii_case("image/")))
}

//! The messages between engine, fetchers and page workers. Every job that leaves the engine comes back as exactly one
//! [`JobReport`], whatever happens to it on the way.

use std::net::IpAddr;
use std::sync::Arc;

use dedup_stage::judge::{Ahead, OutLink};
use dedup_stage::page::{Page, Piece, WordMark};
use dedup_stage::url::UrlId;
use frontier::robots::RobotsRules;
use frontier::{Job, JobKind, Millis, SkipReason};
use url::Url;

use super::under_way::Weight;
use super::usage::OriginStatements;
use crate::access::{AccessFields, SiteReaction};
use crate::archive::Exchange;
use crate::extract::Texts;
use crate::fetch::{FetchError, Response, Validators};
use crate::focus::{LinkHits, PageHits};
use crate::hints::Hints;
#[cfg(feature = "pdf")]
use crate::pdf::{Document, PdfError};
use crate::stub::Stub;

/// A job as the engine gives it to the fetchers.
#[derive(Debug)]
pub struct Order {
    /// The job of the frontier.
    pub job: Job,
    /// For a conditional request.
    pub validators: Option<Validators>,
    /// The header fields of this request alone.
    pub access_fields: AccessFields,
    /// The statements of its origin about the use of pages.
    pub said: Option<Arc<OriginStatements>>,
    /// Whether its page is to be cut into pieces.
    pub cut: bool,
}

/// A job with its answer, on its way to a page worker.
#[derive(Debug)]
pub struct Fetched {
    /// Position in the order of judging. `None` for a heavy answer, which gets it when it has been read.
    pub sequence: Option<u64>,
    /// The job.
    pub job: Job,
    /// The time at which the answer was complete, or had failed.
    pub ended_at: Millis,
    /// The header fields of this request alone.
    pub access_fields: AccessFields,
    /// The statements of its origin about the use of pages.
    pub said: Option<Arc<OriginStatements>>,
    /// Whether its page is to be cut into pieces.
    pub cut: bool,
    /// Whether the request was a conditional one.
    pub is_conditional: bool,
    /// The answer.
    pub answer: Result<Answer, FetchError>,
    /// The text and links of a PDF file.
    #[cfg(feature = "pdf")]
    pub document: Option<Result<Document, PdfError>>,
}

/// The answer that a fetcher brings.
#[derive(Debug)]
pub enum Answer {
    /// Addresses, for a `Resolve` job.
    Addresses(Vec<IpAddr>),
    /// A response, for the others.
    Response(Box<Response>),
}

impl Fetched {
    /// From this number of bytes on, a page takes a while to read, or makes a large report.
    const LARGE: usize = 64 << 10;
    /// From this number of bytes on, an answer is heavy.
    const HEAVY: usize = config::bounds::LARGE_PAGE;

    /// Whether the answer takes a while to read, or makes a large report.
    pub fn is_large(&self) -> bool {
        let is_sitemap = self.job.kind == JobKind::Sitemap;
        matches!(&self.answer, Ok(Answer::Response(_)) if is_sitemap || self.size() > Self::LARGE)
    }

    /// The bytes that count for [`config::bounds::READ_AT_ONCE`] while the answer is read, if it is heavy: it takes
    /// much memory and time to read.
    pub fn weight(&self) -> Option<usize> {
        let Ok(Answer::Response(response)) = &self.answer else { return None };
        let bytes = match self.job.kind {
            // It is not known yet how large a compressed sitemap is when it is unpacked. So it counts as the largest
            // one.
            JobKind::Sitemap if response.body.starts_with(&[0x1f, 0x8b]) => config::bounds::SITEMAP_BYTES,
            _ => self.size(),
        };
        (bytes > Self::HEAVY).then_some(bytes)
    }

    /// The bytes of the body, and of the text and links that were read of it.
    fn size(&self) -> usize {
        let body = match &self.answer {
            Ok(Answer::Response(response)) => response.body.len(),
            _ => 0,
        };
        #[cfg(feature = "pdf")]
        let read = self.document.as_ref().and_then(|document| document.as_ref().ok()).map_or(0, Document::bytes);
        #[cfg(not(feature = "pdf"))]
        let read = 0;
        body + read
    }
}

/// A job with the results of a page worker.
#[derive(Debug)]
pub struct JobReport {
    /// Position in the order of judging.
    pub sequence: u64,
    /// The job.
    pub job: Job,
    /// The time at which the answer was complete, or had failed.
    pub ended_at: Millis,
    /// The answer in numbers, if there is one.
    pub answered: Option<AnswerFigures>,
    /// Cookies and challenges of the answer, and whether it looks like a lost login.
    pub reaction: Option<(u16, SiteReaction)>,
    /// Bytes of a body as received.
    pub received: u64,
    /// The result of the job.
    pub finding: Finding,
    /// The memory that the report holds, if that is much.
    pub weight: Option<Weight>,
    /// The time that a page worker has spent on the answer, in microseconds.
    pub micros: u64,
    /// Whether the answer is heavy.
    pub heavy: bool,
}

/// The result of a job.
#[derive(Debug)]
pub enum Finding {
    /// Addresses of a host.
    Addresses(Vec<IpAddr>),
    /// The rules of an origin, and its robots.txt if that has statements about the use of pages (otherwise empty).
    Robots(RobotsRules, Vec<u8>),
    /// The `tdmrep.json` of an origin; empty if there is none.
    Tdm {
        /// HTTP status.
        status: u16,
        /// From request to end of body.
        elapsed: Millis,
        /// `Retry-After`, as a time to wait.
        retry_after: Option<Millis>,
        /// The file.
        file: Vec<u8>,
    },
    /// The request for robots.txt was redirected to this URL.
    RobotsMoved(Url),
    /// Locations named by a sitemap, and further sitemaps.
    Sitemap(Box<SitemapFinding>),
    /// A page, a redirect, or an error page.
    Page(Box<PageFinding>),
    /// No answer.
    Failed {
        /// Why.
        error: FetchError,
        /// The line for `pages.jsonl`, should the URL be given up (pages only).
        line: Vec<u8>,
    },
}

/// The result of a request for a sitemap.
#[derive(Debug)]
pub struct SitemapFinding {
    /// HTTP status.
    pub status: u16,
    /// From request to end of body.
    pub elapsed: Millis,
    /// `Retry-After`, as a time to wait.
    pub retry_after: Option<Millis>,
    /// The target, if the answer is a redirect.
    pub redirect: Option<Url>,
    /// Pages, one per identity.
    pub pages: Vec<Named>,
    /// Further sitemaps.
    pub sitemaps: Vec<Url>,
    /// Whether the sitemap names more pages or sitemaps than were read.
    pub cut: bool,
    /// The digest of all entries, in any order; `None` if the answer is no sitemap.
    pub digest: Option<u64>,
    /// For a later conditional request.
    pub validators: Validators,
}

impl Finding {
    /// The bytes that a URL takes in memory besides its text.
    const BESIDE: usize = 200;

    /// The approximate memory of its URLs, of the texts of links, of its records in the link graph and the outputs, and
    /// of robots rules, in bytes.
    pub fn bytes(&self) -> usize {
        let of = |url: &Url| url.as_str().len() + Self::BESIDE;
        match self {
            Finding::Page(page) => {
                let urls = page.links.iter().map(|link| &link.url).chain(page.needs.iter().map(|need| &need.url));
                let records = [&page.graph, &page.texts.text, &page.texts.markdown, &page.question, &page.line];
                urls.map(of).sum::<usize>()
                    + records.map(Vec::capacity).iter().sum::<usize>()
                    + page.page.link_texts.bytes()
                    + page.page.passages.bytes()
                    + page.exchange.as_ref().map_or(0, |exchange| exchange.response.capacity())
            }
            Finding::Sitemap(sitemap) => {
                let urls = sitemap.pages.iter().map(|page| &page.url).chain(&sitemap.sitemaps);
                urls.map(of).sum()
            }
            Finding::Robots(rules, file) => rules.bytes() + file.capacity(),
            Finding::Tdm { file, .. } => file.capacity(),
            _ => 0,
        }
    }
}

/// A page that a sitemap names.
#[derive(Debug)]
pub struct Named {
    /// Its URL.
    pub url: Url,
    /// Its identity.
    pub id: UrlId,
    /// The reason why it will not be fetched.
    pub refusal: Option<SkipReason>,
    /// Hints of the sitemap about it.
    pub hints: Hints,
    /// The end of the time that its `lastmod` names.
    pub lastmod: Option<Millis>,
}

/// Everything that a worker read from one answer.
#[derive(Debug)]
pub struct PageFinding {
    /// HTTP status.
    pub status: u16,
    /// From request to end of body.
    pub elapsed: Millis,
    /// `Retry-After`, as a time to wait.
    pub retry_after: Option<Millis>,
    /// Bytes of the decoded body.
    pub bytes: u64,
    /// Bytes received.
    pub wire_bytes: u64,
    /// The reason why the body is not whole, if it is not.
    pub cut: Option<&'static str>,
    /// Whether the body may be whole the next time: the connection broke, or the bytes were broken.
    pub is_broken: bool,
    /// Whether the status is 200, which promises a page, but the body is empty.
    pub is_empty: bool,
    /// Whether the judge may compare it: a complete body with a 2xx status.
    pub judgeable: bool,
    /// Whether it is a file, whose body was not asked for.
    pub is_unread_file: bool,
    /// Links that were left out, and are probably pages of their own ([`super::doubtful_sessions`]).
    pub doubtful_sessions: Vec<u64>,
    /// The digest of a file ([`crate::fetch::file_digest`]).
    pub file: Option<u64>,
    /// Whether it is a document of a kind that has text, and its text could not be read.
    pub is_unread_document: bool,
    /// Whether nothing of it is kept, because it may not be used for the purpose of the crawl.
    pub not_kept: bool,
    /// The accepted fingerprints near that of the page, if a page worker has searched for them.
    pub ahead: Option<Ahead>,
    /// The words in which it describes itself, if it has little text and was answered with 200.
    pub stub: Option<Stub>,
    /// Text, title, fingerprints; its links have moved to `links`.
    pub page: Page,
    /// The pieces of the page, if it may be judged and has not too many.
    pub pieces: Vec<Piece>,
    /// If the fetch was a trial: the words of the content ([`dedup_stage::page::Reader::word_marks`]).
    pub word_marks: Vec<WordMark>,
    /// Out-links, one per identity; a redirect has exactly one.
    pub links: Vec<OutLink>,
    /// A note for each link, in the same order.
    pub notes: Vec<LinkNote>,
    /// Whether it is a feed, whose links are its entries.
    pub is_feed: bool,
    /// In a focused crawl: the topic on the page.
    pub hits: Option<PageHits>,
    /// The question about the page to the program that scores pages; empty if it is not to be scored.
    pub question: Vec<u8>,
    /// The program's answer.
    pub score: Option<f32>,
    /// Target of a redirect.
    pub redirect: Option<RedirectFinding>,
    /// Its requisites, if requisites are fetched.
    pub needs: Vec<Need>,
    /// Its record in the link graph; empty without links.
    pub graph: Vec<u8>,
    /// For a later conditional request.
    pub validators: Validators,
    /// Whether the answer is a 304.
    pub unchanged: bool,
    /// Whether the answer is a 304 to a conditional request. (A 304 to any other request says nothing.)
    pub is_not_modified: bool,
    /// The main text, in the forms that the crawl writes, if it writes any.
    pub texts: Texts,
    /// The exchange for the archive, if the crawl writes one.
    pub exchange: Option<Exchange>,
    /// The beginning of its line in `pages.jsonl`: `{"url":…` up to the fields that depend on the verdict.
    pub line: Vec<u8>,
}

impl PageFinding {
    /// Whether the answer shows what the URL is: a complete page or file, or a file whose body was not asked for.
    pub fn shows(&self) -> bool {
        self.judgeable || self.is_unread_file
    }
}

/// Something that a page needs to be shown.
#[derive(Debug)]
pub struct Need {
    /// Its URL.
    pub url: Url,
    /// Its identity.
    pub id: UrlId,
}

/// The target of a redirect.
#[derive(Debug)]
pub struct RedirectFinding {
    /// Whether the target is asked for although it was visited before: its key is that of the source, or the chain of
    /// redirects comes back to it with a cookie (the engine finds that out).
    pub again: bool,
    /// Hashes of the names of the cookies that came with it.
    pub cookies: Vec<u64>,
    /// Identity of the target.
    pub target: UrlId,
}

/// A note about a link.
#[derive(Debug, Default)]
pub struct LinkNote {
    /// The reason for which the link is not followed, if there is one.
    pub refusal: Option<SkipReason>,
    /// Whether the link may not be followed however near its target is.
    pub withheld: bool,
    /// In a focused crawl: the topic's words near the link.
    pub hits: Option<Box<LinkHits>>,
    /// Hints of the page about it.
    pub hints: Hints,
}

/// The answer to a request, in numbers.
#[derive(Clone, Copy, Debug)]
pub struct AnswerFigures {
    /// HTTP status.
    pub status: u16,
    /// Bytes of the body, as received.
    pub bytes: u64,
    /// From request to end of body.
    pub elapsed: Millis,
    /// The reason for which the body is not whole, if it is not.
    pub cut: Option<&'static str>,
}

/// The result of a request for a sitemap or a feed.
pub(super) struct ListAnswer {
    /// HTTP status.
    pub status: u16,
    /// The digest of its entries; `None` if the answer is no list.
    pub digest: Option<u64>,
    /// The news that it has brought, in weighted pages.
    pub news: f32,
    /// For a later conditional request.
    pub validators: Validators,
}

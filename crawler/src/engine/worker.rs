//! Page workers: stateless threads that do everything that costs CPU. They read pages, hash, resolve and scope links, and
//! finish the bytes of the outputs, so that the engine only decides and appends.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};
use dedup_stage::page::{self, Page, Reader};
use dedup_stage::url::{Canonicalizer, KeyHasher};
use frontier::robots::{self, Rules};
use frontier::scope::Scope;
use frontier::sitemap::{self, Sitemap};
use frontier::{Job, JobKind, Millis, SkipReason};
use url::Url;

use super::batch;
use super::message::{Answer, Fetched, Finding, OutLink, PageFinding, RedirectFinding, Report, SitemapFinding};
use crate::archive::Exchange;
use crate::clock::rfc3339;
use crate::fetch::retry_after::retry_after;
use crate::fetch::{FetchError, Response, Truncation, Validators};
use crate::focus::{Finder, Topic};

/// What the workers know; the same for all pages, so that any worker gives the same report.
#[derive(Debug)]
pub struct Context {
    /// How URLs are compared.
    pub canonicalizer: Canonicalizer,
    /// Hashes URL keys with the crawl's secret.
    pub hasher: KeyHasher,
    /// What belongs to the crawl.
    pub scope: Scope,
    /// Our product token.
    pub token: String,
    /// Whether `nofollow` and robots.txt are obeyed.
    pub obey_robots: bool,
    /// Redirects followed in a row.
    pub max_hops: u8,
    /// What a focused crawl is about.
    pub topic: Option<Arc<Topic>>,
    /// Where an archive is kept: the header fields of every request.
    pub archive: Option<Vec<(String, Vec<u8>)>>,
}

/// Starts `threads` workers. They end when `fetched` is closed.
pub fn start(
    threads: usize,
    context: &Arc<Context>,
    fetched: &Receiver<Fetched>,
    reports: &Sender<Vec<Report>>,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    (0..threads)
        .map(|n| {
            let (context, fetched, reports) = (Arc::clone(context), fetched.clone(), reports.clone());
            std::thread::Builder::new().name(format!("page-{n}")).spawn(move || {
                let finder = context.topic.clone().map(Finder::new);
                let mut worker = Worker { context: &context, reader: Reader::default(), finder };
                batch::each(&fetched, &reports, Fetched::is_large, |item| worker.report(item));
            })
        })
        .collect()
}

struct Worker<'a> {
    context: &'a Context,
    reader: Reader,
    finder: Option<Finder>,
}

impl Worker<'_> {
    /// One answer in, one report out, whatever the answer does to the parser.
    fn report(&mut self, item: Fetched) -> Report {
        let Fetched { sequence, job, ended_at, answer } = item;
        let finding = match answer {
            Ok(Answer::Addresses(addresses)) => Finding::Addresses(addresses),
            Ok(Answer::Response(response)) => {
                let finding = catch_unwind(AssertUnwindSafe(|| self.read(&job, ended_at, &response)));
                finding.unwrap_or_else(|_| {
                    self.reader = Reader::default();
                    failed(&job, ended_at, FetchError::Protocol("panic in the parser".into()))
                })
            }
            Err(error) => failed(&job, ended_at, error),
        };
        Report { sequence, job, ended_at, finding }
    }

    fn read(&mut self, job: &Job, ended_at: Millis, response: &Response) -> Finding {
        match job.kind {
            JobKind::Resolve => Finding::Addresses(Vec::new()),
            JobKind::Robots => match redirect_target(&job.url, response) {
                Some(target) => Finding::RobotsMoved(target),
                None => {
                    let answer = robots::Answer {
                        url: &job.url,
                        status: response.status,
                        retry_after: wait(response, ended_at),
                        body: &response.body,
                        at: ended_at,
                    };
                    Finding::Robots(Rules::read(&answer, &self.context.token))
                }
            },
            JobKind::Sitemap => Finding::Sitemap(Box::new(self.sitemap(job, ended_at, response))),
            JobKind::Page => Finding::Page(Box::new(self.page(job, ended_at, response))),
        }
    }

    fn page(&mut self, job: &Job, ended_at: Millis, response: &Response) -> PageFinding {
        let content_type = header(response, "content-type");
        let redirect = redirect_target(&job.url, response);
        let unchanged = response.status == 304;
        let mut page = if redirect.is_some() || unchanged {
            Page::default()
        } else {
            self.reader.read(&page::Input {
                url: &job.url,
                status: response.status,
                content_type,
                body: &response.body,
            })
        };
        let headers = response.headers.get_all("x-robots-tag").iter().filter_map(|value| value.to_str().ok());
        let directives = robots::page_directives([], headers, &self.context.token);
        page.noindex |= directives.noindex;
        page.nofollow |= directives.nofollow;

        let mut links = Vec::new();
        let mut redirect_finding = None;
        let mut hits = None;
        if let Some(target) = &redirect {
            let source = self.context.hasher.hash(&self.context.canonicalizer.key(&job.url));
            let link = self.out_link(target.clone(), job.depth);
            redirect_finding = Some(RedirectFinding { same_key: link.hash == source });
            if job.hops < self.context.max_hops {
                links.push(link);
            }
        } else {
            links.reserve(page.links.len());
            let topical = self.finder.as_mut().filter(|_| page.is_text && (200..300).contains(&response.status));
            let mut link_hits = Vec::new();
            if let Some(finder) = topical {
                hits = Some(finder.page(&page, &self.reader));
                link_hits = finder.links(&page, &self.reader);
            }
            let mut link_hits = link_hits.into_iter();
            for link in std::mem::take(&mut page.links) {
                let mut out = self.out_link(link.url, job.depth + 1);
                out.hits = link_hits.next().map(Box::new);
                if self.context.obey_robots && (page.nofollow || link.nofollow) && out.refusal.is_none() {
                    out.refusal = Some(SkipReason::Nofollow);
                }
                links.push(out);
            }
            one_per_key(&mut links);
        }

        // A body that was never asked for is not one that was cut.
        let cut = response.truncated.filter(|why| *why != Truncation::NotAPage);
        let judgeable = (200..300).contains(&response.status) && response.truncated.is_none();
        let error = if redirect.is_some() && job.hops >= self.context.max_hops {
            Some("too many redirects")
        } else {
            cut.map(Truncation::name)
        };
        let line = line(&Facts {
            job,
            ended_at,
            status: Some(response.status),
            content_type,
            bytes: response.body.len() as u64,
            page: &page,
            links: links.len(),
            redirect_to: redirect.as_ref(),
            error,
            truncated: cut.is_some(),
            unchanged,
            has_body: !response.body.is_empty() && response.truncated.is_none() && redirect.is_none(),
        });
        let validators = Validators {
            etag: header(response, "etag").map(str::to_owned),
            last_modified: header(response, "last-modified").map(str::to_owned),
        };
        let exchange = self.context.archive.as_ref().and_then(|fields| {
            let exchange = Exchange::new(&job.url, fields, response, validators.clone());
            exchange.inspect_err(|error| tracing::error!("{}: not archived: {error}", job.url)).ok()
        });
        PageFinding {
            status: response.status,
            elapsed: response.ended_at.saturating_sub(response.sent_at),
            retry_after: wait(response, ended_at),
            bytes: response.body.len() as u64,
            wire_bytes: response.wire_bytes,
            judgeable,
            page,
            links,
            hits,
            redirect: redirect_finding,
            validators,
            exchange,
            unchanged,
            line,
        }
    }

    fn sitemap(&mut self, job: &Job, ended_at: Millis, response: &Response) -> SitemapFinding {
        let mut finding = SitemapFinding {
            status: response.status,
            elapsed: response.ended_at.saturating_sub(response.sent_at),
            retry_after: wait(response, ended_at),
            links: Vec::new(),
            sitemaps: Vec::new(),
        };
        if !(200..300).contains(&response.status) {
            return finding;
        }
        for entry in Sitemap::open(&response.body, &job.url) {
            match entry.kind {
                sitemap::Kind::Page => finding.links.push(self.out_link(entry.loc, 1)),
                sitemap::Kind::Sitemap => finding.sitemaps.push(entry.loc),
            }
        }
        one_per_key(&mut finding.links);
        finding
    }

    fn out_link(&self, url: Url, depth: u32) -> OutLink {
        let hash = self.context.canonicalizer.hash(&url, &self.context.hasher);
        let refusal = self.context.scope.admits(&url, depth).err();
        OutLink { url, hash, refusal, hits: None }
    }
}

/// Keeps the first link of each key.
fn one_per_key(links: &mut Vec<OutLink>) {
    if links.len() < 2 {
        return;
    }
    let mut seen = std::collections::HashSet::with_capacity(links.len());
    links.retain(|link| seen.insert(link.hash));
}

fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers.get(name).and_then(|value| value.to_str().ok())
}

/// How long the server asks us to wait.
fn wait(response: &Response, now: Millis) -> Option<Millis> {
    header(response, "retry-after").and_then(|value| retry_after(value, now))
}

/// Where a 3xx answer points, if it points anywhere over HTTP.
fn redirect_target(base: &Url, response: &Response) -> Option<Url> {
    if !matches!(response.status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    // Servers send raw UTF-8 here, which is no visible ASCII.
    let location = String::from_utf8_lossy(response.headers.get("location")?.as_bytes()).into_owned();
    let mut target = base.join(location.trim()).ok()?;
    target.set_fragment(None);
    Some(target)
}

fn failed(job: &Job, ended_at: Millis, error: FetchError) -> Finding {
    let line = if job.kind == JobKind::Page {
        line(&Facts {
            job,
            ended_at,
            status: None,
            content_type: None,
            bytes: 0,
            page: &Page::default(),
            links: 0,
            redirect_to: None,
            error: Some(&error.to_string()),
            truncated: false,
            unchanged: false,
            has_body: false,
        })
    } else {
        Vec::new()
    };
    Finding::Failed { error, line }
}

/// What a line of `pages.jsonl` says before the verdict.
struct Facts<'a> {
    job: &'a Job,
    ended_at: Millis,
    status: Option<u16>,
    content_type: Option<&'a str>,
    bytes: u64,
    page: &'a Page,
    links: usize,
    redirect_to: Option<&'a Url>,
    error: Option<&'a str>,
    truncated: bool,
    unchanged: bool,
    has_body: bool,
}

/// The beginning of a line of `pages.jsonl`: everything but what depends on the verdict, and the closing brace.
fn line(facts: &Facts<'_>) -> Vec<u8> {
    let Facts { job, page, .. } = facts;
    let mut out = Vec::with_capacity(768);
    out.extend(b"{\"url\":");
    text(&mut out, Some(job.url.as_str()));
    out.extend(b",\"status\":");
    match facts.status {
        Some(status) => number(&mut out, u64::from(status)),
        None => out.extend(b"null"),
    }
    out.extend(b",\"depth\":");
    number(&mut out, u64::from(job.depth));
    out.extend(b",\"fetched_at\":\"");
    out.extend(rfc3339(facts.ended_at).as_bytes());
    out.extend(b"\",\"content_type\":");
    text(&mut out, facts.content_type);
    out.extend(b",\"bytes\":");
    number(&mut out, facts.bytes);
    out.extend(b",\"charset\":");
    text(&mut out, known(page.charset));
    out.extend(b",\"language\":");
    text(&mut out, known(&page.language));
    out.extend(b",\"title\":");
    text(&mut out, known(&page.title));
    out.extend(b",\"words\":");
    number(&mut out, u64::from(page.words));
    out.extend(b",\"sha256\":");
    if facts.has_body {
        out.push(b'"');
        hex(&mut out, &page.sha256);
        out.push(b'"');
    } else {
        out.extend(b"null");
    }
    out.extend(b",\"simhash\":");
    match &page.signature {
        Some(signature) => {
            out.push(b'"');
            hex(&mut out, &signature.simhash.to_be_bytes());
            out.push(b'"');
        }
        None => out.extend(b"null"),
    }
    out.extend(b",\"links\":");
    number(&mut out, facts.links as u64);
    out.extend(b",\"priority\":");
    // Writing to a Vec cannot fail.
    let _ = write!(out, "{:.3}", job.priority);
    let [novelty, in_links, hint, relevance] = job.merits.to_bytes();
    let _ = write!(out, ",\"merits\":[{novelty},{in_links},{hint},{relevance}]");
    out.extend(b",\"redirect_to\":");
    text(&mut out, facts.redirect_to.map(Url::as_str));
    out.extend(b",\"error\":");
    text(&mut out, facts.error);
    let _ = write!(
        out,
        ",\"noindex\":{},\"truncated\":{},\"unchanged\":{}",
        page.noindex, facts.truncated, facts.unchanged
    );
    out
}

fn known(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn text(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        // Writing to a Vec cannot fail.
        Some(text) => drop(serde_json::to_writer(out, text)),
        None => out.extend(b"null"),
    }
}

fn number(out: &mut Vec<u8>, number: u64) {
    let _ = write!(out, "{number}");
}

fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

//! Page workers: stateless threads that do everything that costs CPU. They read pages, hash, resolve and scope links, and
//! finish the bytes of the outputs, so that the engine only decides and appends.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};
use dedup_stage::judge::OutLink;
use dedup_stage::page::{self, Page, Reader};
use dedup_stage::url::Keys;
use frontier::robots::{self, Rules};
use frontier::scope::Scope;
use frontier::sitemap::{self, Sitemap};
use frontier::{Job, JobKind, Millis, SkipReason};
use url::Url;

use super::batch;
use super::line::{Facts, line};
use super::message::{Answer, Fetched, Finding, LinkNote, Named, PageFinding, RedirectFinding, Report, SitemapFinding};
use crate::archive::Exchange;
use crate::fetch::retry_after::retry_after;
use crate::fetch::{FetchError, Response, Truncation, Validators};
use crate::focus::{Finder, LinkHits, Topic};

/// What the workers know; the same for all pages, so that any worker gives the same report.
#[derive(Debug)]
pub struct Context {
    /// Makes the identities of URLs.
    pub keys: Keys,
    /// What belongs to the crawl.
    pub scope: Arc<Scope>,
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

        let (mut links, mut notes, mut redirect_finding, mut hits) = (Vec::new(), Vec::new(), None, None);
        if let Some(target) = &redirect {
            let link = OutLink::new(target.clone(), false, &self.context.keys);
            redirect_finding = Some(RedirectFinding { same_key: link.id == job.page.url, target: link.id });
            if job.hops < self.context.max_hops {
                notes.push(LinkNote { refusal: self.refusal(target, job.depth), hits: None });
                links.push(link);
            }
        } else {
            let topical = self.finder.as_mut().filter(|_| page.is_text && (200..300).contains(&response.status));
            let mut link_hits = Vec::new();
            if let Some(finder) = topical {
                hits = Some(finder.page(&page, &self.reader));
                link_hits = finder.links(&page, &self.reader);
            }
            (links, notes) = self.links(job, &mut page, link_hits);
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
            cut: cut.map(Truncation::kind),
            judgeable,
            page,
            links,
            notes,
            hits,
            redirect: redirect_finding,
            validators,
            exchange,
            unchanged,
            line,
        }
    }

    /// The links of a page, one per identity, and what else is known of each. `hits` are those of the links in a focused
    /// crawl.
    fn links(&self, job: &Job, page: &mut Page, hits: Vec<LinkHits>) -> (Vec<OutLink>, Vec<LinkNote>) {
        let mut hits = hits.into_iter();
        let mut known = HashSet::with_capacity(page.links.len());
        let (mut links, mut notes) = (Vec::with_capacity(page.links.len()), Vec::with_capacity(page.links.len()));
        for page::Link { url, nofollow, content, .. } in std::mem::take(&mut page.links) {
            let hits = hits.next().map(Box::new);
            let link = OutLink::new(url, content, &self.context.keys);
            if !known.insert(link.id.url) {
                continue;
            }
            let withheld = self.context.obey_robots && (page.nofollow || nofollow);
            let refusal = self.refusal(&link.url, job.depth + 1).or(withheld.then_some(SkipReason::Nofollow));
            links.push(link);
            notes.push(LinkNote { refusal, hits });
        }
        (links, notes)
    }

    fn sitemap(&mut self, job: &Job, ended_at: Millis, response: &Response) -> SitemapFinding {
        let mut finding = SitemapFinding {
            status: response.status,
            elapsed: response.ended_at.saturating_sub(response.sent_at),
            retry_after: wait(response, ended_at),
            redirect: redirect_target(&job.url, response),
            pages: Vec::new(),
            sitemaps: Vec::new(),
        };
        if !(200..300).contains(&response.status) {
            return finding;
        }
        let mut known = HashSet::new();
        for entry in Sitemap::open(&response.body, &job.url) {
            match entry.kind {
                sitemap::Kind::Page => {
                    let (id, _) = self.context.keys.identify(&entry.loc);
                    if known.insert(id.url) {
                        let refusal = self.refusal(&entry.loc, 1);
                        finding.pages.push(Named { url: entry.loc, id, refusal });
                    }
                }
                sitemap::Kind::Sitemap => finding.sitemaps.push(entry.loc),
            }
        }
        finding
    }

    /// Why a URL at a depth does not belong to the crawl, if it does not.
    fn refusal(&self, url: &Url, depth: u32) -> Option<SkipReason> {
        self.context.scope.admits(url, depth).err()
    }
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

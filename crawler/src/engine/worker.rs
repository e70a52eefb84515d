//! Page workers: stateless threads that do everything that costs CPU. They read pages, hash, resolve and scope links, and
//! finish the bytes of the outputs, so that the engine only decides and appends.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};
use dedup_stage::page::{Page, Reader};
use dedup_stage::url::Keys;
use frontier::robots::{self, Rules};
use frontier::scope::Scope;
use frontier::sitemap::{self, Sitemap};
use frontier::{Job, JobKind, Millis, SkipReason};
use url::Url;

use super::batch;
use super::line::{Facts, line};
use super::message::{Answer, Fetched, Finding, Named, Report, SitemapFinding};
use super::under_way::UnderWay;
use super::usage::{Said, is_tdm};
use crate::access::{Heard, Worn};
use crate::auth::login::Login;
use crate::extract::Forms;
use crate::fetch::retry_after::retry_after;
use crate::fetch::{FetchError, Response};
use crate::focus::{Finder, Topic};
#[cfg(feature = "pdf")]
use crate::pdf;
use crate::permissions::Purpose;
use crate::permissions::robots::UsageRules;

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
    /// Logins, for what a lost session looks like.
    pub logins: Vec<Login>,
    /// Whether the crawl has an account somewhere: then links that end a session are not followed.
    pub has_account: bool,
    /// What pages are fetched for, where that is said.
    pub purpose: Option<Purpose>,
    /// The forms in which the main text of pages is written.
    pub forms: Forms,
    /// The program that reads PDF files.
    #[cfg(feature = "pdf")]
    pub pdf: pdf::Program,
}

/// Starts `threads` workers. They end when `fetched` is closed.
pub fn start(
    threads: usize,
    context: &Arc<Context>,
    under_way: &UnderWay,
    fetched: &Receiver<Fetched>,
    reports: &Sender<Vec<Report>>,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    (0..threads)
        .map(|n| {
            let (context, under_way) = (Arc::clone(context), under_way.clone());
            let (fetched, reports) = (fetched.clone(), reports.clone());
            std::thread::Builder::new().name(format!("page-{n}")).spawn(move || {
                let finder = context.topic.clone().map(Finder::new);
                let mut worker = Worker { context: &context, reader: Reader::default(), finder };
                batch::each(&fetched, &reports, Fetched::is_large, |item| {
                    // Nothing waits here: results are sent before a large item is begun.
                    if item.is_large() {
                        under_way.admit(item.sequence);
                    }
                    let mut report = worker.report(item);
                    let bytes = report.finding.bytes();
                    report.weight = (bytes > Worker::LIGHT).then(|| under_way.weigh(bytes));
                    report
                });
            })
        })
        .collect()
}

/// One worker.
pub(super) struct Worker<'a> {
    pub context: &'a Context,
    pub reader: Reader,
    pub finder: Option<Finder>,
}

/// A whole answer, and how it was asked for.
pub(super) struct Answered<'a> {
    pub job: &'a Job,
    pub ended_at: Millis,
    pub worn: &'a Worn,
    pub said: Option<&'a Said>,
    pub response: &'a Response,
}

impl Worker<'_> {
    /// Bytes of a report that are not counted.
    const LIGHT: usize = 64 << 10;
    /// Bytes of the URLs of one sitemap that are read.
    const SITEMAP: usize = config::bounds::SITEMAP_BYTES;

    /// One answer in, one report out, whatever the answer does to the parser.
    fn report(&mut self, item: Fetched) -> Report {
        let Fetched { sequence, job, ended_at, worn, said, answer } = item;
        let (mut heard, mut received) = (None, 0);
        let finding = match answer {
            Ok(Answer::Addresses(addresses)) => Finding::Addresses(addresses),
            Ok(Answer::Response(response)) => {
                received = response.wire_bytes;
                if matches!(job.kind, JobKind::Page | JobKind::Sitemap) {
                    heard = Some((response.status, Heard::read(&job.url, &response, &self.context.logins)));
                }
                let answered =
                    Answered { job: &job, ended_at, worn: &worn, said: said.as_deref(), response: &response };
                let finding = catch_unwind(AssertUnwindSafe(|| self.read(&answered)));
                finding.unwrap_or_else(|_| {
                    self.reader = Reader::default();
                    failed(&job, ended_at, FetchError::Protocol("panic in the parser".into()))
                })
            }
            Err(error) => failed(&job, ended_at, error),
        };
        Report { sequence, job, ended_at, heard, received, finding, weight: None }
    }

    fn read(&mut self, answered: &Answered<'_>) -> Finding {
        let Answered { job, ended_at, response, .. } = *answered;
        match job.kind {
            JobKind::Resolve => Finding::Addresses(Vec::new()),
            JobKind::Robots => match response.redirect_target(&job.url) {
                Some(target) => Finding::RobotsMoved(target),
                None => self.robots(job, ended_at, response),
            },
            JobKind::Sitemap if is_tdm(&job.url) => Finding::Tdm {
                status: response.status,
                elapsed: response.ended_at.saturating_sub(response.sent_at),
                retry_after: wait(response, ended_at),
                file: if response.status == 200 { response.body.clone() } else { Vec::new() },
            },
            JobKind::Sitemap => Finding::Sitemap(Box::new(self.sitemap(job, ended_at, response))),
            JobKind::Page => Finding::Page(Box::new(self.page(answered))),
        }
    }

    fn robots(&self, job: &Job, ended_at: Millis, response: &Response) -> Finding {
        let answer = robots::Answer {
            url: &job.url,
            status: response.status,
            retry_after: wait(response, ended_at),
            body: &response.body,
            at: ended_at,
        };
        let rules = Rules::read(&answer, &self.context.token);
        let speaks = response.status == 200 && UsageRules::are_in(&response.body);
        Finding::Robots(rules, if speaks { response.body.clone() } else { Vec::new() })
    }

    fn sitemap(&mut self, job: &Job, ended_at: Millis, response: &Response) -> SitemapFinding {
        let mut finding = SitemapFinding {
            status: response.status,
            elapsed: response.ended_at.saturating_sub(response.sent_at),
            retry_after: wait(response, ended_at),
            redirect: response.redirect_target(&job.url),
            pages: Vec::new(),
            sitemaps: Vec::new(),
            cut: false,
        };
        if !(200..300).contains(&response.status) {
            return finding;
        }
        let mut known = HashSet::new();
        let mut bytes = 0;
        for entry in Sitemap::open(&response.body, &job.url) {
            bytes += entry.loc.as_str().len();
            if bytes > Self::SITEMAP {
                finding.cut = true;
                break;
            }
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
    pub(super) fn refusal(&self, url: &Url, depth: u32) -> Option<SkipReason> {
        self.context.scope.admits(url, depth).err()
    }
}

pub(super) fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers.get(name).and_then(|value| value.to_str().ok())
}

/// How long the server asks us to wait.
pub(super) fn wait(response: &Response, now: Millis) -> Option<Millis> {
    header(response, "retry-after").and_then(|value| retry_after(value, now))
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
            is_private: false,
            permissions: None,
        })
    } else {
        Vec::new()
    };
    Finding::Failed { error, line }
}

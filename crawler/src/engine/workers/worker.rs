//! Page workers: threads without state that do all work that costs much CPU. They read pages, make hashes, resolve
//! links and check their scope, and prepare the bytes of the outputs. So the engine only decides and appends.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use crossbeam_channel::Sender;
use dedup_stage::judge::Searcher;
use dedup_stage::page::{Page, Reader, says_html};
use dedup_stage::url::Keys;
use frontier::robots::{self, RobotsRules};
use frontier::scope::Scope;
use frontier::sitemap::{self, Sitemap};
use frontier::{Job, JobKind, Millis, SkipReason};
use url::Url;

use super::batch;
use super::line::{Facts, line};
use super::line_up::Lines;
use crate::access::{AccessFields, SiteReaction};
use crate::auth::login::Login;
use crate::engine::message::{Answer, AnswerFigures, Fetched, Finding, JobReport, Named, SitemapFinding};
use crate::engine::stopwatch::Stopwatch;
use crate::engine::under_way::UnderWay;
use crate::engine::usage::{OriginStatements, is_tdm};
use crate::extract::Forms;
use crate::fetch::retry_after::retry_after;
use crate::fetch::{FetchError, Response, Truncation, Validators};
use crate::focus::{Finder, Topic};
use crate::hints::{self, Hints};
#[cfg(feature = "pdf")]
use crate::pdf;
use crate::permissions::Purpose;
use crate::permissions::robots::UsageRules;
use crate::permissions::tdm::TdmFile;

/// The settings of the workers. They are the same for all pages, so that every worker gives the same report.
#[derive(Debug)]
pub struct Context {
    /// Makes the identities of URLs.
    pub keys: Keys,
    /// The scope of the crawl.
    pub scope: Arc<Scope>,
    /// The product token of the crawler.
    pub token: String,
    /// Whether `nofollow` and robots.txt are obeyed.
    pub obey_robots: bool,
    /// The most redirects that are followed in a row.
    pub max_hops: u8,
    /// The topic of a focused crawl.
    pub topic: Option<Arc<Topic>>,
    /// Whether a program scores pages.
    pub scores: bool,
    /// Whether requisites of pages are fetched.
    pub requisites: bool,
    /// If an archive is kept: the header fields of every request.
    pub archive: Option<Vec<(String, Vec<u8>)>>,
    /// The logins, which tell how a lost session looks.
    pub logins: Vec<Login>,
    /// Whether the crawl has an account somewhere: then links that end a session are not followed.
    pub has_account: bool,
    /// The registrable domains of the cookies of a browser: the crawl has a session there.
    pub file_sites: Arc<HashSet<String>>,
    /// The purpose of the crawl, if one is given.
    pub purpose: Option<Purpose>,
    /// The forms in which the main text of pages is written.
    pub forms: Forms,
}

/// Starts `threads` workers for usual answers, and as many for heavy ones. They end when the lines are closed.
pub fn start(
    threads: usize,
    context: &Arc<Context>,
    searcher: Option<&Searcher>,
    under_way: &UnderWay,
    lines: &Lines,
    reports: &Sender<Vec<JobReport>>,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    let kinds = (0..threads).map(|n| (n, false)).chain((0..threads).map(|n| (n, true)));
    let start = |(n, heavy): (usize, bool)| {
        let (context, searcher, under_way) = (Arc::clone(context), searcher.cloned(), under_way.clone());
        let (lines, reports) = (lines.clone(), reports.clone());
        let name = if heavy { format!("heavy-{n}") } else { format!("page-{n}") };
        std::thread::Builder::new().name(name).spawn(move || {
            let finder = context.topic.clone().map(Finder::new);
            let (reader, stopwatch) = (Reader::default(), Stopwatch::new());
            let mut worker = Worker { context: &context, searcher, reader, finder, stopwatch };
            if heavy {
                worker.read_heavy(&lines, &under_way, &reports);
            } else {
                batch::each(&lines.usual, &reports, Fetched::is_large, |item| {
                    // No result waits here, because results are sent before a large item is begun.
                    let _reading = item.is_large().then(|| under_way.admit(item.sequence, 0));
                    worker.report(item, &under_way)
                });
            }
        })
    };
    kinds.map(start).collect()
}

/// One worker.
pub(super) struct Worker<'a> {
    pub context: &'a Context,
    /// Searches for fingerprints near those of pages, so that the engine need not; `None` with few workers.
    pub searcher: Option<Searcher>,
    pub reader: Reader,
    pub finder: Option<Finder>,
    /// Measures what answers cost.
    pub stopwatch: Stopwatch,
}

/// An answer with its request.
pub(in crate::engine) struct Answered<'a> {
    pub job: &'a Job,
    pub ended_at: Millis,
    pub access_fields: &'a AccessFields,
    pub said: Option<&'a OriginStatements>,
    /// Whether the page is to be cut into pieces.
    pub cut: bool,
    /// Whether the request was a conditional one.
    pub is_conditional: bool,
    pub response: &'a Response,
    /// The text and links of a PDF file.
    #[cfg(feature = "pdf")]
    pub document: Option<&'a Result<pdf::Document, pdf::PdfError>>,
}

impl Worker<'_> {
    /// A report that holds fewer bytes than this is not counted.
    const LIGHT: usize = 64 << 10;
    /// At most this many bytes of URLs are read from one sitemap.
    const SITEMAP: usize = config::bounds::SITEMAP_BYTES;

    /// Reads heavy answers until there are no more.
    fn read_heavy(&mut self, lines: &Lines, under_way: &UnderWay, reports: &Sender<Vec<JobReport>>) {
        for item in &lines.heavy {
            let Some(reading) = under_way.admit(None, item.weight().unwrap_or_default()) else { return };
            let mut report = self.report(item, under_way);
            // The memory of a heavy answer is free before the next one begins.
            self.reader.forget_large();
            drop(reading);
            (report.sequence, report.heavy) = (lines.numbers.next(), true);
            if reports.send(vec![report]).is_err() {
                return;
            }
        }
    }

    /// The report of one answer, with what it cost and what it weighs.
    fn report(&mut self, item: Fetched, under_way: &UnderWay) -> JobReport {
        let began = Instant::now();
        let mut report = self.report_of(item);
        report.micros = self.stopwatch.micros_since(began);
        let bytes = report.finding.bytes();
        report.weight = (bytes > Worker::LIGHT).then(|| under_way.weigh(bytes));
        report
    }

    /// Makes one report of one answer, even if the parser panics.
    fn report_of(&mut self, item: Fetched) -> JobReport {
        let Fetched { sequence, job, ended_at, access_fields, said, cut, is_conditional, answer, .. } = item;
        #[cfg(feature = "pdf")]
        let document = item.document;
        let (mut reaction, mut received, mut numbers) = (None, 0, None);
        let finding = match answer {
            Ok(Answer::Addresses(addresses)) => Finding::Addresses(addresses),
            Ok(Answer::Response(response)) => {
                received = response.wire_bytes;
                numbers = Some(AnswerFigures {
                    status: response.status,
                    bytes: response.wire_bytes,
                    elapsed: response.ended_at.saturating_sub(response.sent_at),
                    cut: response.truncated.filter(|why| *why != Truncation::NotAPage).map(Truncation::kind),
                });
                if matches!(job.kind, JobKind::Page | JobKind::Sitemap) {
                    reaction = Some((
                        response.status,
                        SiteReaction::read(&job.url, &access_fields, &response, &self.context.logins),
                    ));
                }
                let answered = Answered {
                    job: &job,
                    ended_at,
                    access_fields: &access_fields,
                    said: said.as_deref(),
                    cut,
                    is_conditional,
                    response: &response,
                    #[cfg(feature = "pdf")]
                    document: document.as_ref(),
                };
                let finding = catch_unwind(AssertUnwindSafe(|| self.read(&answered)));
                finding.unwrap_or_else(|_| {
                    self.reader = Reader::default();
                    failed(&job, ended_at, FetchError::Protocol("panic in the parser".into()))
                })
            }
            Err(error) => failed(&job, ended_at, error),
        };
        JobReport {
            sequence: sequence.unwrap_or_default(),
            job,
            ended_at,
            answered: numbers,
            reaction,
            received,
            finding,
            weight: None,
            micros: 0,
            heavy: false,
        }
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
                // A larger file counts as an empty one.
                file: match response.status {
                    200 if response.body.len() <= TdmFile::MAX_BYTES => response.body.to_vec(),
                    _ => Vec::new(),
                },
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
        let rules = RobotsRules::read(&answer, &self.context.token);
        let speaks = response.status == 200 && UsageRules::are_in(&response.body);
        Finding::Robots(rules, if speaks { response.body.to_vec() } else { Vec::new() })
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
            digest: None,
            validators: validators(response),
        };
        if !(200..300).contains(&response.status) {
            return finding;
        }
        let mut known = HashSet::new();
        let (mut bytes, mut digest) = (0, 0u64);
        let mut entries = Sitemap::open(&response.body, &job.url);
        for entry in &mut entries {
            bytes += entry.loc.as_str().len();
            digest = digest.wrapping_add(entry.digest());
            if bytes > Self::SITEMAP {
                finding.cut = true;
                break;
            }
            match entry.kind {
                sitemap::Kind::Page => {
                    let (id, _) = self.context.keys.identify(&entry.loc);
                    if known.insert(id.url) {
                        let withheld = self.logs_out(&entry.loc).then_some(SkipReason::Nofollow);
                        let refusal = self.refusal(&entry.loc, 1).or(withheld);
                        let hints = Hints::of_sitemap(entry.lastmod.as_deref(), ended_at);
                        let lastmod = entry.lastmod.as_deref().and_then(hints::changed_at).map(|at| at.end);
                        finding.pages.push(Named { url: entry.loc, id, refusal, hints, lastmod });
                    }
                }
                sitemap::Kind::Sitemap => finding.sitemaps.push(entry.loc),
            }
        }
        finding.cut |= entries.is_cut();
        let is_page = finding.pages.is_empty() && finding.sitemaps.is_empty() && says_html(&response.body);
        finding.digest = Some(digest).filter(|_| !is_page);
        finding
    }

    /// The reason for which a URL at this depth does not belong to the crawl; `None` if it does.
    pub(in crate::engine) fn refusal(&self, url: &Url, depth: u32) -> Option<SkipReason> {
        self.context.scope.admits(url, depth).err()
    }
}

pub(in crate::engine) fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers.get(name).and_then(|value| value.to_str().ok())
}

/// The validators for a later conditional request. They stay in the state, so long ones are ignored.
pub(in crate::engine) fn validators(response: &Response) -> Validators {
    const LONGEST: usize = 1_024;
    let validator = |name| header(response, name).filter(|value| value.len() <= LONGEST).map(str::to_owned);
    Validators { etag: validator("etag"), last_modified: validator("last-modified") }
}

/// The time for which the server asks the crawler to wait.
pub(in crate::engine) fn wait(response: &Response, now: Millis) -> Option<Millis> {
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
            canonical: None,
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

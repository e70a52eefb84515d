//! The settings, group by group, as in `default.toml`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::rotate::{Rotate, Rotation};
use crate::units::{Duration, Share, Shares, Size};

/// All settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Which URLs belong to the crawl.
    pub scope: Scope,
    /// When the crawl ends.
    pub limits: Limits,
    /// What happens to duplicates.
    pub dedup: Dedup,
    /// How gently the crawl treats servers.
    pub politeness: Politeness,
    /// How pages are fetched.
    pub fetch: Fetch,
    /// When pages are fetched again.
    pub refresh: Refresh,
    /// How the crawl identifies itself to sites, and the purpose for which it reads their pages.
    pub access: Access,
    /// How URLs are compared.
    pub urls: Urls,
    /// How queued URLs are ordered.
    pub priority: Priority,
    /// The topic of a focused crawl, or the program that scores its pages.
    pub focus: Focus,
    /// Which outputs are written.
    pub output: Output,
}

/// Which URLs belong to the crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scope {
    /// How far from the seeds the crawl goes.
    pub scope: ScopeKind,
    /// Regular expressions. A URL must match one of them, unless the list is empty.
    pub include: Vec<String>,
    /// Regular expressions. A URL must match none of them.
    pub exclude: Vec<String>,
    /// The largest number of links from a seed to a page; 0 = no limit.
    pub max_depth: u32,
    /// Whether sitemaps that robots.txt names are read, too.
    pub sitemaps: bool,
}

/// How far from its seeds a crawl goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeKind {
    /// To all URLs of the seeds' hosts.
    Host,
    /// To all URLs of the seeds' registrable domains.
    Domain,
    /// To URLs below the seeds' folders.
    Prefix,
    /// Anywhere.
    Any,
}

/// When the crawl ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    /// The most pages fetched in all; 0 = no limit.
    pub max_pages: u64,
    /// The most pages fetched from one host; 0 = no limit.
    pub max_pages_per_host: u64,
    /// The most pages fetched from all hosts of one registrable domain; 0 = no limit.
    pub max_pages_per_domain: u64,
    /// The longest time since the start of this run; 0 = no limit.
    pub time_limit: Duration,
    /// The crawl ends if nothing becomes due within this time.
    pub patience: Duration,
}

/// What happens to the out-links of a duplicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnDuplicate {
    /// The frontier holds the links. It fetches some of them as trials.
    #[default]
    Drop,
    /// The frontier queues the links with a lower priority: the less is new on their page, the lower.
    Demote,
    /// The frontier queues the links as any others. Verdicts are only reported.
    Keep,
}

/// What happens to duplicates, and how pages are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dedup {
    /// What happens to the out-links of a duplicate.
    pub on_duplicate: OnDuplicate,
    /// The largest Hamming distance at which a page is a candidate for a near-duplicate.
    pub distance: u32,
    /// Signature files of pages that exist already. A page that is in one of them is a duplicate.
    pub known: Vec<PathBuf>,
    /// Whether rules about URLs are learned and applied.
    pub rules: bool,
    /// The most fetches that the sample of the rescue may cost at the end, as a share of the pages fetched.
    pub rescue: Share,
    /// The number of threads that read pages; 0 = one a core.
    pub threads: usize,
}

/// How gently the crawl treats servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Politeness {
    /// The least time from the end of a response to the next request to the same host.
    pub delay: Duration,
    /// The least delay of a host, as a multiple of the host's own response time.
    pub delay_factor: f64,
    /// The least time between the starts of two requests to hosts that share an address.
    pub address_delay: Duration,
    /// The largest Crawl-delay that is obeyed. A larger one is clamped to it.
    pub max_crawl_delay: Duration,
    /// The most requests a second over all hosts; 0 = no limit.
    pub requests_per_second: u32,
    /// The most body bytes a second over all hosts; 0 = no limit.
    pub bytes_per_second: Size,
    /// Whether robots.txt is obeyed.
    pub robots: Robots,
    /// The most attempts at one URL before it is given up.
    pub attempts: u32,
    /// The number of failures in a row after which a host is set aside for a while.
    pub host_failures: u32,
}

/// Whether robots.txt is obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Robots {
    /// It is obeyed as RFC 9309 says.
    Obey,
    /// It is not obeyed. It is asked for only if `scope.sitemaps` is on, because it names the sitemaps.
    Ignore,
}

/// How pages are fetched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fetch {
    /// The most jobs that are open at once.
    pub concurrency: usize,
    /// Product token of the User-Agent, and the name looked for in robots.txt.
    pub user_agent: String,
    /// The URL or e-mail address of the person or organization that runs the crawl.
    pub contact: String,
    /// Whether private and loopback addresses may be fetched.
    pub allow_private: bool,
    /// Rules `HOST1:PORT1:HOST2:PORT2`, as in curl. See [`crate::ConnectTo`].
    pub connect_to: Vec<String>,
    /// The largest decoded body. A longer body is cut.
    pub max_body: Size,
    /// The memory for all bodies together.
    pub body_budget: Size,
    /// The longest time of a whole exchange, from the request to the end of the body.
    pub timeout: Duration,
    /// The longest time for connecting, TLS included.
    pub connect_timeout: Duration,
    /// The longest time between two pieces of a response.
    pub idle_timeout: Duration,
    /// Proxy for all requests; empty = none.
    pub proxy: String,
    /// File of certificates that are trusted beside those of the system; empty = none.
    pub ca_file: String,
    /// File with a certificate and its key, for servers that ask for one; empty = none.
    pub client_cert: String,
    /// Hosts whose certificates are not checked.
    pub insecure_hosts: Vec<String>,
    /// Further request headers, `K: V`, which go to every host.
    pub headers: Vec<String>,
    /// Whether pages that an earlier crawl fetched are fetched again, with conditional requests.
    pub recrawl: bool,
}

/// When pages are fetched again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Refresh {
    /// Whether the crawl goes on until it is stopped.
    pub continuous: bool,
    /// The least and the largest share of visits among the pages fetched from a host that has both new URLs and visits
    /// that are due.
    pub share: Shares,
    /// The least time between two visits to a page.
    pub min_age: Duration,
    /// The longest time between two visits to a page; 0 = no limit.
    pub max_age: Duration,
    /// The least gain that a visit must be expected to bring: the time in which the crawl has the page as it is on the
    /// web.
    pub min_gain: Duration,
}

/// How the crawl identifies itself to sites, and the purpose for which it reads their pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Access {
    /// Whether cookies of sites are kept and sent back.
    pub cookies: Switch,
    /// File of cookies to begin with; empty = none.
    pub cookies_file: String,
    /// File of logins and HTTP authentication; empty = none.
    pub login: String,
    /// File of the key that signs requests; empty = requests are not signed.
    pub web_bot_auth: String,
    /// The https origin at which the public key is published.
    pub web_bot_auth_agent: String,
    /// The purpose for which pages are fetched. If it is empty, what sites say about use is only recorded.
    pub purpose: String,
}

/// A setting that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// How URLs are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Urls {
    /// Whether user names and passwords are ignored.
    pub drop_user: bool,
    /// Whether the dot that may end a host is ignored.
    pub drop_host_dot: bool,
    /// Whether it is ignored that an octet is percent-encoded, if that makes no difference.
    pub normalize_escapes: bool,
    /// Whether tracking parameters are ignored.
    pub drop_tracking: bool,
    /// Whether session parameters are ignored.
    pub drop_sessions: bool,
    /// Names of further parameters that are ignored.
    pub drop_params: Vec<String>,
    /// Names of parameters that count although they look like tracking or a session.
    pub keep_params: Vec<String>,
    /// Whether empty parameters and queries are ignored.
    pub drop_empty: bool,
    /// Whether the order of parameters is ignored. The values of one parameter keep their order.
    pub sort_query: bool,
    /// The longest URL that is fetched, in bytes.
    pub max_length: usize,
    /// The largest number of path segments of a URL. A URL with more is taken for a trap.
    pub max_segments: usize,
    /// How often one path segment may repeat in a URL. A URL in which one repeats more often is taken for a trap.
    pub max_repeats: usize,
}

/// Weights of the parts of a priority. A weight is an exponent, so 0 leaves a part out. `default.toml` has the
/// formulas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Priority {
    /// The weight of the novelty of the page that links to the URL.
    pub novelty_weight: f32,
    /// The weight of the number of links from a seed to the URL.
    pub depth_weight: f32,
    /// The weight of the number of links to the URL seen so far.
    pub in_links_weight: f32,
    /// The weight of what sites say about the URL (sitemaps, canonical links and so on).
    pub hint_weight: f32,
    /// The weight of the relevance of the link, in focused crawls.
    pub relevance_weight: f32,
    /// The weight of the share of new pages on the host of the URL.
    pub host_weight: f32,
    /// The weight of the share of new pages under the first path segment of the URL.
    pub path_weight: f32,
    /// The weight of the share of new pages with the set of query parameters of the URL.
    pub query_weight: f32,
    /// A host waits for another if its best URL scores less than this share of the other's best URL; 0 = hosts do not
    /// wait for each other.
    pub hold_back: f32,
}

/// The topic of a focused crawl, or the program that scores its pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Focus {
    /// Words of the topic.
    pub topic: Vec<String>,
    /// Files with words of the topic.
    pub topic_file: Vec<String>,
    /// Example pages: files or URLs.
    pub like: Vec<String>,
    /// The relevance at which a page passes half of its worth on to its links.
    pub relevant_from: f32,
    /// The command of a program that scores pages; empty = none.
    pub score_with: String,
    /// How long the program may be silent while it has pages to score.
    pub score_timeout: Duration,
}

impl Focus {
    /// Whether pages differ in worth, by a topic or by a program that scores them.
    pub fn is_on(&self) -> bool {
        self.has_topic() || self.has_program()
    }

    /// Whether the crawl has a topic.
    pub fn has_topic(&self) -> bool {
        !(self.topic.is_empty() && self.topic_file.is_empty() && self.like.is_empty())
    }

    /// Whether a program scores pages.
    pub fn has_program(&self) -> bool {
        !self.score_with.trim().is_empty()
    }
}

/// Which outputs are written, and how progress is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Output {
    /// Whether WARC and CDXJ are written.
    pub warc: bool,
    /// Whether files that pages need to be shown (images, styles and so on) are fetched into the archive.
    pub requisites: bool,
    /// Whether the main text of each page is written as plain text.
    pub text: bool,
    /// Whether the main text of each page is written as Markdown.
    pub markdown: bool,
    /// When outputs begin new files.
    pub rotate: Rotate,
    /// File of the crawl log; empty = none.
    pub log: String,
    /// The format of the lines of the crawl log.
    pub log_format: LogFormat,
    /// Address of the live page; empty = none.
    pub dashboard: String,
    /// How progress is shown.
    pub progress: Progress,
}

/// The format of the lines of the crawl log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// JSON where the name of the file ends in `.json` or `.jsonl`, else text.
    Auto,
    /// A JSON object.
    Json,
    /// Text in columns.
    Text,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// A display of three lines on a terminal, lines elsewhere.
    Auto,
    /// Always lines.
    Plain,
    /// Nothing.
    None,
}

impl Settings {
    /// The rule by which outputs of this crawl begin new files.
    pub fn rotation(&self) -> Rotation {
        self.output.rotate.resolved(self.refresh.continuous)
    }

    /// The settings as TOML, so that a later run can start from them.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_else(|error| panic!("settings are always TOML: {error}"))
    }
}

//! The settings, group by group, as in `default.toml`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::rotate::Rotate;
use crate::units::{Duration, Share, Shares, Size};

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// What belongs to the crawl.
    pub scope: Scope,
    /// When the crawl ends.
    pub limits: Limits,
    /// The duplicate gate.
    pub dedup: Dedup,
    /// How gentle the crawl is.
    pub politeness: Politeness,
    /// How pages are fetched.
    pub fetch: Fetch,
    /// When pages are fetched again.
    pub refresh: Refresh,
    /// Who the crawl is to a site, and what for it reads pages.
    pub access: Access,
    /// How URLs are compared.
    pub urls: Urls,
    /// What is fetched first.
    pub priority: Priority,
    /// What the crawl is about.
    pub focus: Focus,
    /// What is written.
    pub output: Output,
}

/// What belongs to the crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scope {
    /// Extent around the seeds.
    pub scope: ScopeKind,
    /// Only URLs that match one of these (all, where empty).
    pub include: Vec<String>,
    /// No URL that matches one of these.
    pub exclude: Vec<String>,
    /// Links from a seed; 0 = no limit.
    pub max_depth: u32,
    /// Also read the sitemaps that robots.txt names.
    pub sitemaps: bool,
}

/// Extent of a crawl around its seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeKind {
    /// The seeds' hosts.
    Host,
    /// The seeds' registrable domains.
    Domain,
    /// URLs below the seeds' folders.
    Prefix,
    /// Everything.
    Any,
}

/// When the crawl ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    /// Pages fetched; 0 = no limit.
    pub max_pages: u64,
    /// Pages fetched from one host; 0 = no limit.
    pub max_pages_per_host: u64,
    /// Pages fetched from one registrable domain; 0 = no limit.
    pub max_pages_per_domain: u64,
    /// Time since the start of this run; 0 = no limit.
    pub time_limit: Duration,
    /// End when nothing becomes due for so long.
    pub patience: Duration,
}

/// What happens to the out-links of a page judged a duplicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnDuplicate {
    /// The frontier holds them. It fetches some of them as trials.
    #[default]
    Drop,
    /// They reach it with a priority lowered by how little is new in their page.
    Demote,
    /// They reach it unchanged: the gate only reports.
    Keep,
}

/// The duplicate gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dedup {
    /// What happens to the links of duplicates.
    pub on_duplicate: OnDuplicate,
    /// Hamming distance of a near-duplicate.
    pub distance: u32,
    /// Signature files of pages that exist already.
    pub known: Vec<PathBuf>,
    /// Whether rules are learned and applied.
    pub rules: bool,
    /// What may be spent at the end on URLs that were held back, as a share of the pages fetched.
    pub rescue: Share,
    /// Threads that read pages; 0 = one a core.
    pub threads: usize,
}

/// How gentle the crawl is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Politeness {
    /// From the end of a response to the next request to the same host.
    pub delay: Duration,
    /// The delay is at least this multiple of the host's own response time.
    pub delay_factor: f64,
    /// Floor between requests to hosts that share an address.
    pub address_delay: Duration,
    /// Crawl-delays above this are clamped.
    pub max_crawl_delay: Duration,
    /// Requests a second over all hosts; 0 = no limit.
    pub requests_per_second: u32,
    /// Body bytes a second over all hosts; 0 = no limit.
    pub bytes_per_second: Size,
    /// Whether robots.txt is obeyed.
    pub robots: Robots,
    /// Attempts at one URL before it is given up.
    pub attempts: u32,
    /// A host that fails this often in a row is set aside.
    pub host_failures: u32,
}

/// Whether robots.txt is obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Robots {
    /// As RFC 9309 says.
    Obey,
    /// It is not obeyed. It is asked for only for the sitemaps that it names.
    Ignore,
}

/// How pages are fetched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fetch {
    /// Jobs open at once.
    pub concurrency: usize,
    /// Product token of the User-Agent, and the name looked for in robots.txt.
    pub user_agent: String,
    /// URL or e-mail address of who runs the crawl.
    pub contact: String,
    /// Private and loopback addresses may be fetched.
    pub allow_private: bool,
    /// `HOST1:PORT1:HOST2:PORT2`, as in curl.
    pub connect_to: Vec<String>,
    /// Largest decoded body.
    pub max_body: Size,
    /// All bodies in memory together.
    pub body_budget: Size,
    /// Whole exchange.
    pub timeout: Duration,
    /// Connecting, TLS included.
    pub connect_timeout: Duration,
    /// Between two pieces of a body.
    pub idle_timeout: Duration,
    /// Proxy for all requests; empty = none.
    pub proxy: String,
    /// File of certificates that are trusted beside those of the system; empty = none.
    pub ca_file: String,
    /// File with a certificate and its key, for servers that ask for one; empty = none.
    pub client_cert: String,
    /// Hosts whose certificates are not checked.
    pub insecure_hosts: Vec<String>,
    /// Further request headers, `K: V`.
    pub headers: Vec<String>,
    /// Fetch again what an earlier crawl fetched, with conditional requests.
    pub recrawl: bool,
}

/// When pages are fetched again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Refresh {
    /// The crawl never ends by itself.
    pub continuous: bool,
    /// Of the pages fetched from a host that has both new URLs and visits that are due, the share of the visits.
    pub share: Shares,
    /// From one visit to a page to the next, at least.
    pub min_age: Duration,
    /// From one visit to a page to the next, at most; 0 = no limit.
    pub max_age: Duration,
    /// Time for which a visit must be expected to keep a page as it is on the web.
    pub min_gain: Duration,
}

/// Who the crawl is to a site, and what for it reads pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Access {
    /// Whether cookies are kept and sent back.
    pub cookies: Switch,
    /// File of cookies to begin with; empty = none.
    pub cookies_file: String,
    /// File of logins and HTTP authentication; empty = none.
    pub login: String,
    /// File of the key that signs requests; empty = requests are not signed.
    pub web_bot_auth: String,
    /// Where the public key is published: an https origin.
    pub web_bot_auth_agent: String,
    /// What pages are fetched for; empty = not said, and nothing is decided by it.
    pub purpose: String,
}

/// Something that is done, or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// It is done.
    On,
    /// It is not.
    Off,
}

/// How URLs are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Urls {
    /// User names and passwords do not count.
    pub drop_user: bool,
    /// The dot that may end a host does not count.
    pub drop_host_dot: bool,
    /// Whether an octet is escaped does not count.
    pub normalize_escapes: bool,
    /// Tracking parameters do not count.
    pub drop_tracking: bool,
    /// Session parameters do not count.
    pub drop_sessions: bool,
    /// Parameters that do not count either.
    pub drop_params: Vec<String>,
    /// Parameters that count although a list or a rule says otherwise.
    pub keep_params: Vec<String>,
    /// Empty parameters and queries do not count.
    pub drop_empty: bool,
    /// The order of parameters does not count.
    pub sort_query: bool,
    /// Longest URL, in bytes.
    pub max_length: usize,
    /// Most path segments.
    pub max_segments: usize,
    /// How often one path segment may repeat.
    pub max_repeats: usize,
}

/// Weights of the parts of a priority: exponents, so that 0 leaves a part out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Priority {
    /// Novelty of the page that links to the URL.
    pub novelty_weight: f32,
    /// Links from a seed.
    pub depth_weight: f32,
    /// Links seen.
    pub in_links_weight: f32,
    /// What sites say of it.
    pub hint_weight: f32,
    /// Relevance of the link, in focused crawls.
    pub relevance_weight: f32,
    /// New pages of its host.
    pub host_weight: f32,
    /// New pages of its path prefix.
    pub path_weight: f32,
    /// New pages of its query pattern.
    pub query_weight: f32,
    /// A host waits for another whose best URL is so much better.
    pub hold_back: f32,
}

/// What a focused crawl is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Focus {
    /// Words.
    pub topic: Vec<String>,
    /// Files of words.
    pub topic_file: Vec<String>,
    /// Example pages.
    pub like: Vec<String>,
    /// Relevance that is worth half.
    pub relevant_from: f32,
    /// Command of a program that scores pages; empty = none.
    pub score_with: String,
    /// How long the program may be silent while it has pages to score.
    pub score_timeout: Duration,
}

impl Focus {
    /// Whether some pages are worth more than others: by a topic, or by a program that scores them.
    pub fn is_on(&self) -> bool {
        self.has_topic() || self.has_program()
    }

    /// Whether the crawl is about anything.
    pub fn has_topic(&self) -> bool {
        !(self.topic.is_empty() && self.topic_file.is_empty() && self.like.is_empty())
    }

    /// Whether a program scores pages.
    pub fn has_program(&self) -> bool {
        !self.score_with.trim().is_empty()
    }
}

/// What is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Output {
    /// Also write WARC and CDXJ.
    pub warc: bool,
    /// Also fetch what pages need to be shown, into the archive.
    pub requisites: bool,
    /// Also write the main text of each page as plain text.
    pub text: bool,
    /// Also write the main text of each page as Markdown.
    pub markdown: bool,
    /// When outputs begin new files.
    pub rotate: Rotate,
    /// File of the crawl log; empty = none.
    pub log: String,
    /// How its lines look.
    pub log_format: LogFormat,
    /// Address of the live page; empty = none.
    pub dashboard: String,
    /// How progress is shown.
    pub progress: Progress,
}

/// How the lines of the crawl log look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// JSON where the name of the file ends in `.json` or `.jsonl`, else text.
    Auto,
    /// An object.
    Json,
    /// Columns.
    Text,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Progress {
    /// A display on a terminal, lines elsewhere.
    Auto,
    /// Lines.
    Plain,
    /// Nothing.
    None,
}

impl Settings {
    /// As TOML, so that a later run starts from the same settings.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_else(|error| panic!("settings are always TOML: {error}"))
    }
}

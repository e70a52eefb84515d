//! Permissions that travel with pages: what a site says about the *use* of what is fetched, beside what may be fetched.
//!
//! Four ways to say so are read, each by its own rules, and merged so that the most restrictive holds:
//!
//! * [`usage`]: `Content-Usage` in robots.txt and as a header (IETF aipref drafts *attach* and *vocab*), and
//!   `Content-Signal`, which says the same in other words and knows `ai-input` as well;
//! * [`tdm`]: the TDM Reservation Protocol of the W3C community group (file, header, meta, each outranking the one before);
//! * [`page`]: `X-Robots-Tag` and `<meta name=robots>` with `noindex`, `noarchive`, `noai`, `noimageai`;
//! * licence links, which are recorded and decide nothing.
//!
//! Before a page is fetched, the engine asks [`Permissions::of_url`] what its origin says, and with `--purpose` a
//! [`Decision::Forbidden`] is a refusal with reason `purpose`. After the answer came, a page worker adds headers and meta
//! elements ([`Permissions::of_answer`]); forbidden then means that the page is not kept. [`Permissions::record`] is what
//! `pages.jsonl` and WARC metadata show. Without `--purpose` everything is recorded and nothing decided.

pub mod markup;
pub mod page;
pub mod purpose;
mod record;
pub mod robots;
pub mod tdm;
pub mod usage;

#[cfg(test)]
mod tests;

use url::Url;

pub use purpose::Purpose;
use usage::{Category, Preferences};

/// How the `error` of a page begins that was fetched and not kept, because its purpose is forbidden.
pub const NOT_STORED: &str = "not stored";

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// robots.txt.
    Robots,
    /// `/.well-known/tdmrep.json`.
    TdmFile,
    /// A header of the answer.
    Header,
    /// A meta element of the page.
    Meta,
}

impl Source {
    /// For outputs.
    pub fn name(self) -> &'static str {
        match self {
            Source::Robots => "robots.txt",
            Source::TdmFile => "tdmrep.json",
            Source::Header => "header",
            Source::Meta => "meta",
        }
    }
}

/// Whether a purpose is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Somebody allows it, and nobody forbids it.
    Allowed,
    /// Nobody said anything about it.
    Unknown,
    /// It is forbidden.
    Forbidden {
        /// By whom.
        by: Source,
        /// In which words: `Content-Usage: train-ai=n`, `noarchive`.
        words: &'static str,
    },
}

/// Everything that is said about the use of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    statements: Vec<(Source, &'static str, Preferences)>,
    tdm: tdm::Tdm,
    tags: Vec<(Source, page::Tags)>,
    licences: Vec<Url>,
}

/// Licence links kept of one page.
const MAX_LICENCES: usize = 16;

impl Permissions {
    /// What is known of a URL before it is fetched: by its origin's robots.txt and TDM file.
    pub fn of_url(url: &Url, robots: Option<&robots::UsageRules>, tdm: Option<&tdm::TdmFile>) -> Self {
        let mut permissions = Self::default();
        if let Some(robots) = robots {
            for (words, preferences) in robots.preferences(url) {
                permissions.state(Source::Robots, words, preferences);
            }
            permissions.licence(robots.licences().iter().cloned());
        }
        if let Some(stated) = tdm.and_then(|file| file.of(url)) {
            permissions.tdm.supersede(Source::TdmFile, stated);
        }
        permissions
    }

    /// The same with what came with the answer. `headers` are all of its fields, `metas` the meta elements of the page as
    /// pairs of name and content (both empty for a page that is no HTML), `token` is our product token.
    pub fn of_answer<'a>(
        mut self,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
        metas: impl IntoIterator<Item = (&'a str, &'a str)>,
        token: &str,
    ) -> Self {
        let (mut usage, mut signal) = (Vec::new(), Vec::new());
        let (mut header_tdm, mut meta_tdm) = (tdm::Stated::default(), tdm::Stated::default());
        let (mut header_tags, mut meta_tags) = (page::Tags::default(), page::Tags::default());
        for (name, value) in headers {
            let text = std::str::from_utf8(value).unwrap_or_default();
            match name.to_ascii_lowercase().as_str() {
                "content-usage" => usage.push(value),
                "content-signal" => signal.push(text),
                "x-robots-tag" => header_tags.take_header(text, token),
                name => header_tdm.take(name, text),
            }
        }
        for (name, content) in metas {
            let name = name.trim();
            if name.eq_ignore_ascii_case("robots") || (!token.is_empty() && name.eq_ignore_ascii_case(token)) {
                meta_tags.take_words(content);
            }
            meta_tdm.take(&name.to_ascii_lowercase(), content);
        }
        // Fields of one name are one list (RFC 9110, section 5.3).
        if !usage.is_empty() {
            self.state(Source::Header, "Content-Usage", Preferences::from_usage(&usage.join(&b", "[..])));
        }
        if !signal.is_empty() {
            self.state(Source::Header, "Content-Signal", Preferences::from_signal(&signal.join(", ")));
        }
        self.tdm.supersede(Source::Header, header_tdm);
        self.tdm.supersede(Source::Meta, meta_tdm);
        self.tags.extend([(Source::Header, header_tags), (Source::Meta, meta_tags)]);
        self.tags.retain(|(_, tags)| *tags != page::Tags::default());
        self
    }

    /// Adds links with `rel=license`, of headers or the page.
    pub fn licence(&mut self, links: impl IntoIterator<Item = Url>) {
        for link in links {
            if self.licences.len() < MAX_LICENCES && !self.licences.contains(&link) {
                self.licences.push(link);
            }
        }
    }

    /// The licences that the page or its origin names.
    pub fn licences(&self) -> &[Url] {
        &self.licences
    }

    /// The policy by which mining may be licensed, where mining is reserved.
    pub fn tdm_policy(&self) -> Option<&str> {
        self.tdm.policy()
    }

    /// Whether `purpose` is served. `is_image` says that the answer is one: `noimageai` speaks of those alone.
    pub fn decide(&self, purpose: Purpose, is_image: bool) -> Decision {
        let mut allowed = false;
        for category in Category::of(purpose) {
            for (source, words, preferences) in &self.statements {
                match preferences.get(*category) {
                    Some(false) => return Decision::Forbidden { by: *source, words },
                    Some(true) => allowed = true,
                    None => {}
                }
            }
        }
        for (source, tags) in &self.tags {
            if let Some(words) = tags.forbid(purpose, is_image) {
                return Decision::Forbidden { by: *source, words };
            }
        }
        if matches!(purpose, Purpose::Train | Purpose::Input | Purpose::Mine) {
            match self.tdm.reserved() {
                Some((by, true)) => return Decision::Forbidden { by, words: "tdm-reservation: 1" },
                Some((_, false)) => allowed |= purpose == Purpose::Mine,
                None => {}
            }
        }
        if allowed { Decision::Allowed } else { Decision::Unknown }
    }

    /// A sentence for `pages.jsonl` where a page may not be used for `purpose`.
    pub fn forbids(&self, purpose: Purpose, is_image: bool) -> Option<String> {
        match self.decide(purpose, is_image) {
            Decision::Forbidden { by, words } => Some(format!("{NOT_STORED}: {words} ({})", by.name())),
            Decision::Allowed | Decision::Unknown => None,
        }
    }

    fn state(&mut self, source: Source, words: &'static str, preferences: Preferences) {
        if preferences != Preferences::default() {
            self.statements.push((source, words, preferences));
        }
    }
}

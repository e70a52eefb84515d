//! Permissions that are kept with pages: what a site says about the *use* of its pages, besides what may be fetched.
//!
//! Four kinds of statements are read, each by its own rules, and merged so that the most restrictive one holds:
//!
//! * [`usage`]: `Content-Usage` in robots.txt and as a header (IETF aipref drafts *attach* and *vocab*), and
//!   `Content-Signal`, which says the same in other words and also knows `ai-input`;
//! * [`tdm`]: the TDM Reservation Protocol of the W3C community group (file, header, meta; each outranks the one
//!   before);
//! * [`page`]: `X-Robots-Tag` and `<meta name=robots>` with `noindex`, `noarchive`, `noai`, `noimageai`;
//! * licence links, which are recorded and decide nothing.
//!
//! Before a page is fetched, the engine takes from [`Permissions::of_url`] what the origin says. With `--purpose`, the
//! page is not fetched if the decision is [`Decision::Forbidden`]; its reason is `purpose`. After the answer has come,
//! a page worker adds the headers and meta elements ([`Permissions::of_answer`]). If the decision is forbidden then,
//! the page is not kept. [`Permissions::record`] makes the record for `pages.jsonl` and WARC metadata. Without
//! `--purpose`, everything is recorded, and nothing is decided.

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

/// The beginning of the `error` of a page that was fetched and not kept, because its purpose is forbidden.
pub const NOT_STORED: &str = "not stored";

/// The place of a statement.
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
    /// The name of the place in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Source::Robots => "robots.txt",
            Source::TdmFile => "tdmrep.json",
            Source::Header => "header",
            Source::Meta => "meta",
        }
    }
}

/// Whether pages may be used for a purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Some statement allows it, and none forbids it.
    Allowed,
    /// No statement is about it.
    Unknown,
    /// It is forbidden.
    Forbidden {
        /// The place of the statement.
        by: Source,
        /// The words of the statement, such as `noarchive`.
        words: &'static str,
    },
}

/// All statements about the use of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    statements: Vec<(Source, &'static str, Preferences)>,
    tdm: tdm::Tdm,
    tags: Vec<(Source, page::Tags)>,
    licences: Vec<Url>,
}

/// The most licence links that are kept of one page.
const MAX_LICENCES: usize = 16;

impl Permissions {
    /// The statements about a URL that are known before it is fetched: those of its origin's robots.txt and TDM file.
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

    /// Adds the statements of the answer. `headers` are all of its fields. `metas` are the meta elements of the page as
    /// pairs of name and content (empty for a page that is no HTML). `token` is the product token of the crawl.
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
        // Fields with the same name are one list (RFC 9110, section 5.3).
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

    /// Adds links with `rel=license`, from headers or from the page.
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

    /// The policy under which mining may be licensed, if mining is reserved.
    pub fn tdm_policy(&self) -> Option<&str> {
        self.tdm.policy()
    }

    /// Whether the page may be used for `purpose`. `is_image` says that the answer is an image, because `noimageai` is
    /// about images only.
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

    /// The sentence for `pages.jsonl`, if the page may not be used for `purpose`.
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

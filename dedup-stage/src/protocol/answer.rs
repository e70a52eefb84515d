//! The answers: one JSON object on each line.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::hex::hex;
use crate::judge::OutLink;
use crate::stage::{NextLink, PageName, StageOutput};
use crate::url::{Canonicalizer, UrlKey};

/// The kind of mistake in a line. Its name is part of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Not JSON.
    BadJson,
    /// Not UTF-8.
    BadUtf8,
    /// A field, or the line, is of another type than it should be.
    WrongType,
    /// `url`, or both `body` and `body_base64`, are missing.
    MissingField,
    /// `url` is no absolute URL.
    BadUrl,
    /// `body_base64` is no base64.
    BadBase64,
    /// The line is longer than [`super::MAX_LINE`].
    TooLong,
    /// `op` is not known.
    UnknownOp,
    /// A fault of this program; please report it.
    Internal,
}

/// The mistake because of which a line could not be answered as it asked.
#[derive(Debug)]
pub struct Failure {
    code: Code,
    message: String,
    id: Option<Box<RawValue>>,
    url: Option<String>,
}

impl Failure {
    /// A mistake with a message for people.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), id: None, url: None }
    }

    /// Adds the line's `id`.
    pub fn with_id(self, id: Option<Box<RawValue>>) -> Self {
        Self { id, ..self }
    }

    /// Adds the line's `url`.
    pub fn with_url(self, url: &str) -> Self {
        Self { url: Some(url.into()), ..self }
    }
}

/// The answer to a page, or to a line with a mistake.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Answer<'a> {
    /// The verdict on a page.
    Page(PageAnswer<'a>),
    /// The mistake in a line.
    Mistake(MistakeAnswer<'a>),
}

/// The answer to a page. `PROTOCOL.md` describes its fields.
#[derive(Serialize)]
pub(super) struct PageAnswer<'a> {
    id: Option<&'a RawValue>,
    url: &'a str,
    key: &'a str,
    verdict: &'static str,
    changed: Option<&'static str>,
    duplicate_of: Option<&'a str>,
    duplicate_id: Option<&'a RawValue>,
    known: Option<&'a str>,
    known_row: Option<u64>,
    distance: Option<u32>,
    resemblance: Option<f32>,
    novelty: f32,
    sha256: String,
    simhash: Option<String>,
    links: Vec<LinkAnswer<'a>>,
    links_dropped: u32,
    links_news: Vec<NewsAnswer<'a>>,
}

#[derive(Serialize)]
struct NewsAnswer<'a> {
    url: &'a str,
    #[serde(serialize_with = "key_text")]
    key: UrlKey,
}

#[derive(Serialize)]
struct LinkAnswer<'a> {
    url: &'a str,
    #[serde(serialize_with = "key_text")]
    key: UrlKey,
    priority: f32,
    /// The place among the `links` of the line, counted from 0, so that a caller finds its own object again.
    #[serde(skip_serializing_if = "Option::is_none")]
    given: Option<u32>,
}

/// The answer to a line with a mistake. `PROTOCOL.md` describes its fields.
#[derive(Serialize)]
pub(super) struct MistakeAnswer<'a> {
    id: Option<&'a RawValue>,
    url: Option<&'a str>,
    verdict: &'static str,
    error: ErrorAnswer<'a>,
}

#[derive(Serialize)]
struct ErrorAnswer<'a> {
    code: Code,
    message: &'a str,
}

/// The facts about a page that its answer needs after the page was judged.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    /// The names that the caller gave to the page.
    pub(super) name: &'a PageName,
    /// The canonical form of the page's URL.
    pub(super) key: &'a UrlKey,
    /// The SHA-256 of the page's body.
    pub(super) sha256: &'a [u8; 32],
    /// The fingerprint of the page.
    pub(super) simhash: Option<u64>,
    /// The verdict, and what follows from it.
    pub(super) output: &'a StageOutput,
}

impl<'a> Answer<'a> {
    /// The answer to a page; `canonicalizer` gives the keys of its links.
    pub(super) fn page(judged: &Judged<'a>, canonicalizer: &Canonicalizer) -> Self {
        let output = judged.output;
        let verdict = output.judgement.verdict;
        let (distance, resemblance) = verdict.nearness().unzip();
        let twin = output.twin.as_ref().filter(|_| verdict.duplicate_of().is_some());
        let known = output.known.as_ref();
        let priority = output.priority;
        let link = |NextLink { link, given }: &'a NextLink| LinkAnswer {
            url: link.url.as_str(),
            key: canonicalizer.key(&link.url),
            priority,
            given: *given,
        };
        let news = |link: &'a OutLink| NewsAnswer { url: link.url.as_str(), key: canonicalizer.key(&link.url) };
        Answer::Page(PageAnswer {
            id: judged.name.id.as_deref(),
            url: &judged.name.url,
            key: judged.key.as_str(),
            verdict: verdict.name(),
            changed: output.changed,
            duplicate_of: twin.map(|twin| twin.url.as_str()),
            duplicate_id: twin.and_then(|twin| twin.id.as_deref()).or(known.and_then(|known| known.id.as_deref())),
            known: known.map(|known| &*known.corpus),
            known_row: known.and_then(|known| known.row),
            distance,
            resemblance,
            novelty: output.judgement.novelty,
            sha256: hex(judged.sha256),
            simhash: judged.simhash.map(|simhash| format!("{simhash:016x}")),
            links: output.links.iter().map(link).collect(),
            links_dropped: output.links_dropped,
            links_news: output.links_news.iter().map(news).collect(),
        })
    }

    /// The answer to a line that could not be understood.
    pub(super) fn mistake(failure: &'a Failure) -> Self {
        Answer::Mistake(MistakeAnswer {
            id: failure.id.as_deref(),
            url: failure.url.as_deref(),
            verdict: "error",
            error: ErrorAnswer { code: failure.code, message: &failure.message },
        })
    }
}

fn key_text<S: Serializer>(key: &UrlKey, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(key.as_str())
}

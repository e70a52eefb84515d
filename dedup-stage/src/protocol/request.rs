//! Parses lines: a line is a page to judge, an operation, or a mistake.

use std::borrow::Cow;
use std::fmt;

use ::url::Url;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::json_lines::{NO_ARRAY, begins_array};
use crate::stage::{PageName, Prepared, Preparer, Source};

use super::answer::{Code, Failure};
use super::lines::Line;

/// A parsed line.
#[derive(Debug)]
pub enum Request {
    /// A page, prepared for the judge.
    Page(Box<PageRequest>),
    /// An operation on the stage itself, with the `id` of the line.
    Operation(Operation, Option<Box<RawValue>>),
    /// A mistake of the caller.
    Mistake(Failure),
    /// The error with which the input broke.
    Broken(std::io::Error),
}

/// A page to judge.
#[derive(Debug)]
pub struct PageRequest {
    /// The names that the caller gave to the page: `url` as written, and `id`.
    pub name: PageName,
    /// The priority that the links of the page inherit, 0..1.
    pub priority: f32,
    /// The page, prepared for the judge.
    pub page: Prepared,
}

/// An operation on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Asks for versions and settings.
    Hello,
    /// Asks for counts.
    Stats,
    /// Writes the state to disk, and then asks for counts.
    Flush,
}

/// Parses lines. Each thread has its own parser.
#[derive(Debug)]
pub struct Parser {
    preparer: Preparer,
}

/// Base64 with the standard alphabet, with padding or without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

impl Parser {
    /// A parser that prepares pages with `preparer`.
    pub fn new(preparer: Preparer) -> Self {
        Self { preparer }
    }

    /// Parses one line.
    pub fn parse(&mut self, line: Line) -> Request {
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::TooLong(prefix) => {
                let message = format!("the line is longer than {} MiB", super::MAX_LINE >> 20);
                return mistake(Failure::new(Code::TooLong, message), &prefix);
            }
            Line::Failed(error) => return Request::Broken(error),
        };
        self.understand(&bytes).unwrap_or_else(|failure| mistake(failure, &bytes))
    }

    fn understand(&mut self, bytes: &[u8]) -> Result<Request, Failure> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Failure::new(Code::BadUtf8, format!("not UTF-8 at byte {}", error.valid_up_to())))?;
        if has_control(bytes) {
            return Err(Failure::new(Code::BadJson, "a control character that is not escaped"));
        }
        if !text.trim_ascii_start().starts_with('{') {
            // Derived structs would also accept an array.
            let code = if serde_json::from_str::<IgnoredAny>(text).is_ok() { Code::WrongType } else { Code::BadJson };
            let wanted = if begins_array(bytes) { NO_ARRAY } else { "a line is one JSON object" };
            return Err(Failure::new(code, wanted));
        }
        let mut fields: Fields<'_> = serde_json::from_str(text).map_err(|error| {
            let code = if error.is_data() { Code::WrongType } else { Code::BadJson };
            Failure::new(code, error.to_string())
        })?;
        if let Some(op) = &fields.op {
            let operation = match &*op.0 {
                "hello" => Operation::Hello,
                "stats" => Operation::Stats,
                "flush" => Operation::Flush,
                other => {
                    let message = format!("unknown op {other:?}; known are hello, stats, flush");
                    return Err(Failure::new(Code::UnknownOp, message));
                }
            };
            return Ok(Request::Operation(operation, fields.id.map(ToOwned::to_owned)));
        }
        let url = fields.url.take().ok_or_else(|| Failure::new(Code::MissingField, "missing field `url`"))?;
        self.page(&url.0, fields).map_err(|failure| failure.with_url(&url.0))
    }

    fn page(&mut self, url: &str, fields: Fields<'_>) -> Result<Request, Failure> {
        let parsed = Url::parse(url).map_err(|error| Failure::new(Code::BadUrl, format!("`url`: {error}")))?;
        let content_type = fields.content_type.as_ref().map(|text| &*text.0);
        let (body, content_type) = match (fields.body, fields.body_base64) {
            (Some(body), None) => (body.0, Some(Cow::Owned(in_utf8(content_type.unwrap_or_default())))),
            (None, Some(encoded)) => {
                let decoded = BASE64.decode(encoded.0.trim_ascii().as_bytes());
                let bad = |error| Failure::new(Code::BadBase64, format!("`body_base64`: {error}"));
                (Cow::Owned(decoded.map_err(bad)?), content_type.map(Cow::Borrowed))
            }
            (None, None) => return Err(Failure::new(Code::MissingField, "missing field `body` or `body_base64`")),
            (Some(_), Some(_)) => {
                return Err(Failure::new(Code::WrongType, "`body` and `body_base64` exclude each other"));
            }
        };
        let links: Option<Vec<&str>> = fields.links.as_ref().map(|links| links.iter().map(|link| &*link.0).collect());
        let page = self.preparer.prepare(&Source {
            url: &parsed,
            status: fields.status.unwrap_or(200),
            content_type: content_type.as_deref(),
            body: &body,
            whole: true,
            links: links.as_deref(),
        });
        let name = PageName { url: url.into(), id: fields.id.map(ToOwned::to_owned) };
        let priority = fields.priority.map_or(1.0, |priority| priority.clamp(0.0, 1.0) as f32);
        Ok(Request::Page(Box::new(PageRequest { name, priority, page })))
    }
}

/// The content type of a body that came as text. Its charset is UTF-8 now, whatever the page was sent in or names.
fn in_utf8(content_type: &str) -> String {
    let media_type = content_type.split(';').next().unwrap_or_default();
    format!("{media_type}; charset=utf-8")
}

/// Whether a line has control characters, which JSON allows nowhere. (The JSON parser does not look for them in strings
/// that are read as bytes. There is no early exit within a chunk, so that the loop becomes vector instructions.)
fn has_control(line: &[u8]) -> bool {
    let is_control = |byte: &u8| *byte < 0x20 && *byte != b'\t' && *byte != b'\r';
    line.chunks(4096).any(|chunk| chunk.iter().fold(false, |any, byte| any | is_control(byte)))
}

/// The fields of a line. Other fields are passed over, so that later versions may have more.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    op: Option<Text<'a>>,
    #[serde(borrow, default)]
    url: Option<Text<'a>>,
    #[serde(borrow, default)]
    body: Option<Bytes<'a>>,
    #[serde(borrow, default)]
    body_base64: Option<Text<'a>>,
    #[serde(borrow, default)]
    content_type: Option<Text<'a>>,
    #[serde(default)]
    status: Option<u16>,
    #[serde(borrow, default)]
    links: Option<Vec<Text<'a>>>,
    #[serde(default)]
    priority: Option<f64>,
}

/// A string. It is copied only if it has escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
        }
        deserializer.deserialize_str(Borrow).map(Text)
    }
}

/// A string as bytes. Lone surrogates, which JavaScript strings may have, pass as they are. They are replaced when the
/// page is decoded.
struct Bytes<'a>(Cow<'a, [u8]>);

impl<'de: 'a, 'a> Deserialize<'de> for Bytes<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Cow<'de, [u8]>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(bytes))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Cow::Owned(bytes.to_owned()))
            }
        }
        deserializer.deserialize_bytes(Borrow).map(Bytes)
    }
}

/// The answer to a line that could not be understood. It has the names of the page that stand before the mistake.
fn mistake(failure: Failure, line: &[u8]) -> Request {
    let mut names = Names::default();
    // The error of the line is known already.
    let _ = serde_json::Deserializer::from_slice(line).deserialize_map(NamesOf(&mut names));
    let failure = failure.with_id(names.id);
    Request::Mistake(if let Some(url) = names.url { failure.with_url(&url) } else { failure })
}

/// The names that the caller gave to a page.
#[derive(Default)]
struct Names {
    id: Option<Box<RawValue>>,
    url: Option<String>,
}

struct NamesOf<'a>(&'a mut Names);

impl<'de> Visitor<'de> for NamesOf<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Names { id, url } = self.0;
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Id if id.is_some() => return Err(A::Error::custom("two ids")),
                Key::Id => *id = map.next_value::<Option<Box<RawValue>>>()?,
                Key::Url if url.is_some() => return Err(A::Error::custom("two URLs")),
                // The value may be no string. The `id` may follow it all the same.
                Key::Url => *url = serde_json::from_str(map.next_value::<Box<RawValue>>()?.get()).ok(),
                Key::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Key {
    Id,
    Url,
    #[serde(other)]
    Other,
}

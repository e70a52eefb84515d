//! Rewrites: the changes that rules make to URLs. There is no list of common names, such as `print` or `sid`. A rewrite
//! names a folder, a parameter or an ending as its site does.

use std::fmt;

use crate::segment::is_id;
use serde::{Deserialize, Serialize};
use url::Url;

/// Turns some URLs of a host into other URLs. A rule says that both show the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rewrite {
    /// A parameter makes no difference. The rewrite removes it.
    Parameter {
        /// Scheme, host and port.
        origin: String,
        /// Its name.
        name: String,
    },
    /// URLs that begin with one prefix show what URLs with another prefix show: a mirror of a host or subtree, `www.`
    /// or none, https or http, a folder of copies.
    Prefix {
        /// URL up to and with a slash.
        from: String,
        /// URL up to and with a slash.
        to: String,
    },
    /// A path segment with an identifier makes no difference. The rewrite removes it.
    Segment {
        /// Scheme, host and port.
        origin: String,
        /// The path before the segment, with its slash.
        under: String,
        /// The length of the segment in bytes. All session ids of a site have the same length.
        length: usize,
    },
    /// An ending of paths makes no difference: `/print`, or `-print` before `.html`.
    Ending {
        /// Scheme, host and port.
        origin: String,
        /// The ending.
        from: String,
        /// The ending that replaces it.
        to: String,
    },
    /// Two ways of writing the same numbers.
    Form {
        /// Scheme, host and port.
        origin: String,
        /// Path and query with `#` for each number.
        from: String,
        /// Path and query of the other form, with `#` for each number.
        to: String,
        /// For each number of the other form: its position among the numbers of this form.
        numbers: Vec<usize>,
    },
}

impl Rewrite {
    /// Applies the rewrite to a URL; `None` if the rewrite is not about this URL.
    pub fn apply(&self, url: &Url) -> Option<Url> {
        match self {
            Rewrite::Parameter { origin, name } => {
                rest(url, origin)?;
                let query = url.query()?;
                if !query.split('&').any(|pair| name_of(pair) == name) {
                    return None;
                }
                let kept: Vec<&str> = query.split('&').filter(|pair| name_of(pair) != name).collect();
                let mut out = url.clone();
                out.set_query((!kept.is_empty()).then(|| kept.join("&")).as_deref());
                Some(out)
            }
            Rewrite::Prefix { from, to } => {
                Url::parse(&format!("{to}{}", url.as_str().strip_prefix(from.as_str())?)).ok()
            }
            Rewrite::Segment { origin, under, length } => {
                let rest = rest(url, origin)?.strip_prefix(under.as_str())?;
                let segment = &rest[..rest.find(['/', '?'])?];
                let tail = rest[segment.len()..].strip_prefix('/')?;
                (segment.len() == *length && is_id(segment))
                    .then(|| Url::parse(&format!("{origin}{under}{tail}")).ok())?
            }
            Rewrite::Ending { origin, from, to } => {
                rest(url, origin)?;
                let path = url.path().strip_suffix(from.as_str())?;
                if path.is_empty() || path.ends_with('/') {
                    return None;
                }
                let mut out = url.clone();
                out.set_path(&format!("{path}{to}"));
                Some(out)
            }
            Rewrite::Form { origin, from, to, numbers } => {
                let (form, found) = skeleton(rest(url, origin)?);
                if form != *from {
                    return None;
                }
                let mut out = origin.clone();
                let mut next = numbers.iter();
                for part in to.split_inclusive('#') {
                    match part.strip_suffix('#') {
                        Some(text) => {
                            out.push_str(text);
                            out.push_str(found.get(*next.next()?)?);
                        }
                        None => out.push_str(part),
                    }
                }
                Url::parse(&out).ok()
            }
        }
    }

    /// The host whose URLs are rewritten.
    pub fn host(&self) -> &str {
        host_of(match self {
            Rewrite::Prefix { from, .. } => from,
            Rewrite::Parameter { origin, .. }
            | Rewrite::Segment { origin, .. }
            | Rewrite::Ending { origin, .. }
            | Rewrite::Form { origin, .. } => origin,
        })
    }

    /// The host of the resulting URLs.
    pub fn target_host(&self) -> &str {
        match self {
            Rewrite::Prefix { to, .. } => host_of(to),
            _ => self.host(),
        }
    }

    /// Whether this is a mirror: a prefix is replaced by another one, and the first does not lie within the second.
    pub fn is_mirror(&self) -> bool {
        matches!(self, Rewrite::Prefix { from, to } if !from.starts_with(to.as_str()))
    }

    /// The shape of the rewrite, which rewrites of several hosts can have in common; `None` if no other host can have
    /// it.
    pub fn shape(&self) -> Option<String> {
        match self {
            Rewrite::Parameter { name, .. } => Some(format!("?{name}")),
            Rewrite::Prefix { from, to } => match from.strip_prefix(to.as_str()) {
                Some(folder) => Some(format!("/{folder}")),
                None => (is_host(from) && is_host(to)).then(|| "//".into()),
            },
            Rewrite::Segment { under, length, .. } => Some(format!("{under}#{length}")),
            Rewrite::Ending { from, to, .. } => Some(format!("{from}>{to}")),
            Rewrite::Form { from, to, .. } => Some(format!("{from}>{to}")),
        }
    }

    /// Whether the rewrite explains why pages are copies. A rewrite that only says that two folders of one host show
    /// the same does not: in a trap, all folders show the same.
    pub fn explains(&self) -> bool {
        match self {
            Rewrite::Prefix { from, to } => from.starts_with(to.as_str()) || self.host() != self.target_host(),
            _ => true,
        }
    }

    /// The rewrite in the other direction, if there is one.
    pub fn inverse(&self) -> Option<Self> {
        match self {
            Rewrite::Prefix { from, to } => Some(Rewrite::Prefix { from: to.clone(), to: from.clone() }),
            _ => None,
        }
    }
}

impl fmt::Display for Rewrite {
    /// The name of the rule, as outputs write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rewrite::Parameter { origin, name } => write!(f, "{origin}/*?{name}=* = without {name}"),
            Rewrite::Prefix { from, to } => write!(f, "{from}* = {to}*"),
            Rewrite::Segment { origin, under, length } => {
                write!(f, "{origin}{under}<{length} characters>/* = {origin}{under}*")
            }
            Rewrite::Ending { origin, from, to } => write!(f, "{origin}/*{from} = {origin}/*{to}"),
            Rewrite::Form { origin, from, to, numbers } => {
                write!(f, "{origin}{from} = {origin}{to} by numbers {numbers:?}")
            }
        }
    }
}

/// Whether a prefix covers a whole host.
pub fn is_host(prefix: &str) -> bool {
    prefix.split_once("://").is_some_and(|(_, rest)| rest.find('/') == Some(rest.len() - 1))
}

/// Scheme, host and port of a URL, as it is written.
pub fn origin(url: &Url) -> &str {
    &url[..url::Position::BeforePath]
}

/// Path and query of a URL; `None` if its origin is not `of`.
fn rest<'a>(url: &'a Url, of: &str) -> Option<&'a str> {
    (origin(url) == of).then(|| &url[url::Position::BeforePath..url::Position::AfterQuery])
}

fn host_of(prefix: &str) -> &str {
    let authority = prefix.split_once("://").map_or(prefix, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

fn name_of(pair: &str) -> &str {
    pair.split('=').next().unwrap_or_default()
}

/// A text with `#` for each number, and the numbers.
pub fn skeleton(text: &str) -> (String, Vec<&str>) {
    let (mut form, mut numbers) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        form.push_str(&rest[..start]);
        form.push('#');
        let end = rest[start..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |length| start + length);
        numbers.push(&rest[start..end]);
        rest = &rest[end..];
    }
    form.push_str(rest);
    (form, numbers)
}

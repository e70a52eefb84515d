//! Rewrites: what a rule does to a URL. Nothing here knows a word: folders, parameters and endings are called what a site
//! calls them.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;

/// Turns the URLs of its domain into the URLs that are said to show the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rewrite {
    /// The parameter makes no difference: it is taken away.
    Parameter {
        /// Scheme, host and port.
        origin: String,
        /// Its name.
        name: String,
    },
    /// What begins with one prefix is found under another: a mirror of a host or subtree, `www.` or none, https or http, a
    /// folder of copies.
    Prefix {
        /// URL up to and with a slash.
        from: String,
        /// URL up to and with a slash.
        to: String,
    },
    /// The path segment makes no difference, whatever it is: it is taken away.
    Segment {
        /// Scheme, host and port.
        origin: String,
        /// The path up to it, with its slash.
        under: String,
        /// Its length in bytes: of session ids and the like all have one.
        length: usize,
    },
    /// What ends in one way is found without: `/print`, or `-print` before `.html`.
    Ending {
        /// Scheme, host and port.
        origin: String,
        /// The end of the path …
        from: String,
        /// … and what stands there instead.
        to: String,
    },
    /// Two ways of writing the same numbers.
    Form {
        /// Scheme, host and port.
        origin: String,
        /// Path and query with `#` for each number.
        from: String,
        /// The same of the other form.
        to: String,
        /// For each number of the other form, which of this one's it is.
        numbers: Vec<usize>,
    },
}

impl Rewrite {
    /// What a URL becomes; `None` where it is not of the rule's domain.
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

    /// The host of the representatives.
    pub fn target_host(&self) -> &str {
        match self {
            Rewrite::Prefix { to, .. } => host_of(to),
            _ => self.host(),
        }
    }

    /// Whether it leads to another host, or from one folder to another where neither is within the other.
    pub fn is_mirror(&self) -> bool {
        matches!(self, Rewrite::Prefix { from, to } if !from.starts_with(to.as_str()))
    }

    /// What rules on different hosts may have in common, if anything.
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

    /// The same on another origin, where that makes sense: of a parameter, an ending, a folder at the top.
    pub fn on(&self, origin: &str) -> Option<Self> {
        match self {
            Rewrite::Parameter { name, .. } => Some(Rewrite::Parameter { origin: origin.into(), name: name.clone() }),
            Rewrite::Ending { from, to, .. } => {
                Some(Rewrite::Ending { origin: origin.into(), from: from.clone(), to: to.clone() })
            }
            Rewrite::Prefix { from, to } => {
                let folder = from.strip_prefix(to.as_str()).filter(|_| is_host(to))?;
                Some(Rewrite::Prefix { from: format!("{origin}/{folder}"), to: format!("{origin}/") })
            }
            Rewrite::Segment { .. } | Rewrite::Form { .. } => None,
        }
    }

    /// Whether it says why pages of one kind are copies, not only that two folders of one host show the same: everything
    /// does in a trap.
    pub fn explains(&self) -> bool {
        match self {
            Rewrite::Prefix { from, to } => from.starts_with(to.as_str()) || self.host() != self.target_host(),
            _ => true,
        }
    }

    /// The other way round, where there is one.
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

/// Whether a prefix is that of a whole host.
pub fn is_host(prefix: &str) -> bool {
    prefix.split_once("://").is_some_and(|(_, rest)| rest.find('/') == Some(rest.len() - 1))
}

/// Scheme, host and port of a URL, as it is written.
pub fn origin(url: &Url) -> &str {
    &url[..url::Position::BeforePath]
}

/// Path and query of a URL of the origin given.
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

/// Whether a path segment may be an identifier, not a word: long, with a digit.
pub fn is_id(segment: &str) -> bool {
    segment.len() >= 6
        && segment.bytes().any(|byte| byte.is_ascii_digit())
        && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~'))
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

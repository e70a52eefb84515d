//! The lines of robots.txt about use: `Content-Usage` (aipref *attach*, section 3), `Content-Signal` and `License`.
//!
//! The lines about fetching are read by `frontier::robots`. Its comparison of paths with patterns is used here, too.

use std::sync::LazyLock;

use dedup_stage::url::drop_user;
use frontier::robots::{Answer, RobotsRules};
use regex::bytes::Regex;
use url::Url;

use super::usage::Preferences;

/// The lines of a robots.txt about use that are for one product token.
#[derive(Clone, Debug, Default)]
pub struct UsageRules {
    /// The rules. Those with longer patterns come first.
    rules: Vec<PreferenceRule>,
    licences: Vec<Url>,
}

/// The rule of one line.
#[derive(Clone, Debug)]
struct PreferenceRule {
    pattern: Pattern,
    words: &'static str,
    preferences: Preferences,
}

/// The most rules of one origin that are kept.
const MAX_RULES: usize = 1_000;
/// The longest part of a line that is read, in bytes, as in `frontier::robots`.
const MAX_LINE: usize = 2_083 * 8;

/// A robots.txt without any of these words says nothing about use.
static WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("(?i)content-usage|content-signal|licen[cs]e").expect("a pattern that compiles"));

impl UsageRules {
    /// Whether a robots.txt may say something about use.
    pub fn are_in(body: &[u8]) -> bool {
        WORDS.is_match(&body[..body.len().min(RobotsRules::MAX_BYTES)])
    }

    /// Reads the robots.txt of `origin` for `token` (compared without case). It uses the groups that name the token, or
    /// else those for everyone. Lines before the first group are for everyone.
    pub fn read(body: &[u8], token: &str, origin: &Url) -> Self {
        let body = &body[..body.len().min(RobotsRules::MAX_BYTES)];
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let (mut ours, mut everyone, mut licences) = (Vec::new(), Vec::new(), Vec::new());
        let (mut for_us, mut for_everyone, mut listing, mut named) = (false, true, false, false);
        for line in body.split(|byte| matches!(byte, b'\n' | b'\r' | 0)) {
            let line = &line[..line.len().min(MAX_LINE)];
            let line = line.split(|byte| *byte == b'#').next().unwrap_or_default();
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let (key, value) = (line[..colon].trim_ascii().to_ascii_lowercase(), line[colon + 1..].trim_ascii());
            let words = match key.as_slice() {
                b"user-agent" | b"useragent" => {
                    if !listing {
                        (for_us, for_everyone, listing) = (false, false, true);
                    }
                    for_us |= !token.is_empty() && product(value).eq_ignore_ascii_case(token.as_bytes());
                    for_everyone |= value == b"*";
                    named |= for_us;
                    continue;
                }
                b"license" | b"licence" => {
                    let link = std::str::from_utf8(value).ok().and_then(|link| origin.join(link).ok());
                    let link = link.map(|mut link| {
                        drop_user(&mut link);
                        link
                    });
                    licences.extend(link.filter(|_| licences.len() < MAX_RULES));
                    continue;
                }
                b"content-usage" => "Content-Usage",
                b"content-signal" | b"content-signals" => "Content-Signal",
                _ => {
                    listing = false;
                    continue;
                }
            };
            listing = false;
            let Some(rule) = PreferenceRule::read(words, value) else { continue };
            for (rules, applies) in [(&mut ours, for_us), (&mut everyone, for_everyone)] {
                if applies && rules.len() < MAX_RULES {
                    rules.push(rule.clone());
                }
            }
        }
        let mut rules = if named { ours } else { everyone };
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.pattern.length));
        Self { rules, licences }
    }

    /// The memory that they take, roughly.
    pub fn bytes(&self) -> usize {
        let patterns = self.rules.iter().map(|rule| rule.pattern.bytes());
        let licences = self.licences.iter().map(|url| size_of::<Url>() + url.as_str().len());
        patterns.chain(licences).sum()
    }

    /// The statements about a URL of this origin, by the name of their line. Of the `Content-Usage` lines, and of the
    /// `Content-Signal` lines, those with the longest matching path count. If several have it, they are combined.
    pub fn preferences(&self, url: &Url) -> impl Iterator<Item = (&'static str, Preferences)> {
        ["Content-Usage", "Content-Signal"].into_iter().filter_map(|words| {
            let mut matching =
                self.rules.iter().filter(|rule| rule.words == words && rule.pattern.matches(url)).peekable();
            let length = matching.peek()?.pattern.length;
            let longest = matching.take_while(|rule| rule.pattern.length == length);
            let combined = longest.fold(Preferences::default(), |all, rule| all.combine(&rule.preferences));
            Some((words, combined))
        })
    }

    /// The licences that are named for the whole origin.
    pub fn licences(&self) -> &[Url] {
        &self.licences
    }
}

impl PreferenceRule {
    /// Reads a value: an optional path, which begins with a slash and ends before white space, and then the statement.
    fn read(words: &'static str, value: &[u8]) -> Option<Self> {
        let (path, statement) = if value.first() == Some(&b'/') {
            let end = value.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
            (&value[..end], value[end..].trim_ascii())
        } else {
            (&b""[..], value)
        };
        let preferences = match words {
            "Content-Usage" => Preferences::from_usage(statement),
            _ => Preferences::from_signal(std::str::from_utf8(statement).ok()?),
        };
        Some(Self { pattern: Pattern::new(path), words, preferences })
    }
}

/// The product token at the start of a User-agent value.
fn product(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| !byte.is_ascii_alphabetic() && !b"_-".contains(byte));
    &value[..end.unwrap_or(value.len())]
}

/// A path pattern with the meaning that it has in `Disallow`. The empty pattern matches everything.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    length: usize,
    rules: Option<RobotsRules>,
}

impl Pattern {
    /// Makes a pattern of these octets, which must contain no line end and no `#`.
    pub fn new(path: &[u8]) -> Self {
        let rules = (!path.is_empty()).then(|| {
            let body = [b"user-agent: *\ndisallow: ", path].concat();
            let anywhere = Url::parse("http://localhost/robots.txt").expect("a URL");
            RobotsRules::read(&Answer { url: &anywhere, status: 200, retry_after: None, body: &body, at: 0 }, "")
        });
        Self { length: path.len(), rules }
    }

    /// The memory that it takes, roughly.
    pub fn bytes(&self) -> usize {
        // Its octets are in the rule and in the table of literals.
        512 + 2 * self.length
    }

    /// Whether the path and query of a URL match.
    pub fn matches(&self, url: &Url) -> bool {
        self.rules.as_ref().is_none_or(|rules| !rules.allowed(url))
    }
}

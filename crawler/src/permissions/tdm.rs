//! The TDM Reservation Protocol (W3C community group report): whether text and data mining is reserved, and by which
//! policy it may be licensed.
//!
//! The order of priority (*processing priority* in the specification) is: file, then header, then meta element. Each
//! outranks the one before. One that says nothing changes nothing.

use serde_json::Value;
use url::Url;

use super::Source;
use super::robots::Pattern;

/// The statement in one place. A field is `None` if the place says nothing, or has a value that the protocol does not
/// know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    /// The value of `tdm-reservation`: 1 is true, 0 is false.
    pub reservation: Option<bool>,
    /// The value of `tdm-policy`.
    pub policy: Option<String>,
}

/// The longest policy URL that is kept, in bytes.
const MAX_POLICY: usize = 2_083;

impl Stated {
    /// Reads a header field or meta element, if it belongs to the protocol. `name` is in lower case.
    pub fn take(&mut self, name: &str, value: &str) {
        let value = value.trim();
        match name {
            "tdm-reservation" => self.reservation = reservation(value),
            "tdm-policy" if !value.is_empty() && value.len() <= MAX_POLICY => self.policy = Some(value.to_owned()),
            _ => {}
        }
    }
}

fn reservation(value: &str) -> Option<bool> {
    match value {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// The statement that holds in the end, and its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tdm {
    reservation: Option<(Source, bool)>,
    policy: Option<String>,
}

impl Tdm {
    /// Adds the statement of a place with a higher priority.
    pub fn supersede(&mut self, source: Source, stated: Stated) {
        self.reservation = stated.reservation.map(|reserved| (source, reserved)).or(self.reservation);
        self.policy = stated.policy.or_else(|| self.policy.take());
    }

    /// Whether mining is reserved, and the place that says so; `None` if no place says anything.
    pub fn reserved(&self) -> Option<(Source, bool)> {
        self.reservation
    }

    /// The policy. It does not count if nothing is reserved.
    pub fn policy(&self) -> Option<&str> {
        self.reservation.filter(|(_, reserved)| *reserved).and(self.policy.as_deref())
    }
}

/// `/.well-known/tdmrep.json` of one origin.
#[derive(Clone, Debug, Default)]
pub struct TdmFile {
    rules: Vec<(Pattern, Stated)>,
}

impl TdmFile {
    /// The path of the file.
    pub const PATH: &'static str = "/.well-known/tdmrep.json";
    /// The largest file that is read, in bytes.
    pub const MAX_BYTES: usize = 512 << 10;
    /// The most rules that are read.
    const MAX_RULES: usize = 1_000;

    /// Reads a file: an array of rules. Anything else says nothing. A rule without a location says nothing, either.
    pub fn read(body: &[u8]) -> Self {
        let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
        let value = if body.len() <= Self::MAX_BYTES { serde_json::from_slice(body).ok() } else { None };
        let Some(Value::Array(rules)) = value else { return Self::default() };
        let rules = rules.iter().take(Self::MAX_RULES).filter_map(|rule| {
            let location = rule.get("location")?.as_str()?.trim();
            if location.is_empty() || location.contains(['\n', '\r', '#', '\0']) {
                return None;
            }
            let mut stated = Stated::default();
            if let Some(value) = rule.get("tdm-reservation") {
                // The specification has a number here, but many files have a string with the same digit.
                stated.take("tdm-reservation", value.as_str().unwrap_or(&value.to_string()));
            }
            stated.take("tdm-policy", rule.get("tdm-policy").and_then(Value::as_str).unwrap_or_default());
            Some((Pattern::new(location.as_bytes()), stated))
        });
        Self { rules: rules.collect() }
    }

    /// The memory that it takes, roughly.
    pub fn bytes(&self) -> usize {
        let policy = |stated: &Stated| stated.policy.as_ref().map_or(0, String::len);
        self.rules.iter().map(|(pattern, stated)| pattern.bytes() + policy(stated)).sum()
    }

    /// The statement about a URL: that of the first rule that matches.
    pub fn of(&self, url: &Url) -> Option<Stated> {
        self.rules.iter().find(|(pattern, _)| pattern.matches(url)).map(|(_, stated)| stated.clone())
    }
}

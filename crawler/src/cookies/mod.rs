//! Cookies within one crawl (RFC 6265bis). There is a jar for each registrable domain. So the cookies of a site can be
//! bounded, kept with the rest of the site's state, and dropped, independently of other sites.
//!
//! The crate `cookie_store` has the rules of matching and storing. This module adds the public suffixes (by the list
//! that the rest of the crawler uses), the limits, the prefixes `__Host-` and `__Secure-`, and the files.
//!
//! [`crate::access::SiteAccess`] owns one [`Jars`], and keeps it in the state, whose directory has mode 0700, and whose
//! files have mode 0600. Code that archives header fields passes them through [`redact`]. A site without cookies costs
//! only a lookup of its domain.

pub mod file;
mod limits;
mod record;
mod site;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use dedup_stage::url::registrable_domain;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

pub use limits::Limits;
pub use record::Record;
use site::Site;

/// The jars of all sites.
#[derive(Clone, Debug, Default)]
pub struct Jars {
    limits: Limits,
    sites: HashMap<String, Site>,
    bytes: usize,
    /// The number of uses so far. It serves to find the site that has not been used for the longest time.
    uses: u64,
}

/// The result of storing cookies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// The sites whose jars have changed and must be written to the state, including sites that were dropped to make
    /// room.
    pub changed: Vec<String>,
    /// The number of cookies that were refused: malformed, too long, for another site, for a public suffix.
    pub refused: usize,
}

impl Jars {
    /// The most values of `Set-Cookie` that are read from one answer.
    const MAX_PER_ANSWER: usize = 256;

    /// Makes empty jars.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// The value of the `Cookie` header for a request, if there are any cookies. Cookies with longer paths come first.
    pub fn header(&mut self, url: &Url) -> Option<String> {
        if self.sites.is_empty() {
            return None;
        }
        self.uses += 1;
        let site = self.sites.get_mut(&site_of(url)?)?;
        site.used = self.uses;
        site.header(url, self.limits.header_bytes)
    }

    /// Whether a request for `url` has a cookie with one of these [`names`].
    pub fn sends(&mut self, url: &Url, names: &[u64]) -> bool {
        !names.is_empty()
            && self.header(url).is_some_and(|header| header.split(';').any(|pair| names.contains(&name(pair))))
    }

    /// Stores the cookies of an answer from `url`.
    pub fn store<'a>(&mut self, url: &Url, values: impl IntoIterator<Item = &'a str>) -> Stored {
        self.take(url, values, false)
    }

    /// Stores the cookies of an answer that belongs to a login. They are the last to be dropped to make room.
    pub fn store_lasting<'a>(&mut self, url: &Url, values: impl IntoIterator<Item = &'a str>) -> Stored {
        self.take(url, values, true)
    }

    fn take<'a>(&mut self, url: &Url, values: impl IntoIterator<Item = &'a str>, lasts: bool) -> Stored {
        let mut stored = Stored::default();
        let mut values = values.into_iter().take(Self::MAX_PER_ANSWER).peekable();
        if values.peek().is_none() {
            return stored;
        }
        let Some(name) = site_of(url) else { return stored };
        self.change(name, &mut stored, |site, limits, refused| {
            for value in values {
                *refused += usize::from(!site.take(value, url, limits, lasts));
            }
        });
        stored
    }

    /// Stores cookies from a file. Returns the sites that have changed, and how many cookies were refused. They are the
    /// last to be dropped to make room.
    pub fn load(&mut self, records: impl IntoIterator<Item = Record>) -> Stored {
        self.insert(records, true)
    }

    fn insert(&mut self, records: impl IntoIterator<Item = Record>, lasts: bool) -> Stored {
        let mut stored = Stored::default();
        for record in records {
            let Some((url, cookie)) = record.as_answer() else {
                stored.refused += 1;
                continue;
            };
            let Some(name) = site_of(&url) else { continue };
            self.change(name, &mut stored, |site, limits, refused| {
                *refused += usize::from(!site.insert(&cookie, &url, limits, lasts));
            });
        }
        stored.changed.sort_unstable();
        stored.changed.dedup();
        stored
    }

    /// The cookies of a site, for the state; `None` if it has none, so that its record can be removed. They are
    /// secrets.
    pub fn to_bytes(&self, site: &str) -> Option<Vec<u8>> {
        let records = self.sites.get(site)?.records();
        (!records.is_empty()).then(|| serde_json::to_vec(&records).expect("strings and numbers serialise"))
    }

    /// Restores the cookies that [`Jars::to_bytes`] has encoded. Returns false if the bytes cannot be read.
    pub fn restore(&mut self, bytes: &[u8]) -> bool {
        let Ok(records) = serde_json::from_slice::<Vec<Record>>(bytes) else { return false };
        self.insert(records, false);
        true
    }

    /// The registrable domains that have cookies.
    pub fn sites(&self) -> impl Iterator<Item = &str> {
        self.sites.keys().map(String::as_str)
    }

    /// The number of cookies.
    pub fn len(&self) -> usize {
        self.sites.values().map(Site::len).sum()
    }

    /// Whether no cookie is kept.
    pub fn is_empty(&self) -> bool {
        self.sites.values().all(|site| site.len() == 0)
    }

    /// The number of bytes, as `Limits::total_bytes` counts them.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn change(&mut self, name: String, stored: &mut Stored, take: impl FnOnce(&mut Site, &Limits, &mut usize)) {
        self.uses += 1;
        let site = self.sites.entry(name.clone()).or_default();
        let before = (site.bytes(), site.changes);
        site.used = self.uses;
        take(site, &self.limits, &mut stored.refused);
        let (after, changed, is_empty) = (site.bytes(), site.changes != before.1, site.len() == 0);
        self.bytes = self.bytes - before.0 + after;
        if is_empty {
            self.sites.remove(&name);
        }
        if changed {
            stored.changed.push(name);
        }
        while self.bytes > self.limits.total_bytes && self.sites.len() > 1 {
            let idle =
                self.sites.iter().min_by_key(|(_, site)| (site.has_lasting(), site.used)).map(|(name, _)| name.clone());
            let Some(idle) = idle else { return };
            self.bytes -= self.sites.remove(&idle).map_or(0, |site| site.bytes());
            stored.changed.push(idle);
        }
    }
}

/// The hashes of the names of the first cookies that an answer brings.
pub fn names<'a>(set: impl IntoIterator<Item = impl AsRef<str> + 'a>) -> Vec<u64> {
    set.into_iter().take(Limits::default().per_site).map(|value| name(value.as_ref())).collect()
}

/// The hash of the name of a cookie, given as its name and value, perhaps with attributes.
fn name(pair: &str) -> u64 {
    xxh3_64(pair.split(['=', ';']).next().unwrap_or_default().trim().as_bytes())
}

/// The registrable domain of a URL. For addresses, single labels and public suffixes, it is the host.
fn site_of(url: &Url) -> Option<String> {
    url.has_host().then(|| registrable_domain(url).to_owned())
}

/// The header fields whose values are secrets.
const SECRET: [&str; 6] =
    ["cookie", "set-cookie", "set-cookie2", "authorization", "proxy-authorization", "www-authenticate"];

/// The part of a header field that may be shown. Of secrets, these are only the names of cookies and of authentication
/// schemes.
pub fn redact<'a>(name: &str, value: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
    if !SECRET.iter().any(|secret| name.eq_ignore_ascii_case(secret)) {
        return value.into();
    }
    let text = String::from_utf8_lossy(value);
    let shown = if name.eq_ignore_ascii_case("cookie") {
        let names: Vec<String> = text.split(';').map(|pair| hidden(pair.trim(), '=')).collect();
        names.join("; ")
    } else if name.eq_ignore_ascii_case("set-cookie") {
        let (pair, attributes) = text.split_once(';').unwrap_or((&text, ""));
        let separator = if attributes.is_empty() { "" } else { ";" };
        format!("{}{separator}{attributes}", hidden(pair.trim(), '='))
    } else {
        hidden(&text, ' ')
    };
    shown.into_bytes().into()
}

/// Makes `name=[redacted]` of `name=value`. A text without the separator is a value, and is hidden whole.
fn hidden(text: &str, separator: char) -> String {
    text.split_once(separator).map_or_else(|| "[redacted]".into(), |(name, _)| format!("{name}{separator}[redacted]"))
}

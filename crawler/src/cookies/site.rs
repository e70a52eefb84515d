//! The cookies of one site.

use std::collections::{HashSet, VecDeque};

use cookie_store::{CookieStore, RawCookie};
use dedup_stage::url::registrable;
use url::{Host, Url};

use super::limits::Limits;
use super::record::Record;

/// The domain, path and name of a cookie.
type Name = (String, String, String);

/// A jar of bounded size.
#[derive(Clone, Debug, Default)]
pub struct Site {
    store: CookieStore,
    /// The names and sizes of the cookies, in the order in which they were last set.
    order: VecDeque<(Name, usize)>,
    /// The names that a file or a login has brought. These cookies are the last to be dropped.
    lasting: HashSet<Name>,
    bytes: usize,
    /// The number of changes so far.
    pub changes: u64,
    /// The use at which this site was used last, as `Jars` counts uses.
    pub used: u64,
}

/// The known parts of a cookie. A parsed cookie would keep the whole line, with attributes that nobody knows, of any
/// length.
fn parts_of(cookie: &RawCookie<'_>) -> RawCookie<'static> {
    let mut parts = RawCookie::new(cookie.name().to_owned(), cookie.value().to_owned());
    if let Some(domain) = cookie.domain() {
        parts.set_domain(domain.to_owned());
    }
    if let Some(path) = cookie.path() {
        parts.set_path(path.to_owned());
    }
    if let Some(age) = cookie.max_age() {
        parts.set_max_age(age);
    }
    if let Some(expires) = cookie.expires() {
        parts.set_expires(expires);
    }
    parts.set_secure(cookie.secure());
    parts.set_http_only(cookie.http_only());
    parts.set_same_site(cookie.same_site());
    parts.set_partitioned(cookie.partitioned());
    parts
}

impl Site {
    /// The bytes that a cookie costs besides its strings.
    const OVERHEAD: usize = 512;

    /// Stores one value of `Set-Cookie`. Returns false if it is refused. If it `lasts`, it is among the last to be
    /// dropped.
    pub fn take(&mut self, value: &str, url: &Url, limits: &Limits, lasts: bool) -> bool {
        // Control bytes make the whole line invalid (RFC 6265bis, section 5.6). A tab may stand between attributes.
        if value.bytes().any(|byte| byte < 0x20 && byte != b'\t' || byte == 0x7f) {
            return false;
        }
        let Ok(cookie) = RawCookie::parse(value) else { return false };
        self.insert(&cookie, url, limits, lasts)
    }

    /// Stores a cookie as if `url` had sent it. Returns false if it is refused. If it `lasts`, it is among the last to
    /// be dropped.
    pub fn insert(&mut self, cookie: &RawCookie<'_>, url: &Url, limits: &Limits, lasts: bool) -> bool {
        let size = cookie.name().len() + cookie.value().len();
        let is_long = |attribute: Option<&str>| attribute.is_some_and(|text| text.len() > 1024);
        if size == 0 || size > limits.cookie_bytes || is_long(cookie.path()) || is_long(cookie.domain()) {
            return false;
        }
        let mut cookie = parts_of(cookie);
        if !admissible(&mut cookie, url) {
            return false;
        }
        let Ok(parsed) = cookie_store::Cookie::try_from_raw_cookie(&cookie, url) else { return false };
        let parsed = parsed.into_owned();
        let domain = String::from(&parsed.domain);
        let name: Name = (domain, String::from(&parsed.path), parsed.name().to_owned());
        let known = self.store.get(&name.0, &name.1, &name.2);
        // A cookie that was set over TLS cannot be changed without TLS (RFC 6265bis, section 5.7).
        if known.is_some_and(|known| known.secure() == Some(true)) && url.scheme() != "https" {
            return false;
        }
        let is_same = known.is_some_and(|known| {
            known.value() == parsed.value()
                && known.expires == parsed.expires
                && known.secure() == parsed.secure()
                && known.http_only() == parsed.http_only()
                && known.domain == parsed.domain
        });
        if is_same {
            if lasts {
                self.lasting.insert(name);
            }
            return true;
        }
        let (expired, was_there) = (parsed.is_expired(), known.is_some());
        if self.store.insert(parsed, url).is_err() && !expired {
            return false;
        }
        if was_there || !expired {
            self.changes += 1;
            self.forget(&name, expired);
        }
        if !expired {
            // Domain, path and name stand in the cookie, in the keys of the store, and in the order.
            let bytes = cookie.value().len() + 3 * (name.0.len() + name.1.len() + name.2.len()) + Self::OVERHEAD;
            if lasts {
                self.lasting.insert(name.clone());
            }
            self.order.push_back((name, bytes));
            self.bytes += bytes;
            while self.order.len() > limits.per_site {
                let passing = self.order.iter().find(|(name, _)| !self.lasting.contains(name));
                if let Some((oldest, _)) = passing.or(self.order.front()).cloned() {
                    self.forget(&oldest, true);
                }
            }
        }
        true
    }

    /// Removes a cookie from the order, and with `gone` also from the store.
    fn forget(&mut self, name: &Name, gone: bool) {
        if gone {
            self.store.remove(&name.0, &name.1, &name.2);
            self.lasting.remove(name);
        }
        if let Some(at) = self.order.iter().position(|(other, _)| other == name) {
            let (_, bytes) = self.order.remove(at).unwrap_or_default();
            self.bytes -= bytes;
        }
    }

    /// The `Cookie` header for a URL, of at most `most` bytes.
    pub fn header(&self, url: &Url, most: usize) -> Option<String> {
        let mut cookies = self.store.matches(url);
        cookies.sort_by_key(|cookie| (std::cmp::Reverse(cookie.path.len()), cookie.name()));
        let mut header = String::new();
        for cookie in cookies {
            let (name, value) = cookie.name_value();
            if header.len() + name.len() + value.len() + 3 > most {
                continue;
            }
            if !header.is_empty() {
                header.push_str("; ");
            }
            header.push_str(name);
            header.push('=');
            header.push_str(value);
        }
        (!header.is_empty()).then_some(header)
    }

    /// All cookies that have not expired, the oldest first.
    pub fn records(&self) -> Vec<Record> {
        let cookies = self.order.iter().filter_map(|((domain, path, name), _)| self.store.get(domain, path, name));
        cookies.map(Record::of).collect()
    }

    /// Whether a file or a login has brought one of the cookies.
    pub fn has_lasting(&self) -> bool {
        !self.lasting.is_empty()
    }

    /// The number of cookies.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The number of bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Checks the rules of RFC 6265bis that `cookie_store` leaves to its caller. A `Domain` that is a public suffix is
/// removed if it is the host itself.
fn admissible(cookie: &mut RawCookie<'_>, url: &Url) -> bool {
    let (secure, over_tls) = (cookie.secure() == Some(true), url.scheme() == "https");
    if secure && !over_tls {
        return false;
    }
    let name = cookie.name().to_ascii_lowercase();
    if name.starts_with("__secure-") && !secure {
        return false;
    }
    if name.starts_with("__host-") && !(secure && cookie.path() == Some("/") && cookie.domain().is_none()) {
        return false;
    }
    // A cookie that may be sent from any site (`SameSite=None`) has to be secure.
    if cookie.same_site().is_some_and(|same_site| same_site.is_none()) && !secure {
        return false;
    }
    if let (Some(domain), Some(Host::Domain(host))) = (cookie.domain(), url.host()) {
        let domain = domain.trim_start_matches('.').to_ascii_lowercase();
        if !domain.is_empty() && registrable(&domain).is_none() {
            if host != domain {
                return false;
            }
            cookie.unset_domain();
        }
    }
    true
}

//! The canonical form of a URL, which is only used to compare URLs. The crawler only fetches spellings that it has met,
//! and never one that was made here.
//!
//! The parser of the URL standard already makes some URLs equal, and this cannot be switched off: case of scheme and
//! host, default port, dot segments, the spellings of an address, international host names, tabs and line ends. For
//! http and https URLs, these rules follow. Each rule but the first has a switch in the configuration.
//!
//! | rule | makes equal | switch |
//! |---|---|---|
//! | fragment | `/a#b` and `/a` | |
//! | user name and password | `http://me@a.example/` and `http://a.example/` | `drop-user` |
//! | trailing dot of the host | `a.example.` and `a.example` | `drop-host-dot` |
//! | percent-encoding | `/%7eme` and `/~me`, `/a%3Ab` and `/a:b`, `?q=a%20b` and `?q=a+b` | `normalize-escapes` |
//! | session ids | `/a;jsessionid=1`, `/(S(lit3py55t21z5v55vlm25s55))/a`, `/a?PHPSESSID=1` and `/a` | `drop-sessions` |
//! | tracking parameters | `/a?utm_source=b` and `/a` | `drop-tracking` |
//! | parameters named by the user | | `drop-params`, `keep-params` |
//! | empty parameters and queries | `/a?&b=1&` and `/a?b=1`, `/a?` and `/a` | `drop-empty` |
//! | order of parameters | `?a=1&b=2` and `?b=2&a=1` | `sort-query` |
//!
//! These stay different: `http` and `https`, `www.` and none, `/a` and `/a/`, `//` and `/`, `/` and `/index.html`, `?a`
//! and `?a=`, two values of one parameter in two orders, letters of path and query in two cases. If these are the same
//! on a site, the judge finds out by comparing the pages.

use std::cell::RefCell;
use std::collections::BTreeSet;

use config::Urls;
use url::{Position, Url};

use super::escapes::{Part, escape, is_raw, normalize};
use super::sessions::{is_doubtful, is_session, is_session_segment};
use super::tracking::is_tracking;
use super::{KeyHasher, UrlId};

/// The canonical spelling of a URL. The frontier treats two URLs with the same key as one URL.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UrlKey(Box<str>);

impl UrlKey {
    /// The key as text. It is a valid URL, but the site may not answer it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Turns URLs into keys by a fixed set of rules, listed above. It is idempotent: the key of a key is itself.
///
/// # Examples
///
/// ```
/// let canonicalizer = dedup_stage::url::Canonicalizer::default();
/// let url = url::Url::parse("HTTP://A.example:80/b/../%7Ec;jsessionid=1?utm_source=d&y=2&x=1#e").unwrap();
/// assert_eq!(canonicalizer.key(&url).as_str(), "http://a.example/~c?x=1&y=2");
/// ```
///
/// # References
///
/// RFC 3986, section 6.2; the URL standard (url.spec.whatwg.org).
#[derive(Clone, Debug)]
pub struct Canonicalizer {
    drop_user: bool,
    drop_host_dot: bool,
    normalize_escapes: bool,
    drop_sessions: bool,
    drop_tracking: bool,
    drop_empty: bool,
    sort_query: bool,
    drop_params: BTreeSet<Box<[u8]>>,
    keep_params: BTreeSet<Box<[u8]>>,
}

/// Memory for the key that is being written.
#[derive(Debug, Default)]
struct Scratch {
    key: Vec<u8>,
    /// The places in `key` of the parameters that are kept: start of the name, end of the name, end of the value.
    params: Vec<[usize; 3]>,
    sorted: Vec<u8>,
}

impl Scratch {
    /// The most bytes of memory that are kept from one URL to the next. After a longer URL, the memory is given back.
    const KEPT: usize = 1 << 16;
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Default for Canonicalizer {
    fn default() -> Self {
        Self::new(&config::Settings::default().urls)
    }
}

impl Canonicalizer {
    /// A canonicalizer with the rules that are switched on.
    pub fn new(urls: &Urls) -> Self {
        let set = |names: &[String]| names.iter().map(|name| name.as_bytes().into()).collect();
        Self {
            drop_user: urls.drop_user,
            drop_host_dot: urls.drop_host_dot,
            normalize_escapes: urls.normalize_escapes,
            drop_sessions: urls.drop_sessions,
            drop_tracking: urls.drop_tracking,
            drop_empty: urls.drop_empty,
            sort_query: urls.sort_query,
            drop_params: set(&urls.drop_params),
            keep_params: set(&urls.keep_params),
        }
    }

    /// The key of `url`.
    pub fn key(&self, url: &Url) -> UrlKey {
        self.with(url, |key| UrlKey(String::from_utf8_lossy(key).into()))
    }

    /// The hash of the key of `url`, without making the key.
    pub fn hash(&self, url: &Url, hasher: &KeyHasher) -> u64 {
        self.with(url, |key| hasher.hash_bytes(key))
    }

    /// The identity of `url`, and its reference: a hash of the part of its key after the host. A mirror under another
    /// host name has links with the same references.
    pub fn identify(&self, url: &Url, hasher: &KeyHasher) -> (UrlId, u32) {
        let site = hasher.site(url);
        self.with(url, |key| {
            let id = UrlId { site, url: hasher.hash_bytes(key) };
            (id, hasher.hash_bytes(after_host(key)) as u32)
        })
    }

    fn with<T>(&self, url: &Url, use_key: impl FnOnce(&[u8]) -> T) -> T {
        if let Some(key) = plain(url) {
            return use_key(key);
        }
        SCRATCH.with_borrow_mut(|scratch| {
            self.write(url, scratch);
            let result = use_key(&scratch.key);
            if scratch.key.capacity() > Scratch::KEPT {
                *scratch = Scratch::default();
            }
            result
        })
    }

    fn write(&self, url: &Url, scratch: &mut Scratch) {
        let key = &mut scratch.key;
        key.clear();
        if !matches!(url.scheme(), "http" | "https") {
            key.extend_from_slice(without_fragment(url).as_bytes());
            return;
        }
        let host = url.host_str().unwrap_or_default();
        let user = if self.drop_user { "" } else { &url[Position::BeforeUsername..Position::BeforeHost] };
        key.extend_from_slice(url[..Position::BeforeUsername].as_bytes());
        key.extend_from_slice(user.as_bytes());
        key.extend_from_slice(if self.drop_host_dot { without_dot(host) } else { host }.as_bytes());
        key.extend_from_slice(url[Position::AfterHost..Position::BeforePath].as_bytes());
        self.write_path(url.path().as_bytes(), key);
        let Some(query) = url.query() else { return };
        self.write_query(query.as_bytes(), host, scratch);
    }

    fn normalized(&self, text: &[u8], part: Part, key: &mut Vec<u8>) {
        if self.normalize_escapes {
            normalize(text, part, key);
        } else {
            key.extend_from_slice(text);
        }
    }

    fn write_path(&self, path: &[u8], key: &mut Vec<u8>) {
        if !self.drop_sessions || !path.iter().any(|octet| matches!(octet, b';' | b'(' | b'%')) {
            return self.normalized(path, Part::Path, key);
        }
        let whole = key.len();
        for segment in path.split(|octet| *octet == b'/').skip(1) {
            key.push(b'/');
            let start = key.len();
            self.normalized(segment, Part::Path, key);
            drop_session_params(key, start);
            if is_session_segment(&key[start..]) {
                key.truncate(start - 1);
            }
        }
        if key.len() == whole {
            key.push(b'/');
        }
    }

    fn write_query(&self, query: &[u8], host: &str, scratch: &mut Scratch) {
        let Scratch { key, params, sorted } = scratch;
        key.push(b'?');
        let start = key.len();
        params.clear();
        for param in query.split(|octet| *octet == b'&') {
            if param.is_empty() && self.drop_empty {
                continue;
            }
            if !params.is_empty() {
                key.push(b'&');
            }
            let at = key.len();
            self.normalized(param, Part::Query, key);
            let name_end = key[at..].iter().position(|octet| *octet == b'=').map_or(key.len(), |equals| at + equals);
            if self.counts(&key[at..name_end], key.get(name_end + 1..).unwrap_or_default(), host) {
                params.push([at, name_end, key.len()]);
            } else {
                key.truncate(at - usize::from(!params.is_empty()));
            }
        }
        if params.is_empty() {
            key.pop();
            return;
        }
        let name = |param: &[usize; 3]| &key[param[0]..param[1]];
        if self.sort_query && !params.is_sorted_by_key(name) {
            params.sort_by(|a, b| name(a).cmp(name(b)));
            sorted.clear();
            for param in params.iter() {
                sorted.extend_from_slice(&key[param[0]..param[2]]);
                sorted.push(b'&');
            }
            sorted.pop();
            key.truncate(start);
            key.extend_from_slice(sorted);
        }
    }

    /// The value of the first query parameter that is left out of the key only because its value looks like a session
    /// id. Its name may also stand for something else. Parameters that the settings name are no matter of doubt.
    pub fn doubtful_session<'a>(&self, url: &'a Url) -> Option<&'a str> {
        let params = url.query().filter(|_| self.drop_sessions)?.split('&');
        let is_named = |name: &str| {
            let is_in = |names: &BTreeSet<Box<[u8]>>| names.contains(name.as_bytes());
            is_in(&self.keep_params) || is_in(&self.drop_params)
        };
        let mut doubtful = params
            .filter_map(|param| param.split_once('='))
            .filter(|(name, value)| is_doubtful(name, value) && !is_named(name));
        doubtful.next().map(|(_, value)| value)
    }

    /// Whether a parameter makes a difference.
    fn counts(&self, name: &[u8], value: &[u8], host: &str) -> bool {
        if !self.keep_params.is_empty() && self.keep_params.contains(name) {
            return true;
        }
        !((!self.drop_params.is_empty() && self.drop_params.contains(name))
            || (self.drop_tracking && is_tracking(name, host))
            || (self.drop_sessions && is_session(name, value)))
    }
}

/// The URL without its fragment, if no rule would change it. This is so for most links.
#[inline]
fn plain(url: &Url) -> Option<&[u8]> {
    let text = url.as_str().as_bytes();
    let authority = match text {
        [b'h', b't', b't', b'p', b's', b':', ..] => 8,
        [b'h', b't', b't', b'p', b':', ..] => 7,
        _ => return None,
    };
    let path = url.path().as_bytes();
    // The path is a part of the text. Their addresses tell where it begins.
    let start = path.as_ptr() as usize - text.as_ptr() as usize;
    let end = start + path.len();
    let authority = text.get(authority..start)?;
    let dotted = authority.windows(2).any(|pair| pair == b".:") || authority.last() == Some(&b'.');
    let is_plain = |octet: &u8| is_raw(*octet, Part::Path) && !matches!(octet, b';' | b'(');
    let is_key = text.get(end) != Some(&b'?') && !dotted && !authority.contains(&b'@') && path.iter().all(is_plain);
    is_key.then(|| &text[..end])
}

fn without_fragment(url: &Url) -> &str {
    let text = &url[..Position::AfterQuery];
    // The parser strips the spaces that end an opaque path, but not those that a fragment hid.
    if url.cannot_be_a_base() { text.trim_end_matches(' ') } else { text }
}

/// A host without the one dot that may end it.
fn without_dot(host: &str) -> &str {
    match host.strip_suffix('.') {
        Some(rest) if !rest.is_empty() && !rest.ends_with('.') => rest,
        _ => host,
    }
}

/// Removes `;jsessionid=…` and the like from the segment that begins at `start`. The parameter stays if a dot segment
/// would remain, because that would change the path.
fn drop_session_params(key: &mut Vec<u8>, start: usize) {
    let mut from = start;
    while let Some(semicolon) = key[from..].iter().position(|octet| *octet == b';').map(|at| from + at) {
        let end =
            key[semicolon + 1..].iter().position(|octet| *octet == b';').map_or(key.len(), |at| semicolon + 1 + at);
        let param = &key[semicolon + 1..end];
        let equals = param.iter().position(|octet| *octet == b'=').unwrap_or(param.len());
        let session = is_session(&param[..equals], param.get(equals + 1..).unwrap_or_default());
        if session && !(end == key.len() && is_dots(&key[start..semicolon])) {
            key.drain(semicolon..end);
            from = semicolon;
        } else {
            from = end;
        }
    }
}

/// The part of a key after scheme, host and port: path and query.
fn after_host(key: &[u8]) -> &[u8] {
    let Some(slashes) = memchr::memmem::find(key, b"://") else { return key };
    let rest = &key[slashes + 3..];
    &rest[memchr::memchr2(b'/', b'?', rest).unwrap_or(rest.len())..]
}

/// Whether a segment is `.` or `..`, escaped or not.
fn is_dots(mut segment: &[u8]) -> bool {
    for _ in 0..2 {
        segment = match segment {
            [b'.', rest @ ..] => rest,
            [_, _, _, rest @ ..] if escape(segment) == Some(b'.') => rest,
            _ => return false,
        };
        if segment.is_empty() {
            return true;
        }
    }
    false
}

//! SURT keys: the form of a URL by which archives sort and find captures, `com,example)/path?a=1&b=2`.
//!
//! The rules are those of the Internet Archive's canonicalizer in its Python package `surt` 0.3.1 (a chain of
//! `GoogleURLCanonicalizer` and `IAURLCanonicalizer`). cdxj-indexer and pywb call that package: if a key here differs
//! from theirs, replay does not find the page. So the steps and their order are copied, oddities included: a path is
//! unescaped until nothing changes *before* it is split at slashes, and parameters are sorted as pairs.

use std::sync::LazyLock;

use regex::bytes::Regex;
use url::{Host, Url};

use crate::hex::hex;

/// The key of an http or https URL.
pub fn surt(url: &Url) -> String {
    let mut key = host(url);
    if let Some(port) = url.port().filter(|port| *port != 0) {
        key.push_str(&format!(":{port}"));
    }
    key.push(')');
    key.push_str(&path(url.path()));
    if let Some(query) = url.query().map(query).filter(|query| !query.is_empty()) {
        key.push('?');
        key.push_str(&query);
    }
    key
}

/// The host in a key: its labels in reverse order, without a first `www`, `www1` and so on. The bytes of an IPv4
/// address are in reverse order, too.
fn host(url: &Url) -> String {
    let host = match url.host() {
        Some(Host::Ipv6(address)) => return address.to_string(),
        Some(host) => host.to_string(),
        None => String::new(),
    };
    let host = host.replace("..", ".");
    let host = host.trim_matches('.');
    let labels: Vec<&str> = without_www(host).rsplit('.').collect();
    labels.join(",")
}

fn without_www(host: &str) -> &str {
    let rest = host.strip_prefix("www").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix('.')).unwrap_or(host)
}

/// The path in a key: unescaped, without dot segments and empty segments, escaped again, in lower case, without session
/// identifiers and without a slash at the end.
fn path(path: &str) -> String {
    let plain = unescape(path.as_bytes().to_vec());
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in plain.split(|byte| *byte == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    let mut joined = vec![b'/'];
    if let Some((last, folders)) = kept.split_last() {
        for folder in folders.iter().filter(|folder| !folder.is_empty()) {
            joined.extend_from_slice(folder);
            joined.push(b'/');
        }
        joined.extend_from_slice(last);
    }
    let mut path = escape(&joined).to_ascii_lowercase().into_bytes();
    for session in &*PATH_SESSIONS {
        cut(session, &mut path);
    }
    if path.len() > 1 && path.ends_with(b"/") {
        path.pop();
    }
    ascii(path)
}

/// The query in a key: unescaped and escaped again, without session identifiers, in lower case, with its parameters
/// sorted.
fn query(query: &str) -> String {
    let mut query = escape(&unescape(query.as_bytes().to_vec())).into_bytes();
    for session in &*QUERY_SESSIONS {
        cut(session, &mut query);
    }
    query.make_ascii_lowercase();
    let query = ascii(query);
    if query.len() <= 1 {
        return query;
    }
    // They are sorted as pairs: `a` comes before `a=`, and `a=` before `a-b`. Sorted as text, `a-b` would come before
    // `a=`.
    let mut parameters: Vec<(&str, Option<&str>)> = query.split('&').map(pair).collect();
    parameters.sort_unstable();
    let joined: Vec<String> = parameters
        .into_iter()
        .map(|(name, value)| value.map_or_else(|| name.to_owned(), |value| format!("{name}={value}")))
        .collect();
    joined.join("&")
}

fn pair(parameter: &str) -> (&str, Option<&str>) {
    parameter.split_once('=').map_or((parameter, None), |(name, value)| (name, Some(value)))
}

/// Percent-decodes until nothing changes. Each round makes the bytes fewer, so this ends.
fn unescape(mut bytes: Vec<u8>) -> Vec<u8> {
    loop {
        let mut plain = Vec::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        while let Some((&byte, after)) = rest.split_first() {
            match (byte, after.first().and_then(digit), after.get(1).and_then(digit)) {
                (b'%', Some(high), Some(low)) => {
                    plain.push(high << 4 | low);
                    rest = &after[2..];
                }
                _ => {
                    plain.push(byte);
                    rest = after;
                }
            }
        }
        if plain.len() == bytes.len() {
            return plain;
        }
        bytes = plain;
    }
}

fn digit(byte: &u8) -> Option<u8> {
    char::from(*byte).to_digit(16).map(|digit| digit as u8)
}

/// Percent-encodes space, `#`, `%`, control bytes and everything that is not ASCII.
fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_graphic() && !matches!(byte, b'#' | b'%') {
            text.push(char::from(byte));
        } else {
            text.push('%');
            text.push_str(&hex(&[byte]).to_ascii_uppercase());
        }
    }
    text
}

fn ascii(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("everything else was escaped")
}

/// If the pattern matches, replaces the text by what the pattern captures.
fn cut(pattern: &Regex, text: &mut Vec<u8>) {
    let joined = pattern.captures(text).map(|found| {
        found.iter().skip(1).flatten().fold(Vec::new(), |mut joined, part| {
            joined.extend_from_slice(part.as_bytes());
            joined
        })
    });
    if let Some(joined) = joined {
        *text = joined;
    }
}

fn patterns<const N: usize>(patterns: [&str; N]) -> [Regex; N] {
    patterns.map(|pattern| Regex::new(&format!("(?i-u){pattern}")).expect("a valid pattern"))
}

/// Session identifiers of ASP.NET in paths.
static PATH_SESSIONS: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    patterns([
        r"^(.*/)(?:\((?:[a-z]\([0-9a-z]{24}\))+\)/)([^?]+\.aspx.*)$",
        r"^(.*/)(?:\([0-9a-z]{24}\)/)([^?]+\.aspx.*)$",
    ])
});

/// Session identifiers in queries.
static QUERY_SESSIONS: LazyLock<[Regex; 5]> = LazyLock::new(|| {
    patterns([
        r"^(.*)(?:jsessionid=[0-9a-zA-Z]{32})(?:&(.*))?$",
        r"^(.*)(?:phpsessid=[0-9a-zA-Z]{32})(?:&(.*))?$",
        r"^(.*)(?:sid=[0-9a-zA-Z]{32})(?:&(.*))?$",
        r"^(.*)(?:ASPSESSIONID[a-zA-Z]{8}=[a-zA-Z]{24})(?:&(.*))?$",
        r"^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$",
    ])
});

#[cfg(test)]
mod tests {
    use super::*;

    fn key(url: &str) -> String {
        surt(&Url::parse(url).unwrap())
    }

    /// Keys that `surt.surt` of the Python package gave. Another test compares the whole set beside that package.
    #[test]
    fn keys_are_those_of_the_python_package() {
        for (url, expected) in [
            ("https://www.example.com/", "com,example)/"),
            ("https://www2.example.com:8443/A//b/", "com,example:8443)/a/b"),
            ("http://www.com/", "com)/"),
            ("http://127.0.0.1:8000/x", "1,0,0,127:8000)/x"),
            ("http://[::1]:8000/x", "::1:8000)/x"),
            ("http://a.test/a%2Cb%2fc", "test,a)/a,b/c"),
            ("http://a.test/%253F%3f", "test,a)/??"),
            ("http://a.test/100%25", "test,a)/100%25"),
            ("http://a.test/%C3%A9", "test,a)/%c3%a9"),
            ("http://a.test/?b=2&a-b=1&a=1&a", "test,a)/?a&a=1&a-b=1&b=2"),
            ("http://a.test/?q=a%26b=1", "test,a)/?b=1&q=a"),
            ("http://a.test/?x[]=1&x%5B%5D=0", "test,a)/?x[]=0&x[]=1"),
            ("http://a.test/?PHPSESSID=0123456789abcdef0123456789abcdef&z=1", "test,a)/?z=1"),
            ("http://a.test/?", "test,a)/"),
        ] {
            assert_eq!(key(url), expected, "{url}");
        }
    }
}

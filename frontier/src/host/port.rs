//! Schemes and ports of hosts.

use dedup_stage::url::SiteId;
use serde::{Deserialize, Serialize};
use url::Url;

/// Scheme and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Port {
    https: bool,
    port: u16,
}

impl Port {
    /// The port of a URL.
    pub fn of(url: &Url) -> Self {
        Self { https: url.scheme() == "https", port: url.port_or_known_default().unwrap_or(0) }
    }

    /// Whether it is the default port of its scheme.
    pub fn is_default(self) -> bool {
        self.port == if self.https { 443 } else { 80 }
    }

    /// The usual beginning of the URLs of this port, such as `http://a.test`.
    pub fn authority(self, name: &str) -> String {
        let scheme = if self.https { "https://" } else { "http://" };
        match self.is_default() {
            true => [scheme, name].concat(),
            false => format!("{scheme}{name}:{}", self.port),
        }
    }

    /// The part of a URL of this port behind scheme, host and port, if the URL has the usual beginning.
    pub fn rest<'a>(self, url: &'a Url, name: &str) -> Option<&'a str> {
        let begin = &url[..url::Position::BeforePath];
        let begin = begin.strip_prefix(if self.https { "https://" } else { "http://" })?.strip_prefix(name)?;
        let port = match begin.strip_prefix(':') {
            Some(port) => Some(port.parse().ok()?),
            None if begin.is_empty() => None,
            None => return None,
        };
        let port = port.or_else(|| self.is_default().then_some(self.port));
        (port == Some(self.port)).then(|| &url[url::Position::BeforePath..])
    }

    /// A URL of this port, on the host with this name: that of its front page.
    pub fn front(self, name: &str) -> Option<Url> {
        Url::parse(&(self.authority(name) + "/")).ok()
    }

    /// The host and the port whose rules have this key in [`crate::spaces::ROBOTS`].
    pub fn of_key(key: &[u8]) -> Option<(SiteId, Self)> {
        let &[https, high, low] = key.get(SiteId::BYTES..)? else { return None };
        Some((SiteId::read(key)?, Self { https: https != 0, port: u16::from_be_bytes([high, low]) }))
    }

    /// The key of its rules in [`crate::spaces::ROBOTS`].
    pub(super) fn key(self, site: SiteId) -> Vec<u8> {
        let mut key = site.to_bytes().to_vec();
        key.push(u8::from(self.https));
        key.extend(self.port.to_be_bytes());
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_url_says_after_its_authority_brings_it_back() {
        for (text, is_usual) in [
            ("http://a.test/x?y", true),
            ("https://a.test/", true),
            ("http://a.test:81/x", true),
            ("https://a.test:80/x", true),
            ("http://a.test./x", false),
            ("http://me@a.test/x", false),
            ("http://a.tester/x", false),
        ] {
            let url = Url::parse(text).unwrap();
            let port = Port::of(&url);
            let rest = port.rest(&url, "a.test");
            assert_eq!(rest.map(|rest| port.authority("a.test") + rest), is_usual.then(|| text.to_owned()));
        }
    }
}

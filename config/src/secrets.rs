//! Hides what is secret in settings, so that reports and messages can show the rest.

use crate::settings::Settings;

/// What stands in the place of a header's value.
const HIDDEN: &str = "[redacted]";

impl Settings {
    /// The same settings without secrets: the values of headers, and the user and the password of a proxy, are hidden.
    pub fn without_secrets(&self) -> Self {
        let mut shown = self.clone();
        for header in &mut shown.fetch.headers {
            *header = name_of(header);
        }
        shown.fetch.proxy = without_user(&shown.fetch.proxy);
        shown
    }
}

/// A header `K: V` without its value.
pub(crate) fn name_of(header: &str) -> String {
    let name = header.split_once(':').map(|(name, _)| name);
    name.map_or_else(|| HIDDEN.to_owned(), |name| format!("{name}: {HIDDEN}"))
}

/// A URL, as somebody typed it, in a form that messages may show: with `…` in the place of its user and password.
pub fn without_user(url: &str) -> String {
    let begin = url.find("//").map_or(0, |slashes| slashes + 2);
    let host = url[begin..].split(['/', '?', '#']).next().unwrap_or_default();
    match host.rfind('@') {
        Some(at) => format!("{}…{}", &url[..begin], &url[begin + at..]),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_headers_and_users_of_proxies_are_hidden() {
        let mut settings = Settings::default();
        settings.fetch.headers = vec!["X-Api-Key: MINE".into(), "MINE".into()];
        settings.fetch.proxy = "http://me:MINE@127.0.0.1:3128/".into();
        let shown = settings.without_secrets().to_toml();
        assert!(!shown.contains("MINE"), "{shown}");
        assert!(shown.contains("X-Api-Key: [redacted]") && shown.contains("http://…@127.0.0.1:3128/"));
        for (url, plain) in
            [("htp://a:b@c@d", "htp://…@d"), ("a:b@d:1", "…@d:1"), ("http://d/x@y", "http://d/x@y"), ("", "")]
        {
            assert_eq!(without_user(url), plain);
        }
    }
}

//! Checks each setting on its own for values that have the right type but make no sense.

use std::net::SocketAddr;

use regex::Regex;

use crate::secrets::{name_of, without_user};
use crate::{ConnectTo, Priority, Settings};

/// Checks all settings. An error is the first key with a value that the program cannot work with, and the reason.
pub(crate) fn check(settings: &Settings) -> Result<(), (&'static str, String)> {
    let Settings { scope, limits: _, dedup, politeness, fetch, refresh, access, urls, priority, focus, output } =
        settings;
    for (key, patterns) in [("scope.include", &scope.include), ("scope.exclude", &scope.exclude)] {
        for pattern in patterns {
            Regex::new(pattern).map_err(|error| (key, not_regex(pattern, &error.to_string())))?;
        }
    }
    within("dedup.distance", u64::from(dedup.distance), 0, 64)?;
    within("dedup.threads", dedup.threads as u64, 0, 1_024)?;
    if !(0.0..=1_000.0).contains(&politeness.delay_factor) {
        return Err(("politeness.delay-factor", "must be a number from 0 to 1000".into()));
    }
    within("politeness.attempts", u64::from(politeness.attempts), 1, 100)?;
    within("politeness.host-failures", u64::from(politeness.host_failures), 1, 1_000_000)?;
    within("fetch.concurrency", fetch.concurrency as u64, 1, 100_000)?;
    product_token(&fetch.user_agent).map_err(|reason| ("fetch.user-agent", reason))?;
    if fetch.contact.chars().any(char::is_control) {
        return Err(("fetch.contact", "must not contain control characters".into()));
    }
    for mapping in &fetch.connect_to {
        mapping.parse::<ConnectTo>().map_err(|reason| ("fetch.connect-to", reason))?;
    }
    within("fetch.max-body", fetch.max_body.0, 1, u64::MAX)?;
    for (key, time) in [
        ("fetch.timeout", fetch.timeout),
        ("fetch.connect-timeout", fetch.connect_timeout),
        ("fetch.idle-timeout", fetch.idle_timeout),
    ] {
        within(key, time.0, 1, u64::MAX)?;
    }
    if !fetch.proxy.is_empty()
        && !["http://", "https://", "socks5://", "socks5h://"].iter().any(|s| fetch.proxy.starts_with(s))
    {
        return Err(("fetch.proxy", format!("{:?} is not an http, https or socks5 URL", without_user(&fetch.proxy))));
    }
    for header in &fetch.headers {
        header_line(header).map_err(|reason| ("fetch.headers", reason))?;
    }
    if refresh.max_age.0 > 0 && refresh.max_age < refresh.min_age {
        return Err(("refresh.max-age", format!("is shorter than refresh.min-age, which is {}", refresh.min_age)));
    }
    if !access.purpose.is_empty() && !PURPOSES.contains(&access.purpose.as_str()) {
        return Err(("access.purpose", format!("{:?} is not one of {}", access.purpose, PURPOSES.join(", "))));
    }
    weights(priority)?;
    if !(0.0..=1.0).contains(&focus.relevant_from) || focus.relevant_from == 0.0 {
        return Err(("focus.relevant-from", "must be a number above 0, and at most 1".into()));
    }
    within("focus.score-timeout", focus.score_timeout.0, 1, u64::MAX)?;
    within("urls.max-length", urls.max_length as u64, 16, 1 << 20)?;
    within("urls.max-segments", urls.max_segments as u64, 1, u64::MAX)?;
    within("urls.max-repeats", urls.max_repeats as u64, 1, u64::MAX)?;
    if !output.dashboard.is_empty() && output.dashboard.parse::<SocketAddr>().is_err() {
        return Err(("output.dashboard", format!("{:?} is not an address such as 127.0.0.1:8080", output.dashboard)));
    }
    Ok(())
}

/// The values that `access.purpose` may have, besides the empty one.
const PURPOSES: [&str; 5] = ["search", "archive", "train", "input", "mine"];

fn weights(priority: &Priority) -> Result<(), (&'static str, String)> {
    for (key, weight) in [
        ("priority.novelty-weight", priority.novelty_weight),
        ("priority.depth-weight", priority.depth_weight),
        ("priority.in-links-weight", priority.in_links_weight),
        ("priority.hint-weight", priority.hint_weight),
        ("priority.relevance-weight", priority.relevance_weight),
        ("priority.host-weight", priority.host_weight),
        ("priority.path-weight", priority.path_weight),
        ("priority.query-weight", priority.query_weight),
    ] {
        if !(0.0..=16.0).contains(&weight) {
            return Err((key, "must be a number from 0 to 16".into()));
        }
    }
    if !(0.0..=1.0).contains(&priority.hold_back) {
        return Err(("priority.hold-back", "must be a number from 0 to 1".into()));
    }
    Ok(())
}

fn within(key: &'static str, value: u64, least: u64, most: u64) -> Result<(), (&'static str, String)> {
    match value {
        value if value < least => Err((key, format!("must be at least {least}"))),
        value if value > most => Err((key, format!("must be at most {most}"))),
        _ => Ok(()),
    }
}

/// The message for a bad pattern. The last line of the parser's error has the cause. The lines before it only show the
/// pattern.
fn not_regex(pattern: &str, error: &str) -> String {
    let cause = error.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
    format!("{pattern:?} is not a regular expression: {cause}")
}

/// Checks a product token by RFC 9309, section 2.2.1: letters, `_` and `-`, so that robots.txt can name it.
fn product_token(token: &str) -> Result<(), String> {
    if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-".contains(&byte)) {
        return Ok(());
    }
    Err(format!("{token:?} is not a product token: letters, '-' and '_' only, so that robots.txt can name it"))
}

/// Checks a header `K: V` for the characters that RFC 9110, section 5, allows.
fn header_line(line: &str) -> Result<(), String> {
    let good = line.split_once(':').is_some_and(|(name, value)| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
            && !value.chars().any(char::is_control)
    });
    if good { Ok(()) } else { Err(format!("{:?} is not a header such as \"Accept-Language: en\"", name_of(line))) }
}

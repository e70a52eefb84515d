//! The hostile server against the fetcher: every case must end in time, within the budget, and for the right reason.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use config::Settings;
use crawler::fetch::budget::ByteBudget;
use crawler::fetch::http::HttpFetch;
use crawler::fetch::{Fetch, FetchError, Request, Response};
use frontier::JobKind;
use tests::hostile::{Case, Hostile, cases};

/// Settings for this server. `timeouts`: to connect, idle, in all.
fn settings(server: &Hostile, timeouts: [config::Duration; 3]) -> Settings {
    let mut settings = Settings::default();
    let fetch = &mut settings.fetch;
    fetch.allow_private = true;
    fetch.connect_to = server.connect_to().into();
    [fetch.connect_timeout, fetch.idle_timeout, fetch.timeout] = timeouts;
    settings
}

fn request(url: &str, kind: JobKind, budget: &Arc<ByteBudget>) -> Request {
    Request::new(url.parse().expect("a URL"), kind, [IpAddr::from([127, 0, 0, 1])], Arc::clone(budget))
}

/// The ending of a fetch, in a few words.
fn ending(result: &Result<Response, FetchError>) -> String {
    match result {
        Ok(Response { status, truncated: None, .. }) => format!("{status}"),
        Ok(Response { status, truncated: Some(truncation), .. }) => format!("{status} {truncation:?}"),
        Err(error) => error.to_string().split(':').next().unwrap_or_default().to_owned(),
    }
}

/// The right endings of each case. If a case has several, it depends on which comes first.
const ENDINGS: &[(&str, &[&str])] = &[
    (
        "200",
        &[
            "length-too-short",
            "redirect-private",
            "redirect-scheme",
            "meta-refresh-loop",
            "bad-utf8",
            "h2-good",
            "long-links",
            "deep-tree",
        ],
    ),
    ("302", &["redirect-loop", "redirect-chain", "redirect-garbage", "robots-loop"]),
    ("500", &["robots-error"]),
    ("200 Length", &["endless-body", "robots-huge", "million-links", "h2-endless-body", "bomb-gzip"]),
    // If the client reads fast, it opens its window before the server overruns it.
    ("200 Length", &["h2-over-window"]),
    ("302 Length", &["redirect-body"]),
    ("200 Time", &["slow-body", "stalled-body", "h2-stall", "h2-drip", "h2-padding", "h2-trailers"]),
    ("200 Disconnect", &["h2-padding", "h2-trailers"]),
    ("200 Disconnect", &["length-too-long", "chunk-cut", "reset-body", "h2-empty-data", "h2-over-window"]),
    ("200 Chunks", &["chunk-garbage", "chunk-overflow", "chunk-extension", "chunk-trailers"]),
    ("200 Encoding", &["bomb-gzip", "bomb-gzip-gzip", "bomb-deflate", "bomb-deflate-deflate", "bomb-br", "bomb-zstd"]),
    (
        "200 Encoding",
        &["bomb-nothing", "encoding-lie", "encoding-cut", "encoding-stack", "encoding-unknown", "encoding-window"],
    ),
    ("200 NotAPage", &["not-a-page"]),
    ("timeout", &["silent", "slow-headers", "endless-interim", "tls-silent", "h2-pings", "h2-settings"]),
    ("timeout", &["h2-interim", "h2-unknown", "h2-priorities", "h2-streams", "h2-resets", "h2-window-zero"]),
    (
        "protocol",
        &["endless-headers", "huge-header", "many-headers", "length-negative", "length-twice", "header-garbage"],
    ),
    ("protocol", &["not-http", "no-status", "h2-endless-headers", "h2-huge-headers", "h2-bad-frame", "h2-bad-hpack"]),
    ("reset", &["reset-request", "reset-headers", "reset-body", "close-request", "close-headers", "tls-cut"]),
    ("reset", &["h2-rapid-reset", "h2-goaway", "h2-interim", "h2-unknown", "h2-priorities", "h2-push", "h2-streams"]),
    ("reset", &["h2-resets", "h2-window-overflow", "h2-window-zero", "h2-huge-frame", "h2-early-end"]),
    ("protocol", &["h2-interim", "h2-unknown", "h2-priorities", "h2-push", "h2-streams", "h2-resets"]),
    ("protocol", &["h2-window-overflow", "h2-window-zero", "h2-huge-frame", "h2-early-end"]),
    ("tls", &["tls-wrong-name", "tls-expired", "tls-unknown", "tls-not", "tls-not-yet", "tls-many-names"]),
    ("tls", &["tls-long-chain", "tls-noise"]),
    ("200", &["tls-long-chain", "tls-many-names"]),
];

async fn fetch(fetcher: Arc<HttpFetch>, case: Case, budget: Arc<ByteBudget>) -> (Case, String) {
    let robots = case.name.starts_with("robots-");
    let (kind, path) = if robots { (JobKind::Robots, "robots.txt") } else { (JobKind::Page, "") };
    (case, ending(&fetcher.fetch(request(&case.url(path), kind, &budget)).await))
}

/// The right endings of a case.
pub(crate) fn right_endings(case: Case) -> impl Iterator<Item = &'static str> {
    ENDINGS.iter().filter(move |(_, names)| names.contains(&case.name)).map(|(ending, _)| *ending)
}

/// The endings that only our own timeouts bring about.
const BY_TIME: [&str; 2] = ["200 Time", "timeout"];

/// Fetches all cases at once whose right endings are timeouts (`by_time`), or all others, and checks each.
fn check(by_time: bool, timeouts: [config::Duration; 3]) {
    let server = Hostile::start(Duration::from_millis(100)).expect("a server");
    let settings = settings(&server, timeouts);
    let budget = ByteBudget::new(settings.fetch.body_budget.0);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let wanted =
        cases().into_iter().filter(|case| right_endings(*case).any(|ending| BY_TIME.contains(&ending)) == by_time);
    let ends = runtime.block_on(async {
        let fetcher = Arc::new(HttpFetch::trusting(&settings, &[&server.authority]).expect("settings"));
        let fetches = wanted.map(|case| tokio::spawn(fetch(Arc::clone(&fetcher), case, Arc::clone(&budget))));
        futures_util::future::try_join_all(fetches).await.expect("no panic")
    });
    for (case, end) in ends {
        assert!(right_endings(case).any(|right| right == end), "{} ({}) ended with {end:?}", case.name, case.what);
    }
    assert_eq!(budget.used(), 0);
}

#[test]
fn every_case_ends_for_its_reason() {
    check(false, [10_000, 10_000, 60_000].map(config::Duration));
}

#[test]
fn what_would_never_end_is_ended() {
    check(true, [1_000, 500, 2_000].map(config::Duration));
}

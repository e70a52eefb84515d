//! Crawls of the hostile hosts by the program itself. They must end, keep their bound on memory and give a reason for
//! every case, and healthy neighbours must not suffer.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tests::hostile::{Case, Hostile, cases};
use tests::sound::sound_at;

use crate::hostile::right_endings;

/// The most resident memory of a hostile crawl, in KiB.
const MOST_MEMORY: u64 = 150 << 10;

/// The time for one answer. A slower answer is given up.
const TIMEOUT: Duration = Duration::from_secs(12);

/// Whether the host of the case answers a request for robots.txt. If so, an obedient crawl also asks for its pages.
fn has_robots(case: &Case) -> bool {
    case.scheme == "http" && case.name != "robots-error"
}

/// The results of one crawl.
struct Crawled {
    /// The lines of `pages.jsonl` and `skipped.jsonl`, by host.
    lines: BTreeMap<String, Vec<Value>>,
    code: Option<i32>,
    peak: u64,
}

fn crawl(server: &Hostile, flags: &[&str], seeds: impl IntoIterator<Item = String>) -> Crawled {
    let dir = tempfile::tempdir().expect("a directory");
    let (authority, peak, out) = (dir.path().join("authority"), dir.path().join("peak"), dir.path().join("crawl"));
    std::fs::write(&authority, &server.authority_pem).expect("a file");
    let mut program = Command::new(env!("CARGO_BIN_EXE_crawl"));
    program.env("SSL_CERT_FILE", &authority).env("TEST_PEAK_FILE", &peak).arg("crawl").arg("--dir").arg(&out);
    program.args(["--delay", "20ms", "--delay-factor", "0", "--address-delay", "0ms", "--attempts", "1", "--quiet"]);
    program.args(["--connect-timeout", "2s", "--idle-timeout", "2s", "--timeout", "12s", "--patience", "2s"]);
    let output = program.args(flags).args(seeds).output().expect("a process");
    sound_at(&out).expect("a sound directory");
    let mut lines: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for file in ["pages.jsonl", "skipped.jsonl"] {
        for line in std::fs::read_to_string(out.join(file)).unwrap_or_default().lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let url = line["url"].as_str().unwrap_or_default();
            let host = url.split('/').nth(2).unwrap_or_default().to_owned();
            lines.entry(host).or_default().push(line);
        }
    }
    let peak = std::fs::read_to_string(peak).ok().and_then(|peak| peak.parse().ok()).unwrap_or(0);
    let crawled = Crawled { lines, code: output.status.code(), peak };
    assert!(crawled.code.is_some(), "{}", String::from_utf8_lossy(&output.stderr));
    crawled
}

impl Crawled {
    fn of(&self, host: &str) -> &[Value] {
        self.lines.get(host).map_or(&[], Vec::as_slice)
    }

    /// The reasons given for a host, in the words of the outputs.
    fn reasons(&self, host: &str) -> Vec<String> {
        let word = |line: &Value, key: &str| line[key].as_str().map(str::to_owned);
        let status = |line: &Value| line["status"].as_u64().map(|status| status.to_string());
        self.of(host).iter().filter_map(|line| word(line, "error").or(word(line, "reason")).or(status(line))).collect()
    }

    /// Checks that the case has a line with the right reason.
    fn explains(&self, case: Case) {
        let reasons = self.reasons(&case.host());
        let right = right_endings(case).any(|ending| reasons.iter().any(|reason| reason.starts_with(in_words(ending))));
        assert!(right, "{} ({}): {reasons:?}", case.name, case.what);
    }
}

/// An ending in the words of `pages.jsonl`.
fn in_words(ending: &str) -> &str {
    match ending.split_once(' ') {
        Some((_, "Length")) => "too_large: ",
        Some((_, "Time")) => "timeout: ",
        Some((_, "Disconnect")) => "reset: ",
        Some((_, "Chunks")) => "bad_chunks: ",
        Some((_, "Encoding")) => "encoding: ",
        Some((status, _)) => status,
        None => ending,
    }
}

/// The longest time of one of `hosts` from its first request to its last.
fn longest(server: &Hostile, hosts: &[String]) -> Duration {
    let span = |host: &String| {
        let requests = server.requests(host);
        assert_eq!(requests.len(), 32, "robots.txt and 31 pages of {host}");
        requests[31] - requests[0]
    };
    hosts.iter().map(span).max().unwrap_or_default()
}

#[test]
fn a_hostile_web_is_crawled_to_its_end() {
    let server = Hostile::start(Duration::from_millis(100)).expect("a server");
    let [http, https] = server.connect_to();
    let reach = ["--allow-private", "--scope", "host", "--connect-to", &http, "--connect-to", &https];
    let hosts = |name: &str| (0..4).map(|n| format!("{name}-{n}.test")).collect::<Vec<_>>();
    let urls = |hosts: &[String]| hosts.iter().map(|host| format!("http://{host}/")).collect::<Vec<_>>();

    let calm = crawl(&server, &reach, urls(&hosts("calm")));
    assert_eq!(calm.code, Some(0));

    let hostile: Vec<Case> = cases().into_iter().filter(has_robots).collect();
    // The links of the page with a million links are not followed.
    let flags = [&reach[..], &["--exclude", "//million-links[^/]*/."]].concat();
    let seeds = hostile.iter().map(|case| case.url("")).chain(urls(&hosts("healthy")));
    let crawled = crawl(&server, &flags, seeds);
    let (alone, among) = (longest(&server, &hosts("calm")), longest(&server, &hosts("healthy")));
    println!("peak {} MiB; healthy sites took {alone:?} alone, {among:?} among hostile ones", crawled.peak >> 10);

    assert_eq!(crawled.code, Some(0));
    // To the fetcher, this case ends with its status. The crawl reports what is wrong with the redirect.
    let garbage = "redirect-garbage";
    for case in hostile.iter().filter(|case| !case.name.starts_with("robots-") && case.name != garbage) {
        crawled.explains(*case);
    }
    assert_eq!(crawled.reasons(&format!("{garbage}.hostile.test")), ["redirect without a usable Location"]);
    // A robots.txt of any size and kind is read or given up, and its host is crawled.
    for case in ["robots-huge", "robots-loop"] {
        assert_eq!(crawled.of(&format!("{case}.hostile.test")).len(), 31, "{case}");
    }
    for case in ["redirect-loop", "redirect-chain"] {
        let reasons = crawled.reasons(&format!("{case}.hostile.test"));
        assert!(reasons.iter().any(|reason| reason == "too many redirects"), "{case}: {reasons:?}");
    }
    let schemes: Vec<_> = crawled.of("").iter().chain(crawled.of("x.test")).map(|line| &line["reason"]).collect();
    assert!(schemes.len() >= 2 && schemes.iter().all(|reason| *reason == "scheme"), "{schemes:?}");
    assert!(crawled.peak > 0 && crawled.peak <= MOST_MEMORY, "{} KiB", crawled.peak);
    // No host waits for the slow ones.
    assert!(among < TIMEOUT, "{among:?}, and {alone:?} without hostile hosts");
}

#[test]
fn what_a_host_holds_back_is_explained() {
    let server = Hostile::start(Duration::from_millis(100)).expect("a server");
    let [http, https] = server.connect_to();
    // No host has this name (RFC 6761, section 6.4). It is looked up as usual.
    let nowhere = ["nowhere.invalid:80:nowhere.invalid:80", "http://nowhere.invalid/"];
    let flags = ["--allow-private", "--scope", "host", "--connect-to", nowhere[0], "--connect-to", &http];
    let hostile: Vec<Case> = cases().into_iter().filter(|case| !has_robots(case)).collect();
    let seeds = hostile.iter().flat_map(|case| [case.url(""), case.url("second")]).chain([nowhere[1].to_owned()]);
    let crawled = crawl(&server, &[&flags[..], &["--connect-to", &https]].concat(), seeds);
    for case in &hostile {
        let reasons = crawled.reasons(&case.host());
        assert!(reasons.len() >= 2, "{}: {reasons:?}", case.name);
    }
    for (case, detail) in [
        ("robots-error", ""),
        ("tls-wrong-name", "TLS failed"),
        ("tls-expired", "TLS failed"),
        ("tls-unknown", "TLS failed"),
        ("tls-not", "TLS failed"),
        ("tls-silent", "no answer in time"),
        ("tls-cut", "ended early"),
    ] {
        let host = format!("{case}.hostile.test");
        assert_eq!(crawled.reasons(&host), ["robots", "robots"], "{case}");
        let said = crawled.of(&host)[0]["detail"].as_str().unwrap_or_default();
        assert!(said.contains(detail), "{case}: {said:?}");
    }
    let lines = crawled.of("nowhere.invalid");
    assert_eq!(crawled.reasons("nowhere.invalid"), ["address"]);
    assert!(lines[0]["detail"].as_str().is_some_and(|detail| detail.contains("the name was not found")), "{lines:?}");
}

#[test]
fn hosts_without_robots_txt_end_too() {
    let server = Hostile::start(Duration::from_millis(100)).expect("a server");
    let [http, https] = server.connect_to();
    let flags =
        ["--allow-private", "--scope", "host", "--robots", "ignore", "--connect-to", &http, "--connect-to", &https];
    let hostile: Vec<Case> = cases().into_iter().filter(|case| !has_robots(case)).collect();
    let crawled = crawl(&server, &flags, hostile.iter().map(|case| case.url("")));
    for case in hostile.iter().filter(|case| case.name != "robots-error") {
        crawled.explains(*case);
    }
    assert!(crawled.peak > 0 && crawled.peak <= MOST_MEMORY, "{} KiB", crawled.peak);
}

#[test]
fn private_addresses_are_not_asked() {
    let server = Hostile::start(Duration::from_millis(100)).expect("a server");
    let port = server.http.port();
    let hosts = ["127.0.0.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "localhost"];
    let crawled = crawl(&server, &[], hosts.map(|host| format!("http://{host}:{port}/")));
    assert_eq!(crawled.code, Some(3), "nothing could be fetched at all");
    for host in ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "localhost"] {
        let reasons = crawled.reasons(&format!("{host}:{port}"));
        assert!(reasons.iter().all(|reason| reason == "address") && !reasons.is_empty(), "{host}: {reasons:?}");
        assert!(server.requests(&format!("{host}:{port}")).is_empty());
    }
}

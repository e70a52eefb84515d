//! The live page over real HTTP, on loopback.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use crossbeam_channel::Receiver;
use frontier::Counts;
use frontier::rules::Totals;

use super::*;
use crate::engine::{Stats, StopReason};
use crate::estimate::Lost;

struct Live {
    dashboard: Dashboard,
    control: Receiver<Control>,
    _dir: tempfile::TempDir,
}

/// A source of trouble and metrics, as a worker of a crawl on many machines has it.
struct Ill;

impl Beside for Ill {
    fn trouble(&self) -> Option<&'static str> {
        Some("fenced")
    }

    fn patience(&self) -> Duration {
        Duration::ZERO
    }

    fn metrics(&self) -> Vec<Metric> {
        let bytes = |what, value| Metric {
            name: "log_bytes",
            help: "Bytes",
            label: Some(("what", what)),
            is_counter: true,
            value,
        };
        let held = Metric { name: "lease_held", help: "1 or 0", label: None, is_counter: false, value: 0.0 };
        vec![bytes("commits", 7.0), bytes("links", 8.0), held]
    }
}

#[test]
fn a_worker_tells_how_it_is_to_hosts_that_are_named() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("pages.jsonl"), LINES).unwrap();
    let (wishes, control) = crossbeam_channel::unbounded();
    let ill = LiveNames { name: String::new(), hosts: vec!["worker-0.crawl".into()], beside: Some(Arc::new(Ill)) };
    let dashboard = Dashboard::start_with("127.0.0.1:0".parse().unwrap(), dir.path(), wishes, ill).unwrap();
    let live = Live { dashboard, control, _dir: dir };
    tick(&live, None);
    let by = |name: &str, path: &str| {
        ask(live.dashboard.address(), &format!("GET {path} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n"))
    };
    let health = by("worker-0.crawl:8080", "/healthz");
    assert!(health.starts_with("HTTP/1.1 503") && health.ends_with("fenced\n"), "{health}");
    let metrics = by("WORKER-0.crawl", "/metrics");
    for line in [
        "# TYPE crawler_log_bytes_total counter",
        "crawler_log_bytes_total{what=\"commits\"} 7",
        "crawler_log_bytes_total{what=\"links\"} 8",
        "crawler_lease_held 0",
    ] {
        assert!(metrics.lines().any(|told| told.starts_with(line)), "{line}\n{metrics}");
    }
    assert!(by("worker-0.crawl", "/").starts_with("HTTP/1.1 403"), "the page itself is not for them");
    assert!(by("other.crawl", "/metrics").starts_with("HTTP/1.1 403"));
}

const LINES: &str = concat!(
    "{\"url\":\"http://a.test/\",\"status\":200,\"verdict\":\"unique\",\"title\":\"One\",\"words\":120}\n",
    "{\"url\":\"http://a.test/<x>\",\"status\":200,\"verdict\":\"near\",\"duplicate_of\":\"http://a.test/\",\"distance\":2,",
    "\"resemblance\":0.9,\"title\":\"<script>alert(1)</script>\u{202e}\",\"words\":121}\n"
);

fn live() -> Live {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("pages.jsonl"), LINES).unwrap();
    let (wishes, control) = crossbeam_channel::unbounded();
    let reach = LiveNames { name: "a.test & more".into(), ..LiveNames::default() };
    let dashboard = Dashboard::start_with("127.0.0.1:0".parse().unwrap(), dir.path(), wishes, reach).unwrap();
    Live { dashboard, control, _dir: dir }
}

fn tick(live: &Live, stopped: Option<StopReason>) {
    live.dashboard.shared.update(Now {
        stats: Stats {
            pages: 2,
            unique: 1,
            near: 1,
            statuses: [(200, 2), (404, 1)].into(),
            complete: true,
            ..Stats::default()
        },
        counts: Counts { queued: 7, ..Counts::default() },
        in_flight: 3,
        rate: 1.5,
        lost: Some(Lost { estimate: 4.4, low: 0.0, high: 12.0 }),
        rules: Totals { proven: 3, withdrawn: 1, stopped: 1_234 },
        trouble: false,
        time: 0,
        stopped,
        at: Instant::now(),
    });
}

/// Sends one request on a connection of its own. Returns everything that comes back.
fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let request = request.replace("HOST", &address.to_string());
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

fn get(live: &Live, path: &str) -> String {
    ask(live.dashboard.address(), &format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n"))
}

fn post(live: &Live, headers: &str, body: &str) -> String {
    let length = body.len();
    let request = format!(
        "POST /control HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    ask(live.dashboard.address(), &request)
}

#[test]
fn the_page_shows_the_crawl_and_what_hostile_pages_say_as_text() {
    let live = live();
    tick(&live, None);
    // The outputs are read before the first request is answered, or soon after.
    let page = loop {
        let page = get(&live, "/");
        if page.contains("a.test/&lt;x&gt;") {
            break page;
        }
    };
    assert!(page.starts_with("HTTP/1.1 200"));
    let lower = page.to_lowercase();
    for header in ["frame-ancestors 'none'", "x-content-type-options: nosniff", "referrer-policy: no-referrer"] {
        assert!(lower.contains(header), "{header}");
    }
    let body = &page[page.find("<body>").unwrap()..page.rfind("<script>").unwrap()];
    assert!(
        body.contains(">Running<")
            && body.contains("<h1>Crawl of <bdi>a.test &amp; more</bdi>, live</h1>")
            && body.contains("<svg")
            && body.contains("95 % interval 0 to 12")
            && body.contains("<caption>HTTP status codes</caption>")
            && body.contains("answers with status 404")
            && body.contains("U+202E")
            && !body.contains("<script")
            && !body.contains("<!--")
    );
    assert!(get(&live, "/page?at=0").contains("It repeats no earlier page"));
    let second = LINES.find('\n').unwrap() + 1;
    assert!(get(&live, &format!("/page?at={second}")).contains("Hamming distance 2 of 64 bits"));
    assert!(get(&live, "/page?at=1").starts_with("HTTP/1.1 404"));
    assert!(get(&live, "/page?at=99999").starts_with("HTTP/1.1 404"));
}

#[test]
fn nothing_changes_without_the_token_or_from_another_page() {
    let live = live();
    let bearer = format!("Authorization: Bearer {}\r\n", live.dashboard.shared.token);
    let pause = "{\"do\":\"pause\"}";
    assert!(post(&live, "", pause).starts_with("HTTP/1.1 401"));
    assert!(post(&live, "Authorization: Bearer 00\r\n", pause).starts_with("HTTP/1.1 401"));
    assert!(post(&live, &format!("{bearer}Origin: http://evil.example\r\n"), pause).starts_with("HTTP/1.1 403"));
    assert!(post(&live, &format!("{bearer}Origin: null\r\n"), pause).starts_with("HTTP/1.1 403"));
    let rebound = format!(
        "POST /control HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nContent-Length: 14\r\n{bearer}\r\n{pause}"
    );
    assert!(ask(live.dashboard.address(), &rebound).starts_with("HTTP/1.1 403"));
    assert!(post(&live, &bearer, "{\"do\":\"dance\"}").starts_with("HTTP/1.1 400"));
    assert!(live.control.is_empty());
    for (body, wish) in
        [(pause, Control::Pause), ("{\"do\":\"resume\"}", Control::Resume), ("{\"do\":\"stop\"}", Control::Stop)]
    {
        assert!(post(&live, &bearer, body).starts_with("HTTP/1.1 200"));
        assert_eq!(live.control.recv().unwrap(), wish);
    }
    assert!(get(&live, "/control").starts_with("HTTP/1.1 405"));
}

#[test]
fn viewers_are_sent_what_changes_and_told_the_end() {
    let live = live();
    tick(&live, None);
    let address = live.dashboard.address();
    let viewer = std::thread::spawn(move || ask(address, "GET /events HTTP/1.1\r\nHost: HOST\r\n\r\n"));
    while live.dashboard.shared.viewers() == 0 {
        std::thread::yield_now();
    }
    tick(&live, Some(StopReason::Done));
    drop(live);
    let events = viewer.join().unwrap();
    assert!(events.contains("content-type: text/event-stream"));
    assert!(events.contains("event: fragment") && events.contains("\"id\":\"figures\""));
    assert!(events.contains("All that was queued is fetched"));
    assert!(events.contains("event: end"));
}

#[test]
fn metrics_come_in_both_formats_and_health_is_told() {
    let live = live();
    assert!(get(&live, "/healthz").starts_with("HTTP/1.1 503"));
    assert!(get(&live, "/metrics").starts_with("HTTP/1.1 503"));
    tick(&live, None);
    assert!(get(&live, "/healthz").ends_with("ok\n"));
    let classic = get(&live, "/metrics");
    assert!(
        classic.contains("# TYPE crawler_pages_total counter\ncrawler_pages_total{verdict=\"unique\"} 1\n"),
        "{classic}"
    );
    assert!(classic.contains("# HELP crawler_pages_total ") && !classic.contains("# EOF"));
    let open = ask(
        live.dashboard.address(),
        "GET /metrics HTTP/1.1\r\nHost: HOST\r\nAccept: application/openmetrics-text;version=1.0.0\r\nConnection: close\r\n\r\n",
    );
    assert!(open.contains("# TYPE crawler_pages counter\n") && open.ends_with("# EOF\n"), "{open}");
}

#[test]
fn a_crawl_directory_without_outputs_has_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let (wishes, _control) = crossbeam_channel::unbounded();
    let dashboard = Dashboard::start("127.0.0.1:0".parse().unwrap(), Path::new(dir.path()), wishes).unwrap();
    let page = ask(dashboard.address(), "GET / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n");
    assert!(page.contains(">Starting<") && !page.contains("NaN"));
    // A crawl that gets nothing says so in place of empty charts and tables.
    for nothing in [
        "No two pages have been compared",
        "No page repeats another one",
        "No page has been fetched",
        "No server has answered",
        "No page has come yet",
    ] {
        assert!(page.contains(nothing), "{nothing}: {page}");
    }
    assert!(!page.contains("<svg"), "{page}");
}

#[test]
fn connections_that_say_nothing_keep_nobody_out() {
    let live = live();
    tick(&live, None);
    let address = live.dashboard.address();
    let silent: Vec<TcpStream> = (0..300)
        .map(|n| {
            let mut stream = TcpStream::connect(address).unwrap();
            // Some have begun a request.
            if n % 2 == 0 {
                stream.write_all(b"GET /healthz HT").unwrap();
            }
            stream
        })
        .collect();
    let answer = get(&live, "/healthz");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(silent);
}

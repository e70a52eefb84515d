//! Tests of fetching, through the public interface, from servers on loopback.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use config::Settings;
use crawler::fetch::budget::ByteBudget;
use crawler::fetch::http::HttpFetch;
use crawler::fetch::{Fetch, FetchError, Request, Response, Truncation, Validators};
use frontier::JobKind;
use tests::hostile::{Coding, Hostile, compress};

/// A server on loopback that answers every request as told.
struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    fn new(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = Self { address, requests: Arc::default(), connections: Arc::default() };
        let (requests, connections) = (Arc::clone(&server.requests), Arc::clone(&server.connections));
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                connections.fetch_add(1, Ordering::Relaxed);
                let (requests, answer) = (Arc::clone(&requests), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let (mut request, mut byte) = (Vec::new(), [0]);
                    while stream.read(&mut byte).is_ok_and(|read| read == 1) {
                        request.push(byte[0]);
                        if request.ends_with(b"\r\n\r\n") {
                            let text = String::from_utf8_lossy(&std::mem::take(&mut request)).to_ascii_lowercase();
                            let answer = answer(&text);
                            requests.lock().expect("no panic").push(text);
                            let _ = stream.write_all(&answer);
                        }
                    }
                });
            }
        });
        server
    }

    /// The last request, in lower case.
    fn last(&self) -> String {
        self.requests.lock().expect("no panic").last().cloned().unwrap_or_default()
    }

    /// Settings that connect every host to this server.
    fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        settings.fetch.allow_private = true;
        settings.fetch.connect_to = vec![format!("::{}:{}", self.address.ip(), self.address.port())];
        settings
    }
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn html(headers: &str, body: &[u8]) -> Vec<u8> {
    answer("200 OK", &format!("content-type: text/html\r\n{headers}"), body)
}

fn request(url: &str) -> Request {
    let local = [IpAddr::from([127, 0, 0, 1])];
    Request::new(url.parse().expect("a URL"), JobKind::Page, local, ByteBudget::new(64 << 20))
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

fn fetch(settings: &Settings, request: Request) -> Result<Response, FetchError> {
    run(async { HttpFetch::new(settings).expect("settings").fetch(request).await })
}

fn resolve(settings: &Settings, url: &str) -> Result<Vec<IpAddr>, FetchError> {
    run(async { HttpFetch::new(settings).expect("settings").resolve(url.parse().expect("a URL")).await })
}

#[test]
fn connect_to_keeps_the_host_and_the_connection() {
    let server = Server::new(|request| html("", request.lines().next().unwrap_or_default().as_bytes()));
    run(async {
        let fetcher = HttpFetch::new(&server.settings()).expect("settings");
        let hosts = ["a.test", "a.test:81", "192.0.2.1", "192.0.2.1:9", "[2001:db8::1]", "[2001:db8::1]:9"];
        for host in hosts.iter().chain(&hosts) {
            let url = format!("http://{host}/x?y=1");
            let addresses = fetcher.resolve(url.parse().expect("a URL")).await.expect("the target");
            assert_eq!(addresses, [server.address.ip()]);
            let response = fetcher.fetch(request(&url)).await.expect("an answer");
            assert_eq!(response.body, b"get /x?y=1 http/1.1"[..], "{url}");
            assert_eq!(response.address, Some(server.address.ip()));
            assert_eq!((response.status, response.truncated, response.wire_bytes), (200, None, 19));
            assert!(server.last().contains(&format!("\r\nhost: {host}\r\n")), "{}", server.last());
        }
        assert_eq!(server.connections.load(Ordering::Relaxed), hosts.len());
    });
}

#[test]
fn connect_to_keeps_the_name_that_tls_sees() {
    let server = Hostile::start(Duration::from_millis(100)).expect("a server");
    let mut settings = Settings::default();
    settings.fetch.allow_private = true;
    settings.fetch.connect_to = vec![format!("::127.0.0.1:{}", server.https.port())];
    run(async {
        let fetcher = HttpFetch::trusting(&settings, &[&server.authority]).expect("settings");
        let version = async |url| fetcher.fetch(request(url)).await.map(|response| (response.status, response.version));
        assert_eq!(version("https://h2-good.hostile.test/").await, Ok((200, http::Version::HTTP_2)));
        for n in 1..3 {
            let url = "https://tls-good.hostile.test:8443/";
            assert_eq!(version(url).await, Ok((200, http::Version::HTTP_11)));
            assert_eq!(server.requests("tls-good.hostile.test:8443").len(), n);
        }
        let error = version("https://192.0.2.1/").await.expect_err("a certificate is for its address");
        assert!(matches!(&error, FetchError::Connect(text) if text.contains("connect-to")), "{error}");
    });
}

#[test]
fn every_coding_is_undone_and_the_wire_kept() {
    let text: Vec<u8> = (0..40_000).map(|i| b"words and words "[i % 16]).collect();
    for (coding, name) in [
        (Coding::Gzip, "gzip"),
        (Coding::Zlib, "deflate"),
        (Coding::Deflate, "deflate"),
        (Coding::Brotli, "br"),
        (Coding::Zstd, "zstd"),
    ] {
        let packed = compress(coding, &text);
        let body = packed.clone();
        let server = Server::new(move |_| html(&format!("content-encoding: {name}\r\n"), &body));
        let response = fetch(&server.settings(), Request { keep_wire: true, ..request("http://a.test/") });
        let response = response.expect("an answer");
        assert!(response.body == text && response.truncated.is_none(), "{coding:?}");
        assert_eq!(response.wire_bytes, packed.len() as u64);
        assert!(response.wire.is_some_and(|wire| wire == packed), "{coding:?}");
        assert_eq!(response.headers["content-encoding"], name);
    }
}

#[test]
fn a_plain_body_is_kept_once() {
    let server = Server::new(|_| html("", b"words"));
    let budget = ByteBudget::new(1 << 20);
    let wanted = Request { keep_wire: true, budget: Arc::clone(&budget), ..request("http://a.test/") };
    let response = fetch(&server.settings(), wanted).expect("an answer");
    assert_eq!((&response.body[..], &response.wire), (&b"words"[..], &None));
    assert_eq!(budget.used(), 5);
    drop(response);
    assert_eq!(budget.used(), 0);
}

#[test]
fn the_kind_of_job_decides_what_is_read() {
    let sitemap = compress(Coding::Gzip, b"<urlset/>");
    let body = sitemap.clone();
    let server = Server::new(move |request| match request {
        _ if request.contains("robots") => answer("200 OK", "content-type: image/png\r\n", &vec![b'#'; 1 << 20]),
        _ if request.contains("sitemap") => answer("200 OK", "content-type: application/gzip\r\n", &body),
        _ => answer("200 OK", "content-type: image/png\r\n", &[b'x'; 1_000]),
    });
    let settings = server.settings();
    let wanted = |path: &str, kind| Request { kind, ..request(&format!("http://a.test/{path}")) };
    let robots = fetch(&settings, wanted("robots.txt", JobKind::Robots)).expect("an answer");
    assert_eq!((robots.body.len(), robots.truncated), (512 << 10, Some(Truncation::Length)));
    let map = fetch(&settings, wanted("sitemap.xml.gz", JobKind::Sitemap)).expect("an answer");
    assert_eq!((&map.body[..], map.truncated), (&sitemap[..], None));
    let image = fetch(&settings, wanted("image", JobKind::Page)).expect("an answer");
    assert_eq!((image.status, image.body.len(), image.truncated), (200, 0, Some(Truncation::NotAPage)));
}

/// A type that says little: the first bytes decide, also of a compressed body. An error page is not looked at.
#[test]
fn first_bytes_decide_where_the_type_says_little() {
    let feed = format!("<rss><channel>{}</channel></rss>", "<item><link>/x</link></item>".repeat(5_000));
    let (plain, packed) = (feed.clone(), compress(Coding::Gzip, feed.as_bytes()));
    let server = Server::new(move |request| match request {
        _ if request.contains("packed") => {
            answer("200 OK", "content-type: application/octet-stream\r\ncontent-encoding: gzip\r\n", &packed)
        }
        _ if request.contains("plain") => {
            answer("200 OK", "content-type: application/octet-stream\r\n", plain.as_bytes())
        }
        _ if request.contains("gone") => {
            answer("404 Not Found", "content-type: application/octet-stream\r\n", plain.as_bytes())
        }
        _ if request.contains("short") => answer("200 OK", "content-type: application/json\r\n", b"{}"),
        _ => answer("200 OK", "content-type: application/json\r\n", &vec![b'['; 8 << 20]),
    });
    let settings = server.settings();
    let get = |path: &str| fetch(&settings, request(&format!("http://a.test/{path}"))).expect("an answer");
    for path in ["plain", "packed"] {
        let response = get(path);
        assert_eq!((response.truncated, &response.body[..] == feed.as_bytes()), (None, true), "{path}");
    }
    for path in ["gone", "short", "data"] {
        let response = get(path);
        assert_eq!((response.body.len(), response.truncated), (0, Some(Truncation::NotAPage)), "{path}");
        assert!(response.wire_bytes < 1 << 20, "{path}: {} bytes were received", response.wire_bytes);
    }
}

/// The first bytes tell files apart, whatever their names are. Data that is made for each request is no file.
#[test]
fn files_are_told_apart_by_their_first_bytes() {
    let server = Server::new(|request| match request {
        _ if request.contains("data") => answer("200 OK", "content-type: application/json\r\n", b"{}"),
        _ if request.contains("gone") => answer("410 Gone", "content-type: audio/mpeg\r\n", b"sorry"),
        _ if request.contains("other") => answer("200 OK", "content-type: audio/mpeg\r\n", &[b'y'; 100_000]),
        _ if request.contains("longer") => answer("200 OK", "content-type: audio/mpeg\r\n", &[b'x'; 100_001]),
        _ => answer("200 OK", "content-type: audio/mpeg\r\n", &[b'x'; 100_000]),
    });
    let settings = server.settings();
    let get = |path: &str| {
        let response = fetch(&settings, request(&format!("http://a.test/{path}"))).expect("an answer");
        assert_eq!((response.body.len(), response.truncated), (0, Some(Truncation::NotAPage)), "{path}");
        response.file
    };
    let song = get("song");
    assert!(song.is_some() && get("copy") == song);
    assert!(![get("other"), get("longer"), None].contains(&song));
    assert_eq!((get("data"), get("gone")), (None, None));
}

#[test]
fn a_short_body_nobody_wants_keeps_the_connection() {
    let server = Server::new(|_| answer("200 OK", "content-type: image/png\r\n", &[b'x'; 10_000]));
    run(async {
        let fetcher = HttpFetch::new(&server.settings()).expect("settings");
        for _ in 0..3 {
            fetcher.fetch(request("http://a.test/")).await.expect("an answer");
        }
    });
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
}

#[test]
fn a_conditional_request_carries_its_validators() {
    let server = Server::new(|request| match request.contains("if-none-match: \"v1\"") {
        true => b"HTTP/1.1 304 Not Modified\r\netag: \"v1\"\r\n\r\n".to_vec(),
        false => html("etag: \"v1\"\r\n", b"words"),
    });
    let date = "Sun, 06 Nov 1994 08:49:37 GMT";
    let validators = Validators { etag: Some("\"v1\"".into()), last_modified: Some(date.into()) };
    let unchanged = Request { validators: Some(validators), ..request("http://a.test/") };
    let response = fetch(&server.settings(), unchanged).expect("an answer");
    assert_eq!((response.status, response.body.len(), response.truncated), (304, 0, None));
    assert!(server.last().contains(&format!("if-modified-since: {}", date.to_ascii_lowercase())));
    assert_eq!(fetch(&server.settings(), request("http://a.test/")).expect("an answer").body, b"words"[..]);
}

#[test]
fn a_redirect_is_an_answer() {
    let server = Server::new(|_| answer("301 Moved Permanently", "location: /there\r\n", b""));
    let response = fetch(&server.settings(), request("http://a.test/")).expect("an answer");
    assert_eq!((response.status, &response.headers["location"]), (301, &"/there".parse().expect("a value")));
    assert_eq!(server.requests.lock().expect("no panic").len(), 1);
}

#[test]
fn requests_say_who_asks_and_keep_no_cookies() {
    let server = Server::new(|_| html("set-cookie: a=b\r\n", b"words"));
    let mut settings = server.settings();
    settings.fetch.user_agent = "TestBot".into();
    settings.fetch.contact = "mailto:me@a.test".into();
    settings.fetch.headers = vec!["X-Own: 1:2".into(), "Accept-Language: de".into()];
    run(async {
        let fetcher = HttpFetch::new(&settings).expect("settings");
        for _ in 0..2 {
            fetcher.fetch(request("http://a.test/")).await.expect("an answer");
            let sent = server.last();
            let agent = format!("user-agent: testbot/{} (+mailto:me@a.test)\r\n", env!("CARGO_PKG_VERSION"));
            for line in
                [&agent, "x-own: 1:2\r\n", "accept-language: de\r\n", "accept-encoding: gzip, br, zstd, deflate\r\n"]
            {
                assert!(sent.contains(line), "{line} is not in {sent}");
            }
            assert!(!sent.contains("cookie") && !sent.contains("referer"), "{sent}");
        }
    });
}

#[test]
fn forbidden_addresses_are_refused_before_any_connection() {
    let server = Server::new(|_| html("", b"secret"));
    let mut settings = Settings::default();
    let port = server.address.port();
    let is_refused = |result: Result<(), FetchError>| matches!(result, Err(FetchError::Address(_)));
    for host in
        ["127.0.0.1", "2130706433", "0x7f.1", "017700000001", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"]
    {
        let url = format!("http://{host}:{port}/");
        assert!(is_refused(resolve(&settings, &url).map(drop)), "{url}");
        assert!(is_refused(fetch(&settings, request(&url)).map(drop)), "{url}");
    }
    // Neither a host name, whatever address it has, nor a rule of the user leads around the check of addresses.
    assert!(is_refused(resolve(&settings, "http://localhost/").map(drop)));
    assert!(is_refused(fetch(&settings, request(&format!("http://a.test:{port}/"))).map(drop)));
    settings.fetch.connect_to = vec![format!("::127.0.0.1:{port}")];
    assert!(is_refused(resolve(&settings, "http://a.test/").map(drop)));
    assert!(is_refused(fetch(&settings, request("http://a.test/")).map(drop)));
    assert_eq!(server.connections.load(Ordering::Relaxed), 0);
}

#[test]
fn a_name_is_not_resolved_again() {
    // Only the request knows the address of this name.
    let server = Server::new(|_| html("", b"words"));
    let mut settings = Settings::default();
    settings.fetch.allow_private = true;
    let url = format!("http://nowhere.invalid:{}/", server.address.port());
    assert_eq!(fetch(&settings, request(&url)).expect("an answer").body, b"words"[..]);
    let without = Request { addresses: Arc::new([]), ..request(&url) };
    assert!(matches!(fetch(&settings, without), Err(FetchError::Dns(_))));
}

#[test]
fn a_body_that_does_not_fit_the_budget_is_given_up() {
    let server = Server::new(|_| html("", &vec![b'x'; 200_000]));
    let budget = ByteBudget::new(100_000);
    let wanted = Request { budget: Arc::clone(&budget), ..request("http://a.test/") };
    assert_eq!(fetch(&server.settings(), wanted).map(|_| ()), Err(FetchError::Budget));
    assert_eq!(budget.used(), 0);
}

#[test]
fn a_closed_port_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    drop(listener);
    let mut settings = Settings::default();
    settings.fetch.allow_private = true;
    let error = fetch(&settings, request(&url)).expect_err("nobody listens");
    assert!(matches!(&error, FetchError::Connect(text) if text.contains("refused")), "{error}");
}

#[test]
fn a_proxy_is_told_the_name() {
    let proxy = Server::new(|request| html("", request.lines().next().unwrap_or_default().as_bytes()));
    let mut settings = Settings::default();
    settings.fetch.proxy = format!("http://{}", proxy.address);
    let (a, b) = (resolve(&settings, "http://a.test/"), resolve(&settings, "http://b.test/"));
    assert!(a.is_ok() && a != b, "hosts behind a proxy must differ: {a:?}");
    let wanted = Request { addresses: a.expect("a stand-in").into(), ..request("http://a.test/x") };
    assert_eq!(fetch(&settings, wanted).expect("an answer").body, b"get http://a.test/x http/1.1"[..]);
    assert!(matches!(fetch(&settings, request("http://10.0.0.1/")), Err(FetchError::Address(_))));
}

#[test]
fn settings_that_cannot_be_used_say_why() {
    let error = |change: &dyn Fn(&mut config::Fetch)| {
        let mut settings = Settings::default();
        change(&mut settings.fetch);
        run(async { HttpFetch::new(&settings).err().map(|error| format!("{error:#}")).unwrap_or_default() })
    };
    assert!(error(&|fetch| fetch.headers = vec!["nonsense".into()]).contains("nonsense"));
    assert!(error(&|fetch| fetch.headers = vec!["b ad: x".into()]).contains("b ad"));
    assert!(error(&|fetch| fetch.connect_to = vec!["a:b".into()]).contains("a:b"));
    assert!(error(&|fetch| fetch.proxy = "not a proxy".into()).contains("not a proxy"));
    assert!(error(&|fetch| fetch.contact = "line\nbreak".into()).contains("user agent"));
    assert_eq!(error(&|_| ()), "");
}

/// The variable that is set in the child process of [`without_certificates_plain_http_still_works`]. The child makes
/// the checks.
const BARE: &str = "FETCH_TEST_WITHOUT_CERTIFICATES";

#[test]
fn without_certificates_plain_http_still_works() {
    if std::env::var_os(BARE).is_none() {
        let name = "fetch::without_certificates_plain_http_still_works";
        let mut child = std::process::Command::new(std::env::current_exe().expect("this test"));
        child.args(["--exact", name]).env(BARE, "1").env("SSL_CERT_FILE", "/nowhere").env("SSL_CERT_DIR", "/nowhere");
        assert!(child.output().expect("a process").status.success());
        return;
    }
    let server = Server::new(|_| html("", b"words"));
    assert_eq!(fetch(&server.settings(), request("http://a.test/")).expect("an answer").body, b"words"[..]);
    let hostile = Hostile::start(Duration::from_millis(100)).expect("a server");
    let mut settings = server.settings();
    settings.fetch.connect_to = hostile.connect_to().into();
    let error = fetch(&settings, request("https://h2-good.hostile.test/")).expect_err("nobody to trust");
    assert!(matches!(&error, FetchError::Tls(text) if text.contains("No CA certificates")), "{error}");
}

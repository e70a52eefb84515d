//! Fetching, through the public seam, from servers on loopback.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};

use config::Settings;
use crawler::fetch::budget::Budget;
use crawler::fetch::http::HttpFetch;
use crawler::fetch::{Fetch, FetchError, Request, Response, Truncation, Validators};
use frontier::JobKind;

/// A server that answers every request with `answer(request)`, and its log of requests.
fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (log, requests) = mpsc::channel();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, log, answer) = (stream.expect("a connection"), log.clone(), Arc::clone(&answer));
            std::thread::spawn(move || {
                let (mut request, mut byte) = (Vec::new(), [0]);
                while stream.read(&mut byte).is_ok_and(|n| n == 1) {
                    request.push(byte[0]);
                    if request.ends_with(b"\r\n\r\n") {
                        let text = String::from_utf8_lossy(&std::mem::take(&mut request)).into_owned();
                        let _ = stream.write_all(&answer(&text));
                        let _ = log.send(text);
                    }
                }
            });
        }
    });
    (address, requests)
}

fn ok(headers: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{headers}\r\n", body.len()).into_bytes();
    answer.extend_from_slice(body);
    answer
}

fn settings(connect_to: Option<SocketAddr>) -> Settings {
    let mut settings = Settings::default();
    settings.fetch.allow_private = true;
    settings.fetch.connect_to = connect_to.iter().map(|to| format!("::{}:{}", to.ip(), to.port())).collect();
    settings
}

fn request(url: &str) -> Request {
    Request {
        url: url.parse().expect("a URL"),
        kind: JobKind::Page,
        addresses: Arc::new([IpAddr::from([127, 0, 0, 1])]),
        validators: None,
        budget: Budget::new(64 << 20),
        keep_wire: false,
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

fn fetch(settings: &Settings, request: Request) -> Result<Response, FetchError> {
    run(async { HttpFetch::new(settings).expect("settings").fetch(request).await })
}

#[test]
fn connect_to_keeps_the_host_and_the_connection() {
    let (address, requests) =
        serve(|request| ok("content-type: text/html\r\n", request.lines().next().expect("a line").as_bytes()));
    run(async {
        let fetcher = HttpFetch::new(&settings(Some(address))).expect("settings");
        for (url, host) in [
            ("http://a.test/x?y=1", "a.test"),
            ("http://a.test:81/x?y=1", "a.test:81"),
            ("http://192.0.2.1/x?y=1", "192.0.2.1"),
            ("http://192.0.2.1:9/x?y=1", "192.0.2.1:9"),
            ("http://[2001:db8::1]:9/x?y=1", "[2001:db8::1]:9"),
        ] {
            let addresses = fetcher.resolve(url.parse().expect("a URL")).await.expect("the target");
            assert_eq!(addresses, [address.ip()]);
            let response = fetcher.fetch(request(url)).await.expect("an answer");
            assert_eq!(response.body, b"GET /x?y=1 HTTP/1.1", "{url}");
            assert_eq!(response.address, Some(address.ip()));
            assert_eq!((response.status, response.truncated, response.wire_bytes), (200, None, 19));
            let log = requests.recv().expect("a request").to_ascii_lowercase();
            assert!(log.contains(&format!("\r\nhost: {host}\r\n")), "{log}");
        }
    });
}

//! A web of many hosts, some of them mirrors of others, that records each request with its time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use crawler::demo::server::{host_and_target, serve, status};
use fastrand::Rng;
use http::{Response, StatusCode};
use http_body_util::Full;
use tokio::net::TcpListener;

/// The size of the web. Each host is a registrable domain of its own.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The number of hosts with pages of their own.
    pub originals: usize,
    /// The number of hosts that show the same pages as the first of those. Every other mirror has one word changed on
    /// each page.
    pub mirrors: usize,
    /// The number of pages of each host. They form a tree, and also link to other hosts.
    pub pages: usize,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The number of the host.
    pub host: usize,
    /// The path.
    pub path: String,
    /// The time at which the request arrived, counted from the start of the web.
    pub arrived: Duration,
    /// The time at which it was answered.
    pub ended: Option<Duration>,
}

/// The web, with the requests so far.
pub struct Town {
    shape: Shape,
    /// Whether each host redirects its robots.txt to another host.
    robots_move: bool,
    /// Whether each page has only one link, which leads to a page of the next host to which no other page links.
    is_chained: bool,
    start: Instant,
    asked: Mutex<Vec<Asked>>,
}

/// The content of a page, as original host and page number. Pages with the same content are copies.
pub type Content = (usize, usize);

impl Shape {
    /// The number of hosts.
    pub fn hosts(&self) -> usize {
        self.originals + self.mirrors
    }

    /// The number of different contents.
    pub fn contents(&self) -> usize {
        self.originals * self.pages
    }

    /// The name of a host.
    pub fn name(host: usize) -> String {
        format!("h{host:03}.test")
    }

    /// The content at a URL, if there is a page.
    pub fn content(&self, url: &str) -> Option<Content> {
        let (host, path) = url.strip_prefix("http://h")?.split_once(".test/")?;
        let (host, page) =
            (host.parse::<usize>().ok()?, path.strip_prefix("p/").map_or(Some(0), |page| page.parse().ok())?);
        (host < self.hosts() && page < self.pages).then_some((self.original(host), page))
    }

    fn original(&self, host: usize) -> usize {
        if host < self.originals { host } else { host - self.originals }
    }

    fn body(&self, host: usize, page: usize, is_chained: bool) -> String {
        let original = self.original(host);
        let seed = (original * self.pages + page) as u64;
        let mut random = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut word = || (0..4).map(|_| char::from(b'a' + random.u8(..26))).collect::<String>();
        let mut words: Vec<String> = (0..400).map(|_| word()).collect();
        if host >= self.originals && host % 2 == 1 {
            words[70] = "mirrored".into();
        }
        if is_chained {
            let next = format!("http://{}/p/{}", Self::name((host + 1) % self.hosts()), page + 1);
            let link = if page + 1 < self.pages { format!("<a href={next}>next</a>") } else { String::new() };
            return format!("<html><title>{seed}</title><main><p>{}</p>{link}</main></html>", words.join(" "));
        }
        let mut links = String::new();
        for child in [2 * page + 1, 2 * page + 2].into_iter().filter(|child| *child < self.pages) {
            links += &format!("<a href=/p/{child}>next</a> ");
        }
        let other = (seed as usize * 7 + 3) % self.originals;
        links += &format!("<a href=http://{}/p/{}>elsewhere</a>", Self::name(other), seed as usize * 5 % self.pages);
        format!("<html><title>{seed}</title><main><p>{}</p>{links}</main></html>", words.join(" "))
    }
}

impl Town {
    /// A web without any requests so far.
    pub fn new(shape: Shape) -> Arc<Self> {
        Self::with(shape, false, false)
    }

    /// Like [`Self::new`], but each page has only one link, which leads to a page of the next host to which no other
    /// page links. If such a link is lost, the pages behind it are never found.
    pub fn chained(shape: Shape) -> Arc<Self> {
        Self::with(shape, false, true)
    }

    /// Like [`Self::new`], but each host redirects its robots.txt to another host.
    pub fn with_moved_robots(shape: Shape) -> Arc<Self> {
        Self::with(shape, true, false)
    }

    fn with(shape: Shape, robots_move: bool, is_chained: bool) -> Arc<Self> {
        Arc::new(Self { shape, robots_move, is_chained, start: Instant::now(), asked: Mutex::default() })
    }

    /// Serves connections until the future is dropped.
    pub async fn run(self: Arc<Self>, listener: TcpListener) {
        serve(listener, move |request| {
            let town = Arc::clone(&self);
            async move {
                let (host, target) = host_and_target(&request);
                let host = host.strip_prefix('h').and_then(|host| host.strip_suffix(".test")?.parse::<usize>().ok());
                let Some(host) = host.filter(|host| *host < town.shape.hosts()) else {
                    return status(StatusCode::MISDIRECTED_REQUEST);
                };
                let number = town.arrive(host, target);
                let answer = town.answer(host, target);
                town.lock()[number].ended = Some(town.start.elapsed());
                answer
            }
        })
        .await;
    }

    fn answer(&self, host: usize, target: &str) -> Response<Full<Bytes>> {
        if self.robots_move && target == "/robots.txt" {
            let there = format!("http://{}/robots-of/{host}", Shape::name((host * 7 + 3) % self.shape.hosts()));
            let response = Response::builder().status(StatusCode::FOUND).header("location", there);
            return response.body(Full::default()).expect("headers of our own");
        }
        let url = format!("http://{}{target}", Shape::name(host));
        let Some((_, page)) = self.shape.content(&url) else { return status(StatusCode::NOT_FOUND) };
        let body = self.shape.body(host, page, self.is_chained);
        let response = Response::builder().header("content-type", "text/html");
        response.body(Full::new(body.into())).expect("headers of our own")
    }

    fn arrive(&self, host: usize, path: &str) -> usize {
        let mut asked = self.lock();
        let arrived = self.start.elapsed();
        asked.push(Asked { host, path: path.to_owned(), arrived, ended: None });
        asked.len() - 1
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All requests so far, in the order of their arrival.
    pub fn asked(&self) -> Vec<Asked> {
        self.lock().clone()
    }

    /// The number of requests that arrived while another request to the same host was open, and the number of those
    /// that arrived sooner than `delay` after the answer to the previous one.
    pub fn impolite(&self, delay: Duration) -> (usize, usize) {
        let mut last: HashMap<usize, Asked> = HashMap::new();
        let (mut overlapping, mut early) = (0, 0);
        for asked in self.asked() {
            if let Some(before) = last.insert(asked.host, asked.clone()) {
                match before.ended.filter(|ended| *ended <= asked.arrived) {
                    None => overlapping += 1,
                    Some(ended) => early += usize::from(asked.arrived - ended < delay),
                }
            }
        }
        (overlapping, early)
    }
}
